"""Tool fingerprints and the surface store: section 4.5 and its check values."""

from __future__ import annotations

import json
from pathlib import Path

import msgspec
import pytest

from sessionlab.errors import WrongUse
from sessionlab.systems.mecha import SurfaceStore, ToolDefinition, compare, fingerprint, fnv1a_64

ECHO = ToolDefinition("echo", "Say it back", {"type": "object", "properties": {"v": {"type": "string"}}})
LIST = ToolDefinition("fs_list", "Liste “é”", {})


class Other(msgspec.Struct, frozen=True):
    """A tool as something else describes it, its parts in another order and more of them."""

    description: str
    input_schema: dict[str, object]
    name: str
    read_only: bool = False


@pytest.mark.parametrize(
    ("data", "digest"),
    [
        (b"", "cbf29ce484222325"),
        (b"a", "af63dc4c8601ec8c"),
        (b"abc", "e71fa2190541574b"),
        (b"foobar", "85944171f73967e8"),
    ],
)
def test_fnv1a(data: bytes, digest: str) -> None:
    """The check value of the specification, and those published with the function."""
    assert f"{fnv1a_64(data):016x}" == digest


def test_the_fingerprint_of_one_tool() -> None:
    """Name, description, schema as compact JSON with sorted keys, each ended by NUL."""
    assert fingerprint([ECHO]) == "35dad1877a5a180c"
    spelled = b'echo\0Say it back\0{"properties":{"v":{"type":"string"}},"type":"object"}\0'
    assert fingerprint([ECHO]) == f"{fnv1a_64(spelled):016x}"


def test_what_a_fingerprint_tells_apart() -> None:
    """Order, and any word; not the order of a schema's keys, nor by whom the tool is described."""
    assert fingerprint([ECHO, LIST]) != fingerprint([LIST, ECHO])
    assert fingerprint([ECHO._replace(description="Say it  back")]) != fingerprint([ECHO])
    assert fingerprint([ECHO._replace(input_schema={"type": "object"})]) != fingerprint([ECHO])
    turned = {"properties": {"v": {"type": "string"}}, "type": "object"}
    assert fingerprint([Other("Say it back", turned, "echo")]) == fingerprint([ECHO])
    assert fingerprint([]) == "cbf29ce484222325"
    spelled = "fs_list\0Liste “é”\0{}\0".encode()
    assert fingerprint([LIST]) == f"{fnv1a_64(spelled):016x}"


@pytest.mark.parametrize("recorded", [None, "", "35DAD1877A5A180C", "35dad1877a5a180", "35dad1877a5a180c\n", "none"])
def test_without_a_hash_nothing_is_known(recorded: str | None) -> None:
    """Unknown, never a match."""
    assert compare(recorded, [ECHO]) == "unknown"


def test_matches_and_differs() -> None:
    """The other two answers."""
    assert compare("35dad1877a5a180c", [ECHO]) == "matches"
    assert compare("35dad1877a5a180c", [ECHO, LIST]) == "differs"
    assert compare("35dad1877a5a180c", []) == "differs"


def test_definitions_are_kept_under_their_hash(tmp_path: Path) -> None:
    """`<hash>.json`: a pretty-printed array of name, description, input_schema; folder 0700, file 0600."""
    store = SurfaceStore(tmp_path / "surfaces")
    assert store.save([ECHO, LIST]) == fingerprint([ECHO, LIST])
    [path] = store.folder.iterdir()
    assert path.name == f"{fingerprint([ECHO, LIST])}.json"
    assert path.read_text().startswith(
        '[\n  {\n    "name": "echo",\n    "description": "Say it back",\n    "input_schema"'
    )
    assert "“é”" in path.read_text()
    assert [list(tool) for tool in json.loads(path.read_text())] == [["name", "description", "input_schema"]] * 2
    assert (store.folder.stat().st_mode & 0o777, path.stat().st_mode & 0o777) == (0o700, 0o600)
    assert store.load(path.stem) == [ECHO, LIST]


def test_saving_again_changes_nothing_and_mends_what_is_broken(tmp_path: Path) -> None:
    """A file that is there and right is left; one that is torn is written anew."""
    store = SurfaceStore(tmp_path)
    kept = store.save([ECHO])
    path = tmp_path / f"{kept}.json"
    before = path.stat().st_mtime_ns, path.stat().st_ino
    store.save([ECHO])
    assert (path.stat().st_mtime_ns, path.stat().st_ino) == before
    path.write_bytes(path.read_bytes()[:20])
    assert store.load(kept) is None
    store.save([ECHO])
    assert store.load(kept) == [ECHO]
    assert [each.name for each in tmp_path.iterdir()] == [path.name]


@pytest.mark.parametrize("name", ["../secret", "0123456789abcdef", "35DAD1877A5A180C", ""])
def test_what_is_not_kept_is_none(tmp_path: Path, name: str) -> None:
    """No such file, and no way out of the folder."""
    (tmp_path / "secret.json").write_text("[]")
    assert SurfaceStore(tmp_path / "surfaces").load(name) is None


@pytest.mark.parametrize("content", ["{}", "[1]", '[{"name":"echo"}]', "[]", "\ud800", '[{"name":1}]'])
def test_words_that_are_not_those_of_the_hash_are_none(tmp_path: Path, content: str) -> None:
    """A file of other content never speaks for a recording."""
    (tmp_path / "35dad1877a5a180c.json").write_bytes(content.encode("utf-8", "surrogatepass"))
    assert SurfaceStore(tmp_path).load("35dad1877a5a180c") is None


def test_members_beside_are_passed_over(tmp_path: Path) -> None:
    """A later build may keep more of a tool."""
    told = [{"name": "echo", "description": "Say it back", "input_schema": ECHO.input_schema, "read_only": True}]
    (tmp_path / "35dad1877a5a180c.json").write_text(json.dumps(told))
    assert SurfaceStore(tmp_path).load("35dad1877a5a180c") == [ECHO]


def test_the_default_folder_is_in_the_mecha_home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Section 2."""
    monkeypatch.setenv("MECHA_HOME", str(tmp_path))
    assert SurfaceStore().folder == tmp_path / "surfaces"


@pytest.mark.parametrize("schema", [{"a": float("nan")}, {1: 2}, {"a": (1,)}, {"a": "\ud800"}, {"a": b"x"}])
def test_a_schema_that_is_no_json_is_refused(tmp_path: Path, schema: dict[str, object]) -> None:
    """By the name of the tool, and nothing is written."""
    with pytest.raises(WrongUse, match="tool 'echo': expected a JSON object"):
        SurfaceStore(tmp_path).save([ECHO._replace(input_schema=schema)])
    assert list(tmp_path.iterdir()) == []
