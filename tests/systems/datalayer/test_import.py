"""What an import takes over, what it leaves, and how it reckons its digest (section 8)."""

from __future__ import annotations

import hashlib
import json
from pathlib import Path
from typing import Any

import pytest

from sessionlab.errors import SessionRefused, WrongUse
from sessionlab.systems.datalayer.importing import file_digest, import_file, import_session
from sessionlab.systems.datalayer.store import Store
from tests.formats.datalayer_files import KINDS, bytes_of, entry, head, team
from tests.systems.datalayer.stored import HARBOR, NOW, json_lines, kinds

TWO = (head(), entry("turn", asked="Zwölf?"))


def sha(data: bytes) -> str:
    """The digest as section 7 writes it, of these bytes."""
    return "sha256:" + hashlib.sha256(data).hexdigest()


def test_the_digest_is_that_of_the_untouched_file() -> None:
    """SHA-256 of the very bytes, when lines end in LF."""
    assert file_digest(bytes_of(*TWO)) == sha(bytes_of(*TWO))


def test_the_digest_is_the_same_with_crlf_lone_cr_and_without_the_last_newline() -> None:
    """Line ends are no part of it."""
    expected = sha(bytes_of(*TWO))
    assert file_digest(bytes_of(*TWO, end="\r\n")) == expected
    assert file_digest(bytes_of(*TWO, end="\r")) == expected
    assert file_digest(bytes_of(*TWO).removesuffix(b"\n")) == expected


def test_the_digest_differs_with_a_blank_line_and_with_replaced_bytes() -> None:
    """A blank line counts where it stands, and an invalid byte counts as U+FFFD."""
    plain = bytes_of(*TWO)
    blank = plain + b"\n"
    assert file_digest(blank) == sha(plain + b"\n") != sha(plain)
    latin = plain.replace("ö".encode(), b"\xf6")
    assert file_digest(latin) == sha(plain.replace("ö".encode(), b"\xef\xbf\xbd")) != sha(plain)


def test_the_same_digest_stands_in_the_lineage_of_each_variant(tmp_path: Path) -> None:
    """It is what the `imported` entry, the head and the answer say."""
    store = Store(tmp_path)
    for data in (bytes_of(*TWO), bytes_of(*TWO, end="\r\n")):
        done = import_session(data, store, by="u", now=NOW)
        made = store.record(done.uid)
        assert made.lineage == done.lineage
        assert made.lineage.imported_from is not None
        assert made.lineage.imported_from.digest == made.entries[-1].payload["digest"] == sha(bytes_of(*TWO))


def test_of_the_25_kinds_six_are_left_out_and_the_rest_keep_order_at_and_summary(tmp_path: Path) -> None:
    """session, paused, ended, imported, exported and cloned are the new session's own."""
    names = KINDS.split(", ")
    lines = [{**entry(kind, f"2026-01-01T00:00:{n:02}Z", n=n), "summary": f"s{n}"} for n, kind in enumerate(names)]
    store = Store(tmp_path)
    made = store.record(import_session(bytes_of(head(), *lines), store, by="u", now=NOW).uid)
    left_out = {"session", "paused", "ended", "imported", "exported", "cloned"}
    expected = [(one["kind"], one["at"], one["summary"]) for one in lines if one["kind"] not in left_out]
    assert [(one.kind, one.at, one.summary) for one in made.entries[1:-1]] == expected
    assert len(expected) == 19
    assert (made.entries[0].kind, made.entries[-1].kind) == ("session", "imported")


def test_title_archive_mark_and_agent_are_the_heads_whatever_the_entries_say(tmp_path: Path) -> None:
    """A `titled` or `swapped` entry that stays in the record does not overrule the head."""
    titled, swapped = entry("titled", title="Older", archived=False), entry("swapped", agent="x", harness="y")
    data = bytes_of(head(title="Head", archived=True), titled, swapped)
    store = Store(tmp_path)
    done = import_session(data, store, by="u", now=NOW)
    made = store.record(done.uid)
    assert (made.title, made.archived, made.agent, made.harness) == ("Head", True, "surveyor", None)
    assert kinds(made.entries) == ["session", "titled", "swapped", "imported"]
    assert store.sessions() == []
    later = store.retitle(done.uid, "New", now=NOW)
    assert (later.title, later.archived, later.agent) == ("New", True, "surveyor")


def test_the_answer_says_the_heads_turns_and_redactions_and_the_record_counts(tmp_path: Path) -> None:
    """A head that says 7 turns over 1 is taken; the answer has its number, the new session its own."""
    store = Store(tmp_path)
    done = import_session(bytes_of(head(turns=7, redactions=4), entry("turn")), store, by="u", now=NOW)
    assert (done.turns, done.redactions) == (7, 4)
    assert store.record(done.uid).turns == 1
    assert json_lines(store.path(done.uid).read_bytes())[0]["turns"] == 1
    assert store.record(done.uid).entries[-1].payload["redactions"] == 4


def test_without_applications_the_files_word_is_taken(tmp_path: Path) -> None:
    """Its agent, harness and version; another agent has no harness that anybody knows."""
    store = Store(tmp_path)
    data = bytes_of(head(app={"id": "dock", "version": "9"}, agent="pilot", harness="claude"))
    done = import_session(data, store, by="u", now=NOW)
    assert (done.agent, done.harness, done.versions.file, done.versions.current) == ("pilot", "claude", 9, 9)
    other = import_session(data, store, by="u", agent="mate", now=NOW)
    assert (other.agent, other.harness) == ("mate", None)
    assert import_session(bytes_of(head(harness="")), store, by="u", now=NOW).harness is None


