"""Anthropic's models: sizes, prices, and which way of thinking each accepts."""

import re
from decimal import Decimal
from typing import Any

from amplifier_tui.base.lazy.dataclass import dataclass
from amplifier_tui.kernel import capabilities
from amplifier_tui.kernel.models import ModelInfo, Pricing
from amplifier_tui.modules._provider.models import KnownModel

_DATE = re.compile(r"-\d{8}$")
_HOUR_WRITE_FACTOR = Decimal("1.6")
"""An hour's cache write costs 2 times the input price, a five-minute one 1.25 times."""

_SOURCE = "provider-anthropic's table of 2026-11"
"""Whose prices the table has, and of when."""


def _price(input_price: str, output_price: str) -> Pricing:
    return Pricing(
        input_per_million=float(input_price),
        output_per_million=float(output_price),
        cache_read_per_million=float(Decimal(input_price) * Decimal("0.1")),
        cache_write_per_million=float(Decimal(input_price) * Decimal("1.25")),
        source=_SOURCE,
    )


@dataclass(frozen=True)
class ClaudeModel(KnownModel):
    """One model.

    Attributes:
        adaptive: Whether it takes `thinking: adaptive`; the others take a budget.
        effort: Whether it takes an effort level.
    """

    context_window: int = 200_000
    max_output_tokens: int = 64_000
    adaptive: bool = True
    effort: bool = True


_UNKNOWN = ClaudeModel()
_KNOWN: dict[str, ClaudeModel] = {
    "claude-sonnet-5-5": _UNKNOWN,
    "claude-opus-5-5": _UNKNOWN,
    "claude-haiku-5-5": _UNKNOWN,
    "claude-fable-5-2": _UNKNOWN,
    "claude-mythos-5-2": _UNKNOWN,
    "claude-sonnet-5": _UNKNOWN,
    "claude-opus-5": _UNKNOWN,
    "claude-opus-4-8": _UNKNOWN,
    "claude-opus-4-7": _UNKNOWN,
    "claude-opus-4-6": ClaudeModel(pricing=_price("5", "25")),
    "claude-sonnet-4-6": ClaudeModel(pricing=_price("3", "15")),
    "claude-opus-4-5": ClaudeModel(adaptive=False, pricing=_price("5", "25")),
    "claude-sonnet-4-5": ClaudeModel(adaptive=False, effort=False, pricing=_price("3", "15")),
    "claude-haiku-4-5": ClaudeModel(adaptive=False, effort=False, pricing=_price("1", "5")),
}
"""The current models as the SDK's own type names them; prices only where they are certain."""


def known_model(model: str) -> ClaudeModel:
    """The table's entry; a dated id counts as its undated one, an unknown id as a current model."""
    return _KNOWN.get(_DATE.sub("", model), _UNKNOWN)


def fallback_models() -> list[ModelInfo]:
    """The models to offer when the API can't be asked."""
    return [
        ModelInfo(
            id=name,
            display_name=display_name(name),
            context_window=known.context_window,
            max_output_tokens=known.max_output_tokens,
            capabilities=list(CAPABILITIES),
            pricing=known.pricing,
        )
        for name, known in _KNOWN.items()
    ]


CAPABILITIES = (
    capabilities.TOOLS,
    capabilities.STREAMING,
    capabilities.THINKING,
    capabilities.VISION,
)


def abilities(said: Any) -> list[str]:
    """What a model can do, as the API's list says it; all that is usual where it does not."""
    fields = {capabilities.THINKING: "thinking", capabilities.VISION: "image_input"}
    lacks = {
        word
        for word, name in fields.items()
        if getattr(getattr(said, name, None), "supported", None) is False
    }
    return [word for word in CAPABILITIES if word not in lacks]


def display_name(model: str) -> str:
    """`claude-sonnet-5-5` as `Claude Sonnet 5.5`."""
    words = _DATE.sub("", model).split("-")
    name = " ".join(word.capitalize() for word in words if not word.isdigit())
    version = ".".join(word for word in words if word.isdigit())
    return f"{name} {version}".strip()


def prices(pricing: Pricing | None, *, hour_cache: bool) -> Pricing | None:
    """The prices of a model, with cache writes that live for an hour, which cost more, or not."""
    if pricing is None or not hour_cache or pricing.cache_write_per_million is None:
        return pricing
    hourly = float(Decimal(str(pricing.cache_write_per_million)) * _HOUR_WRITE_FACTOR)
    return pricing.model_copy(update={"cache_write_per_million": hourly})
