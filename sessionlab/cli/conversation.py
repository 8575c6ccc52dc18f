"""One session of a corpus in, its conversation as text out: › a person, ⟐ the harness, → calls, ✓ ✗ results."""

from __future__ import annotations

import json
import sys
from collections import Counter, deque
from typing import TYPE_CHECKING

from sessionlab.cli.output import UNKNOWN, visible

if TYPE_CHECKING:
    from sessionlab.corpus import Corpus

CUT = 120
"""Characters shown of a call's arguments and of a result's first line."""
Marks = dict[tuple[object, object], deque[str]]
"""The marks of the results of a call id in a file, in the order they came."""
_MARKS = {"ok": "✓", "failed": "✗", "refused": "✗", "interrupted": "✗", "staged": "…"}


def write(corpus: Corpus, session_id: str) -> None:
    """Write the conversation in force of every agent of a session, the root's first."""
    [(name, model, provider, created)] = corpus.sql(
        "SELECT coalesce(s.native_id, s.session_id), coalesce(s.model, u.model), coalesce(s.provider, u.provider),"
        " s.created_at FROM sessions s LEFT JOIN (SELECT session_id, max_by(model, output_tokens) AS model,"
        " max_by(provider, output_tokens) AS provider FROM usage WHERE standing <> 'check' GROUP BY session_id) u"
        " ON u.session_id = s.session_id WHERE s.session_id = ?",
        [session_id],
    ).rows()
    when = f"{created:%Y-%m-%d %H:%M:%S}" if created else UNKNOWN
    sys.stdout.write(f"{visible(name)}  {visible(model or UNKNOWN)}  {visible(provider or UNKNOWN)}  {when}\n")
    sys.stdout.write("".join(f"{visible(line)}\n" for line in _launch(corpus, session_id)) + "\n")
    marks = _results(corpus, session_id)
    heard: dict[tuple[str, int], list[dict[str, object]]] = {}
    for row in corpus.view("log.messages", session_id=session_id).iter_rows(named=True):
        heard.setdefault((row["agent_id"], row["source_id"]), []).append(row)
    branches = Counter(agent for agent, _ in heard)
    for (agent, source), rows in sorted(heard.items(), key=lambda item: item[0][0] != "root"):
        if agent != "root" or branches[agent] > 1:
            place = f" in {_file(corpus, source)}" if branches[agent] > 1 else ""
            sys.stdout.write(f"\n── {visible(agent + place)} ──\n")
        _write_rows(rows, marks)
        _last_reply(corpus, session_id, agent)


def _launch(corpus: Corpus, session_id: str) -> list[str]:
    """What the record says of the launch: recorder, baseline commit, ceilings, and where capture stopped early."""
    [(recorder, version, commit, told)] = corpus.sql(
        "SELECT recorder, recorder_version, recorder_commit, detail FROM sessions WHERE session_id = ?", [session_id]
    ).rows()
    detail = json.loads(told or "{}")
    baseline, limits, truncation = (detail.get(name) for name in ("baselineCommit", "limits", "truncation"))
    lines = []
    if detail.get("profiles") is not None or commit:  # a launch is recorded: whose recording it is belongs to it
        parts = (recorder or UNKNOWN, version or "version not told", f"commit {commit}" if commit else None)
        lines.append("recorder   " + " ".join(part for part in parts if part))
    if baseline:
        lines.append(f"baseline   commit {baseline}")
    if isinstance(limits, dict) and limits:
        lines.append("limits     " + ", ".join(f"{name} {_plain(value)}" for name, value in limits.items()))
    if isinstance(truncation, dict):
        kept = truncation.get("lastSeq")
        end = "before its first entry" if kept is None else f"after entry {kept}"
        lines.append(f"capture    stopped early {end} ({truncation.get('reason')}): what came later is not recorded")
    return lines


def _plain(value: object) -> str:
    return f"{value:g}" if isinstance(value, float) else f"{value:,}" if type(value) is int else json.dumps(value)


def _write_rows(rows: list[dict[str, object]], marks: Marks) -> None:
    place = None
    for row in rows:
        begins = place is not None and row["position"] != place and row["role"] == "user" and row["kind"] == "text"
        place = row["position"]
        if line := _line(row, marks):
            sys.stdout.write(("\n" if begins else "") + line + "\n")


def _file(corpus: Corpus, source: int) -> str:
    return str(corpus.sql("SELECT uri FROM sources WHERE source_id = ?", [source]).item())


def _line(row: dict[str, object], marks: Marks) -> str | None:
    text = str(row["text"] or "")
    if row["kind"] == "call":
        return f"→ {visible(str(row['name'] or UNKNOWN))} {_first(text)}".rstrip()
    if row["kind"] == "result":
        left = marks.get((row["source_id"], row["call_id"]))
        # ids repeat: results come in the order of the calls that are answered; the last one stands for repetitions
        mark = (left.popleft() if len(left) > 1 else left[0]) if left else "·"
        return f"{mark} {_first(text)}".rstrip()
    if row["kind"] != "text" or not text.strip():
        return None  # thinking and images are not shown
    if row["role"] == "assistant":
        return _kept(text)
    if row["role"] == "tool":
        return f"· {_first(text)}"
    return f"{'⟐' if row['voice'] == 'harness' or row['role'] == 'system' else '›'} {_kept(text)}"


def _results(corpus: Corpus, session_id: str) -> Marks:
    rows = corpus.sql(
        "SELECT source_id, call_id, status FROM tool_calls WHERE session_id = ? AND result_seq IS NOT NULL"
        " ORDER BY result_seq, output_block NULLS FIRST, seq, ordinal",
        [session_id],
    ).rows()
    marks: Marks = {}
    for source, call, status in rows:
        marks.setdefault((source, call), deque()).append(_MARKS.get(status, "·"))
    return marks


def _last_reply(corpus: Corpus, session_id: str, agent: str) -> None:
    """A reply that no later request repeats: gg keeps replies apart from the messages sent."""
    rows = corpus.sql(
        "SELECT b.kind, b.name, b.text FROM blocks b JOIN (SELECT source_id, output_ix FROM entries"
        " WHERE session_id = ? AND agent_id = ? AND kind = 'model_call' AND output_ix IS NOT NULL"
        " ORDER BY seq DESC LIMIT 1) e ON b.source_id = e.source_id AND b.pool = 'response' AND b.ix = e.output_ix"
        " ORDER BY b.block",
        [session_id, agent],
    ).rows()
    for kind, name, text in rows:
        if kind == "text" and text.strip():
            sys.stdout.write(_kept(text) + "\n")
        elif kind == "call":
            sys.stdout.write(f"→ {visible(name or UNKNOWN)} {_first(text)}\n")


def _kept(text: str) -> str:
    return "\n".join(visible(line) for line in text.split("\n"))


def _first(text: str) -> str:
    line = visible(text.split("\n", 1)[0].rstrip("\r"))
    return line if len(line) <= CUT else line[:CUT] + "…"
