"""Counting tokens: the provider's own count of the last request, and an estimate of the rest."""

import logging
from collections.abc import Callable, Mapping
from contextlib import ExitStack
from dataclasses import asdict
from typing import Any, Final, Literal

from amplifier_tui.base.lazy.dataclass import dataclass
from amplifier_tui.base.tokens import MESSAGE_TOKENS, text_tokens
from amplifier_tui.kernel import events
from amplifier_tui.kernel.correlation import is_aside

logger = logging.getLogger(__name__)

Kind = Literal["usage", "estimated"]

_PLAUSIBLE: Final = (0.25, 4.0)
"""Provider's count over estimate. Outside of it the two are not about the same request."""


@dataclass(frozen=True, slots=True)
class Anchor:
    """A request that a provider counted, and our estimate of it; ``model`` is the budget's key.

    What hooks added to that request alone is in neither.
    """

    usage: int
    estimate: int
    model: str


class Meter:
    """Corrects estimates by what the provider counted last.

    Growth since then is added as it is estimated; what is less than then is taken in proportion.

    Attributes:
        ephemeral: By source, the tokens of what hooks added to the last answered request only.
        waiting: The same of the request that is under way or comes next.
        added: The tokens of `ephemeral` by the provider's count; 0 where it did not count.
        recurring: The tokens of what the last two answered requests both had of it.
        anchor: The last request that was counted.
    """

    def __init__(self) -> None:
        self.ephemeral: dict[str, int] = {}
        self.waiting: dict[str, int] = {}
        self.added = self.recurring = 0
        self.anchor: Anchor | None = None
        self._sent: tuple[int, str] | None = None
        self._added = 0

    def sent(self, estimate: int, model: str) -> None:
        """Note that a request goes out."""
        self._sent = (estimate, model)

    def counted(self, usage: Any) -> bool:
        """Take a response's usage; returns whether it is the count of the request that went out.

        ``input_tokens`` are all of the request, those read from a cache among them.
        """
        tokens = usage.get("input_tokens") if isinstance(usage, Mapping) else None
        if self._sent is None or not isinstance(tokens, int) or tokens <= 0:
            return False
        estimate, model = self._sent
        low, high = _PLAUSIBLE
        whole = estimate + sum(self.waiting.values())
        if not low * whole <= tokens <= max(high * whole, 500):
            logger.debug("A usage of %d tokens can't be that of about %d", tokens, whole)
            return False
        own = max(1, round(tokens * estimate / whole)) if whole else tokens
        self.anchor, self._added = Anchor(own, max(1, estimate), model), tokens - own
        return True

    def settled(self) -> None:
        """Note that the answer is here: usage that comes now is of another request."""
        if self._sent is not None:
            self._sent = None
            again = self.ephemeral.keys() & self.waiting.keys()
            self.recurring = sum(min(self.ephemeral[it], self.waiting[it]) for it in again)
            self.ephemeral, self.waiting = self.waiting, {}
            self.added, self._added = self._added, 0

    def kind(self, model: str) -> Kind:
        """Tell where numbers for a model come from."""
        return "usage" if self._of(model) is not None else "estimated"

    def real(self, estimate: int, model: str) -> int:
        """Return the tokens an estimate stands for."""
        anchor = self._of(model)
        if anchor is None:
            return estimate
        if estimate >= anchor.estimate:
            return anchor.usage + estimate - anchor.estimate
        return round(estimate * anchor.usage / anchor.estimate)

    def estimate(self, real: int, model: str) -> int:
        """Return the estimate that stands for a number of tokens."""
        anchor = self._of(model)
        if anchor is None:
            return real
        if real >= anchor.usage:
            return anchor.estimate + real - anchor.usage
        return int(real * anchor.estimate / anchor.usage)

    def clear(self) -> None:
        """Forget what was counted."""
        self.anchor = self._sent = None
        self.ephemeral, self.waiting = {}, {}
        self.added = self._added = self.recurring = 0

    def to_dict(self) -> dict[str, Any] | None:
        """Return the anchor as JSON-native data."""
        return asdict(self.anchor) if self.anchor is not None else None

    def restore(self, data: Any) -> None:
        """Take over what `to_dict` returned."""
        self.clear()
        if not isinstance(data, Mapping):
            return
        usage, estimate = data.get("usage"), data.get("estimate")
        if isinstance(usage, int) and isinstance(estimate, int) and usage > 0 and estimate > 0:
            self.anchor = Anchor(usage, estimate, str(data.get("model") or ""))

    def _of(self, model: str) -> Anchor | None:
        anchor = self.anchor
        return anchor if anchor is not None and anchor.model == model else None


class UsageWatch:
    """Anchors estimates in the usage that responses report.

    It also sees what hooks add to a single request, which is in no ledger, so that the report can
    name it.
    """

    def __init__(self, meter: Meter) -> None:
        self._meter = meter

    def register(self, hooks: Any, name: str) -> Callable[[], None]:
        """Listen to a session for the module ``name``; returns a function that ends it."""
        ends = ExitStack()
        for event in (events.LLM_RESPONSE, events.PROVIDER_RESPONSE, events.CONTENT_BLOCK_END):
            ends.callback(hooks.register(event, self._on_response, name=name))
        observe = getattr(hooks, "observe", None)
        if callable(observe):
            ends.callback(observe(self._on_trace))

        return ends.close

    async def _on_response(self, event: str, data: dict[str, Any]) -> None:
        if is_aside() or data.get("status") == "cancelled":
            return  # A title or the like: that of the conversation is still to come.
        # Some orchestrators repeat the usage with every block: only the last one is after all.
        index, total = data.get("block_index"), data.get("total_blocks")
        if isinstance(index, int) and isinstance(total, int) and index < total - 1:
            return
        if self._meter.counted(data.get("usage")):
            # The response comes with several events; one count is enough.
            self._meter.settled()

    def _on_trace(self, trace: Any) -> None:
        result, waiting = trace.result, self._meter.waiting
        if getattr(result, "action", None) != "inject_context":
            return
        for item in getattr(result, "context_injections", None) or ():
            # What a host hands on, an earlier event has said already.
            if item.ephemeral and item.content and item.event in ("", trace.event):
                source = f"hook:{item.hook_name}"
                tokens = text_tokens(item.content) + MESSAGE_TOKENS
                waiting[source] = waiting.get(source, 0) + tokens
