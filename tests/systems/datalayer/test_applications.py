"""What a place knows of applications, told as a mapping, in JSON and in TOML."""

from __future__ import annotations

from pathlib import Path

import pytest

from sessionlab.errors import SessionRefused, WrongUse
from sessionlab.systems.datalayer.applications import Applications, KnownAgent


def test_json_and_toml_tell_the_same(tmp_path: Path) -> None:
    """Agents as a list of names, by harness, or with members."""
    json = tmp_path / "apps.json"
    json.write_text(
        '{"harbor": {"version": 3, "agents": {"coder": "codex", "lens": {"harness": "g", "replays": false}}},'
        ' "dock": {"version": 0, "agents": ["pilot"], "keeps_conversations": false}}'
    )
    toml = tmp_path / "apps.toml"
    toml.write_text(
        '[harbor]\nversion = 3\n[harbor.agents]\ncoder = "codex"\nlens = {harness = "g", replays = false}\n'
        '[dock]\nversion = 0\nagents = ["pilot"]\nkeeps_conversations = false\n'
    )
    for path in (json, toml):
        known = Applications.read(path)
        assert known.agent("harbor", "coder") == KnownAgent("codex", replays=True)
        assert known.agent("harbor", "lens") == KnownAgent("g", replays=False)
        assert known.agent("dock", "pilot") == KnownAgent(None)
        assert (known.application("harbor").version, known.application("dock").keeps_conversations) == (3, False)


def test_unknown_names_are_refused_and_name_the_known() -> None:
    """422 for both, unless the caller says otherwise of an agent."""
    known = Applications({"harbor": {"version": 1, "agents": ["a", "b"]}})
    with pytest.raises(SessionRefused, match="known: harbor") as app:
        known.application("dock")
    with pytest.raises(SessionRefused, match="it has: a, b") as agent:
        known.agent("harbor", "c")
    with pytest.raises(SessionRefused) as there:
        known.agent("harbor", "c", status=404)
    assert [(one.value.kind, one.value.status) for one in (app, agent, there)] == [
        ("unknown_app", 422), ("unknown_agent", 422), ("unknown_agent", 404),
    ]  # fmt: skip
    with pytest.raises(SessionRefused, match="known: none"):
        Applications({}).application("dock")


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("[", "JSON"),
        ("[]", "list"),
        ('{"harbor": {"agents": []}}', "version"),
        ('{"harbor": {"version": -1, "agents": []}}', "version"),
        ('{"harbor": {"version": true, "agents": []}}', "version"),
        ('{"harbor": {"version": 1, "agents": {"a": 5}}}', "agents"),
        ('{"harbor": {"version": 1, "agents": [""]}}', "agents"),
        ('{"harbor": {"version": 1, "agents": [], "agent": "x"}}', "agent"),
        ('{"": {"version": 1, "agents": []}}', "length"),
        ("[" * 100_000, "JSON"),
    ],
)
def test_another_shape_is_wrong_use_that_names_the_file_and_the_member(tmp_path: Path, text: str, said: str) -> None:
    """Where, what was expected, what was found."""
    path = tmp_path / "apps.json"
    path.write_text(text)
    with pytest.raises(WrongUse, match=said) as caught:
        Applications.read(path)
    assert str(path) in str(caught.value)


def test_a_broken_toml_file_is_wrong_use(tmp_path: Path) -> None:
    """And bytes that are no text are too."""
    path = tmp_path / "apps.toml"
    for data in (b"x = ", b"\xff"):
        path.write_bytes(data)
        with pytest.raises(WrongUse, match="TOML"):
            Applications.read(path)
