"""Export: heads, entries, serialisation, digest and refusals as section 7 says them, and what is redacted."""

from __future__ import annotations

import hashlib
import json
from datetime import datetime, timedelta, timezone
from pathlib import Path
from typing import Any

import pytest

from sessionlab.formats.datalayer.fields import App, EntryLine, ForkedFrom, ImportedFrom, Lineage
from sessionlab.formats.datalayer.judge import Accepted, judge
from sessionlab.redaction import Redactor, StrictRedactor
from sessionlab.systems.datalayer import check, export, leaks_of, record_of_section
from tests.formats.datalayer_files import AT, DIGEST
from tests.systems.datalayer.written import (
    BY,
    NOW,
    NOW_WRITTEN,
    exported,
    line,
    lines_of,
    opening,
    record,
    run,
    taken,
    turn,
)

SAMPLES = Path(__file__).parents[3] / "data-samples" / "datalayer"


def test_the_head_has_the_members_of_section_7_in_order() -> None:
    """Every member of the session line, in the order of the table, from the record and the stamp."""
    forked, imported = ForkedFrom(uid="source-1", at_turn=4), ImportedFrom(
        digest=DIGEST, exported_at="2026-10-01T00:00:00Z", exported_by="u-first"
    )  # fmt: skip
    file = exported(
        opening(), *run(), title="Tïdes", state="ended", archived=True, harness="",
        lineage=Lineage(forked_from=forked, imported_from=imported),
    )  # fmt: skip
    assert file.data.decode().split("\n")[0] == (
        '{"record_type": "session", "format": "datalayer-session/1", "uid": "abcd-1234", '
        '"app": {"id": "harbor", "version": 3}, "agent": "surveyor", "harness": null, "owner": {"uid": "u-own"}, '
        '"state": "ended", "turns": 1, "title": "Tïdes", "archived": true, "lineage": {"forked_from": '
        '{"uid": "source-1", "at_turn": 4}, "imported_from": {"digest": "' + DIGEST + '", '
        '"exported_at": "2026-10-01T00:00:00Z", "exported_by": "u-first"}}, '
        '"kinds": ["output", "run", "session", "turn"], "entries": 4, '
        f'"exported_at": "{NOW_WRITTEN}", "exported_by": {{"uid": "u-exp"}}, "redactions": 0}}'
    )
    assert (file.uid, file.file_name) == ("abcd-1234", "abcd-1234.session.jsonl")
    assert (file.turns, file.entries, file.redactions, file.counts, file.notes) == (1, 4, 0, {}, ())


def test_an_entry_line_has_its_members_in_order() -> None:
    """record_type, kind, at, summary, payload; a summary and a payload that are missing are written empty."""
    file = exported(EntryLine(record_type="entry", kind="run", at="x"), line("turn", "said", b=1, a=2))
    assert file.data.decode().split("\n")[1:] == [
        '{"record_type": "entry", "kind": "run", "at": "x", "summary": "", "payload": {}}',
        '{"record_type": "entry", "kind": "turn", "at": "' + AT + '", "summary": "said", "payload": {"b": 1, "a": 2}}',
        "",
    ]


@pytest.mark.parametrize("unsaid", ["", "  ", "\u3000"])
def test_an_entry_without_a_time_gets_the_time_of_export(unsaid: str) -> None:
    """`at` that is empty or blank becomes the time of export, and a note says for how many."""
    file = exported(line("run", at=unsaid), line("run"))
    assert [entry["at"] for entry in lines_of(file)[1:]] == [NOW_WRITTEN, AT]
    assert file.notes == ("the time of export stands where none was recorded: 1 entry",)
    taken(file.data)


def test_another_kind_is_left_out_of_the_file() -> None:
    """Entries of no kind of the 25 are in neither lines, kinds nor counts; only the notes tell."""
    file = exported(line("run"), line("shell"), line("shell"), line("Run"))
    head, *entries = lines_of(file)
    assert (head["entries"], head["kinds"], len(entries)) == (1, ["run"], 1)
    assert file.notes == ("left out, being of kinds that the format does not have: 3 entries, 'Run' (1), 'shell' (2)",)


