"""Two arms in; the configuration members in which they differ, with the values of each, out.

Whatever shapes the request or constrains a run confounds a comparison when it differs, so every comparison lists it.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, NamedTuple

from sessionlab.comparisons.arms import Arm
from sessionlab.errors import Incomparable

if TYPE_CHECKING:
    import polars as pl

PLAIN = (
    "provider", "model", "effort", "temperature", "max_turns", "max_usd", "window_tokens", "compact_at_tokens",
    "permission_mode", "sandbox", "workspace", "branch", "recorder_version", "tools_hash",
)  # fmt: skip
"""Members with a column of their own in ``configs``; the others stand in its ``detail``."""
POOLED = {"system_prompt": ("text", "system_ix"), "tools": ("toolset", "toolset_ix")}
"""Members whose value is a body: compared where bodies are loaded."""
POLICY = ("permission_mode", "trifecta")
"""The members that arms of replays must have in common."""
LONGEST = 80
"""Characters of a value that are shown; longer ones are told by their beginning and a digest of the whole."""


class Differing(NamedTuple):
    """A member in which two arms differ: its values in each, as text, with the configurations that have them."""

    member: str
    first: dict[str, int]
    other: dict[str, int]


def differing(first: Arm, other: Arm) -> list[Differing]:
    """The members of the configurations of two arms whose values differ, by name.

    A member differs when the sets of its values do; how often each occurs is told beside it. An arm without a recorded
    configuration differs in nothing that could be told: ``policies`` says whether it has one.
    """
    one, two = _values(first), _values(other)
    if not one or not two:
        return []
    absent = [{"null": max(sum(held.values()) for held in values.values())} for values in (one, two)]
    names = sorted({*one, *two})
    found = [Differing(name, _ordered(one.get(name, absent[0])), _ordered(two.get(name, absent[1]))) for name in names]
    return [each for each in found if set(each.first) != set(each.other)]


def policies(arm: Arm) -> dict[str, dict[str, int]]:
    """The values of each policy member in an arm, with how many configurations have them; empty: none is recorded."""
    values = _values(arm)
    return {name: dict(values.get(name, {})) for name in POLICY} if values else {}


def same_policies(first: Arm, other: Arm, pairs: Sequence[tuple[Sequence[str], Sequence[str]]] | None = None) -> None:
    """Nothing, for two arms under one policy.

    Args:
        first: one arm.
        other: the other.
        pairs: sessions of each arm that belong together: the policies they began under are compared pair by pair
            (a replay is rebuilt from the first configuration, mecha 12.5). None: those of the whole arms are.

    Raises:
        Incomparable: they ran under different policies, or nothing tells under which.
    """
    if pairs is not None:
        begun = _begun(first), _begun(other)
        for one, two in pairs:
            told = [
                next((held[name] for name in names if name in held), None)
                for held, names in zip(begun, (one, two), strict=True)
            ]
            _agree(first, other, told, f" for the episode {', '.join(one)}")
        return
    found = policies(first), policies(other)
    _agree(first, other, [{name: tuple(sorted(values)) for name, values in held.items()} for held in found], "")


def _agree(first: Arm, other: Arm, told: Sequence[dict[str, tuple[str, ...]] | None], where: str) -> None:
    for arm, held in zip((first, other), told, strict=True):
        if not held:
            raise Incomparable(first.label, other.label, f"no configuration is recorded in {arm.label!r}{where}")
    for name in POLICY:
        one, two = (", ".join((held or {})[name]) for held in told)
        if one != two:
            apart = f"{name} is {one} in {first.label!r}, {two} in {other.label!r}"
            why = f"they were replayed under different policies{where}: {apart}"
            raise Incomparable(first.label, other.label, why)


def _begun(arm: Arm) -> dict[str, dict[str, tuple[str, ...]]]:
    """The policy each session of an arm began under."""
    found: dict[str, dict[str, tuple[str, ...]]] = {}
    for row in _configs(arm).iter_rows(named=True):
        trifecta = json.loads(row["detail"] or "{}").get("trifecta")
        members = {"permission_mode": row["permission_mode"], "trifecta": trifecta}
        found.setdefault(row["session_id"], {name: (_shown(value),) for name, value in members.items()})
    return found


def _ordered(counts: Mapping[str, int]) -> dict[str, int]:
    return dict(sorted(counts.items(), key=lambda item: (-item[1], item[0])))


def _values(arm: Arm) -> dict[str, Counter[str]]:
    rows = _configs(arm)
    bodies = _bodies(arm) if arm.corpus.bodies else {}
    counted: dict[str, Counter[str]] = {}
    for row in rows.iter_rows(named=True):
        members = {name: row[name] for name in PLAIN}
        members |= {k: v for k, v in json.loads(row["detail"] or "{}").items() if k != "unknown"}
        for name, (pool, ix) in POOLED.items():
            if arm.corpus.bodies:
                members[name] = None if row[ix] is None else bodies.get((row["source_id"], pool, row[ix]), "")
        for name, value in members.items():
            counted.setdefault(name, Counter())[_shown(value)] += 1
    for values in counted.values():  # what a configuration leaves out is null in it
        if missing := rows.height - values.total():
            values["null"] += missing
    return counted


def _configs(arm: Arm) -> pl.DataFrame:
    condition, values = arm.condition()
    equal = [(name, value) for name, value in arm.equal if name in ("model", "provider")]
    narrowed = "".join(f" AND c.{name} = ?" for name, _ in equal)  # a session may have run under several models
    return arm.corpus.sql(
        f"SELECT c.* FROM configs c WHERE c.session_id IN (SELECT session_id FROM health.runs WHERE {condition})"
        f"{narrowed} ORDER BY c.source_id, c.seq",
        [*values, *(value for _, value in equal)],
    )


def _bodies(arm: Arm) -> dict[tuple[int, str, int], str]:
    rows = arm.corpus.sql(
        "SELECT source_id, pool, ix, block, coalesce(text, name) AS told FROM blocks"
        " WHERE pool IN ('text', 'toolset') ORDER BY source_id, pool, ix, block"
    )
    found: dict[tuple[int, str, int], str] = {}
    for source, pool, ix, _, told in rows.rows():
        key = source, pool, ix
        found[key] = f"{found[key]}, {told}" if key in found else told or ""
    return found


def _shown(value: object) -> str:
    text = "null" if value is None else value if isinstance(value, str) else json.dumps(value, sort_keys=True)
    if len(text) <= LONGEST:
        return text
    from hashlib import blake2b  # noqa: PLC0415 (only for what is too long to show)

    return f"{text[:LONGEST]}… ({blake2b(text.encode(), digest_size=4).hexdigest()})"
