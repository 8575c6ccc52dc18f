"""Every case of section 15, "The generated constants": what the format's own tests compare with its specification.

The kinds and the sentences, word for word, are held by tests/formats/test_datalayer_sentences.py.
"""

from __future__ import annotations

import pytest

from sessionlab.formats.datalayer.fields import FORMAT_ID, STATES, TITLE_POINTS
from sessionlab.formats.datalayer.judge import MAX_BYTES, MAX_ENTRIES, SENTENCES, too_large
from sessionlab.redaction import MARK, RULES
from sessionlab.systems.datalayer import check
from tests.formats.datalayer_files import bytes_of, entry, head


def test_format_states_rules_and_caps() -> None:
    """Format id, states, rule ids in order, the mark, caps and the longest title are those of section 1."""
    assert FORMAT_ID == "datalayer-session/1"
    assert STATES == ("open", "paused", "ended")
    assert RULES == (
        "authorization_header", "bearer_token", "declared_secret", "url_userinfo", "signed_user", "runtime_address",
    )  # fmt: skip
    assert MARK == "[redacted]"
    assert (MAX_BYTES, MAX_ENTRIES, TITLE_POINTS) == (67_108_864, 20_000, 200)


def test_the_names_of_the_refusals() -> None:
    """The eight, in the specification's order, come before those it words freely."""
    assert list(SENTENCES)[:8] == [
        "unversioned", "other_version", "not_a_line", "unknown_kind", "entry_without_at", "team_without_seats",
        "too_large", "not_json",
    ]  # fmt: skip


def test_too_large_with_31_204_and_70() -> None:
    """The sentence tells both numbers and the caps."""
    said = too_large(31_204, 70 * 1024 * 1024).sentence
    assert said == "The file has 31 204 entries over 70 MB; a session file holds at most 20 000 entries in 64 MB."


@pytest.mark.parametrize(
    ("lines", "name"),
    [
        ((head(entries=1), entry("run")), None),
        ((head(), {**entry("run"), "kind": "shell"}), "unknown_kind"),
        ((head(), {"record_type": "entry", "kind": "run"}), "entry_without_at"),
        (({"record_type": "session", "format": FORMAT_ID, "uid": "abcd-1234"},), "field_refusal"),
    ],
)
def test_what_the_schema_takes_and_refuses(lines: tuple[object, ...], name: str | None) -> None:
    """A sound entry is taken; kind `shell`, an entry without `at`, and a session line of only a uid are refused."""
    assert check(bytes_of(*lines)).name == name
