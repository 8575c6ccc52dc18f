"""Rows, rules and logs of any kind: what does not name the session is there afterwards, byte for byte."""

from __future__ import annotations

import json
import string
import tomllib
from collections.abc import Iterator
from pathlib import Path
from typing import Any, TypeAlias

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from sessionlab.systems.mecha.forgetting import shapes, spans
from sessionlab.systems.mecha.forgetting.pointing import Keys, without
from sessionlab.systems.mecha.forgetting.rules import NotToml, UnknownShape, without_sources
from sessionlab.systems.mecha.forgetting.stores import Pointer
from tests.systems.mecha.forgetting.home import CANARY, GONE, REFLECTION, delete, row, small, write

ID = "r-1"
Json: TypeAlias = Any
_names = st.sampled_from(["session_id", "id", "a", "é", "x y", "\\"])
_leaves = st.one_of(
    st.none(), st.booleans(), st.integers(), st.floats(allow_nan=False, allow_infinity=False),
    st.text(max_size=8), st.sampled_from([GONE, f"see {GONE}", GONE + "-2"]),
)  # fmt: skip
_values = st.recursive(
    _leaves, lambda inner: st.lists(inner, max_size=4) | st.dictionaries(_names, inner, max_size=4), max_leaves=8
)
_objects = st.dictionaries(_names, _values, max_size=5)
_styles = st.sampled_from([(",", ":"), (", ", ": "), (" ,\t", " : ")])
_quiet = settings(deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture], max_examples=60)


@st.composite
def _written(draw: st.DrawFn) -> bytes:
    """A line: an object in some style, or bytes that are none."""
    if draw(st.booleans()):
        return draw(st.binary(max_size=30).map(lambda line: line.replace(b"\n", b"")))
    text = json.dumps(draw(_objects), separators=draw(_styles), ensure_ascii=draw(st.booleans()))
    return text.encode(errors="surrogatepass")


def _names_it(line: bytes) -> bool:
    """Whether a line is the session's, by the standard library's reader."""
    try:
        told = json.loads(line.decode(), parse_constant=_refused)
    except (ValueError, RecursionError):
        return False
    return isinstance(told, dict) and told.get("session_id") == GONE


def _refused(word: str) -> None:
    raise ValueError(word)


@_quiet
@given(lines=st.lists(_written(), max_size=8), end=st.booleans())
def test_row_files_keep_every_line_that_is_not_the_sessions(
    tmp_path_factory: pytest.TempPathFactory, lines: list[bytes], end: bool
) -> None:
    """What is left is the lines of the others, in their order, torn and unknown ones included, to the byte."""
    where = small(tmp_path_factory.mktemp("rows") / "home")
    path = write(where.at("appraisals") / "scores.jsonl")
    path.write_bytes(b"\n".join(lines) + (b"\n" if end and lines else b""))
    report = delete(where)
    assert report.complete
    whole = path.read_bytes()
    kept = [(line, index) for index, line in enumerate(lines) if not _names_it(line)]
    last = len(lines) - 1
    assert whole == b"".join(line + (b"\n" if index < last or end else b"") for line, index in kept)
    assert dict(report.removed)["appraisals"] == len(lines) - len(kept)
    assert any(str(path) in sentence for sentence in report.traces) == (GONE.encode() in whole)


@_quiet
@given(row_text=_written(), key=st.sampled_from(["session_id", "a"]))
def test_an_edited_row_loses_what_points_and_says_the_rest_as_before(row_text: bytes, key: str) -> None:
    """Removing a member leaves an object without it, and the text of no other member is written otherwise."""
    keys = Keys(GONE)
    try:
        old: Json = json.loads(row_text.decode(), parse_constant=_refused)
    except (ValueError, RecursionError):
        with pytest.raises(ValueError):  # noqa: PT011 (any of its kinds)
            without(row_text.decode(errors="surrogateescape"), [], keys)
        return
    text = row_text.decode()
    assert without(text, [], keys) == text
    removed = without(text, [Pointer(key, "session", "member")], keys)
    nulled = without(text, [Pointer(f"**.{key}", "session", "null")], keys)
    assert removed is not None
    assert nulled is not None
    named = isinstance(old, dict) and old.get(key) == GONE
    expected = {name: value for name, value in old.items() if name != key} if named else old
    assert json.loads(removed) == expected
    assert (removed == text) == (not named)
    assert json.loads(nulled) == _nulled(old, key)
    assert _pieces(removed) <= _pieces(text)


def _nulled(value: Json, key: str) -> Json:
    if isinstance(value, list):
        return [_nulled(one, key) for one in value]
    if isinstance(value, dict):
        return {name: None if name == key and one == GONE else _nulled(one, key) for name, one in value.items()}
    return value


