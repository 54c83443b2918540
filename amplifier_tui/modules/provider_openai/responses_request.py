"""A kernel request in the format of the Responses API.

Source: OpenAI API, Responses, used without state: the whole conversation is sent each time, and
reasoning goes back as encrypted items.
"""

import json

from amplifier_tui.kernel.message_models import (
    ChatRequest,
    Degradation,
    ImageBlock,
    ReasoningBlock,
    TextBlock,
    ThinkingBlock,
    ToolCallBlock,
)
from amplifier_tui.kernel.utils.conversation import (
    MessageMemory,
    clean_name,
    read_conversation,
    valid_unicode,
)
from amplifier_tui.kernel.utils.turns import (
    AssistantTurn,
    Conversation,
    InstructionTurn,
    ToolOutput,
    ToolTurn,
    UserTurn,
)
from amplifier_tui.modules._provider.request import (
    BEGIN,
    GO_ON,
    PreparedRequest,
    Wire,
    is_pdf,
    output_text,
    tool_names,
)
from amplifier_tui.modules.provider_openai.models import reasons
from amplifier_tui.modules.provider_openai.native_patch import (
    TOOL,
    call_item,
    offers_patch,
    output_item,
)
from amplifier_tui.modules.provider_openai.settings import OpenAISettings
from amplifier_tui.modules.provider_openai.wire import (
    PDF_NAME,
    data_url,
    effort_for,
    finished,
    function,
    json_format,
    may_reason,
    sampling_for,
    tool_choice,
)


def prepare_responses(
    request: ChatRequest,
    settings: OpenAISettings,
    model: str,
    cache_key: str | None,
    memory: MessageMemory | None = None,
) -> PreparedRequest:
    """Write a request for the Responses API; arguments as of `prepare_chat`."""
    conversation = read_conversation(
        request.messages, clean_id=clean_name, keeps_roles=True, memory=memory
    )
    native = settings.native_tools and offers_patch(request.tools)
    reasoning = _reasoning(request, settings, model)
    wanted_format = json_format(request)
    optional: Wire = {
        **sampling_for(request, settings, model),
        "instructions": conversation.system or None,
        "tools": [
            {"type": TOOL}
            if native and tool.name == TOOL
            else {"type": "function", "strict": False, **function(tool)}
            for tool in request.tools or []
        ],
        "tool_choice": tool_choice(request.tool_choice, _one_tool) if request.tools else None,
        "max_output_tokens": request.max_output_tokens or settings.max_tokens,
        "reasoning": reasoning or None,
        "include": ["reasoning.encrypted_content"] if reasons(model) else None,
        "text": {"format": wanted_format} if wanted_format else None,
        "prompt_cache_key": cache_key if settings.is_openai else None,
        "timeout": request.timeout,
    }
    items = wire_items(conversation, native, with_reasoning=may_reason(settings, model))
    required = {"model": model, "input": items, "store": settings.store}
    return PreparedRequest(
        finished(required, optional),
        conversation,
        tool_names(request.tools),
        _degradation(request),
    )


def wire_items(
    conversation: Conversation, native: bool = False, *, with_reasoning: bool = True
) -> list[Wire]:
    """The conversation as input items; never empty, and never ending with the assistant.

    `native` says whether the API's own form of `apply_patch` is on offer, `with_reasoning` whether
    the model takes earlier reasoning.
    """
    items: list[Wire] = []
    patches: set[str] = set()
    for turn in conversation.turns:
        match turn:
            case UserTurn():
                items.append(_message("user", [_part(block) for block in turn.content]))
            case InstructionTurn():
                items.append(_message(turn.role, [{"type": "input_text", "text": turn.text}]))
            case AssistantTurn():
                said = _assistant_items(turn, native, with_reasoning)
                patches |= {i["call_id"] for i in said if i["type"] == "apply_patch_call"}
                items.extend(said)
            case ToolTurn():
                items.extend(
                    output_item(output) if output.call_id in patches else _output_item(output)
                    for output in turn.outputs
                )
    if not items:
        items.append(_message("user", [{"type": "input_text", "text": BEGIN}]))
    elif items[-1].get("role") == "assistant":
        items.append(_message("user", [{"type": "input_text", "text": GO_ON}]))
    return items


def _message(role: str, parts: list[Wire]) -> Wire:
    return {"type": "message", "role": role, "content": parts}


def _part(block: TextBlock | ImageBlock) -> Wire:
    if isinstance(block, ImageBlock) and is_pdf(block):
        return {"type": "input_file", "filename": PDF_NAME, "file_data": data_url(block)}
    if isinstance(block, ImageBlock):
        return {"type": "input_image", "image_url": data_url(block), "detail": "auto"}
    return {"type": "input_text", "text": block.text}


def _assistant_items(turn: AssistantTurn, native: bool, with_reasoning: bool) -> list[Wire]:
    items: list[Wire] = []
    spoken = 0
    for block in turn.content:
        match block:
            case TextBlock():
                items.append(_assistant_message(block))
            case ToolCallBlock():
                items.append(
                    (call_item(block) if native else None)
                    or {
                        "type": "function_call",
                        "call_id": block.id,
                        "name": clean_name(block.name),
                        "arguments": json.dumps(block.input, ensure_ascii=False),
                    }
                )
            case ThinkingBlock() | ReasoningBlock():
                if with_reasoning and (item := _reasoning_item(block)):
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
        parts = (block.model_extra or {}).get("summary") or [block.thinking]
        texts = [valid_unicode(part) for part in parts if isinstance(part, str) and part]
        summary = [{"type": "summary_text", "text": text} for text in texts]
    if not isinstance(encrypted, str) or not isinstance(identity, str):
        return None
    return {
        "type": "reasoning",
        "id": identity,
        "summary": summary,
        "encrypted_content": encrypted,
    }


def _output_item(output: ToolOutput) -> Wire:
    shown: str | list[Wire] = output_text(output)
    if output.images:
        shown = [
            _part(block)
            for block in output.content
            if not isinstance(block, TextBlock) or block.text.strip()
        ]
    return {"type": "function_call_output", "call_id": output.call_id, "output": shown}


def _reasoning(request: ChatRequest, settings: OpenAISettings, model: str) -> Wire:
    reasoning: Wire = {}
    if effort := effort_for(request, settings, model):
        reasoning["effort"] = effort
    if reasons(model) and settings.reasoning_summary != "none":
        reasoning["summary"] = settings.reasoning_summary
    return reasoning


def _one_tool(name: str) -> Wire:
    return {"type": "function", "name": name}


def _degradation(request: ChatRequest) -> Degradation | None:
    if not request.stop:
        return None
    return Degradation(
        requested="stop sequences",
        actual="none",
        reason="The Responses API has no stop sequences.",
    )
