"""What both of OpenAI's formats write the same way."""

import math
from collections.abc import Callable
from decimal import Decimal
from typing import Any, Final

from amplifier_tui.kernel.message_models import (
    ChatRequest,
    ImageBlock,
    ResponseFormatJson,
    ResponseFormatJsonSchema,
    ToolSpec,
    Usage,
)
from amplifier_tui.kernel.utils.conversation import clean_name
from amplifier_tui.modules._provider.request import Wire, chosen_tool, input_schema, sampling
from amplifier_tui.modules.provider_openai.models import reasons
from amplifier_tui.modules.provider_openai.settings import OpenAISettings


def finished(required: Wire, optional: Wire) -> Wire:
    """Return a request's arguments: the optional ones only where they are set."""
    return required | {
        name: value for name, value in optional.items() if value is not None and value != []
    }


def read_usage(usage: Any, sent: str, said: str) -> Usage:
    """Return the kernel's usage.

    Args:
        usage: The SDK's.
        sent: What it calls the tokens that were sent: `prompt` or `input`.
        said: What it calls the answer's: `completion` or `output`.
    """
    input_tokens = getattr(usage, f"{sent}_tokens") or 0
    output_tokens = getattr(usage, f"{said}_tokens") or 0
    details = getattr(usage, f"{sent}_tokens_details", None)
    reasoning = getattr(usage, f"{said}_tokens_details", None)
    return Usage(
        input_tokens=input_tokens,
        output_tokens=output_tokens,
        total_tokens=usage.total_tokens or input_tokens + output_tokens,
        reasoning_tokens=getattr(reasoning, "reasoning_tokens", None) or None,
        cache_read_tokens=getattr(details, "cached_tokens", None) or None,
        cache_write_tokens=getattr(details, "cache_write_tokens", None) or None,
        cost_usd=_dollars(getattr(usage, "cost", None)),
    )


def _dollars(cost: object) -> Decimal | None:
    """What the answer cost, where the server says so, as OpenRouter does."""
    given = isinstance(cost, int | float) and not isinstance(cost, bool) and 0 <= cost < math.inf
    return Decimal(str(cost)) if given else None


def function(tool: ToolSpec) -> Wire:
    """A tool's name, description and schema."""
    return {
        "name": clean_name(tool.name),
        "description": tool.description or "",
        "parameters": input_schema(tool),
    }


PDF_NAME: Final = "document.pdf"
"""The name of a PDF, of which the API wants one."""


def data_url(image: ImageBlock) -> str:
    """An image or a PDF as a URL: its own, or its data in one."""
    source = image.source
    if isinstance(source.get("url"), str):
        return str(source["url"])
    return f"data:{source.get('media_type', 'image/png')};base64,{source.get('data', '')}"


def sampling_for(request: ChatRequest, settings: OpenAISettings, model: str) -> Wire:
    """Temperature and top_p. OpenAI's reasoning models take neither, unless the user insists."""
    if settings.is_openai and reasons(model):
        return sampling(settings.temperature, None)
    temperature = settings.temperature if request.temperature is None else request.temperature
    return sampling(temperature, request.top_p)


def may_reason(settings: OpenAISettings, model: str) -> bool:
    """Whether a model takes an effort and earlier reasoning: of OpenAI's own not every one does."""
    return not settings.is_openai or reasons(model)


def effort_for(request: ChatRequest, settings: OpenAISettings, model: str) -> str | None:
    """The effort that is asked for, of a model that takes one."""
    effort = request.reasoning_effort or settings.effort
    return effort if may_reason(settings, model) else None


def tool_choice(
    choice: str | dict[str, Any] | None, one_tool: Callable[[str], Wire]
) -> str | Wire | None:
    """Return a tool choice as OpenAI writes it; `one_tool` writes the choice of one tool."""
    match choice:
        case None | "auto" | "none" | "required":
            return choice
        case "any" | {"type": "any"}:
            return "required"
        case {"type": "auto" | "none" as kind}:
            return str(kind)
    name = chosen_tool(choice)
    return choice if name is None else one_tool(name)


def json_format(request: ChatRequest) -> Wire | None:
    """Return the wanted JSON format: its type and, with a schema, the schema's description."""
    match request.response_format:
        case ResponseFormatJson():
            return {"type": "json_object"}
        case ResponseFormatJsonSchema() as wanted:
            schema: Wire = {"name": "response", "schema": wanted.json_schema}
            if wanted.strict is not None:
                schema["strict"] = wanted.strict
            return {"type": "json_schema", **schema}
        case _:
            return None
