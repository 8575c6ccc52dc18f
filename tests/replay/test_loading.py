"""One lenient pass over a transcript: the list, the taint timeline, configurations by position (mecha 8, 9, 18)."""

from __future__ import annotations

import io
import random
from typing import Any

import pytest

from sessionlab.errors import Refused
from sessionlab.formats.mecha.loading import Transcript, load
from sessionlab.formats.mecha.wire import Legs
from sessionlab.formats.recording import Recording
from tests.formats.mecha_lines import META, call, line, result, rewrite, said
from tests.replay.conversations import a, drawn, transcript, u

PRIVATE, UNTRUSTED, BOTH, NONE = Legs(private=True), Legs(untrusted=True), Legs(private=True, untrusted=True), Legs()


def taint(**legs: bool) -> bytes:
    """A taint record."""
    return line(record="taint", **legs)


def config(model: str) -> bytes:
    """A config record."""
    return line(record="config", model=model)


def covered(found: Transcript, *, of: int) -> list[Legs | None]:
    """What covers the first messages."""
    return [found.covering(index) for index in range(of)]


def models(found: Transcript, *, of: int) -> list[str | None]:
    """The models the first messages were written under."""
    return [None if (one := found.config_covering(index)) is None else one.model for index in range(of)]


def test_worked_example_1_two_runs() -> None:
    """message, message, taint{}, message, message, taint{untrusted}: 0, 1 clean; 2, 3 untrusted; 4 null."""
    found = transcript(u("1"), a("2"), taint(), u("3"), a("4"), taint(untrusted=True))
    assert covered(found, of=5) == [NONE, NONE, UNTRUSTED, UNTRUSTED, None]


def test_worked_example_2_rewrite_then_checkpoint() -> None:
    """10 messages, taint{private}, rewrite[2], taint{both}: 0 and 1 both legs."""
    two = rewrite(said("user", "x"), said("assistant", "y"))
    found = transcript(*(u(str(n)) for n in range(10)), taint(private=True), two, taint(private=True, untrusted=True))
    assert covered(found, of=3) == [BOTH, BOTH, None]


def test_worked_example_3_no_checkpoint_after() -> None:
    """message, taint{both}, rewrite[2]: unknown, although the load is armed."""
    both = taint(private=True, untrusted=True)
    found = transcript(u("1"), both, rewrite(said("user", "x"), said("assistant", "y")))
    assert covered(found, of=2) == [None, None]
    assert (found.private, found.untrusted) == (True, True)


def test_worked_example_4_tail_of_a_killed_run() -> None:
    """message, message, taint{private}, message, torn line: 0, 1 private; 2 null."""
    found = transcript(u("1"), a("2"), taint(private=True), u("3"), b'{"record":"message","role":"assis')
    assert covered(found, of=3) == [PRIVATE, PRIVATE, None]
    assert found.unreadable == 1


def test_worked_example_5_merge_not_replace() -> None:
    """message, taint{untrusted}, message, taint{private}, message, taint{}: untrusted, both, both."""
    found = transcript(u("1"), taint(untrusted=True), a("2"), taint(private=True), u("3"), taint())
    assert covered(found, of=3) == [UNTRUSTED, BOTH, BOTH]


def test_checkpoint_before_any_message_covers_nothing() -> None:
    """It stands at length 0."""
    assert covered(transcript(taint(private=True), u("1")), of=1) == [None]


def test_extended_message_is_covered_by_what_knows_of_the_extension() -> None:
    """18.2: message, taint{}, extend of 0, message, taint{untrusted}: message 0 holds the text and is untrusted."""
    foreign = line(record="extend", index=0, blocks=[{"type": "text", "text": "foreign"}])
    found = transcript(u("own"), taint(), foreign, u("next"), taint(untrusted=True))
    assert covered(found, of=2) == [UNTRUSTED, UNTRUSTED]
    assert [block.text for block in found.messages[0].content] == ["own", "foreign"]  # type: ignore[union-attr]


def test_extension_of_no_message_is_passed_over() -> None:
    """Out of range: the list stays."""
    found = transcript(u("1"), line(record="extend", index=1, blocks=[{"type": "text", "text": "x"}]))
    assert [len(message.content) for message in found.messages] == [1]


