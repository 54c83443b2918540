"""Tokens and money, each answer counted once.

The same usage comes several times: in `llm:response`, in `provider:response` and with the last
`content_block:end`. Per step the sum of `llm:response` counts where there is one, because an
answer may take several requests; else what the orchestrator said last.
"""

from collections.abc import Mapping
from dataclasses import asdict, field
from decimal import Decimal, InvalidOperation
from functools import reduce
from operator import add
from typing import Any, Final, NamedTuple

from amplifier_tui.base.lazy.dataclass import dataclass
from amplifier_tui.host.events import Usage

_NAMES: Final[dict[str, tuple[str, ...]]] = {
    "input_tokens": ("input_tokens", "prompt_tokens", "input"),
    "output_tokens": ("output_tokens", "completion_tokens", "output"),
    "cache_read_tokens": ("cache_read_tokens", "cache_read_input_tokens"),
    "cache_write_tokens": ("cache_write_tokens", "cache_creation_input_tokens"),
    "reasoning_tokens": ("reasoning_tokens",),
}


class Count(NamedTuple):
    """Tokens and cost of one or more requests; an unknown cost is None."""

    input_tokens: int = 0
    output_tokens: int = 0
    cache_read_tokens: int = 0
    cache_write_tokens: int = 0
    reasoning_tokens: int = 0
    unpriced_tokens: int = 0
    cost: Decimal | None = None

    def plus(self, other: "Count") -> "Count":
        """Return the sum of both."""
        costs = [cost for cost in (self.cost, other.cost) if cost is not None]
        cost = sum(costs, Decimal(0)) if costs else None
        return Count._make((*map(add, self[:-1], other[:-1]), cost))

    def as_usage(self) -> Usage:
        """Return it as events carry it."""
        cost = None if self.cost is None else format(self.cost, "f")
        return Usage(**{**self._asdict(), "cost": cost})


def read_count(usage: Any, cost: Any = None) -> Count | None:
    """Return a usage of any vendor's wording; None when it says nothing.

    Args:
        cost: What the request cost, when that is told beside the usage.
    """
    if not isinstance(usage, Mapping):
        return None
    counts = {name: _first(usage, keys) for name, keys in _NAMES.items()}
    if not any(counts.values()):
        return None
    told = usage.get("cost_usd", usage.get("cost"))
    paid = _money(told if told is not None else cost)
    unpriced = counts["input_tokens"] + counts["output_tokens"] if paid is None else 0
    return Count(**counts, unpriced_tokens=unpriced, cost=paid)


def _first(usage: Mapping[str, Any], keys: tuple[str, ...]) -> int:
    found = (usage.get(key) for key in keys)
    return next((n for n in found if isinstance(n, int) and not isinstance(n, bool) and n >= 0), 0)


def _money(value: Any) -> Decimal | None:
    if value is None or isinstance(value, bool):
        return None
    try:
        amount = Decimal(str(value))
    except InvalidOperation:
        return None
    return amount if amount.is_finite() and amount >= 0 else None


@dataclass(slots=True)
class _Step:
    requests: Count = field(default_factory=Count)
    answered: bool = False
    durable: Count | None = None

    @property
    def count(self) -> Count:
        return self.requests if self.answered else self.durable or Count()


class UsageMeter:
    """Adds up what a session and its sub-agents use.

    Attributes:
        provider: The provider of the main lane's latest answer.
        model: Its model.
        last: By lane, what its latest answer used.
        models: By lane, the model of that answer; empty where it was not told.
        window: Tokens the latest answer of the main lane left in the conversation: what was read
            and what was written. 0 before the first.
    """

    def __init__(self) -> None:
        self.provider = ""
        self.model = ""
        self.window = 0
        self.last: dict[str, Count] = {}
        self.models: dict[str, str] = {}
        self._answers = self._output = 0
        self._before = Count()
        self._turn = Count()
        self._steps: dict[str, _Step] = {}
        self._by_lane: dict[str, Count] = {}

    @property
    def turn(self) -> Count:
        """What the running (or latest) turn used."""
        return reduce(Count.plus, (step.count for step in self._steps.values()), self._turn)

    @property
    def session(self) -> Count:
        """What the session used since it was opened."""
        return self._before.plus(self.turn)

    @property
    def average_output(self) -> int:
        """Tokens an answer had on average since the session was opened; 0 before the first."""
        return self._output // self._answers if self._answers else 0

    def of(self, lane: str) -> Count:
        """Return what a lane used since the session was opened."""
        step = self._steps.get(lane)
        before = self._by_lane.get(lane, Count())
        return before if step is None else before.plus(step.count)

    def restore(self, used: Usage) -> None:
        """Count what an earlier part of the session used."""
        counts = asdict(used)
        self._before = self._before.plus(Count(**{**counts, "cost": _money(used.cost)}))

    def turn_begins(self) -> None:
        """Another prompt."""
        self._before = self.session
        for lane in tuple(self._steps):
            self.step_begins(lane)
        self._turn = Count()

    def step_begins(self, lane: str) -> None:
        """`provider:request`: the orchestrator asks for the next answer."""
        step = self._steps.pop(lane, None)
        if step is not None:
            self._turn = self._turn.plus(step.count)
            self._by_lane[lane] = self._by_lane.get(lane, Count()).plus(step.count)

    def request_answered(self, lane: str, data: Mapping[str, Any]) -> bool:
        """`llm:response`; whether it counted."""
        count = read_count(data.get("usage"), data.get("cost_usd"))
        if count is not None:
            step = self._steps.setdefault(lane, _Step())
            step.requests = step.requests.plus(count)
            step.answered = True
            self._note(lane, data, count)
        return count is not None

    def step_answered(self, lane: str, data: Mapping[str, Any]) -> bool:
        """`provider:response` or the last `content_block:end`; whether it counted."""
        count = read_count(data.get("usage"), data.get("cost_usd"))
        step = self._steps.setdefault(lane, _Step())
        if count is None or step.answered:
            return False
        changed, step.durable = step.durable != count, count
        self._note(lane, data, count)
        return changed

    def attempt_failed(self, lane: str, data: Mapping[str, Any]) -> bool:
        """An attempt that came to no answer, which may have cost something; whether it did."""
        count = read_count(data.get("usage"), data.get("cost_usd"))
        if count is not None:
            self._turn = self._turn.plus(count)
            self._by_lane[lane] = self._by_lane.get(lane, Count()).plus(count)
        return count is not None

    def aside_answered(self, data: Mapping[str, Any]) -> bool:
        """`llm:response` of a request that is no part of the conversation; whether it counted."""
        count = read_count(data.get("usage"), data.get("cost_usd"))
        if count is not None:
            self._turn = self._turn.plus(count)
        return count is not None

    def _note(self, lane: str, data: Mapping[str, Any], count: Count) -> None:
        self.last[lane] = count
        self.models[lane] = str(data.get("model") or "")
        self._answers += 1
        self._output += count.output_tokens
        if lane != "main":
            return
        provider, model = str(data.get("provider") or self.provider), str(data.get("model") or "")
        # The model before was that of another provider.
        self.model = model or (self.model if provider == self.provider else "")
        self.provider = provider
        self.window = count.input_tokens + count.output_tokens
