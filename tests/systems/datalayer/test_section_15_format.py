"""Every case of section 15, "The format", that shows in a file: what is exported, counted, and taken back.

Its refusals are held by `test_cases_of_the_format_tests` (tests/formats/test_datalayer_judge.py).
"""

from __future__ import annotations

import pytest

from sessionlab.errors import SessionRefused, WrongUse
from sessionlab.formats.datalayer.judge import judge
from sessionlab.systems.datalayer import FORMATS, SessionFormat, SessionFormats, check, export
from tests.formats.datalayer_files import bytes_of, entry, head
from tests.systems.datalayer.written import exported, line, lines_of, opening, taken, turn

SECRET = "s3cr3t-value"
SIGNED = {"uid": "u-guest", "by": "host.example"}


def test_a_kind_that_is_none_and_every_rule_in_five_entries() -> None:
    """4 entries, 2 turns, no `shell`; headers, userinfo, secret and signed user gone, 5 redactions; the digest's 71."""
    call = line(
        "tool_call",
        headers={"Authorization": "Bearer abc", "Cookie": "sid=1"},
        url="https://ada:pw@api.example/v1",
        secret=SECRET,
    )
    file = exported(
        opening(runs_on={"kind": "runtime", "uid": "rt-1"}, signed=SIGNED), turn(), call, turn(), line("shell"),
        declared=[SECRET],
    )  # fmt: skip
    first, *entries = lines_of(file)
    assert (file.entries, file.turns, len(entries)) == (4, 2, 4)
    assert first["kinds"] == ["session", "tool_call", "turn"]
    assert entries[2]["payload"] == {
        "headers": {"Authorization": "[redacted]", "Cookie": "[redacted]"},
        "url": "https://api.example/v1",
        "secret": "[redacted]",
    }
    assert not {"signed", "runs_on"} & set(entries[0]["payload"])
    assert (file.redactions, first["redactions"], file.counts["runtime_address"]) == (5, 5, 1)
    assert len(file.digest) == 71


def test_one_hit_each_where_rules_overlap() -> None:
    """A header, a declared value after the word token, and userinfo: one each; the scheme rule adds nothing."""
    file = exported(
        line("tool_call", Authorization="x", note=f"token {SECRET} here", url="https://u:p@h/"), declared=[SECRET]
    )
    assert file.counts == {"authorization_header": 1, "declared_secret": 1, "url_userinfo": 1}
    assert lines_of(file)[1]["payload"] == {
        "Authorization": "[redacted]", "note": "token [redacted] here", "url": "https://h/",
    }  # fmt: skip


def test_credential_keys_schemes_and_what_only_looks_like_them() -> None:
    """Five under `bearer_token`, nothing else; `tokens` and `key` untouched, what is redacted already not counted."""
    arguments = {
        "token": "Bearer abc", "tokens": 120, "key": "a.py", "note": "Basic Zm9v then token abc", "client_secret": "x",
    }  # fmt: skip
    file = exported(line("tool_call", arguments=arguments, password="pw", was="Bearer [redacted]"))
    assert file.counts == {"bearer_token": 5}
    assert lines_of(file)[1]["payload"] == {
        "arguments": {
            "token": "[redacted]", "tokens": 120, "key": "a.py", "note": "Basic [redacted] then token [redacted]",
            "client_secret": "[redacted]",
        },
        "password": "[redacted]",
        "was": "Bearer [redacted]",
    }  # fmt: skip


def test_a_signed_opening_and_a_bearer_in_arguments() -> None:
    """The bearer is nowhere in the file, arguments are exactly the mark, and 2 are counted."""
    call = line("tool_call", arguments={"token": "Bearer eyQ-9914-kestrel"})
    file = exported(opening(signed=SIGNED), turn(), call)
    assert b"eyQ-9914" not in file.data
    assert lines_of(file)[3]["payload"] == {"arguments": {"token": "[redacted]"}}
    assert file.redactions == 2


def test_export_then_import_keeps_uid_kinds_and_redactions() -> None:
    """What is read back of an export is what was written."""
    file = exported(opening(signed=SIGNED), turn())
    section = taken(file.data).sections[0]
    assert section.head.uid == "abcd-1234"
    assert section.head.kinds == ["session", "turn"]
    assert (section.head.redactions, len(section.entries)) == (1, 2)


def test_a_head_and_20_001_entries_are_413() -> None:
    """The count is in the sentence."""
    verdict = check(bytes_of(head(), *[entry("run")] * 20_001))
    assert (verdict.status, "20 001 entries" in str(verdict.sentence)) == (413, True)


def _other(name: str) -> SessionFormat:
    return SessionFormat(
        id=name, media_type="application/x-ndjson", extension=".harbor.jsonl", export=export, judge=judge
    )


def test_a_format_by_an_empty_id_is_the_built_in_one() -> None:
    """Nothing asked for is `datalayer-session/1`."""
    assert (FORMATS.get().id, FORMATS.get("").media_type) == ("datalayer-session/1", "application/x-ndjson")
    assert FORMATS.get("datalayer-session/1").extension == ".session.jsonl"


def test_a_format_by_an_unknown_id_is_refused_naming_those_known() -> None:
    """422, with the ids."""
    with pytest.raises(SessionRefused, match=r"no session format 'harbor/9'; known: datalayer-session/1$") as refused:
        FORMATS.get("harbor/9")
    assert (refused.value.kind, refused.value.status) == ("unknown_format", 422)


def test_a_second_contribution_under_a_taken_id_is_refused_and_one_under_a_new_id_is_listed() -> None:
    """One id, one way of writing it."""
    offered = SessionFormats()
    with pytest.raises(WrongUse, match="not taken, found 'datalayer-session/1'"):
        offered.add(_other("datalayer-session/1"))
    offered.add(_other("harbor/2"))
    assert [one.id for one in offered] == ["datalayer-session/1", "harbor/2"]
    assert offered.get("harbor/2").extension == ".harbor.jsonl"


def test_media_type_file_name_and_headers() -> None:
    """Section 7, over HTTP: what a server sends beside the file."""
    file = exported(opening(), turn())
    assert file.headers() == {
        "Content-Type": "application/x-ndjson",
        "Content-Disposition": 'attachment; filename="abcd-1234.session.jsonl"',
        "X-Session-Digest": file.digest,
        "X-Session-Turns": "1",
        "X-Session-Redactions": "0",
    }
