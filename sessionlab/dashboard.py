"""A corpus in, a dashboard out: controls over its sessions, and the figures and charts of those chosen, live."""

from __future__ import annotations

import os
from datetime import date, timedelta
from html import escape
from pathlib import Path
from textwrap import wrap
from typing import TYPE_CHECKING, Any, Final, NamedTuple

import ipywidgets
from altair import JupyterChart

from sessionlab import bundled, charts
from sessionlab.charts._wording import UNKNOWN, counted, lasting, left_out, money, share
from sessionlab.paths import known_stores

if TYPE_CHECKING:
    from collections.abc import Iterable

    import polars as pl

    from sessionlab.charts._theme import Picture
    from sessionlab.corpus import Corpus

PATHS_VARIABLE: Final = "SESSIONLAB_PATHS"
"""Names, one a line, what the dashboard notebook loads: a line ends where no path, glob or URL does."""

_WIDE, _NARROW = 796, 404
"""Widths of the two columns in pixels: with the gap between them they fill a window of 1280."""
_LETTER: Final = {"title": 9.2, "subtitle": 6.6}
"""Pixels a letter of a chart's words takes, generously."""
_TOOLS: Final = 14
_STYLE: Final = (Path(__file__).parent / "dashboard.css").read_text(encoding="utf-8")


def default_paths() -> list[str]:
    """What to show when nothing is named: ``$SESSIONLAB_PATHS``, else this machine's stores, else the samples."""
    named = [line for line in os.environ.get(PATHS_VARIABLE, "").split("\n") if line]
    return named or known_stores() or [str(bundled.samples() / "corpus")]


class Selection(NamedTuple):
    """What the controls say. None: no limit of this kind."""

    days: tuple[date, date] | None = None
    model: str | None = None
    format: str | None = None

    def of(self, corpus: Corpus) -> Corpus:
        """The sessions chosen: begun on these local days, of this format, with this model at work in them.

        A session without a date is on no day: it is in as long as the period has no limit. A model is at work where
        usage or an outcome names it, or the session's opening does; the session counts whole.
        """
        condition = self.condition(corpus.tz)
        return corpus if condition is None else corpus.where(condition)

    def condition(self, tz: str) -> str | None:
        """The same as an SQL condition on `sessions`, with days formed in the zone ``tz``; None: all of them."""
        tests = []
        if self.days is not None:
            first, last = self.days
            tests.append(f"{_local_day(tz)} BETWEEN DATE '{first}' AND DATE '{last}'")
        if self.model is not None:
            model = _literal(self.model)
            tests.append(
                f"(model = {model} OR session_id IN (SELECT session_id FROM usage WHERE model = {model})"
                f" OR session_id IN (SELECT session_id FROM outcomes WHERE model = {model}))"
            )
        if self.format is not None:
            tests.append(f"format = {_literal(self.format)}")
        return " AND ".join(tests) or None


