"""Frames in, text a person enjoys reading (or JSON) out."""

from __future__ import annotations

import json
import math
import sys
from collections.abc import Iterable, Sequence
from datetime import date, datetime, time, timedelta
from decimal import Decimal
from typing import TYPE_CHECKING

from rich.box import SIMPLE_HEAD
from rich.cells import cell_len
from rich.console import Console
from rich.table import Table
from rich.text import Text

if TYPE_CHECKING:
    import polars as pl

UNKNOWN = "—"
SUMMED = ("_tokens", "_usd", "_bytes")
COUNTED = frozenset({"calls", "unpriced", "runs", "errors", "denied", "problems", "files"})
_CENT = 0.01


PIPED_WIDTH = 100_000
"""Into a file or a pipe nothing is cut."""
KEYS = 3
"""The first columns of a view say what a row is about."""
TELLING = frozenset({"calls", "runs", "sessions", "errors", "denied", "unpriced", "tokens", "output_tokens", "model"})
LEAST_TEXT = 14
"""Characters to which a column of text may shrink before a table is given up for records."""


def console() -> Console:
    """A console on stdout that never cuts a line when its output goes to a file or a pipe."""
    return Console(width=None if sys.stdout.isatty() else PIPED_WIDTH, highlight=False, soft_wrap=False)


def print_json(value: object) -> None:
    """``value`` as JSON on stdout; times as ISO text ending in Z, money to a trillionth of a dollar."""
    told = json.dumps(_rounded(value), default=_plain, ensure_ascii=False, indent=2, allow_nan=False)
    sys.stdout.write(told + "\n")


def _rounded(value: object, name: str = "") -> object:
    """Sums of money carry the dust of binary fractions (0.018625000000000003): no reader should compare it."""
    if isinstance(value, dict):
        return {key: _rounded(inner, key) for key, inner in value.items()}
    if isinstance(value, list):
        return [_rounded(inner, name) for inner in value]
    if isinstance(value, float):
        if not math.isfinite(value):
            return None  # JSON has no word for it
        return round(value, 12) if name.endswith("_usd") else value
    return value


def _plain(value: object) -> object:
    if isinstance(value, datetime):
        return value.isoformat(timespec="microseconds" if value.microsecond else "seconds") + "Z"
    if isinstance(value, date | time):
        return value.isoformat()
    if isinstance(value, Decimal):
        return int(value) if value == value.to_integral_value() else float(value)
    if isinstance(value, bytes):
        return value.hex()
    if isinstance(value, timedelta):
        return value.total_seconds()
    return str(value)


def records(frame: pl.DataFrame) -> list[dict[str, object]]:
    """The rows of a frame as JSON objects."""
    return frame.to_dicts()


def money(value: float | None) -> str:
    """US dollars: two decimals, more below a cent, — when unknown."""
    if value is None:
        return UNKNOWN
    if value and abs(value) < _CENT:
        return f"${value:.{min(10, 1 - math.floor(math.log10(abs(value))))}f}"
    return f"${value:,.2f}"


def cell(name: str, value: object) -> str:
    """One value as a person reads it, by the unit its column name ends in."""
    if value is None:
        return UNKNOWN
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, int | float) and name.endswith("_usd"):
        return money(float(value))
    if isinstance(value, float):
        return f"{value:.1%}" if name.endswith(("_rate", "share", "observed", "threshold")) else f"{value:,.4g}"
    if isinstance(value, int):
        return str(value) if name.endswith(("_id", "seq", "line", "run")) else f"{value:,}"
    if isinstance(value, datetime):
        return value.strftime("%Y-%m-%d %H:%M")
    return visible(str(value))


def counted(number: int, thing: str) -> str:
    """A number of things in words."""
    return f"{number:,} {thing}{'' if number == 1 else 's'}"


def visible(text: str) -> str:
    """``text`` on one line, control and direction characters shown as harmless signs."""
    out = []
    for sign in text:
        code = ord(sign)
        if sign in "\n\r\t":
            out.append({"\n": "⏎", "\r": "", "\t": " "}[sign])
        elif code < 0x20 or code == 0x7F:  # noqa: PLR2004 (C0 controls and DEL)
            out.append(chr(0x2400 + code) if code != 0x7F else "␡")  # noqa: PLR2004
        elif 0x80 <= code < 0xA0 or code in _DIRECTIONS:  # noqa: PLR2004 (C1 controls)
            out.append(f"<U+{code:04X}>")
        else:
            out.append(sign)
    return "".join(out)


_DIRECTIONS = frozenset([0x200E, 0x200F, 0x061C, *range(0x202A, 0x202F), *range(0x2066, 0x206A), 0x2028, 0x2029])


