"""Datalayer session files (`datalayer-session/1`): a file goes in, rows of its session, or of a team's, come out.

A file is taken whole or not at all (datalayer.md section 3). A refused one gives its `Source`, state `refused`, with
the sentence of the refusal as reason, and one `Problem` of severity `refusal` and of the refusal's name as kind; no
other rows. An accepted one gives, per session:

========================  =====================  ==================================================================
recorded kind             `entries.kind`         columns
========================  =====================  ==================================================================
session, paused, ended    state                  reason: the state said; a `session` entry also makes a `configs` row
run                       run_start              started_at: its `at`, which is sent at once
output that ends a run    run_end                status: answered ok, stopped and gone interrupted, failed beside an
                                                 error; reason: the word; an `outcomes` row
other output              other
turn                      message                one body, blocks named asked and answered; status failed when the
                                                 answer begins ``Stopped: ``
tool_call                 tool_call              name, call_id, status, exit_code; a `tool_calls` row
more of the same action   tool_result            the same; folded into that row
decision                  decision               name: the tool; status: do_it ok; refused, leave_to_me refused;
                                                 if_asked, ask_first asked, or ok when approved in advance; reason:
                                                 because; voice harness
approval                  approval               name: the tool; approved ok, declined refused, unanswered; voice person
check                     check                  name: the gate; passed ok, else failed; reason: action
feedback                  feedback               voice person; belongs to the run before it
step                      step                   name, started_at, reason: stop_reason; record_id, parent_id: the tree
asked                     note                   status asked, started_at: asked_at, name: what was asked for
notification              note                   name: channel; sent ok, refused, failed; reason: delivery
thread                    note                   name: title
titled                    title                  name: title
rule                      config                 name: the rule
swapped                   config                 name: the agent; a `configs` row with agent and harness
cloned, imported,         note                   `links` rows; the head's lineage and its entry are one claim
exported
terminal                  command                name: command, exit_code
audio, diff, file         other                  name
========================  =====================  ==================================================================

`recorded_at` is `at`, when an entry was stored (a batch shares it). `run` is the nth `run` entry, between it and its
end; entries between runs have none. Every entry with a payload or a summary has one body: pool `message` for a turn,
`text` for the rest, whose blocks hold the payload whole; small members stand in `detail` too. Entries that a clone or
an import took over are `is_copy`. No kind carries usage or a model.

A refused call may be told by nothing but its decision (then `refused_by` is `policy`) or approval (`person`). It is one
`tool_calls` row, joined to the call's own entry where one follows: by `tool_call_id`, else by the tool's name inside
the run unless that entry succeeded. Outcomes count calls, refusals and checks of their run, and leave a count null
where the file keeps no entries of that sort. `stopped` is `cut_short` where a limit refused in the run, `failed` where
an error is named, else `interrupted`; so is `gone`.

Where the head says otherwise than the entries (counts, kinds, state, title, archive mark, agent, harness) a note says
so, and the head stands.

A team file is a session `datalayer:team:<execution id>` with an agent per seat and no entries of its own; each seat's
session is a session like any other, linked to it by `seat_of`. Where seats and session lines differ a note says so.

The one leniency: when a file is refused, and only because U+0085, U+2028 or U+2029 stand raw inside its strings and
end a line there, it is read split at LF, and a note says that the importer would refuse it.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator

from sessionlab.formats.datalayer.fields import LINE_FIELDS
from sessionlab.formats.datalayer.judge import Accepted, Refusal, judge, whole
from sessionlab.formats.datalayer.lineage import seat_links
from sessionlab.formats.datalayer.rows import Numbers, SessionRows, team_rows, team_session
from sessionlab.formats.datalayer.text import breaks_inside_strings, byte_ranges
from sessionlab.formats.recording import Recording
from sessionlab.tables import Extent, Problem, Row

__all__ = ["IGNORED", "NAME", "OPEN", "USED", "read", "sniff"]

NAME = "datalayer"
USED = LINE_FIELDS
"""Keys of the format that are read, at any depth outside a payload."""
OPEN = frozenset({"payload"})
"""Keys whose value is any JSON, kept whole."""
IGNORED: frozenset[str] = frozenset()
"""Keys that are known and not used: none."""

_TOKEN = re.compile(r'"(?:[^"\\\r\n]|\\.)*"?|[\[\]{}:,]')
_RECORD_TYPES = frozenset({"session", "team_session", "entry"})


def sniff(head: bytes, /) -> bool:
    """Whether the first line that is not blank says one of the format's record types, or the format.

    Claims files that will be refused too (another version, an entry first, a damaged line): only the members at the
    top of the object are looked at, and the line need not be whole.
    """
    text = head.decode(errors="replace").removeprefix("\ufeff").lstrip()
    if not text.startswith("{"):
        return False
    level, key, before = 0, "", ""
    for token in _TOKEN.finditer(text.split("\n", 1)[0]):
        mark = token[0]
        if mark in ("{", "["):
            level += 1
        elif mark in ("}", "]"):
            level -= 1
            if level == 0:
                return False
        elif level == 1 and mark[0] == '"':
            if before == ":":
                value = _string(mark)
                if key == "record_type" and value in _RECORD_TYPES:
                    return True
                if key == "format" and value.startswith("datalayer-session"):
                    return True
            else:
                key = _string(mark)
        before = mark
    return False


def read(recording: Recording, /) -> Iterator[Row]:
    """The rows of one session file: of its session, of a team's sessions, or of its refusal."""
    data = whole(recording.blocks())
    if isinstance(data, Refusal):
        yield from _refused(recording, data)
        return
    verdict = judge(data, teams=True)
    lf_only = False
    if isinstance(verdict, Refusal) and breaks_inside_strings(data):
        again = judge(data, teams=True, lf_only=True)
        if isinstance(again, Accepted):
            said = (
                f"U+0085, U+2028 or U+2029 stands raw in a string; read split at LF. The importer ends a line "
                f"there and refuses the file: {verdict.sentence}"
            )
            yield Problem(line=verdict.line, kind="raw_line_separator", severity="note", detail=said)
            verdict, lf_only = again, True
    if isinstance(verdict, Refusal):
        yield from _refused(recording, verdict)
        return
    if verdict.replaced:
        said = "the file is not valid UTF-8; each invalid sequence is U+FFFD in the tables"
        yield Problem(kind="invalid_utf8", severity="note", detail=said)
    yield from _accepted(recording, verdict)
    yield from _extents(data, verdict, lf_only=lf_only)
    head = verdict.team or verdict.sections[0].head
    yield from recording.end(lines=verdict.lines, format_version=head.format)


