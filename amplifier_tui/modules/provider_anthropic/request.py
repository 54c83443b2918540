"""A kernel request as the arguments of the SDK's `messages.create`.

Source: Anthropic API, Messages: the rules on blocks, tool results and cache breakpoints.
"""

import re
from collections.abc import Iterable
from typing import Any, Literal

from amplifier_tui.kernel.message_models import (
    ChatRequest,
    Degradation,
    ImageBlock,
    RedactedThinkingBlock,
    ResponseFormatJson,
    ResponseFormatJsonSchema,
    TextBlock,
    ThinkingBlock,
    ToolCallBlock,
    ToolSpec,
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
    EphemeralText,
    ToolOutput,
    ToolTurn,
    UserBlock,
    UserTurn,
)
from amplifier_tui.modules._provider.request import (
    BEGIN,
    GO_ON,
    PreparedRequest,
    Wire,
    chosen_tool,
    input_schema,
    is_pdf,
    output_text,
    sampling,
    tool_names,
)
from amplifier_tui.modules.provider_anthropic.images import leave_out_images
from amplifier_tui.modules.provider_anthropic.models import ClaudeModel, known_model
from amplifier_tui.modules.provider_anthropic.settings import AnthropicSettings

DEFAULT_MAX_TOKENS = 32_000
_PROPERTY = re.compile(r"[a-zA-Z0-9_.-]{1,64}")
_LEAST_BUDGET = 1024
_BUDGETS = {"minimal": 1024, "low": 4_000, "medium": 10_000, "high": 24_000}
_EFFORTS = {"minimal": "low"}


def prepare(
    request: ChatRequest,
    settings: AnthropicSettings,
    max_output_tokens: int,
    memory: MessageMemory | None = None,
) -> PreparedRequest:
    """Write a request in the API's format.

    Args:
        request: What to complete.
        settings: The provider's configuration.
        max_output_tokens: The output limit where the request names none.
        memory: What is known of the messages from the request before.
    """
    model = request.model or settings.model
    conversation = read_conversation(request.messages, clean_id=clean_name, memory=memory)
    messages = wire_messages(conversation)
    leave_out_images(messages)
    # Blocks, so that it can carry a cache breakpoint.
    system = [{"type": "text", "text": text}] if (text := conversation.system) else []
    tools = wire_tools(request.tools or [])
    if settings.prompt_caching:
        mark_cache(messages, system, tools, "1h" if settings.prompt_caching == "1h" else "5m")
    max_tokens = request.max_output_tokens or max_output_tokens
    arguments: dict[str, Any] = {"model": model, "max_tokens": max_tokens, "messages": messages}
    choice = wire_tool_choice(request.tool_choice)
    thinking = _thinking(request, settings, known_model(model), max_tokens)
    if thinking and thinking.get("type") == "enabled" and not _may_think(messages, choice):
        thinking = None
    optional = {
        "system": system,
        "tools": tools,
        "tool_choice": choice if tools else None,
        "stop_sequences": request.stop,
        "thinking": thinking,
        "output_config": _output_config(request, settings, known_model(model)),
        "extra_body": _sampling(request, settings, thinking),
        "timeout": request.timeout,
    }
    arguments.update({name: value for name, value in optional.items() if value})
    return PreparedRequest(
        arguments,
        conversation,
        tool_names=tool_names(request.tools),
        degradation=_degradation(request),
    )


def _effort(request: ChatRequest, settings: AnthropicSettings) -> str | None:
    return request.reasoning_effort or settings.effort


def _thinking(
    request: ChatRequest, settings: AnthropicSettings, model: ClaudeModel, max_tokens: int
) -> Wire | None:
    effort = _effort(request, settings)
    match settings.thinking:
        case dict() as given:
            return given
        case False | "off":
            return {"type": "disabled"}
        case "between_tools" as kind:
            return {"type": kind}
        case bool() | str():
            return _thinking_at(effort or "medium", model, max_tokens)
        case int() as budget:
            return _budgeted(budget, max_tokens)
        case None:
            return None if effort is None else _thinking_at(effort, model, max_tokens)


