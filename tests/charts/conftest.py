"""Small tables for every chart, with no value twice, and a way to read a chart back: its rows, its words, its spec."""

from __future__ import annotations

from datetime import date
from typing import Any

import polars as pl
import pytest

from sessionlab import charts

SPEND = {"day": pl.Date, "model": pl.String, "cost_usd": pl.Float64, "calls": pl.Int64, "unpriced": pl.Int64}
CALLS = {
    "side": pl.String,
    "position": pl.Int64,
    "batch": pl.Int64,
    "tool": pl.String,
    "standing": pl.String,
    "mate": pl.Int64,
}
TABLES: dict[str, pl.DataFrame] = {
    "divergence": pl.DataFrame(
        [
            ("recorded", 0, 0, "fs_list", "same", 1),
            ("recorded", 1, 0, "fs_read", "arguments", 0),
            ("recorded", 2, 1, "kg_search", "tool", 2),
            ("recorded", 3, 1, "todo", "not compared", None),
            ("replayed", 0, None, "fs_read", "arguments", 1),
            ("replayed", 1, None, "fs_list", "same", 0),
            ("replayed", 2, None, "shell", "tool", 2),
        ],
        schema=CALLS,
        orient="row",
    ),
    "spend": pl.DataFrame(
        [
            (date(2026, 3, 2), "opus", 4.25, 17, 0),
            (date(2026, 3, 2), "mini", 0.5, 29, 0),
            (date(2026, 3, 4), "opus", 2.0, 11, 5),
            (date(2026, 3, 4), "mystery", None, 7, 7),
            (None, "mini", 1.2, 3, 0),
        ],
        schema=SPEND,
        orient="row",
    ),
    "spend_by_model": pl.DataFrame(
        [
            ("acme", "opus", 28, 6.25, 5),
            ("acme", "mini", 32, 1.7, 0),
            ("home", "mini", 41, 0.0, 0),
            ("other", "mystery", 7, None, 7),
        ],
        schema={
            "provider": pl.String,
            "model": pl.String,
            "calls": pl.Int64,
            "cost_usd": pl.Float64,
            "unpriced": pl.Int64,
        },
        orient="row",
    ),
    "stop_causes": pl.DataFrame(
        [
            ("completed", "completed", 12),
            ("max_turns", "cut_short", 5),
            ("stopped", "interrupted", 4),
            ("error", "failed", 2),
            ("error", None, 1),
        ],
        schema={"stop_cause": pl.String, "stop_class": pl.String, "runs": pl.Int64},
        orient="row",
    ),
    "tool_reliability": pl.DataFrame(
        [
            ("Bash", 40, 6, 2, 1, 0.15, 830.0, 22_000.0),
            ("Read", 50, 3, 5, 0, 0.06, 12.0, 90_000.0),
            ("Odd", 0, 0, 0, 0, None, None, None),
        ],
        schema={
            "tool": pl.String,
            "calls": pl.Int64,
            "errors": pl.Int64,
            "denied": pl.Int64,
            "unanswered": pl.Int64,
            "error_rate": pl.Float64,
            "median_ms": pl.Float64,
            "p95_ms": pl.Float64,
        },
        orient="row",
    ),
    "tokens": pl.DataFrame(
        [
            (date(2026, 3, 2), "uncached input", 1_500),
            (date(2026, 3, 2), "cache read", 64_000),
            (date(2026, 3, 2), "output", 2_300),
            (date(2026, 3, 3), "cache write", 9_100),
            (None, "output", 77),
        ],
        schema={"day": pl.Date, "kind": pl.String, "tokens": pl.Int64},
        orient="row",
    ),
    "run_quality": pl.DataFrame(
        [
            (date(2026, 3, 2), 10, 100, 5, 0.05, 2, 10, 1),
            (date(2026, 3, 3), 6, 60, 21, 0.35, 1, 5, 3),
            (date(2026, 3, 5), 4, 0, 0, None, None, 0, None),
            (None, 8, 40, 4, 0.1, 3, 8, 0),
        ],
        schema={
            "day": pl.Date,
            "runs": pl.Int64,
            "tool_calls": pl.Int64,
            "tool_errors": pl.Int64,
            "tool_error_rate": pl.Float64,
            "ended_on_failed_call": pl.Int64,
            "runs_with_ending": pl.Int64,
            "cut_short": pl.Int64,
        },
        orient="row",
    ),
}


@pytest.fixture(params=sorted(charts.__all__))
def name(request: pytest.FixtureRequest) -> str:
    """Each chart by its public name: a chart without a table here fails."""
    return str(request.param)


@pytest.fixture
def table(name: str) -> pl.DataFrame:
    """The small table of the chart."""
    return TABLES[name]


class Read:
    """What a finished chart says, without regard to how it is laid out."""

    def __init__(self, chart: Any) -> None:
        """Holds the spec of the chart."""
        self.spec: dict[str, Any] = chart.to_dict()

    @property
    def title(self) -> str:
        """The title."""
        return str(self.spec["title"]["text"])

    @property
    def notes(self) -> list[str]:
        """The lines under the title."""
        return list(self.spec["title"].get("subtitle", []))

    @property
    def rows(self) -> list[dict[str, Any]]:
        """Every row of every table the chart carries."""
        return [row for rows in self.spec["datasets"].values() for row in rows]

    def having(self, *columns: str) -> list[dict[str, Any]]:
        """The rows of the table that has all the columns."""
        return [row for row in self.rows if set(columns) <= row.keys()]

    def parts(self, key: str) -> list[Any]:
        """Every value that stands under the key, anywhere in the spec outside the data."""

        def walk(node: Any) -> list[Any]:
            if isinstance(node, list):
                return [found for item in node for found in walk(item)]
            if not isinstance(node, dict):
                return []
            here = [node[key]] if key in node else []
            return here + [found for item in node.values() for found in walk(item)]

        return walk({name: value for name, value in self.spec.items() if name != "datasets"})


@pytest.fixture(scope="session")
def read() -> type[Read]:
    """Reads a chart back."""
    return Read


@pytest.fixture(scope="session")
def tables() -> dict[str, pl.DataFrame]:
    """The small tables by the name of their chart."""
    return TABLES
