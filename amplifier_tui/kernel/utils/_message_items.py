"""Messages of every make, read into turns and single tool outputs, in their order."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from typing import Any

from amplifier_tui.kernel.message_models import (
    ContentBlockUnion,
    ImageBlock,
    Message,
    ReasoningBlock,
    RedactedThinkingBlock,
    TextBlock,
    ThinkingBlock,
    ToolCallBlock,
    ToolResultBlock,
)
from amplifier_tui.kernel.models import _sanitize_for_llm
from amplifier_tui.kernel.utils.tool_calls import parse_tool_arguments
from amplifier_tui.kernel.utils.turns import (
    AssistantBlock,
    AssistantTurn,
    ToolOutput,
    UserBlock,
    UserTurn,
)

Item = UserTurn | AssistantTurn | ToolOutput


def as_message(message: Message | Mapping[str, Any]) -> Message:
    if isinstance(message, Message):
        return message
    data = dict(message)
    if data.get("content") is None:
        data["content"] = ""
    return Message.model_validate(data)


def items_of(message: Message, system: list[str], *, at_start: bool) -> Iterator[Item]:
    match message.role:
        case "system" if at_start:
            if text := _text(message).strip():
                system.append(text)
        case "system":
            yield from _wrapped(message, "system-reminder")
        case "developer":
            yield from _wrapped(message, "developer")
        case "assistant":
            if content := list(_assistant_blocks(message)):
                yield AssistantTurn(content)
        case "tool" | "function" if message.tool_call_id is not None:
            yield _tool_output(message, message.tool_call_id)
        case _:
            yield from _user_items(message)


def _user_items(message: Message) -> Iterator[Item]:
    for block in _blocks(message):
        match block:
            case ToolResultBlock():
                yield ToolOutput(block.tool_call_id, _output(block.output), _failed(block))
            case TextBlock() | ImageBlock():
                yield UserTurn([block])


def _blocks(message: Message) -> Iterator[ContentBlockUnion]:
    """The message's blocks; text without the characters that no API accepts, or not at all."""
    content = message.content
    for block in [TextBlock(text=content)] if isinstance(content, str) else content:
        if not isinstance(block, TextBlock):
            yield block
        elif (text := _sanitize_for_llm(block.text)).strip():
            yield block if text == block.text else block.model_copy(update={"text": text})


def _wrapped(message: Message, element: str) -> Iterator[UserTurn]:
    if text := _text(message).strip():
        yield UserTurn([TextBlock(text=f"<{element}>\n{text}\n</{element}>")])


def _text(message: Message) -> str:
    return "\n\n".join(block.text for block in _blocks(message) if isinstance(block, TextBlock))


def _assistant_blocks(message: Message) -> Iterator[AssistantBlock]:
    seen: set[str] = set()
    for block in _blocks(message):
        match block:
            case ToolCallBlock():
                seen.add(block.id)
                yield block.model_copy(update={"input": _clean(block.input)})
            case TextBlock() | ThinkingBlock() | RedactedThinkingBlock() | ReasoningBlock():
                yield block
    calls = (message.model_extra or {}).get("tool_calls")
    for call in calls if isinstance(calls, list) else []:
        found = _call(call)
        if found is not None and found.id not in seen:
            yield found


def _call(call: Any) -> ToolCallBlock | None:
    """A call that a message carries beside its content, in any of the forms in use."""
    if not isinstance(call, Mapping):
        call = {name: getattr(call, name, None) for name in ("id", "name", "arguments")}
    function = call.get("function")
    inner = function if isinstance(function, Mapping) else call
    name = inner.get("name") or call.get("tool")
    if not isinstance(name, str) or not name:
        return None
    arguments = inner.get("arguments", call.get("input"))
    if isinstance(arguments, str):
        arguments, _ = parse_tool_arguments(arguments, name)
    if not isinstance(arguments, Mapping):
        arguments = {}
    return ToolCallBlock(id=str(call.get("id") or ""), name=name, input=_clean(dict(arguments)))


def _tool_output(message: Message, call_id: str) -> ToolOutput:
    if isinstance(message.content, list) and len(message.content) == 1:
        only = message.content[0]
        if isinstance(only, ToolResultBlock):
            return ToolOutput(call_id, _output(only.output), _failed(only) or _failed(message))
    return ToolOutput(call_id, _output(message.content), _failed(message))


def _failed(carrier: Message | ToolResultBlock) -> bool:
    extra = carrier.model_extra or {}
    metadata = carrier.metadata if isinstance(carrier, Message) else None
    return extra.get("is_error") is True or (metadata or {}).get("is_error") is True


def _output(value: Any) -> list[UserBlock]:
    """A tool's output as text and image blocks."""
    if isinstance(value, list):
        blocks = [_output_block(item) for item in value]
        if blocks and all(block is not None for block in blocks):
            return [block for block in blocks if block is not None]
    if value is None or value == []:
        text = ""
    elif isinstance(value, str):
        text = value
    else:
        text = json.dumps(value, ensure_ascii=False, default=_plain)
    return [TextBlock(text=_sanitize_for_llm(text))]


def _output_block(item: Any) -> UserBlock | None:
    if isinstance(item, TextBlock):
        return TextBlock(text=_sanitize_for_llm(item.text))
    if isinstance(item, ImageBlock):
        return item
    match item:
        case {"type": "text", "text": str(text)}:
            return TextBlock(text=_sanitize_for_llm(text))
        case {"type": "image", "source": dict(source)}:
            return ImageBlock(source=source)
    return None


def _plain(value: Any) -> Any:
    dump = getattr(value, "model_dump", None)
    return dump(mode="json") if callable(dump) else str(value)


def _clean(value: Any) -> Any:
    """JSON data without the characters that no API accepts."""
    if isinstance(value, str):
        return _sanitize_for_llm(value)
    if isinstance(value, dict):
        return {_clean(key): _clean(item) for key, item in value.items()}
    if isinstance(value, list):
        return [_clean(item) for item in value]
    return value
