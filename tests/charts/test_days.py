"""Days, and the weeks and more that take their place in a long corpus."""

from __future__ import annotations

from datetime import date, timedelta

import polars as pl
import pytest

from sessionlab.charts._days import dated, placed, stacked


@pytest.mark.parametrize(
    ("span", "stretch"),
    [
        (0, "day"),
        (118, "day"),
        (119, "week"),
        (800, "week"),
        (900, "month"),
        (3_650, "quarter"),
        (20_000, "year"),
        (100_000, "decade"),
        (3_000_000, "century"),
    ],
)
def test_stretch_is_the_shortest_that_fits(span: int, stretch: str) -> None:
    """120 marks at most: days up to 119 of them, then weeks, months, quarters, years, decades, centuries."""
    rows = pl.DataFrame({"day": [date(1, 1, 1), date(1, 1, 1) + timedelta(span)]})
    known = dated(rows, 120)
    assert known is not None
    assert known[1].stretch.name == stretch
    assert len(known[1].starts()) <= 120
    assert set(known[0]["day"]) <= set(known[1].starts())


def test_week_begins_on_monday() -> None:
    """2026-03-04, a Wednesday, is in the week from Monday the second to the ninth."""
    rows = pl.DataFrame({"day": [date(2026, 3, 4), date(2026, 3, 4) + timedelta(200)]})
    known = dated(rows, 120)
    assert known is not None
    first = placed(*known).row(0, named=True)
    assert (first["day"], first["until"], first["when"]) == (
        date(2026, 3, 2),
        date(2026, 3, 9),
        "week from 2 Mar 2026",
    )


def test_last_day_of_the_calendar_has_an_end() -> None:
    """Nothing runs past the year 9999."""
    known = dated(pl.DataFrame({"day": [date.max]}), 120)
    assert known is not None
    assert placed(*known)["until"].to_list() == [date.max]


def test_no_day_at_all_is_none() -> None:
    """Rows without a day have no calendar."""
    assert dated(pl.DataFrame({"day": [None]}, schema={"day": pl.Date}), 120) is None


def test_axis_is_given_in_the_readers_own_midnight() -> None:
    """The axis ends at midnight after the last day, as the data begins at midnight: neither is in UTC."""
    known = dated(pl.DataFrame({"day": [date(2026, 3, 1) + timedelta(n) for n in range(30)]}), 120)
    assert known is not None
    axis = known[1].axis().to_dict()
    assert axis["scale"]["domain"] == [
        {"year": 2026, "month": 3, "date": 1, "hours": 0},
        {"year": 2026, "month": 3, "date": 31, "hours": 0},
    ]
    assert axis["title"] == "day (2026)"


def test_one_day_has_room_around_it() -> None:
    """A single day stands among ten, each labelled once at its noon."""
    known = dated(pl.DataFrame({"day": [date(2026, 3, 11)]}), 120)
    assert known is not None
    labels = known[1].axis().to_dict()["axis"]["values"]
    assert [(label["month"], label["date"], label["hours"]) for label in labels] == [(3, n, 12) for n in range(6, 16)]


def test_stacked_amounts_stand_on_those_before() -> None:
    """2, unknown, 3 on one day reach from 0 to 2, 2 to 2, 2 to 5; the next day begins at 0."""
    one, two = date(2026, 3, 1), date(2026, 3, 2)
    rows = pl.DataFrame({"day": [one, one, one, two], "usd": [2.0, None, 3.0, 7.0]}).select(*stacked("usd"))
    assert rows.rows() == [(0.0, 2.0), (2.0, 2.0), (2.0, 5.0), (0.0, 7.0)]
