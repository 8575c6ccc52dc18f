"""Every chart's Vega-Lite spec stands as JSON beside the tests, data included, and is compared as a structure.

Run the tests with ``SESSIONLAB_WRITE_SNAPSHOTS=1`` to write the files anew, then look at what changed before keeping
it.
"""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any

import pytest

from sessionlab import charts

SNAPSHOTS = Path(__file__).parent / "snapshots"


def settled(node: Any, inlined: dict[str, Any]) -> Any:
    """The spec without what no reader sees: names of data sets, the schema's version, the last digits of floats."""
    if isinstance(node, dict):
        if node.keys() == {"name"} and node["name"] in inlined:
            return {"values": settled(inlined[node["name"]], inlined)}
        hidden = {"$schema", "datasets"}
        return {key: settled(value, inlined) for key, value in sorted(node.items()) if key not in hidden}
    if isinstance(node, list):
        return [settled(item, inlined) for item in node]
    return float(f"{node:.12g}") if isinstance(node, float) else node


def test_spec_is_the_kept_one(name: str, table: Any) -> None:
    """What a chart hands to Vega-Lite changes only together with the file that shows it."""
    spec = getattr(charts, name)(table).to_dict()
    spec = settled(spec, spec["datasets"])
    file = SNAPSHOTS / f"{name}.json"
    if os.environ.get("SESSIONLAB_WRITE_SNAPSHOTS"):
        file.write_text(json.dumps(spec, indent=1, ensure_ascii=False) + "\n", encoding="utf-8")
        pytest.skip(f"wrote {file.name}")
    assert spec == json.loads(file.read_text(encoding="utf-8"))


def test_no_snapshot_outlives_its_chart() -> None:
    """There is one file per chart and none more."""
    assert sorted(file.stem for file in SNAPSHOTS.iterdir()) == sorted(charts.__all__)
