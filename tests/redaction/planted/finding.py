"""Values, tables and texts in, every string inside them out, JSON in strings decoded; which needles are among them."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator

import polars as pl

from sessionlab.corpus import Corpus
from sessionlab.tables import TABLES


def strings(value: object) -> Iterator[str]:
    """Every string of a JSON value, keys too; a string that is itself JSON is followed by the strings inside it."""
    if isinstance(value, str):
        yield value
        if value[:1] in {"{", "[", '"'}:
            try:
                inner = json.loads(value)
            except ValueError:
                return
            yield from strings(inner)
    elif isinstance(value, dict):
        for key, member in value.items():
            yield from strings(key)
            yield from strings(member)
    elif isinstance(value, list):
        for item in value:
            yield from strings(item)


def surviving(needles: Iterable[str], texts: Iterable[str]) -> list[str]:
    """The needles found in one of the texts, in their order."""
    whole = "\0".join(texts)  # no needle holds it, so nothing is found across two texts
    return [needle for needle in needles if needle in whole]


def table_texts(corpus: Corpus) -> list[str]:
    """Every string of the text columns of every table, as `strings` tells them."""
    found: dict[str, None] = {}
    for name in TABLES:
        frame = corpus.table(name)
        for column in frame.columns:
            if frame[column].dtype == pl.String:
                found |= dict.fromkeys(frame[column].drop_nulls())
    return list(strings(list(found)))
