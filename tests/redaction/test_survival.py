"""What `python -m tests.redaction.survival` measures, held: nothing planted that has a shape or a name is shared."""

from __future__ import annotations

from functools import partial
from pathlib import Path

import pytest

from sessionlab.redaction import StrictRedactor
from tests.redaction.planted import BY_ENTROPY, clean_values, planted_all, write_sessions
from tests.redaction.survival import exported, failures, measured, redacted_tables_of, tables_of, untouched

WAYS = {
    "strict export": (exported(untouched), exported(StrictRedactor), True),
    "corpus.redacted": (tables_of, redacted_tables_of, False),
    "corpus.redacted, high_entropy too": (tables_of, partial(redacted_tables_of, rules=["high_entropy"]), False),
}


@pytest.mark.parametrize("way", WAYS)
def test_no_planted_secret_with_a_shape_or_a_name_survives_and_clean_values_stay(way: str, tmp_path: Path) -> None:
    """Of 500 none but those of the two kinds that have neither; of 6,350 clean values fewer than 1 in 1,000 go."""
    files = write_sessions(tmp_path, planted_all(), clean_values())
    before, after, takes_schemes = WAYS[way]
    part = measured(way, files, before, after, is_strict=True, takes_schemes=takes_schemes)
    assert len(part.carried) >= 490
    assert {one.kind for one in part.survived} <= set(BY_ENTROPY)
    assert failures(part) == []
