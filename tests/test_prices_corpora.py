"""Real session files: what every call cost is what genai-prices charges for it, and nothing is left out of the sums."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from sessionlab.corpus import load
from sessionlab.tables import Usage
from tests.test_prices import oracle

if TYPE_CHECKING:
    from pathlib import Path


@pytest.mark.corpora
def test_real_calls_cost_as_listed(corpora: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Every priced call of the Claude Code files equals calc_price, and the roll-ups add up to the calls."""
    monkeypatch.setenv("HOME", str(tmp_path))  # no rates of whoever runs the tests
    for name in ("SESSIONLAB_RATES", "MECHA_HOME"):
        monkeypatch.delenv(name, raising=False)
    corpus = load(str(corpora / "claude-code"))
    calls = corpus.view("cost.by_call").to_dicts()
    priced = [call for call in calls if call["cost_usd"] is not None]
    assert len(priced) > 100
    for call in priced:
        usage = Usage(**{
            name: call[name]
            for name in Usage.__struct_fields__
            if name in call and name not in {"source_id", "recorded_at", "is_lower_bound"}
        })  # fmt: skip
        right = oracle(usage, call["provider"], call["model"], call["priced_at"], call["tier"])
        assert call["cost_usd"] == pytest.approx(right, rel=1e-9)
    total = sum(call["cost_usd"] for call in priced)
    for view in ("by_model", "by_session", "by_agent", "by_day"):
        frame = corpus.view(f"cost.{view}")
        assert frame["cost_usd"].sum() == pytest.approx(total, rel=1e-9)
        assert frame["unpriced"].sum() == len(calls) - len(priced)
    assert corpus.view("cost.unpriced")["unpriced"].sum() == len(calls) - len(priced)
