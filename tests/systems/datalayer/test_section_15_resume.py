"""Every case of section 15, "Resume from a record", that the record alone tells."""

from __future__ import annotations

from pathlib import Path

import pytest

from sessionlab.errors import SessionRefused
from sessionlab.formats.datalayer.fields import ForkedFrom
from sessionlab.systems.datalayer.cloning import clone
from sessionlab.systems.datalayer.resuming import ShownCall, resumption, rules_in_force
from tests.systems.datalayer.stored import NOW, UID, line, record, store_of, turns


def test_turns_a_tool_call_with_a_display_a_rule_a_file_and_a_cloned_entry(tmp_path: Path) -> None:
    """Questions in order, the call with kind, class and path, the file, the rule, title and lineage as recorded."""
    data = {"path": "/srv/a.py", "old_text": "", "new_text": "x"}
    display = {"type": "diff", "version": 1, "id": "d1", "text": "", "data": data, "actions": []}
    call = line("tool_call", 30, tool="edit", tool_call_id="c1", kind="edit", display=display, **{"class": "write"})
    rule = {"name": "quiet", "decision": "refused"}
    file = {"name": "a.py", "type": "text/x-python", "size": 1, "digest": "sha256:00", "path": "/srv/a.py"}
    more = [call, line("rule", 31, rule=rule), line("file", 32, **file)]
    store = store_of(tmp_path, *turns(1), *more, turns(2)[2], title="Kept name")
    made = store.record(clone(store, UID, by="u", now=NOW).uid)
    shown = resumption(made)
    assert shown.questions == ["Question 1?\nmore of it", "Question 2?\nmore of it"]
    assert shown.answers == ["Answer 1.", "Answer 2."]
    assert shown.calls == [ShownCall("edit", "edit", "write", "/srv/a.py")]
    assert (shown.rules, shown.files, shown.title) == ({"quiet": rule}, [file], "Kept name")
    assert shown.lineage.forked_from == ForkedFrom(uid=UID, at_turn=2)


def test_ended_is_409() -> None:
    """What has ended does not go on; a clone of it does."""
    with pytest.raises(SessionRefused, match="clone it") as caught:
        resumption(record(*turns(1), state="ended"))
    assert (caught.value.kind, caught.value.status) == ("ended", 409)


def test_a_rule_then_taken_back_is_in_force_no_more() -> None:
    """`rule{...}`, then `removed` with its name; another stays; one without a name is none."""
    entries = [
        line("rule", 1, rule={"name": "a", "decision": "ask"}), line("rule", 2, rule={"name": "b", "decision": "do"}),
        line("rule", 3, removed="a"), line("rule", 4, rule={"decision": "x"}), line("rule", 5, removed=3),
        line("rule", 6, rule={"name": "b", "decision": "later"}),
    ]  # fmt: skip
    assert rules_in_force(entries) == {"b": {"name": "b", "decision": "later"}}