def _accepted(recording: Recording, verdict: Accepted) -> Iterator[Row]:
    numbers = Numbers()
    sessions = []
    if verdict.team is not None:
        yield from team_rows(verdict.team, verdict.sections)
        yield from seat_links(verdict.team, verdict.sections)
        sessions.append(team_session(verdict.team))
    for section in verdict.sections:
        session = SessionRows(section, numbers, verdict.unusual, with_bodies=recording.bodies)
        yield from session.rows()
        sessions.append(session.session())
    yield from sessions


def _refused(recording: Recording, refusal: Refusal) -> Iterator[Row]:
    size = recording.decoded_bytes
    yield Problem(
        line=refusal.line,
        byte_offset=0,
        byte_length=size,
        kind=refusal.name,
        severity="refusal",
        detail=refusal.sentence,
    )
    recording.whole("problem")
    yield from recording.end(state="refused", reason=refusal.sentence, format_version=refusal.format)


def _extents(data: bytes, verdict: Accepted, *, lf_only: bool) -> Iterator[Extent]:
    """Runs of lines of one fate: every byte is in a line, every line read or blank."""
    if not verdict.blank:
        yield Extent(from_line=1, to_line=verdict.lines, byte_offset=0, byte_length=len(data), fate="read")
        return
    first, offset, length, fate = 1, 0, 0, "read"  # the first line is never blank
    for number, (start, size) in enumerate(byte_ranges(data, lf_only=lf_only), 1):
        this = "blank" if number in verdict.blank else "read"
        if this != fate:
            yield Extent(from_line=first, to_line=number - 1, byte_offset=offset, byte_length=length, fate=fate)
            first, offset, length, fate = number, start, 0, this
        length += size
    yield Extent(from_line=first, to_line=verdict.lines, byte_offset=offset, byte_length=length, fate=fate)


def _string(token: str) -> str:
    """A JSON string's value; of one that is damaged or cut, what stands between the quotes."""
    try:
        return str(json.loads(token))
    except ValueError:
        return token.strip('"')
