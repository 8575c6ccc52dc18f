"""The texts by which mecha marks who speaks, who refused and what was cut: message text in, words of the house out.

All markers are conventions of the recorder, matched literally (section 6). Messages of later builds also carry a flag
``harness``; older ones only have the markers.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Literal, NamedTuple

Speaker = Literal["person", "harness"]

SUMMARY = "[Earlier turns were compacted"
LIVE_STATE = "[Live state, carried past the compaction"
INTERRUPTED = "[interrupted after"
_CARRIED = (SUMMARY, LIVE_STATE)
_NUDGES = (
    "You have used your entire tool budget",
    "Your previous turn ended without producing anything",
    "Nothing is being learned here:",
    "A second opinion on your plan:",
)
_DELIVERY = re.compile(r"\[Message \S+ from")

_REFUSALS = {
    "Denied by the user:": "person",
    "Blocked by policy:": "policy",
    "Blocked by a hook:": "hook",
}
_REFUSED = tuple(_REFUSALS)
_NO_SUCH_TOOL = "no tool named"

_CUT = {"[stale:": "stale", "[repeat:": "repeat"}
_THINNED = "… [earlier output truncated to save context]"


def speaker(texts: Sequence[str], *, harness: bool) -> Speaker | None:
    """Who says the text blocks of a user message; None when all of them are blank (section 8.7)."""
    if len(texts) == 1:
        text = texts[0]
        if not text or text.isspace():
            return None
        if harness or text.lstrip().startswith(_NUDGES) or text.startswith(_CARRIED):
            return "harness"
        return "harness" if "[Message " in text and _DELIVERY.search(text) else "person"
    text = "".join(texts)
    if not text or text.isspace():
        return None
    if harness or text.lstrip().startswith(_NUDGES) or _DELIVERY.search(text):
        return "harness"
    # A summary rides beside what a person said in the same message: then it is still the person's.
    return "harness" if all(part.startswith(_CARRIED) or not part or part.isspace() for part in texts) else "person"


def command(texts: Sequence[str]) -> str | None:
    """The slash command a front end recorded as a turn, its first word; None when the text is none."""
    text = "".join(texts).lstrip()
    return text.split(maxsplit=1)[0] if text.startswith("/") else None


class Verdict(NamedTuple):
    """What the text of a result says about its call, in the terms of ``tool_calls``."""

    status: str
    refused_by: str | None = None
    reason: str | None = None


_FAILED = Verdict("failed")


def verdict(content: str) -> Verdict:
    """Status of a call by its error result: a refusal is ``refused``, never ``failed``; its reason is the rest."""
    if content.startswith(_REFUSED):
        opening = next(mark for mark in _REFUSED if content.startswith(mark))
        return Verdict("refused", _REFUSALS[opening], content[len(opening) :].strip() or None)
    return Verdict("failed", None, "unknown_tool") if _NO_SUCH_TOOL in content else _FAILED


def cuts(content: str) -> list[str]:
    """What became of a result before it was recorded: words for its markers, in no result more than a few."""
    found = [word for mark, word in _CUT.items() if content.startswith(mark)]
    if '<untrusted-content source="' in content:
        found.append("untrusted")
    if "[truncated by the harness:" in content:
        found.append("truncated")
    if content.endswith(_THINNED):
        found.append("thinned")
    return found