def test_kinds_and_turns_given_are_what_the_head_says() -> None:
    """Neither leaves an entry out (section 7); the notes tell where the head says otherwise than the entries."""
    file = export(
        record(*run(), *run()), by=BY, now=NOW, redactor=Redactor(), kinds=["turn", "step", "turn"], turns=7
    )  # fmt: skip
    head, *entries = lines_of(file)
    assert (head["kinds"], head["turns"], head["entries"], len(entries)) == (["step", "turn"], 7, 6, 6)
    assert file.turns == 7
    assert file.notes == (
        "the head says 7 turns as asked; the file holds 2",
        "the file holds entries of kinds that the head does not list, as asked: output, run",
    )
    assert check(file.data).ok


def test_no_kinds_given_are_those_present() -> None:
    """An empty list of kinds is no list: the kinds present, sorted."""
    file = export(record(turn(), line("asked")), by=BY, now=NOW, redactor=Redactor(), kinds=[])
    assert lines_of(file)[0]["kinds"] == ["asked", "turn"]


def test_a_record_of_nothing_is_a_head() -> None:
    """A session without entries is a file of one line, which is taken."""
    file = exported()
    assert (file.entries, file.data.count(b"\n")) == (0, 1)
    taken(file.data)


def test_the_digest_is_that_of_the_bytes() -> None:
    """SHA-256 over all lines joined by LF with one LF after the last: 71 characters."""
    file = exported(*run("Wie hoch steht das Wasser — ähnlich?"))
    assert file.digest == "sha256:" + hashlib.sha256(file.data).hexdigest()
    assert len(file.digest) == 71
    assert file.data.endswith(b"}\n")
    assert not file.data.endswith(b"\n\n")


def test_the_exported_entry_is_not_in_the_file() -> None:
    """What the record gets afterwards: who, how many, and the file's digest."""
    file = exported(*run("send with Bearer abc"))
    assert file.exported_entry.kind == "exported"
    assert file.exported_entry.at == NOW_WRITTEN
    assert file.exported_entry.payload == {"by": "u-exp", "entries": 3, "redactions": 1, "digest": file.digest}
    assert b"exported entry" not in file.data
    assert '"kind": "exported"' not in file.data.decode()


def test_the_time_of_export_is_utc() -> None:
    """A time of another zone is written in UTC, with all six digits of its microseconds."""
    now = datetime(2026, 1, 1, 1, 30, tzinfo=timezone(timedelta(hours=2)))
    file = export(record(), by=BY, now=now, redactor=Redactor())
    assert lines_of(file)[0]["exported_at"] == "2025-12-31T23:30:00.000000Z"


# ------------------------------------------------------------------ serialisation


@pytest.mark.parametrize("raw", ["\u0085", "\u2028", "\u2029"], ids=ascii)
def test_what_would_end_a_line_is_escaped(raw: str) -> None:
    """U+0085, U+2028 and U+2029 in a summary, a key, a value or the title are written as escapes, and come back."""
    file = exported(line("run", f"a{raw}b", **{f"k{raw}": [f"v{raw}"]}), title=f"T{raw}")
    assert raw.encode() not in file.data
    assert f"\\u{ord(raw):04x}".encode() in file.data
    section = taken(file.data).sections[0]
    assert section.head.title == f"T{raw}"
    assert (section.entries[0].summary, section.entries[0].payload) == (f"a{raw}b", {f"k{raw}": [f"v{raw}"]})


def test_other_than_ascii_stands_raw_and_controls_escaped() -> None:
    """Separators are comma and colon with a space; é and 潮 are written raw, U+0001 and U+001F escaped, DEL raw."""
    file = exported(line("run", é=["潮", "\x01\x1f\x7f\t"]))
    assert file.data.decode().split("\n")[1].endswith('"payload": {"é": ["潮", "\\u0001\\u001f\x7f\\t"]}}')
    taken(file.data)


