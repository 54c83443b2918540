"""How many tokens a request may have, when compaction starts, and how far down it goes."""

from __future__ import annotations

import logging
from typing import Any, Final, Literal, TypeGuard

from pydantic import AliasChoices, Field, ValidationInfo, field_validator

from amplifier_tui.base.config import ModuleSettings
from amplifier_tui.base.lazy.dataclass import dataclass

logger = logging.getLogger(__name__)

DEFAULT_LIMIT: Final = 200_000
DEFAULT_THRESHOLD: Final = 0.85
DEFAULT_TARGET: Final = 0.5
SAFETY_MARGIN: Final = 1_000
"""Tokens kept free, because counts are estimates (spec 000, Context contract)."""

Provenance = Literal["explicit", "provider", "configured", "capped", "fallback"]
"""Who says how much fits: the caller; the provider; the configuration; the provider, capped by
the configuration; nobody."""


@dataclass(frozen=True, slots=True)
class Budget:
    """The tokens of one request.

    Attributes:
        window: The model's whole window; 0 when unknown.
        output_reserve: Part of the window kept for the answer.
        margin: Part of the window kept free, because counts are estimates.
        limit: Most tokens of a request.
        trigger: Compaction starts above this.
        target: Compaction goes down to this.
        provenance: Who says so.
        model: Id of the model; empty when unknown.
    """

    window: int
    output_reserve: int
    margin: int
    limit: int
    trigger: int
    target: int
    provenance: Provenance
    model: str = ""

    @property
    def key(self) -> str:
        """Name of the model and its limit: what compaction decisions are kept under."""
        return f"{self.model}@{self.limit}"

    @property
    def ceiling(self) -> int:
        """Most tokens the model takes at all; 0 when unknown."""
        return max(0, self.window - self.output_reserve - self.margin)


@dataclass(frozen=True, slots=True)
class BudgetPolicy:
    """What a configuration says about budgets.

    Attributes:
        max_tokens: Most tokens of a request; caps what the provider allows. None for no cap.
        window: The model's window where the provider does not tell it; caps it where it does.
        threshold: Part of the limit at which compaction starts.
        target: Part of the limit it goes down to.
    """

    max_tokens: int | None = None
    window: int | None = None
    threshold: float = DEFAULT_THRESHOLD
    target: float = DEFAULT_TARGET

    def budget(self, token_budget: int | None = None, provider: Any | None = None) -> Budget:
        """Return the budget of a request: ``token_budget``, else what the provider tells."""
        told, most = _told(provider), self.max_tokens
        if token_budget is not None:
            return self._made(told, max(0, token_budget), "explicit", told.window)
        if told.window:
            window = told.window if self.window is None else min(told.window, self.window)
            limit = _input_limit(window, told.output)
            capped = window < told.window or (most is not None and most < limit)
            limit = limit if most is None else min(limit, most)
            reserve = min(told.output, max(0, window - limit - SAFETY_MARGIN))
            source: Provenance = "capped" if capped else "provider"
            return self._made(told, limit, source, window, reserve, SAFETY_MARGIN)
        if self.window is not None:
            reserve = self.window // 8
            limit = _input_limit(self.window, reserve)
            limit = limit if most is None else min(limit, most)
            return self._made(told, limit, "configured", self.window, reserve, SAFETY_MARGIN)
        if most is not None:
            return self._made(told, most, "configured")
        return self._made(told, DEFAULT_LIMIT, "fallback")

    def _made(
        self,
        told: _Told,
        limit: int,
        provenance: Provenance,
        window: int = 0,
        reserve: int = 0,
        margin: int = 0,
    ) -> Budget:
        trigger = int(limit * self.threshold)
        target = int(limit * min(self.target, self.threshold))
        return Budget(window, reserve, margin, limit, trigger, target, provenance, model=told.model)


@dataclass(frozen=True, slots=True)
class _Told:
    window: int = 0
    output: int = 0
    model: str = ""


def _told(provider: Any | None) -> _Told:
    """What a provider says of its model; nothing where it does not say it."""
    if provider is None:
        return _Told()
    try:
        defaults = provider.get_info().defaults or {}
        window, output = defaults.get("context_window"), defaults.get("max_output_tokens")
        model = defaults.get("model") or defaults.get("default_model")
    except Exception as error:
        logger.warning("The provider does not tell its context window: %s", error)
        return _Told()
    model = model if isinstance(model, str) else ""
    if not _is_count(window):
        return _Told(model=model)
    return _Told(window, output if _is_count(output) else window // 8, model)


def _is_count(value: Any) -> TypeGuard[int]:
    return isinstance(value, int) and not isinstance(value, bool) and value > 0


def _input_limit(window: int, output: int) -> int:
    # A window that its own output limit fills is a mistake in the provider's table.
    return max(window - output - SAFETY_MARGIN, window // 4)


class BudgetSettings(ModuleSettings):
    """What the configuration of a context module says about budgets; see `BudgetPolicy`."""

    max_tokens: int | None = Field(None, ge=1)
    window: int | None = Field(None, ge=1)
    threshold: float = Field(
        DEFAULT_THRESHOLD,
        gt=0,
        le=1,
        validation_alias=AliasChoices("threshold", "compaction_threshold"),
        description="a part",
    )
    target: float | None = Field(
        None,
        gt=0,
        le=1,
        validation_alias=AliasChoices("target", "compaction_target"),
        description="a part",
    )

    @field_validator("target")
    @classmethod
    def _below_threshold(cls, target: float | None, info: ValidationInfo) -> float | None:
        threshold = info.data.get("threshold")
        if target is not None and threshold is not None and target > threshold:
            raise ValueError(f"({target}) must not exceed `threshold` ({threshold})")
        return target

    @property
    def policy(self) -> BudgetPolicy:
        """The policy that these settings ask for."""
        target = min(DEFAULT_TARGET, self.threshold) if self.target is None else self.target
        return BudgetPolicy(self.max_tokens, self.window, self.threshold, target)
