"""Somebody else's format, in its own package: a diary of ``TIME WHO: WORDS`` lines under ``# diary NAME``."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import datetime

from sessionlab.formats import Recording
from sessionlab.tables import Agent, Block, Entry, Pool, Row, Session

NAME = "diary"
IGNORED: frozenset[str] = frozenset()


def sniff(head: bytes, /) -> bool:
    """Whether the file begins with the diary's heading."""
    return head.startswith(b"# diary ")


def read(recording: Recording, /) -> Iterator[Row]:
    """The diary's lines as messages of one session."""
    lines = recording.lines()
    session_id, seq, first, last = "", 0, None, None
    for line in lines:
        text = line.decode("utf-8", "replace")
        if lines.number == 1:
            session_id = f"diary:{text.removeprefix('# diary ').strip()}"
            continue
        if not text.strip():
            lines.fate = "blank"
            continue
        stamp, _, rest = text.partition(" ")
        who, colon, words = rest.partition(": ")
        try:
            last = int(datetime.fromisoformat(stamp).timestamp() * 1_000_000)
        except ValueError:
            colon = ""
        if not colon:
            found = f"expected `TIME WHO: WORDS`, found {text[:40]!r}"
            yield lines.problem("no_diary_line", found, session_id=session_id)
            continue
        first = first or last
        yield Pool(session_id=session_id, line=lines.number, pool="message", ix=seq, role=who, body_bytes=len(words))
        if recording.bodies:
            yield Block(
                session_id=session_id, line=lines.number, pool="message", ix=seq, block=0, kind="text", text=words
            )
        yield Entry(
            session_id=session_id, seq=seq, line=lines.number, kind="message", role=who, recorded_at=last,
            message_ix=seq, position=seq, messages=seq + 1,
        )  # fmt: skip
        seq += 1
    yield Agent(session_id=session_id, agent_id="root", origin="root", depth=0)
    yield Session(
        session_id=session_id, format=NAME, native_id=session_id.removeprefix("diary:"), part="log", created_at=first,
        ended_at=last, entries=seq,
    )  # fmt: skip
    yield from recording.end()
