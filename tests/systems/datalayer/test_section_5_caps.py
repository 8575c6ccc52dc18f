"""The row of section 5's caps that weighs line ends; the other rows are held by tests/formats/test_datalayer_judge.py.

A file of CR LF is judged on its real bytes, although each line weighs one byte less in the check that follows.
"""

from __future__ import annotations

import json

import pytest

from sessionlab.systems.datalayer import check
from tests.formats.datalayer_files import entry, head
from tests.systems.datalayer.written import MEBI


@pytest.mark.parametrize(("more", "taken"), [(0, True), (1, False), (2, False)])
def test_a_crlf_file_is_judged_on_its_real_bytes(more: int, taken: bool) -> None:
    """At the cap it is taken; a byte or two over it is refused, though with LF it would be within the cap."""
    lines = [json.dumps(head(entries=2)), json.dumps(entry("run")), json.dumps({**entry("run"), "summary": "@"})]
    rest = 64 * MEBI + more - sum(len(line) + 2 for line in lines) + 1
    data = "".join(line.replace("@", "x" * rest) + "\r\n" for line in lines).encode()
    assert len(data) == 64 * MEBI + more
    assert len(data.replace(b"\r\n", b"\n")) <= 64 * MEBI
    verdict = check(data)
    assert (verdict.ok, verdict.name) == ((True, None) if taken else (False, "too_large"))
