"""The picture of two runs: title, counts, links, and what of long runs is drawn."""

from __future__ import annotations

from typing import Any

import polars as pl

from sessionlab import charts
from sessionlab.replay import Call, RecordedCall, alignment

Row = dict[str, Any]


def runs(recorded: list[tuple[str, Any, int]], replayed: list[tuple[str, Any]]) -> pl.DataFrame:
    """The table of two runs."""
    ours = [RecordedCall(name, given, batch=batch) for name, given, batch in recorded]
    return alignment(ours, [Call(name, given) for name, given in replayed])


def marks(chart: Any) -> dict[str, list[str]]:
    """The standings of the calls drawn one by one, by run, in order."""
    found: dict[str, dict[int, str]] = {"recorded": {}, "replayed": {}}
    for row in chart.having("side", "call", "standing"):
        found[row["side"]][row["call"]] = row["standing"]
    return {side: [by_call[call] for call in sorted(by_call)] for side, by_call in found.items()}


THREE = [("list", 1, 0), ("read", 2, 0), ("web", 3, 1)]


def test_runs_that_are_the_same(read: Any) -> None:
    """Reordered inside a batch is the same; links cross, the batch is one bar."""
    chart = read(charts.divergence(runs(THREE, [("read", 2), ("list", 1), ("web", 3)])))
    assert chart.title == "Both runs made the same 3 calls"
    assert chart.notes == ["3 recorded · 3 replayed · 3 the same"]
    links = {(row["call"], row["end"]) for row in chart.having("end", "word")}
    assert links == {(1, 2), (2, 1), (3, 3)}
    assert [(round(row["call"], 2), round(row["end"], 2)) for row in chart.having("end", "batch")] == [(0.58, 2.42)]


def test_runs_that_part(read: Any) -> None:
    """The title names the call and both tools; what comes after is not compared."""
    chart = read(
        charts.divergence(runs([*THREE, ("todo", 4, 2)], [("list", 9), ("read", 2), ("shell", 3), ("todo", 4)]))
    )
    assert chart.title == "The runs part at call 3: web was recorded, shell was replayed"
    assert chart.notes == ["4 recorded · 4 replayed · 1 the same · 1 with other arguments · 1 not compared"]
    assert marks(chart)["recorded"] == ["arguments", "same", "tool", "not compared"]
    assert "≠" in [mark["text"] for mark in chart.parts("mark") if isinstance(mark, dict) and "text" in mark]


def test_runs_of_different_length(read: Any) -> None:
    """How many calls are missing, or too many."""
    shorter = read(charts.divergence(runs(THREE, [("list", 1), ("read", 2)])))
    longer = read(charts.divergence(runs(THREE, [("list", 1), ("read", 2), ("web", 3), ("web", 4)])))
    assert shorter.title == "The replay ended 1 call before the recording"
    assert longer.title == "The replay made 1 call more than the recording"
    assert longer.notes == ["3 recorded · 4 replayed · 3 the same · 1 extra"]


def test_other_arguments_alone(read: Any) -> None:
    """No parting, no rule across."""
    chart = read(charts.divergence(runs(THREE, [("list", 1), ("read", 7), ("web", 3)])))
    assert chart.title == "The same tools, 1 of 3 calls with other arguments"


def test_long_runs_are_drawn_around_the_parting_beside_a_strip_of_all(read: Any) -> None:
    """10,000 calls: thirty one by one, ten of them before the parting; stretches of cells of 84 calls cover all."""
    ours = [("read", n, n // 4) for n in range(10_000)]
    theirs: list[tuple[str, Any]] = [(name, given) for name, given, _ in ours]
    theirs[17] = ("read", "other")
    theirs[7_000] = ("shell", 0)
    chart = read(charts.divergence(runs(ours, theirs)))
    assert chart.title == "The runs part at call 7,001: read was recorded, shell was replayed"
    drawn = {row["call"] for row in chart.having("side", "call", "standing")}
    assert drawn == set(range(6_991, 7_021))
    assert chart.notes[1].startswith("calls 6,991 to 7,020 of 10,000; on the left all of them, 84 calls to a cell")
    strip = [row for row in chart.having("side", "begin", "end", "word") if row["side"] == "recorded"]
    assert strip[0] == {"side": "recorded", "word": "other arguments", "begin": 0, "end": 84, "since": 1}
    assert [one["end"] for one in strip] == [*(one["begin"] for one in strip[1:]), 10_000]
    assert [one["word"] for one in strip] == ["other arguments", "same", "another tool", "not compared"]
    assert len(chart.rows) < 300


def test_long_runs_that_never_part_are_drawn_where_they_first_differ(read: Any) -> None:
    """Other arguments at call 60 of 90: the rows end with the run."""
    ours = [("read", n, n) for n in range(90)]
    theirs = [(name, -1 if given == 79 else given) for name, given, _ in ours]
    chart = read(charts.divergence(runs(ours, theirs)))
    assert {row["call"] for row in chart.having("side", "call", "standing")} == set(range(61, 91))
    same = read(charts.divergence(runs(ours, [(name, given) for name, given, _ in ours])))
    assert {row["call"] for row in same.having("side", "call", "standing")} == set(range(1, 31))


def test_unknown_standing_is_not_taken_for_one(read: Any) -> None:
    """A word nobody knows, and none, are drawn as not compared; another side is left out."""
    table = pl.DataFrame(
        {
            "side": ["recorded", "recorded", "elsewhere"],
            "position": [0, 1, 0],
            "batch": [None, None, None],
            "tool": [None, "x", "y"],
            "standing": ["vanished", None, "same"],
            "mate": [None, None, None],
        }
    )
    chart = read(charts.divergence(table))
    assert marks(chart) == {"recorded": ["not compared", "not compared"], "replayed": []}
    assert {row["tool"] for row in chart.having("side", "call", "tool")} == {"(not told)", "x"}
