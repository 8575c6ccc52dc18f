"""Figures in words: money, counts, shares, durations, large numbers."""

from __future__ import annotations

import pytest

from sessionlab.charts._wording import brief, counted, lasting, money, sentence, share, spent


@pytest.mark.parametrize(
    ("usd", "words"),
    [
        (None, "—"),
        (0.0, "$0.00"),
        (0.00003, "< $0.0001"),
        (0.0042, "$0.0042"),
        (0.01, "$0.01"),
        (1.234, "$1.23"),
        (1234567.891, "$1,234,567.89"),
        (-2.5, "-$2.50"),
    ],
)
def test_money(usd: float | None, words: str) -> None:
    """Dollars and cents, more digits below a cent, and never a zero for what is unknown or merely small."""
    assert money(usd) == words


@pytest.mark.parametrize(("usd", "words"), [(1.234, "≥ $1.23"), (0.0, "≥ $0.00"), (0.00003, "> $0.00"), (None, "—")])
def test_money_at_least(usd: float | None, words: str) -> None:
    """A lower bound is marked as one."""
    assert money(usd, at_least=True) == words


def test_spent() -> None:
    """A sum in a sentence says when it is a lower bound and when it is unknown."""
    assert spent(7.5, at_least=False) == "$7.50"
    assert spent(7.5, at_least=True) == "at least $7.50"
    assert spent(None, at_least=True) == "unknown, nothing is priced"


def test_counted() -> None:
    """A count agrees with its noun."""
    assert [counted(n, "call") for n in (0, 1, 1204)] == ["0 calls", "1 call", "1,204 calls"]
    assert counted(None, "call") == "an unknown number of calls"


@pytest.mark.parametrize(
    ("rate", "words"),
    [(None, "—"), (0.0, "0.0%"), (0.0004, "< 0.1%"), (0.1234, "12.3%"), (0.9997, "> 99.9%"), (1.0, "100.0%")],
)
def test_share(rate: float | None, words: str) -> None:
    """A rate never rounds to none or to all."""
    assert share(rate) == words


@pytest.mark.parametrize(
    ("milliseconds", "words"),
    [
        (None, "—"),
        (0.0, "0 ms"),
        (340.2, "340 ms"),
        (999.7, "1.0 s"),
        (2_440.0, "2.4 s"),
        (59_970.0, "1 min 0 s"),
        (200_000.0, "3 min 20 s"),
    ],
)
def test_lasting(milliseconds: float | None, words: str) -> None:
    """A duration is in the unit a person would use, and never 60 seconds."""
    assert lasting(milliseconds) == words


@pytest.mark.parametrize(
    ("number", "words"),
    [
        (None, "—"),
        (812, "812"),
        (999, "999"),
        (1_250, "1.25k"),
        (999_400, "999k"),
        (999_700, "1M"),
        (2_100_000_000, "2.1B"),
        (99_800_000_000_000, "99.8T"),
    ],
)
def test_brief(number: int | None, words: str) -> None:
    """Large counts have three digits and the letter of English."""
    assert brief(number) == words


def test_sentence_leaves_out_what_says_nothing() -> None:
    """Empty parts leave no dot behind."""
    assert sentence(["a", "", "b"]) == "a · b"
