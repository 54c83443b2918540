"""Reading kernel messages: dicts with role, content, tool calls and metadata, of any make."""

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Final

Message = Mapping[str, Any]

INTERRUPTED: Final = "interrupted"
"""Metadata key: the row was cut short."""


PROMPT_KEY: Final = "prompt"
"""Metadata key: what the user typed, where the row holds more than that."""


@dataclass(frozen=True, slots=True)
class Call:
    """One tool call of an assistant message."""

    call_id: str
    tool: str
    arguments: dict[str, Any]


def metadata_of(message: Message) -> Mapping[str, Any]:
    """Return a message's metadata; empty when it has none."""
    metadata = message.get("metadata")
    return metadata if isinstance(metadata, Mapping) else {}


def text_of(content: Any) -> str:
    """Return what a content says, reasoning and tool calls left out."""
    if isinstance(content, str):
        return content
    if isinstance(content, Mapping):
        content = [content]
    if not isinstance(content, list | tuple):
        return "" if content is None else str(content)
    texts = [_block_text(block) for block in content]
    return "\n\n".join(text for text in texts if text)


def _block_text(block: Any) -> str:
    if isinstance(block, str):
        return block
    if not isinstance(block, Mapping):
        return ""
    match block.get("type"):
        case "text" | "input_text" | "output_text" | None:
            text = block.get("text")
            return text if isinstance(text, str) else ""
        case "image" | "image_url":
            return "[image]"
    return ""


def thinking_of(block: Mapping[str, Any]) -> str:
    """Return the reasoning in a content block; empty when it is none or is not readable."""
    if block.get("type") not in ("thinking", "reasoning"):
        return ""
    for key in ("thinking", "text", "thinking_text"):
        value = block.get(key)
        if isinstance(value, str) and value:
            return value
    parts = block.get("summary") or block.get("content") or []
    return "\n\n".join(_part_text(part) for part in parts) if isinstance(parts, list) else ""


def _part_text(part: Any) -> str:
    if isinstance(part, Mapping):
        return str(part.get("text") or "")
    return part if isinstance(part, str) else ""


def calls_of(message: Message) -> tuple[Call, ...]:
    """Return the tool calls of a message, from `tool_calls` or from its blocks."""
    found: dict[str, Call] = {}
    listed = message.get("tool_calls")
    for item in listed if isinstance(listed, list) else ():
        call = _call(item)
        if call is not None:
            found.setdefault(call.call_id, call)
    content = message.get("content")
    for block in content if isinstance(content, list) else ():
        if isinstance(block, Mapping) and block.get("type") in ("tool_call", "tool_use"):
            call = _call(block)
            if call is not None:
                found.setdefault(call.call_id, call)
    return tuple(found.values())


def _call(item: Any) -> Call | None:
    if not isinstance(item, Mapping):
        return None
    function = item.get("function")
    inner = function if isinstance(function, Mapping) else {}
    name = item.get("name") or item.get("tool") or inner.get("name")
    call_id = item.get("id") or item.get("tool_call_id")
    if not isinstance(call_id, str) or not call_id:
        return None
    arguments = item.get("arguments", item.get("input", inner.get("arguments")))
    return Call(call_id, str(name or ""), as_arguments(arguments))


def as_arguments(value: Any) -> dict[str, Any]:
    """Return tool arguments as a dict; they may come as JSON text."""
    if isinstance(value, str):
        try:
            value = json.loads(value)
        except (ValueError, RecursionError):
            return {"arguments": value}
    return {str(key): item for key, item in value.items()} if isinstance(value, Mapping) else {}


def typed_prompt(message: Message) -> str:
    """Return what the user typed for a user's message."""
    typed = metadata_of(message).get(PROMPT_KEY)
    return typed if isinstance(typed, str) else text_of(message.get("content"))


def is_from_hook(message: Message) -> bool:
    """Whether a hook put the message there, not the user."""
    return metadata_of(message).get("source") == "hook"


def dangling_calls(messages: list[dict[str, Any]]) -> Iterator[Call]:
    """Yield the tool calls that have no result, in order."""
    answered = {m.get("tool_call_id") for m in messages if m.get("role") == "tool"}
    for message in messages:
        if message.get("role") == "assistant":
            yield from (call for call in calls_of(message) if call.call_id not in answered)


def last_words(messages: list[dict[str, Any]]) -> str:
    """Return the latest words of the assistant; empty when it said none."""
    for message in reversed(messages):
        if message.get("role") == "assistant":
            text = text_of(message.get("content"))
            if text.strip():
                return text
    return ""
