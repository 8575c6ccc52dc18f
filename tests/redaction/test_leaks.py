"""What the exact rules leave behind is named by rule and place, and never shown."""

from __future__ import annotations

from sessionlab.redaction import Redactor, leaks


def test_leaks_after_the_exact_rules() -> None:
    """The known holes of the exact rules, each at its path; what they removed is no leak."""
    payload = {
        "headers": [{"name": "Authorization", "value": "q1w2e3r4t5"}],
        "token": "q9",
        "arguments": '{"password": "hunter22"}',
        "note": "it was hunter22",
    }
    exact = Redactor()
    lines = [("line 1", {"title": "password=hunter22"}), ("line 2", exact.value(payload))]
    assert [tuple(finding) for finding in leaks(lines)] == [
        ("assignment", "line 1.title", 1),
        ("header_pair", "line 2.headers[0].value", 1),
        ("bearer_token", "line 2.arguments", 1),
        ("learned_value", "line 2.note", 1),
    ]


def test_declared_secrets_that_leak() -> None:
    """A declared secret is found in a key, where the exact rules do not look."""
    assert [tuple(finding) for finding in leaks([("line 2", {"run abc9": 1})], declared=["abc9"])] == [
        ("object_key", "line 2", 1)
    ]


def test_nothing_leaks() -> None:
    """Clean lines have no findings; a text is taken as well as a value."""
    assert leaks([("line 1", "a title"), ("line 2", {"tokens": 5, "id": None})]) == []


def test_no_value_in_a_place() -> None:
    """A key that holds a secret is shown without it."""
    found = leaks([("line 1", {"ghp_" + "a" * 36: {"clientSecret": "hunter22"}})])
    assert all("aaaa" not in finding.place and "hunter" not in finding.place for finding in found)
    assert {finding.rule for finding in found} == {"object_key", "credential_key"}
