"""Frames in, text a person enjoys reading (or JSON) out."""

from __future__ import annotations

import json
import math
import sys
from collections.abc import Iterable, Sequence
from datetime import date, datetime
from typing import TYPE_CHECKING

from rich.box import SIMPLE_HEAD
from rich.console import Console
from rich.table import Table
from rich.text import Text

if TYPE_CHECKING:
    import polars as pl

UNKNOWN = "—"
SUMMED = ("_tokens", "_usd", "_bytes")
COUNTED = frozenset({"calls", "unpriced", "runs", "errors", "denied", "problems", "files"})
_CENT = 0.01


def console() -> Console:
    """A console on stdout that never cuts a line when its output goes to a file or a pipe."""
    return Console(width=None if sys.stdout.isatty() else 240, highlight=False, soft_wrap=False)


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
    return round(value, 12) if isinstance(value, float) and name.endswith("_usd") else value


def _plain(value: object) -> object:
    if isinstance(value, datetime):
        return value.isoformat(timespec="microseconds" if value.microsecond else "seconds") + "Z"
    if isinstance(value, date):
        return value.isoformat()
    raise TypeError(f"no JSON for {type(value).__name__}")


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


def table(frame: pl.DataFrame, *, title: str | None = None, totals: bool = False, limit: int | None = None) -> Table:
    """A frame as a table: numbers to the right, units by column name, — for unknown, totals where it adds up."""
    shown = frame if limit is None else frame.head(limit)
    drawn = Table(box=SIMPLE_HEAD, title=title, title_justify="left", show_footer=False, pad_edge=False)
    for name, kind in zip(frame.columns, frame.dtypes, strict=True):
        drawn.add_column(heading(name), justify="right" if kind.is_numeric() else "left", overflow="ellipsis")
    for row in shown.iter_rows():
        drawn.add_row(*(Text(cell(name, value)) for name, value in zip(frame.columns, row, strict=True)))
    if totals and frame.height > 1:
        drawn.add_section()
        drawn.add_row(*_totals(frame), style="bold")
    return drawn


def _totals(frame: pl.DataFrame) -> list[Text]:
    cells = []
    for place, name in enumerate(frame.columns):
        if name.endswith(SUMMED) or name in COUNTED:
            known = frame[name].drop_nulls()
            cells.append(Text(cell(name, known.sum() if known.len() else None)))
        else:
            cells.append(Text("total" if place == 0 else ""))
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