def _pieces(text: str) -> set[str]:
    """How each number of a JSON text is written."""
    pieces: set[str] = set()

    def floats(number: str) -> float:
        pieces.add(number)
        return float(number)

    json.loads(text, parse_float=floats)
    return pieces


@given(st.lists(st.integers(0, 9), max_size=7), st.sets(st.integers(0, 6)), _styles)
def test_cutting_any_entries_of_a_list_leaves_the_others(
    entries: list[int], gone: set[int], style: tuple[str, str]
) -> None:
    """Whichever go, what is left is a list of the rest."""
    text = json.dumps(entries, separators=style)
    value = spans.parse(text)
    going = {index for index in gone if index < len(entries)}
    new = spans.changed(text, spans.cut(value.parts, going, (value.start + 1, value.end - 1)))
    assert json.loads(new) == [entry for index, entry in enumerate(entries) if index not in going]


@given(st.text(alphabet='{}[]":,-0.1eE+ \\untrfalsx\n', max_size=14))
def test_what_is_json_is_what_the_standard_library_says(text: str) -> None:
    """The reader with places takes exactly what `json` takes, but for the words JSON does not have."""
    try:
        json.loads(text, parse_constant=_refused)
        is_json = True
    except ValueError:
        is_json = False
    try:
        spans.parse(text)
        found = True
    except ValueError:
        found = False
    assert found == is_json


def test_a_member_written_twice_points_nowhere_and_is_named(tmp_path: Path) -> None:
    """Nobody can say which of the two counts: the row stays, the report tells."""
    where = small(tmp_path / "home")
    path = write(where.at("appraisals") / "scores.jsonl", f'{{"session_id":"{GONE}","session_id":"other"}}')
    before = path.read_bytes()
    report = delete(where)
    assert (path.read_bytes(), len(report.traces)) == (before, 1)


def test_an_id_that_is_written_with_escapes_is_the_same_id(tmp_path: Path) -> None:
    """JSON has more than one way to write a text; the row goes all the same."""
    where = small(tmp_path / "home")
    path = write(
        where.at("appraisals") / "scores.jsonl",
        f'{{"session_id":"{GONE.replace("T", chr(92) + "u0054")}"}}',
        row(a="\\"),
    )
    delete(where)
    assert path.read_text() == row(a="\\") + "\n"


def test_rows_nested_too_deeply_stay_and_are_named(tmp_path: Path) -> None:
    """A row that cannot be read is kept, as any other that cannot."""
    where = small(tmp_path / "home")
    deep = f'{{"session_id":"{GONE}","x":{"[" * 5000}{"]" * 5000}}}'
    path = write(where.at("appraisals") / "scores.jsonl", deep, row(session_id=GONE))
    report = delete(where)
    assert path.read_text() == deep + "\n"
    assert any(str(path) in sentence for sentence in report.traces)


_word = st.text(alphabet=string.ascii_letters + " '\"\\\n#[]{}=,", max_size=12)
_rule = st.tuples(_word, st.none() | st.lists(st.sampled_from([ID, "r-2", "r-3", "r-11"]), max_size=4))


def _toml(rules: list[tuple[str, list[str] | None]], draw: st.DataObject) -> Iterator[str]:
    yield draw.draw(st.sampled_from(["", "version = 3\n", "# rules\n\n", '[about]\nsources = ["r-1"]\n']))
    for text, sources in rules:
        yield draw.draw(st.sampled_from(["\n", "\n# above\n", ""]))
        yield draw.draw(st.sampled_from(["[[rules]]\n", "[[ rules ]] # a rule\n", '[["rules"]]\n']))
        yield f"text = {json.dumps(text)}\n" if "\n" not in text else f"text = '''\n{text.replace(chr(39), '.')}'''\n"
        if sources is not None:
            style = draw.draw(st.sampled_from(["[{}]", "[\n  {}, # why\n]", "[ {} ]"]))
            yield "sources = " + (style.format(", ".join(f'"{one}"' for one in sources)) if sources else "[]") + "\n"
        yield draw.draw(st.sampled_from(["", "weight = 1.50\n", '[rules.more]\nsources = ["r-1"]\n']))
    yield draw.draw(st.sampled_from(["", '\n[after]\nrules = ["r-1"]\n', "# the end"]))


