"""Figures in, the words that stand for them in titles, labels and tooltips out."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from collections.abc import Iterable

UNKNOWN: Final = "—"
"""What stands for a figure that cannot be told. Never a zero."""

_FEW: Final = 0.001
_CENT: Final = 0.01
_SHOWN: Final = 0.0001
"""The smallest sum of money that is written in figures."""


def money(usd: float | None, *, at_least: bool = False) -> str:
    """US dollars to the cent, to a hundredth of a cent where less was spent, ``—`` when unknown.

    ``at_least`` marks a sum that leaves something out: ``≥ $1.23``.
    """
    if usd is None:
        return UNKNOWN
    if 0 < usd < _SHOWN:
        return "> $0.00" if at_least else f"< ${_SHOWN}"
    figure = f"${abs(usd):,.4f}" if 0 < abs(usd) < _CENT else f"${abs(usd):,.2f}"
    return f"{'≥ ' if at_least else ''}{'-' if usd < 0 else ''}{figure}"


def spent(usd: float | None, *, at_least: bool) -> str:
    """A sum of money in a sentence: ``$1.23``, ``at least $1.23``, or that it is unknown."""
    if usd is None:
        return "unknown, nothing is priced"
    return f"{'at least ' if at_least else ''}{money(usd)}"


def left_out(unpriced: int, lower_bounds: int) -> str:
    """Why a sum of money is a lower bound: ``5 charges unpriced, 2 known to be higher``; nothing where it is none."""
    reasons = [f"{counted(unpriced, 'charge')} unpriced"] if unpriced else []
    if lower_bounds:
        reasons.append(
            f"{lower_bounds:,} known to be higher"
            if reasons
            else f"{counted(lower_bounds, 'charge')} known to be higher"
        )
    return ", ".join(reasons)


def counted(number: int | None, thing: str) -> str:
    """A count with its noun: ``1 call``, ``1,204 calls``, ``an unknown number of calls``."""
    if number is None:
        return f"an unknown number of {thing}s"
    return f"{number:,} {thing}{'' if number == 1 else 's'}"


def share(rate: float | None) -> str:
    """A rate in percent with one decimal, ``—`` when it has no denominator.

    Only none at all is ``0.0%`` and only all is ``100.0%``: what rounds to them is ``< 0.1%`` and ``> 99.9%``.
    """
    if rate is None:
        return UNKNOWN
    if 0 < rate < _FEW:
        return f"< {_FEW:.1%}"
    return f"> {1 - _FEW:.1%}" if 1 - _FEW < rate < 1 else f"{rate:.1%}"


def lasting(milliseconds: float | None) -> str:
    """A duration in the unit a person would use: ``340 ms``, ``2.4 s``, ``3 min 20 s``, ``—`` when unknown."""
    if milliseconds is None:
        return UNKNOWN
    if round(milliseconds) < 1_000:  # noqa: PLR2004
        return f"{milliseconds:.0f} ms"
    if round(milliseconds / 1_000, 1) < 60:  # noqa: PLR2004
        return f"{milliseconds / 1_000:.1f} s"
    minutes, seconds = divmod(round(milliseconds / 1_000), 60)
    return f"{minutes:,} min {seconds} s"


def brief(number: int | None) -> str:
    """A large count in three digits: ``812``, ``1.25k``, ``3.4M``, ``2.1B``, ``—`` when unknown."""
    if number is None:
        return UNKNOWN
    for size, letter in ((10**12, "T"), (10**9, "B"), (10**6, "M"), (10**3, "k")):
        # The next unit begins where three digits would round up to a thousand of this one.
        if abs(number) >= size - size // 2_000:
            return f"{number / size:.3g}{letter}"
    return str(number)


def sentence(parts: Iterable[str]) -> str:
    """The parts that say something, joined by a middle dot."""
    return " · ".join(part for part in parts if part)
