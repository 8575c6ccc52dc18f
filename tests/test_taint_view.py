"""Random mecha transcripts: what `taint.timeline` and `log.configs_by_message` say is what mecha 9 and 8.6 say."""

from __future__ import annotations

import json
import random
from typing import TYPE_CHECKING, Any

import pytest

import sessionlab as sl

if TYPE_CHECKING:
    from pathlib import Path

TRANSCRIPTS = 400
Json = dict[str, Any]
Answer = dict[int, Any]


def _text(rng: random.Random) -> Json:
    return {"type": "text", "text": f"words {rng.randrange(12)}"}


def _message(rng: random.Random) -> Json:
    return {"role": rng.choice(["user", "assistant"]), "content": [_text(rng)]}


def _rewritten(rng: random.Random, now: list[Json]) -> list[Json]:
    """A list a rewrite may leave: cut, summarised, edited, grown, unchanged or empty."""
    how = rng.randrange(6)
    if how == 0:
        return now[: rng.randrange(len(now) + 1)]
    if how == 1:
        return [_message(rng), *now[len(now) - rng.randrange(len(now) + 1) :]]
    if how == 2 and now:
        at = rng.randrange(len(now))
        return [*now[:at], _message(rng), *now[at + 1 :]]
    if how == 3:
        return [*now, _message(rng)]
    return [] if how == 4 else list(now)


def _transcript(rng: random.Random, native_id: str) -> list[str]:
    """The lines of a transcript; some are broken, the last may be torn."""
    header = {"record": "meta", "id": native_id, "created_at": "2026-10-03T08:15:00Z", "provider": "p", "model": "m",
              "workspace": "/w", "title": "t"}  # fmt: skip
    lines = [json.dumps(header)]
    now: list[Json] = []
    for step in range(rng.randrange(40)):
        kind = rng.choices(
            ["message", "taint", "rewrite", "extend", "config", "summary", "broken"], [12, 4, 2, 3, 3, 1, 1]
        )[0]
        if kind == "message":
            said = _message(rng)
            now.append(said)
            record: Json = {"record": "message", **said}
        elif kind == "taint":
            record = {"record": "taint", "private": rng.random() < 0.3, "untrusted": rng.random() < 0.2}
        elif kind == "rewrite":
            now = _rewritten(rng, now)
            record = {"record": "rewrite", "messages": now}
        elif kind == "extend":
            at = rng.randrange(len(now) + 2)
            blocks = [_text(rng)]
            if at < len(now):
                now = [*now]
                now[at] = {**now[at], "content": [*now[at]["content"], *blocks]}
            record = {"record": "extend", "index": at, "blocks": blocks}
        elif kind == "config":
            record = {"record": "config", "mecha_version": "0.9.1", "provider": "p", "model": f"m{step}",
                      "workspace": "/w", "system_prompt": "s", "tools": []}  # fmt: skip
        elif kind == "summary":
            record = {"record": "summary", "usage": {"input_tokens": 1, "output_tokens": 1}, "turns": 1}
        else:
            lines.append('{"record":"message","role":"user"')
            continue
        lines.append(json.dumps(record))
    if rng.random() < 0.2:
        lines.append('{"record":"taint","private":true,"untr')
    return lines


def _readable(lines: list[str]) -> list[Json]:
    found = []
    for line in lines:
        try:
            found.append(json.loads(line))
        except ValueError:
            continue
    return found


def covering(lines: list[str]) -> Answer:
    """Position → (private, untrusted) of the checkpoint that covers it, None where none does (mecha 9)."""
    n, private, untrusted = 0, False, False
    checkpoints: list[tuple[int, bool, bool]] = []
    known_when_extended: dict[int, int] = {}
    for record in _readable(lines):
        if record["record"] == "message":
            n += 1
        elif record["record"] == "rewrite":
            n = len(record["messages"])
            checkpoints = []
            known_when_extended = {}
        elif record["record"] == "taint":
            private, untrusted = private or record["private"], untrusted or record["untrusted"]
            checkpoints.append((n, private, untrusted))
        elif record["record"] == "extend" and record["index"] < n:
            known_when_extended[record["index"]] = len(checkpoints)
    return {
        at: next(((p, u) for count, p, u in checkpoints[known_when_extended.get(at, 0) :] if count > at), None)
        for at in range(n)
    }


