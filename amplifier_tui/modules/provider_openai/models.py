"""Models of OpenAI and of compatible servers: sizes, prices, and which of them reason."""

import re
from decimal import Decimal, InvalidOperation
from typing import Any

from amplifier_tui.kernel import capabilities
from amplifier_tui.kernel.models import ModelInfo, Pricing
from amplifier_tui.modules._provider.models import KnownModel

_DATE = re.compile(r"-\d{4}-\d{2}-\d{2}$")
_REASONS = re.compile(r"^(o\d|gpt-[5-9]|codex)")
_CHATS = re.compile(r"^(gpt-|o\d|chatgpt-|codex)")
_OTHER_USES = re.compile(
    r"audio|realtime|image|transcribe|tts|embed|moderation|instruct|search|whisper|rerank|live"
)
_WINDOW_FIELDS = ("max_model_len", "context_length", "max_context_length", "context_window")
"""What vLLM, OpenRouter, LM Studio and others call the window in their model lists."""

CAPABILITIES = (capabilities.TOOLS, capabilities.STREAMING, capabilities.VISION)

_SOURCE = "provider-openai's table of 2026-11"
"""Whose prices the table has, and of when."""


def _price(input_price: float, output_price: float, cached_price: float) -> Pricing:
    return Pricing(
        input_per_million=input_price,
        output_per_million=output_price,
        cache_read_per_million=cached_price,
        source=_SOURCE,
    )


_CURRENT = KnownModel(400_000, 128_000)
_LOCAL = KnownModel(context_window=32_768, max_output_tokens=8_192)
"""What to expect of a model nothing is known about: a local one, most likely."""

_KNOWN: dict[str, KnownModel] = {
    "gpt-6-astra": _CURRENT,
    "gpt-6.1-sol": _CURRENT,
    "gpt-6.1-terra": _CURRENT,
    "gpt-6-sol": _CURRENT,
    "gpt-6-luna": _CURRENT,
    "gpt-5.6-sol": _CURRENT,
    "gpt-5.6-terra": _CURRENT,
    "gpt-5.6-luna": _CURRENT,
    "gpt-5.5": _CURRENT,
    "gpt-5.4": _CURRENT,
    "gpt-5.4-mini": _CURRENT,
    "gpt-5.2": KnownModel(400_000, 128_000, _price(1.75, 14, 0.175)),
    "gpt-5.1": KnownModel(400_000, 128_000, _price(1.25, 10, 0.125)),
    "gpt-5": KnownModel(400_000, 128_000, _price(1.25, 10, 0.125)),
    "gpt-5-mini": KnownModel(400_000, 128_000, _price(0.25, 2, 0.025)),
    "gpt-5-nano": KnownModel(400_000, 128_000, _price(0.05, 0.4, 0.005)),
    "gpt-4.1": KnownModel(1_047_576, 32_768, _price(2, 8, 0.5)),
    "gpt-4.1-mini": KnownModel(1_047_576, 32_768, _price(0.4, 1.6, 0.1)),
    "gpt-4.1-nano": KnownModel(1_047_576, 32_768, _price(0.1, 0.4, 0.025)),
    "gpt-4o": KnownModel(128_000, 16_384, _price(2.5, 10, 1.25)),
    "gpt-4o-mini": KnownModel(128_000, 16_384, _price(0.15, 0.6, 0.075)),
    "o4-mini": KnownModel(200_000, 100_000, _price(1.1, 4.4, 0.275)),
    "o3": KnownModel(200_000, 100_000, _price(2, 8, 0.5)),
}
"""The current models as the SDK's own type names them; prices only where they are certain."""


def known_model(model: str) -> KnownModel:
    """The table's entry; a dated id counts as its undated one."""
    name = _DATE.sub("", model)
    return _KNOWN.get(name) or (_CURRENT if _REASONS.match(name) else _LOCAL)


def reasons(model: str) -> bool:
    """Whether this is one of OpenAI's reasoning models."""
    return bool(_REASONS.match(model)) and "chat" not in model


def fallback_models() -> list[ModelInfo]:
    """OpenAI's models to offer when the API can't be asked."""
    return [_info(name, known, None) for name, known in _KNOWN.items()]


def listed_models(models: list[Any], *, is_openai: bool) -> list[ModelInfo]:
    """The chat models among those the server lists; OpenAI's own list has all kinds."""
    found = [model for model in models if not _OTHER_USES.search(model.id.lower())]
    if is_openai:
        found = [model for model in found if _CHATS.match(model.id)]
        found.sort(key=lambda model: getattr(model, "created", None) or 0, reverse=True)
    return [_listed_info(model) for model in found]


def _listed_info(model: Any) -> ModelInfo:
    """A model as its server describes it; OpenRouter says most, many servers only the id."""
    info = _info(model.id, known_model(model.id), _window(model))
    changes: dict[str, Any] = {}
    top = _object(model, "top_provider").get("max_completion_tokens")
    if isinstance(top, int) and 0 < top <= info.context_window:
        changes["max_output_tokens"] = top
    said = getattr(model, "supported_parameters", None)
    takes = _object(model, "architecture").get("input_modalities")
    if isinstance(said, list) and isinstance(takes, list):
        able = {
            capabilities.TOOLS: "tools" in said,
            capabilities.STREAMING: True,
            capabilities.VISION: "image" in takes,
            capabilities.THINKING: "reasoning" in said,
        }
        changes["capabilities"] = [name for name, has in able.items() if has]
    if (pricing := _listed_price(_object(model, "pricing"))) is not None:
        changes["pricing"] = pricing
    return info.model_copy(update=changes)


def _listed_price(said: dict[str, Any]) -> Pricing | None:
    """Prices per million from those per token, as text."""
    names = ("prompt", "completion", "input_cache_read", "input_cache_write")
    paid, earned, read, written = (_per_million(said.get(name)) for name in names)
    if paid is None or earned is None:
        return None
    return Pricing(
        input_per_million=paid,
        output_per_million=earned,
        cache_read_per_million=read,
        cache_write_per_million=written,
        source="the server's own list",
    )


def _per_million(text: object) -> float | None:
    try:
        amount = Decimal(str(text)) * 1_000_000
    except InvalidOperation:
        return None
    # OpenRouter says -1 where the price depends on the model it takes.
    return float(amount) if amount.is_finite() and amount >= 0 else None


def _object(model: Any, name: str) -> dict[str, Any]:
    found = getattr(model, name, None)
    return found if isinstance(found, dict) else {}


def _window(model: Any) -> int | None:
    meta = getattr(model, "meta", None)
    fields = [getattr(model, name, None) for name in _WINDOW_FIELDS]
    if isinstance(meta, dict):
        fields += [meta.get("n_ctx"), meta.get("n_ctx_train")]
    return next((value for value in fields if isinstance(value, int) and value > 0), None)


def _info(model: str, known: KnownModel, window: int | None) -> ModelInfo:
    context_window = window or known.context_window
    able = list(CAPABILITIES)
    if reasons(model):
        able.append(capabilities.THINKING)
    return ModelInfo(
        id=model,
        display_name=model,
        context_window=context_window,
        max_output_tokens=min(known.max_output_tokens, context_window // 2),
        capabilities=able,
        pricing=known.pricing,
    )
