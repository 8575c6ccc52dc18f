"""Samples mapped for tests: a folder of samples goes in; its sessions' records, and short views of them, come out."""

from __future__ import annotations

from collections.abc import Iterator
from functools import cache
from pathlib import Path

import sessionlab as sl
from sessionlab.corpus import Corpus
from sessionlab.systems.datalayer.mapping import record_of
from sessionlab.systems.datalayer.record import Record
from tests.conftest import SAMPLES

Payload = dict[str, object]


@cache
def corpus_of(*samples: str) -> Corpus:
    """The corpus of some sample folders, by their names below the samples; loaded once."""
    return sl.load(*(SAMPLES / name for name in samples), workers=1, progress=False)


@cache
def mapped(sample: str, session: str, *, whole: bool = False) -> Record:
    """The record of one session of a sample; made once, and to be left as it is."""
    return record_of(corpus_of(sample), session, whole=whole)


def outline(record: Record) -> list[tuple[str, object]]:
    """Of each entry its kind, and the member that tells most: what, tool, gate, command, title, status or asked."""
    names = ("what", "tool", "gate", "command", "title", "status", "asked", "name", "because", "state")
    return [
        (entry.kind, next((entry.payload[name] for name in names if name in entry.payload), None))
        for entry in record.entries
    ]


def of_kind(record: Record, kind: str) -> list[Payload]:
    """The payloads of the entries of a kind."""
    return [entry.payload for entry in record.entries if entry.kind == kind]


def steps(record: Record, what: str) -> list[Payload]:
    """The payloads of the steps with that word."""
    return [payload for payload in of_kind(record, "step") if payload.get("what") == what]


def texts(value: object) -> Iterator[str]:
    """Every text inside a JSON value."""
    if isinstance(value, str):
        yield value
    elif isinstance(value, dict):
        for member in value.values():
            yield from texts(member)
    elif isinstance(value, list):
        for item in value:
            yield from texts(item)


def copied(tmp_path: Path, sample: str) -> Path:
    """A copy of a sample's only session file."""
    [source] = [path for path in (SAMPLES / sample).iterdir() if path.suffix in {".ndjson", ".jsonl"}]
    target = tmp_path / source.name
    target.write_bytes(source.read_bytes())
    return target