def test_a_team_file_is_refused_in_its_sentence(tmp_path: Path) -> None:
    """The importer takes single sessions only."""
    with pytest.raises(SessionRefused, match="team session") as caught:
        import_session(bytes_of(team()), Store(tmp_path), by="u", now=NOW)
    assert (caught.value.kind, caught.value.status, caught.value.line) == ("team_refusal", 422, 1)


def test_a_file_entry_without_path_gets_both_members(tmp_path: Path) -> None:
    """present: false and path: "" whatever it held, `present: true` included."""
    store = Store(tmp_path)
    lines = (entry("file", name="a"), entry("file", path="/etc/passwd", present=True, size=3))
    made = store.record(import_session(bytes_of(head(), *lines), store, by="u", now=NOW).uid)
    assert made.entries[1].payload == {"name": "a", "present": False, "path": ""}
    assert made.entries[2].payload == {"path": "", "present": False, "size": 3}


def test_twenty_thousand_entries_are_taken_and_stay_readable(tmp_path: Path) -> None:
    """With the two written here the record is over what one file may hold: the store reads it, and says so."""
    store = Store(tmp_path)
    lines = [json.dumps(entry("run", n=n)) for n in range(20_000)]
    done = import_session(bytes_of(head(), *lines), store, by="u", now=NOW)
    made = store.record(done.uid)
    assert len(made.entries) == 20_002
    assert [one.payload["n"] for one in made.entries[1:-1]] == list(range(20_000))
    assert "20002 entries" in done.notes[0]
    store.end(done.uid, now=NOW)
    assert store.record(done.uid).state == "ended"


def test_what_strict_json_and_utf8_do_not_hold_survives(tmp_path: Path) -> None:
    """Not-finite numbers, an unpaired surrogate, a 60-digit integer, line separators, 900 levels."""
    deep = "[" * 900 + "]" * 900
    odd = '"a": NaN, "b": -Infinity, "c": "\\ud800", "e": "\\u2028\\u0085"'
    payload = f'{{{odd}, "d": {"7" * 60}, "f": {deep}}}'
    line = f'{{"record_type": "entry", "kind": "output", "at": "x", "payload": {payload}}}'
    store = Store(tmp_path)
    done = import_session(bytes_of(head(), line), store, by="u", now=NOW)
    text = store.path(done.uid).read_text()
    assert payload in text
    found = store.record(done.uid).entries[1].payload
    assert (str(found["a"]), found["b"], found["c"], found["d"]) == ("nan", float("-inf"), "\ud800", int("7" * 60))


def test_hostile_values_are_copied_and_touch_nothing(tmp_path: Path) -> None:
    """Paths, commands and links in a file are text: no file but the session's own appears."""
    bad: dict[str, Any] = {"path": "../../x", "command": "touch pwned", "url": "file:///etc/passwd", "__class__": "os"}
    lines = [entry(kind, **bad) for kind in ("tool_call", "terminal", "file", "audio", "diff")]
    store = Store(tmp_path / "store")
    done = import_session(bytes_of(head(agent="../../agent"), *lines), store, by="../u", now=NOW)
    assert sorted(str(path.relative_to(tmp_path)) for path in tmp_path.rglob("*")) == [
        "store", f"store/{done.uid}.session.jsonl",
    ]  # fmt: skip
    assert store.record(done.uid).owner == "../u"


def test_a_summary_never_exceeds_2000_characters(tmp_path: Path) -> None:
    """Who exported it, and when, may be of any length; both versions are still said."""
    store = Store(tmp_path)
    long = head(exported_at="t" * 3000, exported_by={"uid": "p" * 3000}, app={"id": "harbor", "version": 2})
    said = store.record(import_session(bytes_of(long), store, by="b" * 4000, applications=HARBOR, now=NOW).uid)
    assert len(said.entries[-1].summary) == 2000
    assert said.entries[-1].summary.endswith("version 2 of the application, here it is 3")
    assert len(said.entries[0].summary) == 2000


def test_import_file_reads_the_file_and_an_empty_author_or_agent_is_wrong_use(tmp_path: Path) -> None:
    """A head must name somebody."""
    path = tmp_path / "x.session.jsonl"
    path.write_bytes(bytes_of(*TWO))
    store = Store(tmp_path / "store")
    assert import_file(path, store, by="u", now=NOW).title == "Tides"
    with pytest.raises(WrongUse, match="by"):
        import_file(path, store, by="", now=NOW)
    with pytest.raises(WrongUse, match="agent"):
        import_file(path, store, by="u", agent="", now=NOW)
    with pytest.raises(SessionRefused, match="surrogate"):
        import_file(path, store, by="\ud800", now=NOW)
    assert len(store.sessions()) == 1


def test_invalid_utf8_is_taken_and_noted(tmp_path: Path) -> None:
    """Each invalid sequence is U+FFFD in the new record."""
    data = bytes_of(*TWO).replace("ö".encode(), b"\xf6")
    store = Store(tmp_path)
    done = import_session(data, store, by="u", now=NOW)
    assert len(done.notes) == 1
    assert "notes" in done.as_dict()
    assert store.record(done.uid).entries[1].payload == {"asked": "Zw\ufffdlf?"}