class Dashboard:
    """Controls for period, model and format; below them what `health` and `cost` say of the sessions chosen.

    Shown by being the last line of a cell. Every figure is that of the view of the same name on ``chosen``.

    Args:
        corpus: the sessions to choose from.

    Attributes:
        corpus: the same.
        chosen: the sessions that the controls choose now.
        period, model, format: the controls; setting ``value`` moves them.
        box: the widget that holds everything.
    """

    def __init__(self, corpus: Corpus) -> None:
        JupyterChart.enable_offline()
        self.corpus = self.chosen = corpus
        self._today = corpus.reprice("now")
        days = _days(corpus)
        self.period = ipywidgets.SelectionRangeSlider(
            # The browser writes both ends with a bare hyphen between them.
            options=[(f" {day.day} {day:%b %Y} ", day) for day in days or [date.min]],
            index=(0, max(len(days) - 1, 0)),
            description="Period",
            continuous_update=False,
            disabled=len(days) < 2,  # noqa: PLR2004 (a range needs two ends)
        )
        self.model = ipywidgets.Dropdown(options=[("all", ""), *_named(_models(corpus))], description="Model")
        self.format = ipywidgets.Dropdown(options=[("all", ""), *_named(_formats(corpus))], description="Format")
        self._figures, self._tools = ipywidgets.HTML(), ipywidgets.HTML()
        self._charts: dict[str, JupyterChart] = {}
        self._columns = ipywidgets.HBox()
        self._columns.add_class("sl-columns")
        controls = ipywidgets.HBox([self.period, self.model, self.format])
        controls.add_class("sl-controls")
        self.box = ipywidgets.VBox(
            [ipywidgets.HTML(f"<style>{_STYLE}</style>"), controls, self._figures, self._columns]
        )
        self.box.add_class("sl-dashboard")
        self._draw()
        for control in (self.period, self.model, self.format):
            control.observe(lambda _: self._draw(), names="value")

    @property
    def selection(self) -> Selection:
        """What the controls say now."""
        first, last = self.period.index
        whole = (first, last) == (0, len(self.period.options) - 1)
        return Selection(None if whole else self.period.value, self.model.value or None, self.format.value or None)

    def _repr_mimebundle_(self, **kwargs: Any) -> Any:  # noqa: ANN401 (IPython's)
        """The widget, where a notebook shows it."""
        return self.box._repr_mimebundle_(**kwargs)

    def _draw(self) -> None:
        """Ask the views again, and show what they say."""
        selection = self.selection
        self.chosen = selection.of(self.corpus)
        [summary] = self.chosen.view("health.summary").to_dicts()
        said = _sentence(summary["sessions_read"], self._undated(selection), selection)
        if not summary["sessions_read"]:
            self._figures.value, self._columns.children = said, ()
            return
        spent = [_spent(corpus.view("cost.by_model")) for corpus in (self.chosen, selection.of(self._today))]
        self._tools.value = _tool_table(self.chosen.view("health.by_tool"))
        self._show("quality", charts.run_quality(self.chosen.view("health.by_day")), _WIDE)
        self._show("spend", charts.spend(self.chosen.view("cost.by_day")), _WIDE)
        self._show("causes", charts.stop_causes(self.chosen.view("health.stop_causes")), _NARROW)
        if not self._columns.children:
            wide = ipywidgets.VBox([self._charts["quality"], self._charts["spend"]])
            narrow = ipywidgets.VBox([self._tools, self._charts["causes"]])
            self._columns.children = (wide, narrow)
        # Last and at once: a sentence never stands above figures of another choice.
        self._figures.value = said + _cards(summary, *spent)

    def _undated(self, selection: Selection) -> int:
        """How many sessions without a date there are of the model and format chosen."""
        others = selection._replace(days=None).condition(self.corpus.tz) or "true"
        return int(self.corpus.sql(f"SELECT count(*) FROM sessions WHERE created_at IS NULL AND ({others})").item())

    def _show(self, name: str, picture: Picture, width: int) -> None:
        """Put a chart into its place, fitted to the column; the one there is changed, not replaced."""
        fitted = _fitted(picture, width)
        if name in self._charts:
            self._charts[name].chart = fitted
        else:
            self._charts[name] = JupyterChart(fitted, embed_options={"actions": False, "renderer": "svg"})


def _fitted(picture: Picture, width: int) -> Picture:
    """The chart, ``width`` pixels wide with all that belongs to it, its words broken into lines that fit."""
    fitted = picture.properties(
        width=width, autosize={"type": "fit-x", "contains": "padding"}, padding={"left": 0, "right": 30, "bottom": 5}
    )
    title = fitted.title
    title.frame = "bounds"
    title.text = wrap(title.text, int(width / _LETTER["title"]))
    if isinstance(title.subtitle, list):
        wrapped = [wrap(line, int(width / _LETTER["subtitle"])) for line in title.subtitle]
        title.subtitle = [part for parts in wrapped for part in parts]
    if width <= _NARROW:
        fitted.config.legend.orient = "bottom"
        fitted.config.legend.columns = 3
    return fitted


def _local_day(tz: str) -> str:
    """The SQL of the local day on which a session began."""
    return f"CAST(timezone({_literal(tz)}, timezone('UTC', created_at)) AS DATE)"


def _literal(text: str) -> str:
    """The text as an SQL literal: a quote is written twice, and nothing else has a meaning inside."""
    return "'" + text.replace("'", "''") + "'"


def _days(corpus: Corpus) -> list[date]:
    """Every day from the first on which a session began to the last; none where nothing is dated."""
    day = _local_day(corpus.tz)
    first, last = corpus.sql(f"SELECT min({day}), max({day}) FROM sessions").row(0)
    return [] if first is None else [first + timedelta(days=n) for n in range((last - first).days + 1)]


def _models(corpus: Corpus) -> list[str]:
    names = "SELECT model FROM usage UNION SELECT model FROM outcomes UNION SELECT model FROM sessions"
    return corpus.sql(f"SELECT model FROM ({names}) WHERE model != '' ORDER BY model")["model"].to_list()


def _formats(corpus: Corpus) -> list[str]:
    return corpus.sql("SELECT DISTINCT format FROM sessions WHERE format != '' ORDER BY format")["format"].to_list()


def _named(names: Iterable[str]) -> list[tuple[str, str]]:
    return [(name, name) for name in names]