@_quiet
@given(rules=st.lists(_rule, max_size=4), draw=st.data())
def test_rules_lose_sources_or_go_whole_however_they_are_written(
    rules: list[tuple[str, list[str] | None]], draw: st.DataObject
) -> None:
    """The file says what it said, without the source, and without the rules that had no other."""
    text = "".join(_toml(rules, draw))
    old = tomllib.loads(text)
    new, count = without_sources(text.encode(), frozenset({ID}))
    told = tomllib.loads(new.decode())
    wanted = [rule for rule in old.get("rules", []) if set(rule.get("sources", ["kept"])) - {ID} or not rule["sources"]]
    assert told.get("rules", []) == [
        {**rule, "sources": [one for one in rule["sources"] if one != ID]} if "sources" in rule else rule
        for rule in wanted
    ]
    assert {key: value for key, value in told.items() if key != "rules"} == {
        key: value for key, value in old.items() if key != "rules"
    }
    assert count == sum(ID in (sources or ()) for _, sources in rules)
    assert (new == text.encode()) == (count == 0)


@pytest.mark.parametrize(
    "text",
    [
        'rules = [{text = "a", sources = ["r-1"]}]\n',
        '[[rules]]\nsources = ["r-1", 7]\n',
        '[[rules]]\n"sources" = ["r\\u002D1", "r-2"]\nx = 1\n',
    ],
)
def test_rules_of_a_shape_that_is_not_known_are_not_edited(text: str) -> None:
    """What comes out must say what was meant, else nothing does."""
    try:
        new, _ = without_sources(text.encode(), frozenset({ID}))
    except UnknownShape:
        return
    assert tomllib.loads(new.decode()) == {"rules": [{"sources": ["r-2"], "x": 1}]}


def test_rules_of_an_unknown_shape_are_named_and_the_rest_completes(tmp_path: Path) -> None:
    """The file is as it was, and the report tells that it names a reflection."""
    where = small(tmp_path / "home")
    write(where.at("learning") / "reflections.jsonl", row(id=REFLECTION, session_id=GONE))
    text = f'rules = [{{text = "a", sources = ["{REFLECTION}"]}}]'
    path = write(where.at("learning") / "rules" / "x.learned.toml", text)
    report = delete(where)
    assert (report.complete, path.read_text(), report.exit_code) == (True, text + "\n", 1)
    assert [str(path) in sentence and "names a reflection" in sentence for sentence in report.traces] == [True]


@pytest.mark.parametrize("broken", [b"[[rules]\n", b"\xff", b"a = 1\na = 2\n"])
def test_rules_that_are_no_toml_are_an_error(broken: bytes) -> None:
    """Whether they name a reflection is unknown."""
    with pytest.raises(NotToml):
        without_sources(broken, frozenset({ID}))


def test_log_lines_go_by_whole_words_and_long_quotes_only(tmp_path: Path) -> None:
    """An id that another one begins with, or a lesson that is a common phrase, takes no line with it."""
    where = small(tmp_path / "home")
    learning = where.at("learning")
    write(
        learning / "reflections.jsonl",
        row(id="r", session_id=GONE, reflexion_text="Be brief."),
        row(id="refl-77", session_id=GONE, reflexion_text=f"First of all:\n{CANARY}\nso."),
    )
    gone = [f"pushed {GONE}.", f"{GONE}", "kept refl-77", f"- {CANARY}"]
    kept = [f"pushed {GONE}-2", "kept refl-777", "r is a letter", "Be brief.", "so.", ""]
    log = write(learning / "logs" / "nightly.log", *(line for pair in zip(gone, kept, strict=False) for line in pair))
    delete(where)
    assert log.read_text().splitlines() == kept[:4]


def test_files_that_are_replaced_keep_their_mode(tmp_path: Path) -> None:
    """Owner-only stays owner-only, and open stays open."""
    where = small(tmp_path / "home")
    modes = {0o600: "a", 0o640: "b", 0o664: "c", 0o400: "d"}
    for mode, name in modes.items():
        write(where.at("requests") / f"{name}.json", row(triage_session=GONE, x=1), mode=mode)
    assert dict(delete(where).removed)["front-door requests"] == 4
    for mode, name in modes.items():
        path = where.at("requests") / f"{name}.json"
        assert (path.stat().st_mode & 0o777, json.loads(path.read_text())) == (mode, {"triage_session": None, "x": 1})


def test_every_shape_that_is_assumed_is_told_in_a_sentence() -> None:
    """The list in the documentation is made of the declarations that the walk follows."""
    told = {(step, files): sentence for step, files, sentence in shapes()}
    assert told["closures", "closures/closures.jsonl"] == "`sessions` holds the id of the session: the list loses it"
    assert told["trigger ledger", "triggers/runs.jsonl"] == (
        "`session_id` holds the id of the session: the member goes, and with it `summary`"
    )
    assert told["learning logs", "learning/logs/*"].startswith("a line goes that names the session")
    assert {files.split("/")[0] for _, files in told} == {
        "sessions", "scene", "outbox", "questions", "messages", "learning", "appraisals", "comparisons",
        "closures", "triggers", "workflows", "requests", "mail-triage", "slack",
        "regression-sessions.txt", "work", "spill",
    }  # fmt: skip