def _thinking_at(effort: str, model: ClaudeModel, max_tokens: int) -> Wire | None:
    if effort == "none":
        return {"type": "disabled"}
    if model.adaptive:
        return {"type": "adaptive", "display": "summarized"}
    return _budgeted(_BUDGETS.get(effort, max_tokens // 2), max_tokens)


def _budgeted(budget: int, max_tokens: int) -> Wire | None:
    """A budget the API accepts: at least 1024 and below the output limit, else none."""
    fitting = min(max(budget, _LEAST_BUDGET), max_tokens - 1)
    return {"type": "enabled", "budget_tokens": fitting} if fitting >= _LEAST_BUDGET else None


def _may_think(messages: list[Wire], choice: Wire | None) -> bool:
    """Whether the API takes a thinking budget here.

    It does not while tools are forced, nor within a tool turn that began without thinking, as it
    does after a change of model in the middle of the work.
    """
    if choice is not None and choice.get("type") in ("any", "tool"):
        return False
    if messages[-1]["content"][0]["type"] != "tool_result":
        return True
    first = messages[-2]["content"][0]["type"]
    return first in ("thinking", "redacted_thinking")


def _output_config(request: ChatRequest, settings: AnthropicSettings, model: ClaudeModel) -> Wire:
    config: Wire = {}
    effort = _effort(request, settings)
    if effort is not None and effort != "none" and model.effort:
        config["effort"] = _EFFORTS.get(effort, effort)
    if isinstance(request.response_format, ResponseFormatJsonSchema):
        config["format"] = {
            "type": "json_schema",
            "schema": request.response_format.json_schema,
        }
    return config


def _sampling(request: ChatRequest, settings: AnthropicSettings, thinking: Wire | None) -> Wire:
    """Sampling parameters, which this version of the SDK has no arguments for."""
    temperature = settings.temperature if request.temperature is None else request.temperature
    if thinking and thinking.get("type") in ("enabled", "adaptive"):
        temperature = None  # a model that thinks takes none
    return sampling(temperature, request.top_p)


def _degradation(request: ChatRequest) -> Degradation | None:
    if not isinstance(request.response_format, ResponseFormatJson):
        return None
    return Degradation(
        requested="response_format json",
        actual="text",
        reason="The Messages API has JSON output only with a schema.",
    )


def wire_messages(conversation: Conversation) -> list[Wire]:
    """The turns as API messages: alternating, begun and ended by the user."""
    messages: list[Wire] = []
    for turn in conversation.turns:
        match turn:
            case UserTurn():
                _append(messages, "user", [_user_block(block) for block in turn.content])
            case ToolTurn():
                _append(messages, "user", [_tool_result(output) for output in turn.outputs])
            case AssistantTurn():
                _append(messages, "assistant", _assistant_blocks(turn))
    if not messages or messages[0]["role"] != "user":
        messages.insert(0, _user_text(BEGIN))
    if messages[-1]["role"] != "user":
        messages.append(_user_text(GO_ON))
    return messages


def wire_tools(tools: Iterable[ToolSpec]) -> list[Wire]:
    """The tools the model is offered."""
    return [
        {
            "name": clean_name(tool.name),
            "description": tool.description or "",
            "input_schema": _input_schema(tool),
        }
        for tool in tools
    ]


def _input_schema(tool: ToolSpec) -> Wire:
    """A tool's schema without the properties whose names the API refuses, all else with them."""
    schema = input_schema(tool)
    left_out = [name for name in schema["properties"] if not _PROPERTY.fullmatch(str(name))]
    if left_out:
        kept = {n: each for n, each in schema["properties"].items() if n not in left_out}
        needed = [name for name in schema.get("required", ()) if name not in left_out]
        schema = {**schema, "properties": kept, "required": needed}
    return schema


def wire_tool_choice(choice: str | dict[str, Any] | None) -> Wire | None:
    """The tool choice, from the words and shapes of either vendor."""
    match choice:
        case None:
            return None
        case "required" | "any":
            return {"type": "any"}
        case "auto" | "none":
            return {"type": choice}
        case dict() if chosen_tool(choice) is None:
            return dict(choice)
        case _:
            return {"type": "tool", "name": chosen_tool(choice)}


class _Ephemeral(dict[str, Any]):
    """A block that is in this request only."""


def mark_cache(
    messages: list[Wire], system: list[Wire], tools: list[Wire], ttl: Literal["5m", "1h"]
) -> None:
    """Put breakpoints after the tools, the system prompt and what stays of the conversation.

    The API allows four. The next request reads from the cache what ends at a breakpoint of this
    one, so none stands on what it will not have. The last breakpoint but one is where the request
    before had its last: the API finds it by itself only within twenty blocks.
    """
    mark: Wire = {"type": "ephemeral"} if ttl == "5m" else {"type": "ephemeral", "ttl": ttl}
    ends = [(part, len(part) - 1) for part in (tools, system) if part]
    for part, place in [*ends, *_lasting_ends(messages)[-2:]]:
        part[place] = {**part[place], "cache_control": mark}


def _lasting_ends(messages: list[Wire]) -> list[tuple[list[Wire], int]]:
    """Where the user's messages end, up to the first block that the next request will not have."""
    ends: list[tuple[list[Wire], int]] = []
    for message in messages:
        blocks = message["content"]
        lasting = next((i for i, b in enumerate(blocks) if isinstance(b, _Ephemeral)), len(blocks))
        if lasting and message["role"] == "user":
            ends.append((blocks, lasting - 1))
        if lasting < len(blocks):
            break
    return ends


def _append(messages: list[Wire], role: str, blocks: list[Wire]) -> None:
    if not blocks:
        return
    if messages and messages[-1]["role"] == role:
        messages[-1]["content"].extend(blocks)
    else:
        messages.append({"role": role, "content": blocks})


def _user_text(text: str) -> Wire:
    return {"role": "user", "content": [{"type": "text", "text": text}]}


def _user_block(block: UserBlock) -> Wire:
    if isinstance(block, ImageBlock):
        return {"type": "document" if is_pdf(block) else "image", "source": block.source}
    wire = {"type": "text", "text": block.text}
    return _Ephemeral(wire) if isinstance(block, EphemeralText) else wire


def _tool_result(output: ToolOutput) -> Wire:
    result: Wire = {"type": "tool_result", "tool_use_id": output.call_id}
    if output.images:
        result["content"] = [
            _user_block(block)
            for block in output.content
            if not isinstance(block, TextBlock) or block.text.strip()
        ]
    else:
        result["content"] = output_text(output)
    if output.is_error:
        result["is_error"] = True
    return _Ephemeral(result) if output.ephemeral else result


def _assistant_blocks(turn: AssistantTurn) -> list[Wire]:
    blocks: list[Wire] = []
    spoken = 0
    for block in turn.content:
        match block:
            case TextBlock():
                blocks.append({"type": "text", "text": block.text})
            case ToolCallBlock():
                blocks.append(
                    {
                        "type": "tool_use",
                        "id": block.id,
                        "name": clean_name(block.name),
                        "input": block.input,
                    }
                )
            case ThinkingBlock() if block.signature and block.content is None:
                # Reasoning of another vendor has no signature, or a meaning of its own for
                # `content`; the API would refuse it.
                blocks.append(
                    {
                        "type": "thinking",
                        "thinking": valid_unicode(block.thinking),
                        "signature": block.signature,
                    }
                )
                continue
            case RedactedThinkingBlock():
                blocks.append({"type": "redacted_thinking", "data": block.data})
                continue
            case _:
                continue
        spoken = len(blocks)
    # A message may not end in thinking, which is all that is left of an interrupted answer.
    return blocks[:spoken]
