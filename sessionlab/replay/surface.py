"""The names of recorded tools, today's tools and saved definitions in; the tools a replay offers out (12.5).

Words come from where they are nearest to the recording; rights only ever come from a tool that is there today.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Literal

import msgspec

from sessionlab.errors import ReplayRefused, WrongUse
from sessionlab.replay.trajectory import Json
from sessionlab.systems.mecha.surfaces import ToolDefinition

Mode = Literal["stop", "error", "live"]
"""What happens at a structural divergence (12.4)."""


class Answer(msgspec.Struct, frozen=True):
    """What a tool came back with.

    Attributes:
        text: what the model is told.
        is_error: the call failed.
        external: it came from outside the machine; None: as the tool itself says of its results.
    """

    text: str
    is_error: bool = False
    external: bool | None = None


class Rights(msgspec.Struct, frozen=True):
    """What a tool can do to a conversation.

    Attributes:
        private: its results may hold private data.
        untrusted: its results may come from outside the machine.
        send: it carries something out of the machine.
    """

    private: bool = False
    untrusted: bool = False
    send: bool = False


class Tool(msgspec.Struct, frozen=True):
    """A tool of today's setup, supplied by whoever runs the replay.

    Attributes:
        name, description, input_schema: as a model is told of it.
        run: carries out a call: its input in, a text or an `Answer` out; what it raises is told as an error result.
            None: the tool is only described, and cannot be used in `live`.
        private, untrusted, send: what it can do, see `Rights`.
        read_only: it changes nothing; the permission mode `read-only` lets it run.
    """

    name: str
    description: str = ""
    input_schema: dict[str, Json] = {}
    run: Callable[[Json], str | Answer] | None = None
    private: bool = False
    untrusted: bool = False
    send: bool = False
    read_only: bool = False

    @property
    def definition(self) -> ToolDefinition:
        """Its words alone."""
        return ToolDefinition(self.name, self.description, self.input_schema)

    @property
    def rights(self) -> Rights:
        """What it can do."""
        return Rights(self.private, self.untrusted, self.send)


class Offered(msgspec.Struct, frozen=True):
    """A tool as a replay offers it.

    Attributes:
        definition: the words the model is told.
        rights: what its results do to the taint of the conversation, and whether it sends.
        origin: `today`; `display` for a front-end tool that only shows or asks; `saved` for a stand-in made of a saved
            definition; `name` for one of which nothing but its name is known.
        tool: what would carry out a call in `live`; None elsewhere.
    """

    definition: ToolDefinition
    rights: Rights
    origin: Literal["today", "display", "saved", "name"]
    tool: Tool | None = None


STAND_IN = Rights(private=True, untrusted=True)
"""What a tool that is not there counts as: nobody can say what it did."""


def _object(**members: str) -> dict[str, Json]:
    properties: dict[str, Json] = {name: {"type": "string", "description": about} for name, about in members.items()}
    required: list[Json] = list(members)
    return {"type": "object", "properties": properties, "required": required[:1]}


DISPLAY: tuple[ToolDefinition, ...] = (
    ToolDefinition("ask_user", "Ask the user a question and wait for the answer.", _object(question="What to ask.")),
    ToolDefinition(
        "recall",
        "Search everything this conversation ever held, also what a summary left out; case does not matter.",
        {
            "type": "object",
            "properties": {
                "query": {"type": "string", "description": "The text to look for."},
                "max_matches": {"type": "integer", "minimum": 1, "description": "Most blocks shown; 20 when left out."},
            },
            "required": ["query"],
        },
    ),
    ToolDefinition("show_file", "Show a file to the user.", _object(path="The file, in the workspace.")),
)
"""Tools of mecha's front ends that only show or ask: described to the model, never carried out."""


def build(
    names: Sequence[str],
    *,
    mode: Mode,
    today: Iterable[Tool] = (),
    saved: Iterable[ToolDefinition] | None = None,
    display: Iterable[ToolDefinition] = DISPLAY,
    by_name: bool = False,
) -> dict[str, Offered]:
    """The tools to offer, by name, in recorded order.

    In `stop` and `error` a saved definition has the last word on what the model is told, and stands in for a tool that
    is gone; sending is dropped, so that nothing blocks a call that is only answered. In `live` every tool must be
    there today, and today's words hold.

    Args:
        names: the recorded tools, in registry order.
        mode: what happens at a structural divergence.
        today: the tools there are.
        saved: the definitions kept under the recording's fingerprint; None where they are not.
        display: definitions of front-end tools.
        by_name: offer a tool nobody can describe by its name alone; for a model that reads no definitions.

    Raises:
        ReplayRefused: a recorded tool cannot be supplied; names it.
        WrongUse: two of today's tools have one name.
    """
    here: dict[str, Tool] = {}
    for tool in today:
        if tool.name in here:
            raise WrongUse(f"tools: expected each name once, found {tool.name!r} twice")
        here[tool.name] = tool
    if mode == "live":
        return {name: _live(name, here) for name in names}
    kept = {one.name: one for one in saved or ()}
    shown = {one.name: one for one in display}
    return {name: _recorded(name, here, kept, shown, by_name=by_name) for name in names}


def _live(name: str, here: Mapping[str, Tool]) -> Offered:
    tool = here.get(name)
    if tool is None or tool.run is None:
        found = "none of that name" if tool is None else "one that is only described"
        raise ReplayRefused(
            "tool_unavailable",
            f"the recorded tool {name!r} cannot be supplied: live needs a tool that can be called, found {found};"
            " supply it with --tools package.module:TOOLS, or replay with --on-divergence stop",
        )
    return Offered(tool.definition, tool.rights, "today", tool)


def _recorded(
    name: str,
    here: Mapping[str, Tool],
    saved: Mapping[str, ToolDefinition],
    display: Mapping[str, ToolDefinition],
    *,
    by_name: bool,
) -> Offered:
    if (tool := here.get(name)) is not None:
        return Offered(saved.get(name, tool.definition), Rights(tool.private, tool.untrusted), "today")
    if name in display:
        return Offered(saved.get(name, display[name]), STAND_IN, "display")
    if name in saved:
        return Offered(saved[name], STAND_IN, "saved")
    if by_name:
        return Offered(ToolDefinition(name, "", {}), STAND_IN, "name")
    raise ReplayRefused(
        "tool_unavailable",
        f"the recorded tool {name!r} cannot be supplied: neither today's tools, nor the display-only ones, nor a saved"
        " definition have it; supply it with --tools package.module:TOOLS",
    )