def test_not_finite_numbers_are_written_bare() -> None:
    """NaN, Infinity and -Infinity as Python writes them; such a file is taken."""
    file = exported(line("run", a=[float("nan"), float("inf"), float("-inf"), 1e300]))
    assert b'{"a": [NaN, Infinity, -Infinity, 1e+300]}' in file.data
    assert check(file.data).ok


def test_what_json_has_no_form_for_is_written_as_its_text() -> None:
    """A time in a payload is written as its text."""
    file = exported(line("run", a=datetime(2026, 10, 5)))
    assert lines_of(file)[1]["payload"] == {"a": "2026-10-05 00:00:00"}


def test_lone_surrogates_are_escaped_in_entries_and_replaced_in_the_head() -> None:
    """The published exporter fails on half a pair; here the file is written, and is taken back."""
    file = exported(line("run", "s\ud800", at="t\udfff", a="x\udc00y"), title="T\ud83d", agent="a\ud800")
    assert b'"summary": "s\\ud800"' in file.data
    section = taken_with_notes(file.data)
    assert (section.entries[0].summary, section.entries[0].payload) == ("s\ud800", {"a": "x\udc00y"})
    assert (section.head.title, section.head.agent, section.entries[0].at) == ("T\ufffd", "a\ufffd", "t\ufffd")
    assert file.notes == (
        "agent holds an unpaired surrogate, which a head cannot; it is written as U+FFFD",
        "title holds an unpaired surrogate, which a head cannot; it is written as U+FFFD",
    )


def test_a_pair_of_surrogates_is_the_character_it_spells() -> None:
    """Two halves side by side are written as the one character, so that a second export is the same."""
    file = exported(line("run", "\ud83d\ude00"), title="\ud83d\ude00")
    assert [lines_of(file)[0]["title"], lines_of(file)[1]["summary"]] == ["\U0001f600", "\U0001f600"]


def taken_with_notes(data: bytes) -> Any:
    """The one section of a file that is taken, whatever its notes."""
    verdict = judge(data)
    assert isinstance(verdict, Accepted), verdict
    return verdict.sections[0]


# ------------------------------------------------------------------ what is redacted


def test_title_agent_and_the_rest_of_the_head_stay_under_the_exact_rules() -> None:
    """The session line, kinds, times and keys are not redacted (section 6); a title is cut at 200 characters."""
    title = "Bearer abc " + "x" * 300
    file = exported(
        line("run", at="token abc", **{"Bearer abc": 1}), title=title, agent="token abc", harness="Basic abc",
        owner="https://a:b@c", app=App(id="Bearer x", version=0),
    )  # fmt: skip
    head, entry = lines_of(file)
    assert head["title"] == title[:200]
    assert (head["agent"], head["harness"], head["owner"]["uid"]) == ("token abc", "Basic abc", "https://a:b@c")
    assert (entry["at"], entry["payload"], file.redactions) == ("token abc", {"Bearer abc": 1}, 0)
    assert file.notes == ("the title has 311 characters; the file holds its first 200",)


class _Learned(Redactor):
    """Takes the one word it was shown as `learn:…` out of names, texts and ids."""

    word = ""

    def learn(self, value: object) -> None:
        text = json.dumps(value)
        if "learn:" in text:
            self.word = text.split("learn:")[1].split('"')[0]

    def title(self, text: str) -> str:
        return self._swapped(text)

    def identifier(self, text: str) -> str:
        return text.replace(self.word, "hidden00")

    def text(self, text: str) -> str:
        return self._swapped(text)

    def _swapped(self, text: str) -> str:
        if self.word and self.word in text:
            self._hit("bearer_token", text.count(self.word))
        return text.replace(self.word, "[redacted]") if self.word else text


