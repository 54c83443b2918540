"""A kernel request in the format of the Responses API.

Source: OpenAI API, Responses, used without state: the whole conversation is sent each time, and
reasoning goes back as encrypted items.
"""

from __future__ import annotations

import json
from typing import Any

from amplifier_tui.kernel.message_models import (
    ChatRequest,
    Degradation,
    ImageBlock,
    ReasoningBlock,
    ResponseFormatJson,
    ResponseFormatJsonSchema,
    TextBlock,
    ThinkingBlock,
    ToolCallBlock,
)
from amplifier_tui.kernel.utils.conversation import clean_name, encodable, read_conversation
from amplifier_tui.kernel.utils.turns import (
    AssistantTurn,
    Conversation,
    ToolOutput,
    ToolTurn,
    UserTurn,
)
from amplifier_tui.modules.provider_openai.models import reasons
from amplifier_tui.modules.provider_openai.prepared import (
    BEGIN,
    GO_ON,
    NO_OUTPUT,
    Prepared,
    Wire,
    function,
    image_url,
    sampling,
    tool_names,
)
from amplifier_tui.modules.provider_openai.settings import Settings


def prepare_responses(
    request: ChatRequest, settings: Settings, model: str, cache_key: str | None
) -> Prepared:
    """Write a request for the Responses API.

    Args:
        request: What to complete.
        settings: The provider's configuration.
        model: The model to ask.
        cache_key: Tells OpenAI which requests belong together.
    """
    conversation = read_conversation(request.messages, clean_id=clean_name)
    limit = request.max_output_tokens or settings.max_tokens
    reasoning = _reasoning(request, settings, model)
    optional: Wire = {
        **sampling(request, settings, model),
        "instructions": conversation.system or None,
        "tools": [
            {"type": "function", "strict": False, **function(tool)} for tool in request.tools or []
        ],
        "tool_choice": _tool_choice(request.tool_choice) if request.tools else None,
        "max_output_tokens": limit,
        "reasoning": reasoning or None,
        "include": ["reasoning.encrypted_content"] if reasons(model) else None,
        "text": _text_format(request),
        "prompt_cache_key": cache_key if settings.is_openai else None,
        "timeout": request.timeout,
    }
    arguments: dict[str, Any] = {
        "model": model,
        "input": wire_items(conversation),
        "store": settings.store,
    }
    arguments |= {
        name: value for name, value in optional.items() if value is not None and value != []
    }
    return Prepared(
        arguments, tool_names(request.tools), conversation.repairs, _degradation(request)
    )


def wire_items(conversation: Conversation) -> list[Wire]:
    """The conversation as input items; never empty, and never ending with the assistant."""
    items: list[Wire] = []
    for turn in conversation.turns:
        match turn:
            case UserTurn():
                items.append(_user([_part(block) for block in turn.content]))
            case AssistantTurn():
                items.extend(_assistant_items(turn))
            case ToolTurn():
                items.extend(_output_item(output) for output in turn.outputs)
    if not items:
        items.append(_user([{"type": "input_text", "text": BEGIN}]))
    elif items[-1].get("role") == "assistant":
        items.append(_user([{"type": "input_text", "text": GO_ON}]))
    return items


def _user(parts: list[Wire]) -> Wire:
    return {"type": "message", "role": "user", "content": parts}


def _part(block: TextBlock | ImageBlock) -> Wire:
    if isinstance(block, ImageBlock):
        return {"type": "input_image", "image_url": image_url(block), "detail": "auto"}
    return {"type": "input_text", "text": block.text}


def _assistant_items(turn: AssistantTurn) -> list[Wire]:
    items: list[Wire] = []
    spoken = 0
    for block in turn.content:
        match block:
            case TextBlock():
                items.append(_assistant_message(block))
            case ToolCallBlock():
                items.append(
                    {
                        "type": "function_call",
                        "call_id": block.id,
                        "name": clean_name(block.name),
                        "arguments": json.dumps(block.input, ensure_ascii=False),
                    }
                )
            case ThinkingBlock() | ReasoningBlock():
                if item := _reasoning_item(block):
                    items.append(item)
                continue
            case _:
                continue
        spoken = len(items)
    # The API wants something to follow reasoning, which an interrupted answer may lack.
    return items[:spoken]


def _assistant_message(block: TextBlock) -> Wire:
    message: Wire = {"type": "message", "role": "assistant", "content": block.text}
    phase = (block.model_extra or {}).get("phase")
    if isinstance(phase, str):
        message["phase"] = phase
    return message


def _reasoning_item(block: ThinkingBlock | ReasoningBlock) -> Wire | None:
    """The item a block came from; None for reasoning of other origin, which can't be sent."""
    if isinstance(block, ReasoningBlock):
        extra = block.model_extra or {}
        encrypted, identity = extra.get("encrypted_content"), extra.get("id")
        summary = list(block.summary)
    else:
        carried = block.content or []
        encrypted, identity = carried if len(carried) == 2 else (None, None)
        text = encodable(block.thinking)
        summary = [{"type": "summary_text", "text": text}] if text else []
    if not isinstance(encrypted, str) or not isinstance(identity, str):
        return None
    return {
        "type": "reasoning",
        "id": identity,
        "summary": summary,
        "encrypted_content": encrypted,
    }


def _output_item(output: ToolOutput) -> Wire:
    shown: str | list[Wire] = output.text if output.text.strip() else NO_OUTPUT
    if output.images:
        shown = [
            _part(block)
            for block in output.content
            if not isinstance(block, TextBlock) or block.text.strip()
        ]
    return {"type": "function_call_output", "call_id": output.call_id, "output": shown}


def _reasoning(request: ChatRequest, settings: Settings, model: str) -> Wire:
    reasoning: Wire = {}
    if effort := request.reasoning_effort or settings.effort:
        reasoning["effort"] = effort
    if reasons(model) and settings.reasoning_summary != "none":
        reasoning["summary"] = settings.reasoning_summary
    return reasoning


def _tool_choice(choice: str | dict[str, Any] | None) -> str | Wire | None:
    match choice:
        case None | "auto" | "none" | "required":
            return choice
        case "any" | {"type": "any"}:
            return "required"
        case str():
            return {"type": "function", "name": clean_name(choice)}
        case {"type": "auto" | "none" as kind}:
            return str(kind)
        case {"function": {"name": str(name)}} | {"name": str(name)}:
            return {"type": "function", "name": clean_name(name)}
        case _:
            return choice


def _text_format(request: ChatRequest) -> Wire | None:
    match request.response_format:
        case ResponseFormatJson():
            return {"format": {"type": "json_object"}}
        case ResponseFormatJsonSchema() as wanted:
            schema: Wire = {"name": "response", "schema": wanted.json_schema}
            if wanted.strict is not None:
                schema["strict"] = wanted.strict
            return {"format": {"type": "json_schema", **schema}}
        case _:
            return None


def _degradation(request: ChatRequest) -> Degradation | None:
    if not request.stop:
        return None
    return Degradation(
        requested="stop sequences",
        actual="none",
        reason="The Responses API has no stop sequences.",
    )
