"""A conversation in the format of the Messages API.

Source: Anthropic API, Messages: the rules on blocks, tool results and cache breakpoints.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, Literal

from amplifier_tui.kernel.message_models import (
    ImageBlock,
    RedactedThinkingBlock,
    TextBlock,
    ThinkingBlock,
    ToolCallBlock,
    ToolSpec,
)
from amplifier_tui.kernel.utils.conversation import clean_name, valid_unicode
from amplifier_tui.kernel.utils.turns import (
    AssistantTurn,
    Conversation,
    ToolOutput,
    ToolTurn,
    UserBlock,
    UserTurn,
)
from amplifier_tui.modules._provider.request import BEGIN, GO_ON, Wire, chosen_tool, output_text


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


def wire_system(text: str) -> list[Wire]:
    """The system prompt as blocks, so that it can carry a cache breakpoint."""
    return [{"type": "text", "text": text}] if text else []


def wire_tools(tools: Iterable[ToolSpec]) -> list[Wire]:
    """The tools the model is offered."""
    return [
        {
            "name": clean_name(tool.name),
            "description": tool.description or "",
            "input_schema": {"type": "object", **tool.parameters},
        }
        for tool in tools
    ]


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


def mark_cache(
    messages: list[Wire], system: list[Wire], tools: list[Wire], ttl: Literal["5m", "1h"]
) -> None:
    """Put breakpoints after the tools, the system prompt and the last message.

    The API allows four; a prefix that ends at a breakpoint is read from the cache next time.
    """
    mark: Wire = {"type": "ephemeral"} if ttl == "5m" else {"type": "ephemeral", "ttl": ttl}
    for part in (tools, system, messages[-1]["content"]):
        if part:
            part[-1] = {**part[-1], "cache_control": mark}


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
        return {"type": "image", "source": block.source}
    return {"type": "text", "text": block.text}


def _tool_result(output: ToolOutput) -> Wire:
    blocks = [
        _user_block(block)
        for block in output.content
        if not isinstance(block, TextBlock) or block.text.strip()
    ]
    result: Wire = {"type": "tool_result", "tool_use_id": output.call_id}
    if output.images:
        result["content"] = blocks
    else:
        result["content"] = output_text(output)
    if output.is_error:
        result["is_error"] = True
    return result


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
