"""Small recorded sessions, written as transcripts: what the tests of the replay driver are about."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from sessionlab.formats.mecha.loading import Transcript
from sessionlab.replay import rebuilding
from sessionlab.replay.model import Model
from sessionlab.replay.rebuilding import Plan, Setup
from sessionlab.replay.surface import Tool
from sessionlab.systems.mecha.reading import load
from tests.formats.mecha_lines import META, call, line, message, result

CONFIG: dict[str, Any] = {
    "record": "config", "mecha_version": "0.1.11", "provider": "shore", "model": "plover-3",
    "workspace": "/nowhere/shore", "system_prompt": "Be brief.", "tools": ["fs_read", "fs_list", "web_fetch"],
    "effort": "low", "temperature": 0.5, "seed": 7, "thinking": False, "cache_prompt": False, "max_tokens": 900,
    "max_turns": 9, "max_output_tokens": None, "max_cost_usd": None, "compact_at_tokens": None,
    "compact_keep_recent": 2, "permission_mode": "allow", "trifecta": "allow",
}  # fmt: skip
NAMES = tuple(CONFIG["tools"])
TODAY = tuple(Tool(name, f"{name} today", {"type": "object"}) for name in NAMES)
INSIDE = {"c1": False, "c2": False, "c3": False}

TWO_TURNS = (
    message("user", "Which birds?"),
    message("assistant", call("c1", "fs_read", path="a.md"), call("c2", "fs_list", path=".")),
    message("user", result("c2", "a.md"), result("c1", "plover"), tool_provenance=INSIDE),
    message("assistant", "Plovers."),
    message("user", "And the news?"),
    message("assistant", call("c3", "web_fetch", url="http://news")),
    message("user", result("c3", "calm seas", is_error=False), tool_provenance={"c3": True}),
    message("assistant", "Calm."),
)
"""A batch of two calls answered in reverse, then, after a second turn, a call to the outside."""


def write(path: Path, *lines: bytes, config: dict[str, Any] | None = None, **header: Any) -> Path:
    """A transcript of these lines behind a header and, unless ``config`` is empty, a config."""
    told = CONFIG if config is None else config
    whole = [line(**{**META, **header}), *([line(**told)] if told else []), *lines]
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(b"".join(one + b"\n" for one in whole))
    return path


def transcript(tmp_path: Path, *lines: bytes, **config: Any) -> Transcript:
    """The transcript of these lines, its configuration changed so."""
    return load(write(tmp_path / "t.jsonl", *lines, config={**CONFIG, **config}))


def planned(recording: Transcript, model: Model, *, mode: str = "stop", **setup: Any) -> Plan:
    """The plan of a replay, by today's tools where no others are named."""
    return rebuilding.plan(
        recording,
        model,
        provider="shore",
        model_name="plover-3",
        mode=mode,  # type: ignore[arg-type]
        setup=Setup(**{"tools": TODAY, **setup}),
    )
