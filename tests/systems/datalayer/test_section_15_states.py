"""Every case of section 15, "States", that shows in a file or in what a record tells."""

from __future__ import annotations

import pytest

from sessionlab.errors import SessionRefused
from sessionlab.systems.datalayer import check, facts
from tests.formats.datalayer_files import bytes_of, head
from tests.systems.datalayer.written import exported, line, lines_of, opening, turn

OPEN, PAUSED = opening(), line("paused", state="paused", cancelled={})
RESUMED, ENDED = opening(resumed=True), line("ended", state="ended", by="end")


def test_an_opening_entry_loses_only_where_it_runs() -> None:
    """The eight members of an opening entry without `runs_on`, in their order; its removal is not counted."""
    members = {
        "app": {"id": "harbor", "version": 3}, "state": "open", "agent": "surveyor", "harness": None,
        "runs_on": {"kind": "runtime", "uid": "rt-1"}, "title": "", "archived": False,
        "lineage": {"forked_from": None, "imported_from": None},
    }  # fmt: skip
    file = exported(line("session", **members))
    assert list(lines_of(file)[1]["payload"]) == [
        "app", "state", "agent", "harness", "title", "archived", "lineage",
    ]  # fmt: skip
    assert (file.redactions, file.counts) == (0, {"runtime_address": 1})


@pytest.mark.parametrize(
    ("count", "state"), [(1, "open"), (2, "open"), (3, "paused"), (4, "open"), (5, "open"), (6, "ended")]
)
def test_open_paused_open_again_ended(count: int, state: str) -> None:
    """The state after each of the entries of a session that was paused once, resumed and ended."""
    record = [OPEN, turn(), PAUSED, RESUMED, turn(), ENDED]
    assert facts(record[:count]).state == state


def test_what_ended_and_paused_say_stays_in_the_file() -> None:
    """`ended.by` is `end`; `paused.cancelled` is empty when nothing ran."""
    entries = lines_of(exported(OPEN, PAUSED, ENDED, state="ended"))[2:]
    assert [entry["payload"] for entry in entries] == [
        {"state": "paused", "cancelled": {}}, {"state": "ended", "by": "end"},
    ]  # fmt: skip


def test_stopped_is_refused_everywhere_with_the_list_of_states() -> None:
    """In a record, in a record's facts that are exported, and in a head that is read."""
    with pytest.raises(SessionRefused, match="one of the states open, paused, ended, found 'stopped'"):
        facts([opening(state="stopped")])
    with pytest.raises(SessionRefused, match="state is to be one of open, paused, ended"):
        exported(state="stopped")
    verdict = check(bytes_of(head(state="stopped")))
    assert verdict.sentence == "Line 1 is refused: state is to be one of open, paused, ended."