def test_everything_is_learned_before_anything_is_redacted() -> None:
    """What the last entry teaches is taken out of the head and the first entry; hits in the head count too."""
    redactor = _Learned()
    file = export(
        record(line("run", "use plover99"), line("run", a="learn:plover99"), title="plover99 tides", uid="s-plover99"),
        by=BY, now=NOW, redactor=redactor,
    )  # fmt: skip
    head, first, _ = lines_of(file)
    assert (head["title"], head["uid"], first["summary"]) == ("[redacted] tides", "s-hidden00", "use [redacted]")
    assert (head["redactions"], file.uid, file.file_name) == (2, "s-hidden00", "s-hidden00.session.jsonl")
    assert [(finding.rule, finding.place) for finding in file.findings] == [
        ("bearer_token", "line 1.title"),
        ("bearer_token", "line 2.summary"),
    ]


def test_findings_name_lines_and_paths_and_counts_add_up() -> None:
    """A finding per rule and place of the file; `runtime_address` is told and not counted."""
    file = exported(
        line("session", runs_on={"kind": "pod"}, signed="x"),
        line("tool_call", "go to https://u:p@h/", headers=[{"Cookie": "c"}], token="t"),
    )
    assert [tuple(finding) for finding in file.findings] == [
        ("runtime_address", "line 2.payload.runs_on", 1),
        ("signed_user", "line 2.payload.signed", 1),
        ("url_userinfo", "line 3.summary", 1),
        ("authorization_header", "line 3.payload.headers[0].Cookie", 1),
        ("bearer_token", "line 3.payload.token", 1),
    ]
    assert file.counts == {
        "runtime_address": 1, "signed_user": 1, "url_userinfo": 1, "authorization_header": 1, "bearer_token": 1,
    }  # fmt: skip
    assert (file.redactions, lines_of(file)[0]["redactions"]) == (4, 4)


def test_one_redactor_may_serve_several_files() -> None:
    """A second file counts its own removals alone, and the records given are not changed."""
    redactor, source = Redactor(), record(line("run", token="t"))
    first, second = (export(source, by=BY, now=NOW, redactor=redactor) for _ in range(2))
    assert first == second
    assert (second.redactions, redactor.redactions) == (1, 2)
    assert source.entries[0].payload == {"token": "t"}


def test_a_file_taken_in_is_exported_again_the_same() -> None:
    """Export, read back, export again: the same bytes, its lineage and harness included."""
    first = exported(opening(), *run("Is it Bearer abc?"), line("ended", state="ended", by="end"), state="ended")
    again = export(record_of_section(taken(first.data).sections[0]), by=BY, now=NOW, redactor=Redactor())
    assert again.redactions == 0
    assert first.redactions == 1
    assert again.data == first.data.replace(b'"redactions": 1', b'"redactions": 0')


@pytest.mark.parametrize("sample", ["clone", "every-kind", "odd-text", "team"])
def test_sessions_of_the_samples_export_to_files_that_are_taken(sample: str) -> None:
    """Each session of each sample that is taken is written again, entry for entry, and taken."""
    found = 0
    for path in sorted((SAMPLES / sample).glob("*.jsonl")):
        verdict = judge(path.read_bytes(), teams=True, lf_only=True)
        assert isinstance(verdict, Accepted)
        for section in verdict.sections:
            file = export(record_of_section(section), by=BY, now=NOW, redactor=Redactor())
            assert check(file.data).ok
            assert [entry["kind"] for entry in lines_of(file)[1:]] == [entry.kind for entry in section.entries]
            found += 1
    assert found


def test_a_strict_export_leaks_nothing_that_the_exact_rules_leave() -> None:
    """Title, header pair, assignment in text, the value said again: told by `leaks_of`, gone under the strict rules."""
    secret = "tern-99-vermilion"
    pair = {"name": "Authorization", "value": "kestrel-9921-plover"}
    source = record(line("tool_call", headers=[pair], note=f"kestrel-9921-plover, password={secret}"), title=secret)
    exact, strict = (
        export(source, by=BY, now=NOW, redactor=rules(declared=[secret])) for rules in (Redactor, StrictRedactor)
    )
    assert {finding.place for finding in leaks_of(exact.data, declared=[secret])} >= {"line 1.title"}
    assert secret.encode() in exact.data
    assert leaks_of(strict.data, declared=[secret]) == []
    assert not [value for value in (secret, "kestrel-9921-plover") if value.encode() in strict.data]
    assert check(strict.data).ok
