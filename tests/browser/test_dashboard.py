"""The dashboard under Voila in a real browser: every control moves the figures to what the views say."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

import sessionlab as sl
from sessionlab.bundled import samples

if TYPE_CHECKING:
    from playwright.sync_api import Locator, Page

pytestmark = pytest.mark.browser

TIMEOUT_MS = 45_000
DRAWN = """(title) => [...document.querySelectorAll(".vega-embed svg")]
  .some((svg) => svg.textContent.replace(/\\s/g, "").includes(title))"""
"""Whether a chart has this title, told without spaces: a title of two lines has none between them."""


@pytest.fixture(scope="module")
def corpus() -> sl.Corpus:
    """What the dashboard shows, asked here without it."""
    return sl.load(samples() / "corpus", bodies=False)


@pytest.fixture(scope="module")
def shown(page: Page, dashboard_url: str) -> Page:
    """The dashboard, drawn."""
    page.goto(dashboard_url)
    page.locator(".sl-card").first.wait_for(timeout=TIMEOUT_MS)
    for chart in range(3):
        page.locator(".vega-embed svg").nth(chart).wait_for(timeout=TIMEOUT_MS)
    return page


def figures(page: Page) -> dict[str, str]:
    """The large figures by name."""
    return {
        card.get_attribute("data-figure") or "": card.locator(".sl-figure").inner_text()
        for card in page.locator(".sl-card").all()
    }


def expected(corpus: sl.Corpus) -> dict[str, str]:
    """The same figures out of the views, written in the plainest way."""
    [told] = corpus.view("health.summary").to_dicts()
    costs = {}
    for name, priced in {"cost_usd": corpus, "cost_now_usd": corpus.reprice("now")}.items():
        models = priced.view("cost.by_model")
        known = [usd for usd in models["cost_usd"] if usd is not None]
        bound = "≥ " if models["unpriced"].sum() + models["lower_bounds"].sum() else ""
        costs[name] = f"{bound}${sum(known):,.2f}" if known else "—"
    rates = ("tool_error_rate", "ended_on_failed_call_rate", "cut_short_rate")
    return {
        "runs": f"{told['runs']:,}",
        **{name: "—" if told[name] is None else f"{told[name]:.1%}" for name in rates},
        "recorded_usd": "—" if told["recorded_usd"] is None else f"${told['recorded_usd']:,.2f}",
        **costs,
    }


def choose(page: Page, label: str, option: str) -> None:
    """Choose an option of the dropdown with this label."""
    control = page.locator(".widget-dropdown").filter(has_text=label).locator("select")
    control.select_option(label=option)


def said(page: Page) -> Locator:
    """The line that tells how many sessions are chosen."""
    return page.locator('.sl-said[role="status"]')


def settle(page: Page, sessions: int) -> None:
    """Wait until the line tells this many sessions."""
    begins = f"{sessions} session{'' if sessions == 1 else 's'} chosen"
    page.wait_for_function(
        "(begins) => document.querySelector('.sl-said[role=\"status\"]')?.textContent.startsWith(begins)",
        arg=begins,
        timeout=TIMEOUT_MS,
    )


def count(corpus: sl.Corpus) -> int:
    """Sessions in a corpus."""
    return int(corpus.sql("SELECT count(*) FROM sessions").item())


def test_all_sessions_first(shown: Page, corpus: sl.Corpus) -> None:
    """It opens on everything, with the figures of the views, and no source code in sight."""
    settle(shown, count(corpus))
    assert figures(shown) == expected(corpus)
    assert "import sessionlab" not in shown.locator("body").inner_text()


def test_format_narrows(shown: Page, corpus: sl.Corpus) -> None:
    """Choosing a format shows the figures of its sessions; choosing `all` brings the others back."""
    narrow = corpus.where(format="mecha")
    choose(shown, "Format", "mecha")
    settle(shown, count(narrow))
    assert figures(shown) == expected(narrow)
    choose(shown, "Format", "all")
    settle(shown, count(corpus))
    assert figures(shown) == expected(corpus)


def test_model_narrows(shown: Page, corpus: sl.Corpus) -> None:
    """Choosing a model shows the sessions in which it was at work, whole, also where the opening names none."""
    model = "claude-sonnet-4-5"
    at_work = corpus.sql(
        "SELECT session_id FROM usage WHERE model = ? UNION SELECT session_id FROM outcomes WHERE model = ?"
        " UNION SELECT session_id FROM sessions WHERE model = ?",
        [model] * 3,
    )["session_id"].to_list()
    quoted = ", ".join(f"'{session}'" for session in at_work)
    narrow = corpus.where(f"session_id IN ({quoted})")
    choose(shown, "Model", model)
    settle(shown, count(narrow))
    assert figures(shown) == expected(narrow)
    choose(shown, "Model", "all")
    settle(shown, count(corpus))


def test_period_narrows(shown: Page, corpus: sl.Corpus) -> None:
    """Moving the left end of the period by keyboard leaves out earlier sessions, and says so of undated ones."""
    days = corpus.sql("SELECT min(created_at)::DATE AS a, max(created_at)::DATE AS b FROM sessions").row(0)
    handle = shown.locator(".widget-hslider .noUi-handle-lower")
    handle.focus()
    for _ in range(28):
        shown.keyboard.press("ArrowRight")
    readout = shown.locator(".widget-hslider .widget-readout")
    first = corpus.sql(f"SELECT DATE '{days[0]}' + 28 AS day").item()
    narrow = corpus.where(f"created_at::DATE >= DATE '{first:%Y-%m-%d}'")
    settle(shown, count(narrow))
    assert readout.inner_text().split(" - ") == [f"{day.day} {day:%b %Y}" for day in (first, days[1])]
    assert figures(shown) == expected(narrow)
    undated = corpus.sql("SELECT count(*) FROM sessions WHERE created_at IS NULL").item()
    assert f"{undated} sessions without a date left out" in said(shown).inner_text()
    for _ in range(28):
        shown.keyboard.press("ArrowLeft")
    settle(shown, count(corpus))


def test_charts_follow(shown: Page, corpus: sl.Corpus) -> None:
    """The table of tools and the charts are those of the sessions chosen, and a choice of none is in words."""
    narrow = corpus.where(format="datalayer")
    choose(shown, "Format", "datalayer")
    settle(shown, count(narrow))
    rows = [
        (row.locator("th").inner_text(), *row.locator("td").all_inner_texts()[:2])
        for row in shown.locator(".sl-tools tbody tr").all()
    ]
    told = narrow.view("health.by_tool").head(len(rows))
    counts = told.select("tool", "calls", "errors").rows()
    assert rows == [(tool, f"{calls:,}", f"{errors:,}") for tool, calls, errors in counts]
    [summary] = narrow.view("health.summary").to_dicts()
    completed = narrow.view("health.stop_causes", stop_class="completed")["runs"].sum()
    for title in (
        f"Run quality per day: {summary['tool_error_rate']:.1%} of tool calls failed",
        f"How runs ended: {completed} of {summary['runs']} runs completed",
    ):
        shown.wait_for_function(DRAWN, arg=title.replace(" ", ""), timeout=TIMEOUT_MS)
    choose(shown, "Model", "claude-opus-4-5")
    shown.get_by_text("No session fits. Widen the period, or choose another model or format.").wait_for(
        timeout=TIMEOUT_MS
    )
    assert shown.locator(".sl-card").count() == 0
    choose(shown, "Model", "all")
    choose(shown, "Format", "all")
    settle(shown, count(corpus))
    assert figures(shown) == expected(corpus)
