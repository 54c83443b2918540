"""Counting tokens: the provider's own count of the last request, and an estimate of the rest."""

from __future__ import annotations

import logging
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final, Literal

logger = logging.getLogger(__name__)

Kind = Literal["usage", "estimated"]

_PLAUSIBLE: Final = (0.25, 4.0)
"""Provider's count over estimate. Outside of it the two are not about the same request."""


@dataclass(frozen=True, slots=True)
class Anchor:
    """A request that a provider counted.

    Attributes:
        usage: The provider's count.
        estimate: Our estimate of the same request.
        model: Key of the budget it was made under.
    """

    usage: int
    estimate: int
    model: str


class Meter:
    """Corrects estimates by what the provider counted last.

    Growth since then is added as it is estimated; what is less than then is taken in proportion.
    """

    def __init__(self) -> None:
        self._anchor: Anchor | None = None
        self._sent: tuple[int, str] | None = None

    @property
    def anchor(self) -> Anchor | None:
        """The last request that was counted."""
        return self._anchor

    def sent(self, estimate: int, model: str) -> None:
        """Note that a request goes out.

        Args:
            estimate: Its estimated tokens.
            model: Key of its budget.
        """
        self._sent = (estimate, model)

    def counted(self, usage: Any) -> bool:
        """Take a response's usage.

        Args:
            usage: A mapping with ``input_tokens``; those read from a cache are among them.

        Returns:
            Whether it is the count of the request that went out.
        """
        tokens = usage.get("input_tokens") if isinstance(usage, Mapping) else None
        if self._sent is None or not isinstance(tokens, int) or tokens <= 0:
            return False
        estimate, model = self._sent
        low, high = _PLAUSIBLE
        if not low * estimate <= tokens <= max(high * estimate, 500):
            logger.debug("A usage of %d tokens can't be that of about %d", tokens, estimate)
            return False
        self._anchor = Anchor(tokens, max(1, estimate), model)
        return True

    def settled(self) -> None:
        """Note that the answer is here: usage that comes now is of another request."""
        self._sent = None

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
        self._anchor = self._sent = None

    def to_dict(self) -> dict[str, Any] | None:
        """Return the anchor as JSON-native data."""
        if self._anchor is None:
            return None
        return {name: getattr(self._anchor, name) for name in Anchor.__slots__}

    def restore(self, data: Any) -> None:
        """Take over what `to_dict` returned."""
        self.clear()
        if not isinstance(data, Mapping):
            return
        usage, estimate = data.get("usage"), data.get("estimate")
        if isinstance(usage, int) and isinstance(estimate, int) and usage > 0 and estimate > 0:
            self._anchor = Anchor(usage, estimate, str(data.get("model") or ""))

    def _of(self, model: str) -> Anchor | None:
        anchor = self._anchor
        return anchor if anchor is not None and anchor.model == model else None