def _sentence(sessions: int, undated: int, selection: Selection) -> str:
    """How many sessions are shown, what a model chosen means, and what becomes of sessions without a date."""
    if not sessions:
        advice = "No session fits. Widen the period, or choose another model or format."
        return f'<p class="sl-none" role="status">{advice}</p>'
    narrowed = selection.days is not None
    among = f", {undated:,} of them without a date" if undated and not narrowed else ""
    said = [f"{counted(sessions, 'session')} chosen{among}."]
    if selection.model is not None:
        said.append(f"{escape(selection.model)} was at work in each; a session counts whole.")
    if undated and narrowed:
        said.append(f"{counted(undated, 'session')} without a date left out: they are in when the period is whole.")
    return f'<p class="sl-said" role="status">{" ".join(said)}</p>'


class _Spent(NamedTuple):
    """What the sessions chosen cost at some rates."""

    cost_usd: float | None
    unpriced: int
    lower_bounds: int


def _spent(by_model: pl.DataFrame) -> _Spent:
    """The sum of ``cost.by_model``; null where nothing is priced."""
    priced = by_model["cost_usd"].drop_nulls()
    return _Spent(
        float(priced.sum()) if priced.len() else None,
        int(by_model["unpriced"].sum()),
        int(by_model["lower_bounds"].sum()),
    )


def _cards(summary: dict[str, Any], then: _Spent, now: _Spent) -> str:
    """A card per figure: the figure large, what it is above, what it is a part of below."""
    runs, priced = summary["runs"], summary["runs_priced"]
    failed_ends = counted(summary["ended_on_failed_call"], "run")
    ends = f"{summary['unrecorded']:,} of unknown end" if summary["unrecorded"] else "every end recorded"
    cards = [
        _card(
            "runs",
            "Runs",
            f"{runs:,}",
            ends,
        ),
        _card(
            "tool_error_rate",
            "Tool errors",
            share(summary["tool_error_rate"]),
            f"{_count(summary['tool_errors'])} of {counted(summary['tool_calls'], 'tool call')}",
        ),
        _card(
            "ended_on_failed_call_rate",
            "Ended on a failed call",
            share(summary["ended_on_failed_call_rate"]),
            failed_ends,
        ),
        _card("cut_short_rate", "Cut short", share(summary["cut_short_rate"]), counted(summary["cut_short"], "run")),
        _card(
            "recorded_usd",
            "Cost as recorded",
            money(summary["recorded_usd"]),
            f"by {priced:,} of {counted(runs, 'run')}",
        ),
        _money_card("cost_usd", "At the rates of the day", then),
        _money_card("cost_now_usd", "At today's rates", now),
    ]
    return f'<div class="sl-cards">{"".join(cards)}</div>'


def _money_card(name: str, label: str, sums: _Spent) -> str:
    told = left_out(sums.unpriced, sums.lower_bounds)
    return _card(name, label, money(sums.cost_usd, at_least=bool(told)), told or "everything priced")


def _card(name: str, label: str, figure: str, beside: str) -> str:
    return (
        f'<div class="sl-card" data-figure="{name}"><div class="sl-label">{escape(label)}</div>'
        f'<div class="sl-figure">{escape(figure)}</div><div class="sl-beside">{escape(beside)}</div></div>'
    )


def _count(number: int | None) -> str:
    return UNKNOWN if number is None else f"{number:,}"


def _tool_table(by_tool: pl.DataFrame) -> str:
    """The tools called most, a row each; what is left out is said below."""
    if by_tool.is_empty():
        return '<p class="sl-said">No tool was called.</p>'
    rows = "".join(
        f'<tr><th scope="row" title="{escape(row["tool"] or "")}">{escape(row["tool"] or "(not told)")}</th>'
        f"<td>{row['calls']:,}</td><td>{row['errors']:,}</td>"
        f"<td>{share(row['error_rate'])}</td>"
        f"<td>{row['denied']:,}</td><td>{lasting(row['median_ms'])}</td></tr>"
        for row in by_tool.head(_TOOLS).to_dicts()
    )
    left = by_tool.tail(-_TOOLS)
    more = f"{counted(left.height, 'other tool')}, {counted(int(left['calls'].sum()), 'call')}" if left.height else ""
    return (
        '<table class="sl-tools"><caption>Tools, most called first</caption><thead><tr><th scope="col">tool</th>'
        '<th scope="col">calls</th><th scope="col">errors</th><th scope="col">rate</th><th scope="col">denied</th>'
        f'<th scope="col">median</th></tr></thead><tbody>{rows}</tbody></table><p class="sl-said">{more}</p>'
    )