def configured(lines: list[str]) -> Answer:
    """Position → model of the configuration that covers it, None where none does (mecha 8.6)."""
    now: list[Json] = []
    configs: list[tuple[int, str]] = []
    for record in _readable(lines):
        if record["record"] == "message":
            now.append({"role": record["role"], "content": record["content"]})
        elif record["record"] == "config":
            configs.append((len(now), record["model"]))
        elif record["record"] == "extend" and record["index"] < len(now):
            whole = now[record["index"]]
            now[record["index"]] = {**whole, "content": [*whole["content"], *record["blocks"]]}
        elif record["record"] == "rewrite":
            new = record["messages"]
            in_place = len(new) >= len(now) or new == now[: len(new)]
            configs = [(min(position, len(new)) if in_place else 0, model) for position, model in configs]
            now = list(new)
    return {
        at: next((model for position, model in reversed(configs) if position <= at), None) for at in range(len(now))
    }


@pytest.fixture(scope="module")
def transcripts(tmp_path_factory: pytest.TempPathFactory) -> tuple[sl.Corpus, dict[str, list[str]]]:
    """Random transcripts by session id, and the corpus they were loaded into."""
    folder: Path = tmp_path_factory.mktemp("transcripts")
    written = {}
    for n in range(TRANSCRIPTS):
        lines = _transcript(random.Random(n), f"t{n:03}")
        (folder / f"t{n:03}.jsonl").write_text("\n".join(lines) + "\n" * (n % 2), encoding="utf-8")
        written[f"mecha:t{n:03}"] = lines
    return sl.load(folder, workers=1), written


def _by_session(rows: list[tuple[Any, ...]]) -> dict[str, Answer]:
    found: dict[str, Answer] = {}
    for session_id, position, answer in rows:
        assert position not in found.setdefault(session_id, {})
        found[session_id][position] = answer
    return found


def test_random_transcripts_cover_all_there_is(transcripts: tuple[sl.Corpus, dict[str, list[str]]]) -> None:
    """The transcripts hold every case: unknown and each taint, rewrites, extensions, no configuration."""
    answers = [answer for lines in transcripts[1].values() for answer in covering(lines).values()]
    assert {None, (False, False), (True, False), (False, True), (True, True)} == set(answers)
    assert len(answers) > 2000
    kinds = [record["record"] for lines in transcripts[1].values() for record in _readable(lines)]
    assert kinds.count("rewrite") > 300
    assert kinds.count("extend") > 300
    assert None in [model for lines in transcripts[1].values() for model in configured(lines).values()]


def test_taint_of_each_position(transcripts: tuple[sl.Corpus, dict[str, list[str]]]) -> None:
    """State and learnable of every message of every transcript are those of the reference; no message is left out."""
    corpus, written = transcripts
    words = {None: "unknown", (False, False): "clean", (True, False): "private", (False, True): "untrusted",
             (True, True): "both"}  # fmt: skip
    rows = corpus.sql("SELECT session_id, position, state, learnable FROM taint.timeline WHERE kind = 'message'").rows()
    found = _by_session([(session, position, (state, learnable)) for session, position, state, learnable in rows])
    for session_id, lines in written.items():
        wanted = {at: (words[taint], taint is not None and not taint[1]) for at, taint in covering(lines).items()}
        assert found.get(session_id, {}) == wanted, (session_id, lines)


def test_configuration_of_each_position(transcripts: tuple[sl.Corpus, dict[str, list[str]]]) -> None:
    """The configuration of every message of every transcript is the reference's."""
    corpus, written = transcripts
    found = _by_session(corpus.sql("SELECT session_id, position, model FROM log.configs_by_message").rows())
    for session_id, lines in written.items():
        assert found.get(session_id, {}) == configured(lines), (session_id, lines)


def test_sums_by_session(transcripts: tuple[sl.Corpus, dict[str, list[str]]]) -> None:
    """The counts of `taint.by_session` are those of the reference, and armed is what all checkpoints merge to."""
    corpus, written = transcripts
    columns = "messages, clean, private, untrusted, both_taints, unknown, learnable, armed, first_untrusted_position"
    found = {row[0]: row[1:] for row in corpus.sql(f"SELECT session_id, {columns} FROM taint.by_session").rows()}
    assert len(found) == len(written)
    for session_id, lines in written.items():
        answers = list(covering(lines).values())
        taints = [record for record in _readable(lines) if record["record"] == "taint"]
        armed = all(any(t[leg] for t in taints) for leg in ("private", "untrusted")) if taints else None
        untrusted = [at for at, taint in covering(lines).items() if taint is not None and taint[1]]
        assert found[session_id] == (
            len(answers),
            answers.count((False, False)),
            answers.count((True, False)),
            answers.count((False, True)),
            answers.count((True, True)),
            answers.count(None),
            answers.count((False, False)) + answers.count((True, False)),
            armed,
            min(untrusted, default=None),
        ), (session_id, lines)