def print_table(
    frame: pl.DataFrame, *, title: str | None = None, totals: bool = False, limit: int | None = None
) -> None:
    """A frame as a table: numbers to the right, units by column name, — for unknown, totals where it adds up.

    Where it is wider than the terminal, columns that are null throughout are left out, then texts are shortened, then
    columns left out and named; what still does not fit is written as records, a column a line. No figure is ever cut.
    """
    out = console()
    shown = frame if limit is None else frame.head(limit)
    rows = [[cell(n, v) for n, v in zip(frame.columns, row, strict=True)] for row in shown.iter_rows()]
    if totals and frame.height > 1:
        rows.append(_totals(frame))
    numeric = [kind.is_numeric() for kind in frame.dtypes]
    widths = [
        max(_widest_word(heading(name)), *(cell_len(row[place]) for row in rows), 1)
        for place, name in enumerate(frame.columns)
    ]
    kept = list(range(len(frame.columns)))
    if _drawn_width(widths, kept) > out.width:
        kept = [i for i in kept if frame[frame.columns[i]].null_count() < frame.height] or kept[:1]
    least = [w if numeric[i] else min(w, LEAST_TEXT) for i, w in enumerate(widths)]
    absent = []
    for i in sorted(kept, key=lambda i: (_worth(frame.columns[i], i), -i)):
        if _drawn_width(least, kept) <= out.width or _worth(frame.columns[i], i) > 0:
            break
        kept.remove(i)
        absent.append(heading(frame.columns[i]))
    if title:
        out.print(Text(title, style="italic"))
    if _drawn_width(least, kept) > out.width:
        _print_records(out, [frame.columns[i] for i in kept], [[row[i] for i in kept] for row in rows])
        return
    drawn = Table(box=SIMPLE_HEAD, pad_edge=False)
    for i in kept:
        drawn.add_column(
            heading(frame.columns[i]),
            justify="right" if numeric[i] else "left",
            no_wrap=False,
            min_width=least[i],
            overflow="ellipsis",
        )
    for number, row in enumerate(rows):
        last = totals and frame.height > 1 and number == len(rows) - 1
        if last:
            drawn.add_section()
        drawn.add_row(*(Text(row[i], no_wrap=True, overflow="ellipsis") for i in kept), style="bold" if last else None)
    out.print(drawn)
    if absent:
        out.print(Text(f"left out here: {', '.join(reversed(absent))} (a wider terminal, or --json)", style="dim"))


def _worth(name: str, place: int) -> int:
    """0 for what a narrow terminal may leave out: neither a key, nor money, nor a count of things, nor a rate."""
    telling = name.endswith(("_usd", "_rate", "share")) or name in TELLING
    return 1 if place < KEYS or telling else 0


def _widest_word(text: str) -> int:
    return max(map(len, text.split()), default=1)


def _drawn_width(widths: list[int], kept: list[int]) -> int:
    return sum(widths[i] + 3 for i in kept)


def _print_records(out: Console, names: list[str], rows: list[list[str]]) -> None:
    label = max(len(heading(name)) for name in names)
    for number, row in enumerate(rows, 1):
        out.print(Text(f"── {number} " + "─" * 12, style="dim"))
        for name, text in zip(names, row, strict=True):
            out.print(Text(f"{heading(name):<{label}}  {text}"), soft_wrap=True)


def _totals(frame: pl.DataFrame) -> list[str]:
    cells = []
    for place, name in enumerate(frame.columns):
        if name.endswith(SUMMED) or name in COUNTED:
            known = frame[name].drop_nulls()
            cells.append(cell(name, known.sum() if known.len() else None))
        else:
            cells.append("total" if place == 0 else "")
    return cells


def heading(name: str) -> str:
    """A column's name as a heading, its unit in words."""
    for ending, unit in (("_usd", "US$"), ("_tokens", "tokens"), ("_ms", "ms"), ("_bytes", "bytes"), ("_at", "")):
        if name.endswith(ending):
            return f"{name.removesuffix(ending).replace('_', ' ')} {unit}".strip()
    return name.replace("_", " ")


def lines(rows: Iterable[Sequence[str]], widths: Sequence[int]) -> str:
    """Rows in fixed columns: the first to the left, the others to the right."""
    out = []
    for row in rows:
        first, *rest = row
        cells = [f"{first:<{widths[0]}}", *(f"{text:>{width}}" for text, width in zip(rest, widths[1:], strict=True))]
        out.append(" ".join(cells).rstrip())
    return "\n".join(out)
