"""The free-form reply of a model call in; its facts, each of the type a column has or None, out (sections 1.8, 6)."""

from __future__ import annotations

from typing import Any, NamedTuple

from sessionlab.columns import tokens, tokens_fault, usd_fault

_CLASSES = ("uncachedInput", "cachedInput", "output", "reasoning")

REPLY_MEMBERS = frozenset(
    {"text", "toolCalls", "id", "name", "arguments", "finishReason", "other", "usage", *_CLASSES, "cost", "actual"}
    | {"comparable", "provider", "loopAborts", "attempts", "words", "chars", "usageWire", "usageReconciled"}
)
"""Every member name of a reply that becomes part of a row."""


class AskedCall(NamedTuple):
    """A tool call a model asked for."""

    call_id: str
    name: str | None
    arguments: Any


class Reply:
    """What a reply says.

    Attributes:
        members: the reply as an object; empty when it is none.
        tokens: uncachedInput, cachedInput, output, reasoning; None is unknown.
        context_tokens, written_tokens: the sums of all input and of all output (6.2).
        actual_usd, comparable_usd: the two recorded costs.
        spend: token classes and costs, as sums take them.
        finish_reason: the recorded word, a provider's own included.
        calls: tool calls with an id.
        is_short: a figure was told that none can be, and is unknown here.
        oddities: what did not have the shape gg writes, kind and words.
    """

    def __init__(self, value: object) -> None:
        """Read ``value``, any JSON value."""
        self.oddities: list[tuple[str, str]] = []
        self.is_short = False
        self.members: dict[str, Any] = value if isinstance(value, dict) else {}
        if not isinstance(value, dict):
            self.oddities.append(("malformed_reply", "the response is no object"))
        told = self._tokens()
        uncached, cached, output, reasoning = (self._meant(n, c) for n, c in zip(_CLASSES, told, strict=True))
        self.tokens = uncached, cached, output, reasoning
        self.context_tokens = self._sum(told[0], told[1], "input")
        self.written_tokens = self._sum(told[2], told[3], "output")
        cost = self.members.get("cost")
        self.actual_usd = self._usd(cost, "actual")
        self.comparable_usd = self._usd(cost, "comparable")
        self.spend: tuple[float | None, ...] = (*self.tokens, self.actual_usd, self.comparable_usd)
        self.finish_reason = self._finish_reason()
        self.calls = self._calls()
        served_by = self.members.get("provider")
        self.served_by = served_by if isinstance(served_by, str) else None
        aborts = self.members.get("loopAborts")
        attempts = aborts.get("attempts") if isinstance(aborts, dict) else None
        self.had_aborts = isinstance(attempts, int) and attempts > 0

    def _tokens(self) -> tuple[int | None, int | None, int | None, int | None]:
        usage = self.members.get("usage")
        if not isinstance(usage, dict):
            self.oddities.append(("usage_missing", "the response has no usage: its tokens are unknown"))
            return None, None, None, None
        counts = [usage.get(name) for name in _CLASSES]
        for i, value in enumerate(counts):
            if value is not None and (type(value) is not int or value < 0):
                self.oddities.append(("malformed_usage", f"usage.{_CLASSES[i]} is {value!r}, no count of tokens"))
                counts[i] = None
        return counts[0], counts[1], counts[2], counts[3]

    def _usd(self, cost: object, name: str) -> float | None:
        if cost is None:
            return None
        value: Any = cost.get(name) if isinstance(cost, dict) else cost
        if value is None:
            return None
        if isinstance(cost, dict) and type(value) in {int, float}:
            amount = float(value)
            if (fault := usd_fault(amount)) is None:
                return amount
            self._drop(fault, f"cost.{name} is {amount}, which no amount of dollars is")
            return None
        self.oddities.append(("malformed_cost", f"cost.{name} is {value!r}, no amount"))
        return None

    def _meant(self, name: str, count: int | None) -> int | None:
        if (fault := tokens_fault(count)) is not None:
            self._drop(fault, f"usage.{name} is {count}, more than a count of tokens can mean")
        return tokens(count)

    def _sum(self, a: int | None, b: int | None, what: str) -> int | None:
        whole = add(a, b)
        if tokens(a) == a and tokens(b) == b and (fault := tokens_fault(whole)) is not None:
            self._drop(fault, f"the {what} of usage adds up to {whole}, more than a count of tokens can mean")
        return tokens(whole)

    def _drop(self, fault: str, words: str) -> None:
        self.oddities.append((fault, words))
        self.is_short = True

    def _finish_reason(self) -> str | None:
        word = self.members.get("finishReason")
        if isinstance(word, dict):
            word = word.get("other")
        return word if isinstance(word, str) else None

    def _calls(self) -> list[AskedCall]:
        listed = self.members.get("toolCalls")
        if listed is None:
            return []
        found: list[AskedCall] = []
        for call in listed if isinstance(listed, list) else [listed]:
            call_id = call.get("id") if isinstance(call, dict) else None
            if not isinstance(call_id, str):
                self.oddities.append(("malformed_tool_call", "a tool call of the response has no id"))
                continue
            name = call.get("name")
            found.append(AskedCall(call_id, name if isinstance(name, str) else None, call.get("arguments")))
        return found


def add(a: int | None, b: int | None) -> int | None:
    """The sum of two token counts: unknown only when both are (6.2)."""
    return None if a is None and b is None else (a or 0) + (b or 0)
