"""Rows with a ``day`` in, the same rows by stretches of time out: days, or weeks and more in a long corpus."""

from __future__ import annotations

from datetime import date, timedelta
from typing import Final, NamedTuple

import altair as alt
import polars as pl

from sessionlab.charts._theme import WIDTH

_FEWEST: Final = 10
"""Stretches an axis shows at least, so that one day is a bar and not a wall."""


class Stretch(NamedTuple):
    """A length of time that one mark of a chart stands for."""

    every: str
    """The length, in polars' words."""
    name: str
    days: float
    label: str
    """How a tooltip writes the stretch that begins on a day (strftime)."""


_STRETCHES: Final = (
    Stretch("1d", "day", 1, "%a %-d %b %Y"),
    Stretch("1w", "week", 7, "week from %-d %b %Y"),
    Stretch("1mo", "month", 30.44, "%B %Y"),
    Stretch("3mo", "quarter", 91.3, "quarter from %B %Y"),
    Stretch("1y", "year", 365.25, "%Y"),
    Stretch("10y", "decade", 3652.5, "decade from %Y"),
    Stretch("100y", "century", 36525, "century from %Y"),
)

_YEARS: Final = {"10y": 10, "100y": 100}
"""Stretches counted from the year 0: polars counts them from 1970, and so past the first year a date can hold."""


class Calendar(NamedTuple):
    """The stretches a chart draws: how long each is, and the first day of the first and of the last one."""

    stretch: Stretch
    first: date
    last: date

    def starts(self) -> pl.Series:
        """The first day of every stretch, without a gap, as the column ``day``."""
        years = _YEARS.get(self.stretch.every)
        if years is None:
            return pl.date_range(self.first, self.last, self.stretch.every, eager=True).alias("day")
        begun = range(self.first.year // years * years, self.last.year + 1, years)
        return pl.Series("day", [date(max(year, date.min.year), 1, 1) for year in begun], pl.Date)

    @property
    def gap(self) -> float:
        """Half the room between two bars, in pixels: a tenth of a bar, from one pixel to eight in all."""
        bars = max(_FEWEST, (self.last - self.first).days / self.stretch.days + 1)
        return min(4.0, max(0.5, round(WIDTH / bars / 20, 1)))

    def axis(self, field: str = "day") -> alt.X:
        """The time axis of a field, titled with its unit, over at least ten stretches."""
        length = timedelta(days=self.stretch.days)
        shown = (self.last - self.first) / length + 1
        pad = length * max(0.0, (_FEWEST - shown) / 2)
        low, high = _shifted(self.first, -pad), _shifted(self.last, length + pad)
        one_year = low.year == high.year
        if self.stretch.days < 30:  # noqa: PLR2004
            form = "%-d %b" if one_year else "%-d %b %Y"
        else:
            form = "%b %Y" if self.stretch.days < 365 else "%Y"  # noqa: PLR2004
        title = self.stretch.name if self.stretch.name == "day" else f"{self.stretch.name}, by its first day"
        if one_year:
            title += f" ({low.year})"
        axis = alt.Axis(format=form, tickCount=10 if one_year else 6, labelOverlap=True, grid=False)
        if self.stretch.name == "day" and shown <= 2 * _FEWEST:
            # Under the middle of each day, or every other: Vega would label hours of a short span.
            days = pl.date_range(low, high, "1d" if shown <= _FEWEST else "2d", closed="left", eager=True)
            axis["values"] = [_moment(day, hour=12) for day in days]
        return alt.X(
            f"{field}:T",
            title=title,
            axis=axis,
            scale=alt.Scale(domain=[_moment(low), _moment(high)]),
        )


def dated(rows: pl.DataFrame, most: int) -> tuple[pl.DataFrame, Calendar] | None:
    """The rows that have a day, each moved to the first day of its stretch, and the calendar; None when none has one.

    The stretch is the shortest of day, week (from Monday), month, quarter, year, decade and century of which
    ``most`` cover all rows: what is drawn stays small however long the corpus reaches.
    """
    rows = rows.drop_nulls("day")
    first, last = rows["day"].min(), rows["day"].max()
    if not (isinstance(first, date) and isinstance(last, date)):
        return None
    stretch = next((one for one in _STRETCHES if (last - first).days / one.days + 2 <= most), _STRETCHES[-1])
    rows = rows.with_columns(_begun(stretch))
    first, last = rows["day"].min(), rows["day"].max()
    assert isinstance(first, date)
    assert isinstance(last, date)
    return rows, Calendar(stretch, first, last)


def placed(rows: pl.DataFrame, calendar: Calendar) -> pl.DataFrame:
    """The rows with their stretch in words (``when``), its ``middle`` and the first day after it (``until``)."""
    begin = pl.col("day").cast(pl.Datetime("us"))
    end = pl.min_horizontal(pl.col("day").dt.offset_by(calendar.stretch.every), pl.lit(date.max))
    return rows.with_columns(
        when=pl.col("day").dt.strftime(calendar.stretch.label),
        middle=begin + (end.cast(pl.Datetime("us")) - begin) / 2,
        until=end,
    )


def stacked(amount: str) -> tuple[pl.Expr, pl.Expr]:
    """Where each row's amount begins and ends (``low``, ``high``) on top of the rows before it on the same day.

    Vega-Lite stacks no bars that have both an ``x`` and an ``x2``. An unknown amount has no height.
    """
    known = pl.col(amount).fill_null(0)
    high = known.cum_sum().over("day")
    return (high - known).alias("low"), high.alias("high")


def _begun(stretch: Stretch) -> pl.Expr:
    """The first day of the stretch a day is in, as the column ``day``."""
    day, years = pl.col("day"), _YEARS.get(stretch.every)
    if years is None:
        return day.dt.truncate(stretch.every)
    return pl.date((day.dt.year() // years * years).clip(lower_bound=date.min.year), 1, 1).alias("day")


def _shifted(day: date, by: timedelta) -> date:
    """The day so much later or earlier, kept inside the years a date can hold."""
    try:
        return day + by
    except OverflowError:
        return date.max if by > timedelta(0) else date.min


def _moment(day: date, hour: int = 0) -> alt.DateTime:
    """An hour of the day by the reader's clock, as the data is given in it; JavaScript reads years to 99 as 1900s."""
    return alt.DateTime(year=max(day.year, 100), month=day.month, date=day.day, hours=hour)
