"""The words for figures, and recorded text made visible."""

from __future__ import annotations

import pytest

from sessionlab.widgets._budget import largest_that_fits, longest_each
from sessionlab.widgets._words import duration, one_line, plural, size, tokens, visible, window_use, written


@pytest.mark.parametrize(
    ("count", "words"),
    [(0, "0"), (950, "950"), (1_000, "1k"), (1_050, "1.05k"), (18_234, "18.2k"), (64_000, "64k"), (200_000, "200k"),
     (131_072, "131k"), (999_499, "999k"), (999_500, "1M"), (1_048_576, "1.05M"), (9_996, "10k")],
)  # fmt: skip
def test_tokens_stand_in_three_figures(count: int, words: str) -> None:
    """A count keeps three figures, and no zeros that say nothing."""
    assert tokens(count) == words


@pytest.mark.parametrize(
    ("context", "window", "words"),
    [
        (18_234, 64_000, "18.2k of 64k window (28 %)"),
        (64_000, 64_000, "64k of 64k window (100 %)"),
        (500, None, "500 in context, window not told"),
        (500, 0, "500 in context, window not told"),
        (None, 64_000, "64k window, use not told"),
        (None, None, None),
    ],
)
def test_window_use_says_what_is_not_told(context: int | None, window: int | None, words: str | None) -> None:
    """18,234 of 64,000 is 28.49 %; a missing figure is named, never taken for zero."""
    assert window_use(context, window) == words


def test_what_was_written_is_counted_in_words() -> None:
    """One is singular; what is not told is not zero."""
    assert [written(count) for count in (0, 1, 18_234, None)] == ["0 tokens", "1 token", "18.2k tokens", None]


@pytest.mark.parametrize(
    ("milliseconds", "words"),
    [(0, "0 ms"), (999.4, "999 ms"), (4_200, "4.2 s"), (59_960, "1 min 00 s"), (185_000, "3 min 05 s"),
     (3_599_600, "1 h 00 min"), (7_620_000, "2 h 07 min"), (97_200_000, "1 d 03 h")],
)  # fmt: skip
def test_durations_stand_in_two_units(milliseconds: float, words: str) -> None:
    """A length of time is told in its two largest units, also just below the next one."""
    assert duration(milliseconds) == words


@pytest.mark.parametrize(
    ("count", "words"),
    [(812, "812 B"), (4_096, "4.1 kB"), (999_960, "1.0 MB"), (1_000_000, "1.0 MB"), (2_500_000_000, "2.5 GB")],
)
def test_sizes_are_decimal(count: int, words: str) -> None:
    """A megabyte is a million bytes."""
    assert size(count) == words


def test_plurals() -> None:
    """One is singular, and none and many are plural."""
    assert [plural(n, "agent") for n in (0, 1, 1_204)] == ["0 agents", "1 agent", "1,204 agents"]
    assert plural(2, "entry", "entries") == "2 entries"


def test_steering_characters_are_named() -> None:
    """Escape, bell, override, isolate, tag and byte order mark are seen by name and no longer act."""
    text = "\x1b[31mred\x07 \u202eabc\u2066 \U000e0041 \ufeff \x85\u2028"
    assert visible(text) == (
        "⟨ESC⟩[31mred⟨BEL⟩ ⟨U+202E⟩abc⟨U+2066⟩ ⟨U+E0041⟩ ⟨U+FEFF⟩ ⟨U+0085⟩⟨U+2028⟩"
    )  # fmt: skip


def test_lines_tabs_and_joiners_stay() -> None:
    """What only lays out text, and what emoji and Persian are written with, is left alone; CR LF is one line end."""
    assert visible("a\tb\r\nc\rd \U0001f469\u200d\U0001f4bb") == "a\tb\nc⟨CR⟩d \U0001f469\u200d\U0001f4bb"


def test_one_line_is_one_line_and_short() -> None:
    """Line ends are shown as a sign; a long text ends in an ellipsis and counts it."""
    assert one_line("two\nlines\there") == "two ⏎ lines here"
    assert one_line("x" * 300, 10) == "xxxxxxxxx…"


def test_longest_each_fills_the_budget() -> None:
    """Of 10, 20, 300, 400 bytes in 230 the short stay whole and the long get 100 each."""
    assert longest_each([300, 10, 400, 20], 230) == 100
    assert longest_each([300, 10, 400, 20], 730) == 400
    assert longest_each([], 5) == 0
    assert longest_each([7, 7], -4) == 0


def test_largest_that_fits() -> None:
    """The largest n whose cost is within the budget, and 0 when not even one fits."""
    assert largest_that_fits(1_000, lambda n: 3 * n, 100) == 33
    assert largest_that_fits(5, lambda n: 3 * n, 100) == 5
    assert largest_that_fits(5, lambda n: 50 + n, 10) == 0