def test_config_by_position() -> None:
    """18.2: config A, u, a, config B, u: covering(0) A, covering(2) B."""
    assert models(transcript(config("A"), u("1"), a("2"), config("B"), u("3")), of=3) == ["A", "A", "B"]


def test_config_survives_a_rollback_and_in_place_rewrites() -> None:
    """18.2: after a rollback 0 and 1 A, 2 B; after a same-length rewrite, extended or changed, 0 still A."""
    first, second = said("user", "1"), said("assistant", "2")
    lines = [config("A"), u("1"), a("2"), config("B"), u("3"), rewrite(first, second)]
    assert models(transcript(*lines), of=3) == ["A", "A", "B"]
    lines += [rewrite(first, said("assistant", "2", "more"))]
    assert models(transcript(*lines), of=1) == ["A"]
    lines += [rewrite(first, said("assistant", "other"))]
    assert models(transcript(*lines), of=1) == ["A"]


def test_summarising_rewrite_moves_all_configs_to_the_beginning() -> None:
    """18.2: config A, u, a, config B, u, rewrite to one new message: covering(0) B. No configs: null."""
    lines = [config("A"), u("1"), a("2"), config("B"), u("3"), rewrite(said("user", "summary"))]
    assert models(transcript(*lines), of=1) == ["B"]
    assert models(transcript(u("1")), of=1) == [None]


def test_numbers_of_other_types_make_another_message() -> None:
    """A shorter rewrite of the same head but for `1` and `1.0` is no rollback: 5.4 tells them apart."""
    one, other = said("assistant", call("c", n=1)), said("assistant", call("c", n=1.0))
    lines = [config("A"), line(record="message", **one), config("B"), u("x")]
    assert models(transcript(*lines, rewrite(one)), of=1) == ["A"]
    assert models(transcript(*lines, rewrite(other)), of=1) == ["B"]


def test_lenient_rewrite_and_message_are_read_block_by_block() -> None:
    """18.2: a rewrite with an unknown block replaces the list; a message of unknown blocks only is dropped."""
    odd = {"type": "hologram", "of": "x"}
    found = transcript(u("old"), rewrite(said("user", "new", odd)), a(odd), a(odd, call("t")), u(result("t")))
    assert [[type(block).__name__ for block in message.content] for message in found.messages] == [
        ["Text"],
        ["ToolUse"],
        ["ToolResult"],
    ]
    assert found.unreadable == 1


def test_title_goal_and_outcomes() -> None:
    """The last title and goal win, null means none; outcomes are in order."""
    found = transcript(
        line(record="title", title="a"),
        line(record="goal_anchor", goal="task:x"),
        line(record="outcome", turns=2),
        line(record="title", title="b"),
        line(record="goal_anchor", goal=None),
        line(record="outcome", turns=3),
    )
    assert (found.title, found.goal, [one.turns for one in found.outcomes]) == ("b", None, [2, 3])


@pytest.mark.parametrize(
    ("data", "found"),
    [
        (b"", "no record at all"),
        (u("x") + b"\n" + line(**META) + b"\n", "a record of another kind"),
        (b'{"record":"meta"\n', "a line that is no record"),
    ],
)
def test_headerless_file_is_refused(data: bytes, found: str) -> None:
    """The first record has to be the header; the message says `no session header`."""
    with pytest.raises(Refused, match=f"found {found}.*: no session header"):
        load(Recording(io.BytesIO(data), uri="mem:x", format="mecha"))


def test_cutting_a_transcript_never_makes_a_message_cleaner() -> None:
    """A message that stands at the same place with and without what follows is covered by no less without it."""
    rng = random.Random(9)
    for n in range(60):
        lines = drawn(rng, f"t-{n}")[1:]
        for end in range(len(lines)):
            if any(b'"rewrite"' in one or b'"extend"' in one for one in lines[end:]):
                continue
            whole, cut = transcript(*lines), transcript(*lines[:end])
            for index in range(len(cut.messages)):
                less, more = cut.covering(index), whole.covering(index)
                assert less is None or less == more


def test_blank_lines_are_passed_over() -> None:
    """Also before the header, and of white space that only Unicode knows."""
    data = b"\n  \n" + line(**META) + b"\n\xe2\x80\xa8\n" + u("x") + b"\n"
    found: Any = load(Recording(io.BytesIO(data), uri="mem:x", format="mecha"))
    assert (len(found.messages), found.unreadable) == (1, 0)
