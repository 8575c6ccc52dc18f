"""A corpus in, a few lines (or an HTML table) out: what is inside, how far it reaches, and what was wrong."""

from __future__ import annotations

from html import escape
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from sessionlab.corpus import Corpus


class _Facts(NamedTuple):
    headline: str
    formats: list[tuple[str, int, int, int]]
    period: str
    problems: str
    hint: str


def _facts(corpus: Corpus) -> _Facts:
    formats = corpus.sql(
        "SELECT s.format, count(*) AS sessions, sum(s.sources) AS files, sum(s.entries) AS entries"
        " FROM sessions s GROUP BY s.format ORDER BY s.format"
    ).rows()
    [(sessions, first, last, undated)] = corpus.sql(
        "SELECT count(*), min(created_at), max(coalesce(ended_at, created_at)),"
        " count(*) FILTER (WHERE created_at IS NULL) FROM sessions"
    ).rows()
    kinds = corpus.sql("SELECT severity, sum(problems) FROM problems.by_kind GROUP BY severity").rows()
    counted = {severity: int(number) for severity, number in kinds}
    words = [
        f"{counted[severity]:,} {name}{'' if counted[severity] == 1 else 's'}"
        for severity, name in (("refusal", "refused file"), ("loss", "loss"), ("note", "note"))
        if severity in counted
    ]
    words = [word.replace("losss", "losses") for word in words]
    period = f"{first:%Y-%m-%d} to {last:%Y-%m-%d}" if first else "no dates"
    if first and undated:
        period += f", {undated:,} undated"
    unclaimed = f"; {len(corpus.unclaimed):,} other files unclaimed" if corpus.unclaimed else ""
    headline = f"{sessions:,} session{'' if sessions == 1 else 's'}"
    return _Facts(
        headline=headline,
        formats=[(name, int(a), int(b or 0), int(c or 0)) for name, a, b, c in formats],
        period=period,
        problems=(", ".join(words) or "no problems") + unclaimed,
        hint="figures alone" if corpus.figures else "" if corpus.bodies else "loaded without bodies",
    )


def text(corpus: Corpus) -> str:
    """The lines a Python prompt shows."""
    facts = _facts(corpus)
    lines = [f"Corpus of {facts.headline}, {facts.period}{', ' + facts.hint if facts.hint else ''}"]
    lines += [f"  {name:<12} {a:>7,} sessions {b:>7,} files {c:>10,} entries" for name, a, b, c in facts.formats]
    lines.append(f"  problems: {facts.problems}" + ("  (see .problems)" if facts.problems != "no problems" else ""))
    lines.append('  ask: .view("cost.by_model"), .view("health.summary"), .sql("FROM usage LIMIT 5")')
    return "\n".join(lines)


def html(corpus: Corpus) -> str:
    """The same as a small table, for a notebook."""
    facts = _facts(corpus)
    rows = "".join(
        f"<tr><td style='text-align:left'>{escape(name)}</td><td>{a:,}</td><td>{b:,}</td><td>{c:,}</td></tr>"
        for name, a, b, c in facts.formats
    )
    hint = f" · {escape(facts.hint)}" if facts.hint else ""
    return (
        "<div style='font-family:system-ui,sans-serif;font-size:13px;line-height:1.5'>"
        f"<strong>Corpus of {escape(facts.headline)}</strong> · {escape(facts.period)}{hint}"
        "<table style='margin:.4em 0;font-variant-numeric:tabular-nums'><thead><tr>"
        "<th style='text-align:left'>format</th><th>sessions</th><th>files</th><th>entries</th></tr></thead>"
        f"<tbody>{rows}</tbody></table>"
        f"<div>problems: {escape(facts.problems)}</div>"
        '<div style=\'opacity:.7\'>ask: <code>.view("cost.by_model")</code>, <code>.view("health.summary")</code>, '
        '<code>.sql("FROM usage LIMIT 5")</code></div></div>'
    )
