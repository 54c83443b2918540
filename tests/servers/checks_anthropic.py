"""What Anthropic's API refuses with 400, so that a malformed request fails a test here too."""

import base64
import re
from typing import Any

from amplifier_tui.base.files.image_heads import pixels

_NAME = re.compile(r"^[a-zA-Z0-9_-]{1,128}$")
_KEY = re.compile(r"^[a-zA-Z0-9_.-]{1,64}$")
_BLOCKS = {"text", "image", "thinking", "redacted_thinking", "tool_use", "tool_result", "document"}


def violation(request: dict[str, Any]) -> str | None:
    """The first rule of the Messages API that this request breaks, in the API's manner."""
    if not isinstance(request.get("max_tokens"), int) or request["max_tokens"] < 1:
        return "max_tokens: must be at least 1"
    if not request.get("model"):
        return "model: field required"
    messages = request.get("messages")
    if not messages:
        return "messages: at least one message is required"
    return (
        _messages(messages)
        or _images(messages)
        or _pairs(messages)
        or _tools(request.get("tools") or [])
        or _thinking(request)
        or _cache(request)
    )


def _blocks(message: dict[str, Any]) -> list[dict[str, Any]]:
    content = message["content"]
    return [{"type": "text", "text": content}] if isinstance(content, str) else list(content)


def _messages(messages: list[dict[str, Any]]) -> str | None:
    if messages[0].get("role") != "user":
        return "messages: first message must use the user role"
    if messages[-1].get("role") != "user":
        return "This model does not support assistant message prefill. End with a user message."
    for place, message in enumerate(messages):
        if set(message) - {"role", "content"}:
            return f"messages.{place}: extra inputs are not permitted: {sorted(message)}"
        if message["role"] not in ("user", "assistant"):
            return f"messages.{place}.role: unexpected role {message['role']!r}"
        if not message["content"]:
            return f"messages.{place}: content must be non-empty"
        for block in _blocks(message):
            if problem := _block(block, message["role"]):
                return f"messages.{place}.content: {problem}"
    return None


def _images(messages: list[dict[str, Any]]) -> str | None:
    blocks = [block for message in messages for block in _blocks(message)]
    inner = [block["content"] for block in blocks if block.get("type") == "tool_result"]
    blocks += [block for content in inner if isinstance(content, list) for block in content]
    data = [b["source"].get("data", "") for b in blocks if b.get("type") == "image"]
    sides = [max(pixels(base64.b64decode(f"{each}===")) or (0,)) for each in data]
    if len(sides) > 100:
        return f"Too many images and document pages: {len(sides)} + 0 > 100"
    if len(sides) > 20 and max(sides) > 2_000:
        return "image dimensions exceed max allowed size for many-image requests: 2000 pixels"
    return None


def _block(block: dict[str, Any], role: str) -> str | None:
    kind = block.get("type")
    if kind not in _BLOCKS:
        return f"unknown block type {kind!r}"
    if kind == "text" and not block["text"].strip():
        return "text content blocks must contain non-whitespace text"
    if kind in ("thinking", "redacted_thinking", "tool_use") and role != "assistant":
        return f"{kind} blocks belong to the assistant"
    if kind in ("tool_result", "image", "document") and role != "user":
        return f"{kind} blocks belong to the user"
    if kind == "thinking" and not block.get("signature"):
        return "thinking.signature: field required"
    if kind == "tool_use" and not isinstance(block.get("input"), dict):
        return "tool_use.input: should be an object"
    if kind == "tool_use" and not _NAME.match(block.get("name", "")):
        return "tool_use.name: invalid"
    if kind == "tool_use" and not re.match(r"^[a-zA-Z0-9_-]+$", block.get("id", "")):
        return "tool_use.id: String should match pattern '^[a-zA-Z0-9_-]+$'"
    return None


def _pairs(messages: list[dict[str, Any]]) -> str | None:
    seen: set[str] = set()
    for place, message in enumerate(messages):
        blocks = _blocks(message)
        calls = [block["id"] for block in blocks if block["type"] == "tool_use"]
        if seen & set(calls) or len(set(calls)) != len(calls):
            return f"messages.{place}: `tool_use` ids must be unique"
        seen |= set(calls)
        before = _blocks(messages[place - 1]) if place else []
        asked = {block["id"] for block in before if block["type"] == "tool_use"}
        answers = [block["tool_use_id"] for block in blocks if block["type"] == "tool_result"]
        if set(answers) - asked:
            return f"messages.{place}: unexpected `tool_use_id` found in `tool_result` blocks"
        if asked - set(answers):
            return f"messages.{place}: `tool_use` ids were found without `tool_result` blocks"
        if len(set(answers)) != len(answers):
            return f"messages.{place}: each `tool_use` must have a single result"
        if answers and any(b["type"] != "tool_result" for b in blocks[: len(answers)]):
            return f"messages.{place}: `tool_result` blocks must come first"
    return None


def _tools(tools: list[dict[str, Any]]) -> str | None:
    names = [tool.get("name", "") for tool in tools]
    if len(set(names)) != len(names):
        return "tools: Tool names must be unique."
    for tool in tools:
        if not _NAME.match(tool.get("name", "")):
            return f"tools.name: {tool.get('name')!r} is not allowed"
        schema = tool.get("input_schema", {})
        if schema.get("type") != "object":
            return "tools.input_schema.type: field required"
        if {"anyOf", "oneOf", "allOf"} & schema.keys():
            return "input_schema does not support oneOf, allOf, or anyOf at the top level"
        if not all(map(_KEY.match, schema.get("properties", {}))):
            return f"input_schema.properties: Property keys should match pattern '{_KEY.pattern}'"
    return None


def _thinking(request: dict[str, Any]) -> str | None:
    thinking = request.get("thinking") or {}
    if thinking.get("type") != "enabled":
        return None
    budget = thinking.get("budget_tokens", 0)
    if budget < 1024:
        return "thinking.enabled.budget_tokens: should be at least 1024"
    if budget >= request["max_tokens"]:
        return "`max_tokens` must be greater than `thinking.budget_tokens`"
    if request.get("tool_choice", {}).get("type") in ("any", "tool"):
        return "Thinking may not be enabled when tool_choice forces tool use."
    last = next((m for m in reversed(request["messages"]) if m["role"] == "assistant"), None)
    answered = _blocks(request["messages"][-1])[0]["type"] == "tool_result"
    if last and answered and _blocks(last)[0]["type"] not in ("thinking", "redacted_thinking"):
        return "When `thinking` is enabled, a final assistant message must start with thinking."
    return None


def _cache(request: dict[str, Any]) -> str | None:
    system = request.get("system")
    places = [*(request.get("tools") or []), *(system if isinstance(system, list) else [])]
    for block in system if isinstance(system, list) else []:
        if not block.get("text", "").strip():
            return "system: text content blocks must be non-empty"
    for message in request["messages"]:
        places += _blocks(message)
    marked = [block for block in places if block.get("cache_control")]
    if any(block.get("type") in ("thinking", "redacted_thinking") for block in marked):
        return "cache_control cannot be set on thinking blocks"
    if len(marked) > 4:
        return f"A maximum of 4 blocks with cache_control may be provided. Found {len(marked)}."
    return None
