"""What OpenAI's APIs refuse with 400, so that a malformed request fails a test here too."""

import re
from typing import Any

_NAME = re.compile(r"^[a-zA-Z0-9_-]{1,64}$")
_NO_REASONING = re.compile(r"^gpt-4")


def _reasons(request: dict[str, Any]) -> bool:
    return not _NO_REASONING.match(request["model"])


def chat_violation(request: dict[str, Any]) -> str | None:
    """The first rule of Chat Completions that this request breaks."""
    if not request.get("model"):
        return "you must provide a model parameter"
    messages = request.get("messages")
    if not messages:
        return "[] is too short - 'messages'"
    if not _reasons(request) and "reasoning_effort" in request:
        return "Unrecognized request argument supplied: reasoning_effort"
    if "stream_options" in request and not request.get("stream"):
        return "The 'stream_options' parameter is only allowed when 'stream' is enabled."
    return _chat_sequence(messages) or _tools(request, ("function", "custom"), nested=True)


def _chat_sequence(messages: list[dict[str, Any]]) -> str | None:
    open_calls: list[str] = []
    for place, message in enumerate(messages):
        role = message.get("role")
        if role == "tool":
            if message.get("tool_call_id") not in open_calls:
                return (
                    f"messages[{place}]: messages with role 'tool' must be a response to a "
                    "preceding message with 'tool_calls'."
                )
            open_calls.remove(message["tool_call_id"])
            if not isinstance(message.get("content"), str | list):
                return f"messages[{place}].content: expected a string"
            continue
        if open_calls:
            return (
                "An assistant message with 'tool_calls' must be followed by tool messages "
                f"responding to each 'tool_call_id'. Missing: {open_calls}"
            )
        if role not in ("system", "developer", "user", "assistant"):
            return f"messages[{place}].role: invalid value {role!r}"
        calls = message.get("tool_calls")
        if calls == []:
            return f"messages[{place}].tool_calls: [] is too short"
        if role == "assistant" and not calls and message.get("content") in (None, "", []):
            return f"messages[{place}]: an assistant message needs content or tool_calls"
        if role != "assistant" and not message.get("content"):
            return f"messages[{place}].content: expected content"
        for call in calls or []:
            if not isinstance(call["function"]["arguments"], str):
                return f"messages[{place}].tool_calls.arguments: expected a string"
        open_calls = [call["id"] for call in calls or []]
        if problem := _tool_names([call["function"]["name"] for call in calls or []]):
            return problem
    if open_calls:
        return f"'tool_calls' must be followed by tool messages. Missing: {open_calls}"
    return None


def responses_violation(request: dict[str, Any]) -> str | None:
    """The first rule of the Responses API that this request breaks."""
    if not request.get("model"):
        return "Missing required parameter: 'model'."
    items = request.get("input")
    if not items:
        return "Missing required parameter: 'input'."
    if not _reasons(request) and not isinstance(items, str):
        if any(item.get("type") == "reasoning" for item in items):
            return "Reasoning input items can only be provided to a reasoning model."
        if (request.get("reasoning") or {}).get("effort"):
            return "Unsupported parameter: 'reasoning.effort' is not supported with this model."
    problem = None if isinstance(items, str) else _items(items)
    return problem or _tools(request, ("function", "custom", *_NATIVE))


def _items(items: list[dict[str, Any]]) -> str | None:
    called: set[str] = set()
    answered: set[str] = set()
    for place, item in enumerate(items):
        match item.get("type", "message"):
            case "apply_patch_call":
                if set(item["operation"]) - {"type", "path", "diff"}:
                    return f"input[{place}].operation: unknown fields"
                called.add(item["call_id"])
            case "function_call":
                if item["call_id"] in called:
                    return f"input[{place}]: duplicate call_id {item['call_id']}"
                if not isinstance(item["arguments"], str):
                    return f"input[{place}].arguments: expected a string"
                called.add(item["call_id"])
            case "function_call_output" | "apply_patch_call_output":
                if item["call_id"] not in called:
                    return f"No tool call found for function call output {item['call_id']}."
                if item["call_id"] in answered:
                    return f"Duplicate function call output {item['call_id']}."
                answered.add(item["call_id"])
            case "reasoning":
                following = items[place + 1] if place + 1 < len(items) else {}
                kind = following.get("type", "message")
                ours = kind in ("function_call", "apply_patch_call", "reasoning") or (
                    kind == "message" and following.get("role") == "assistant"
                )
                if not ours:
                    return (
                        f"Item '{item.get('id')}' of type 'reasoning' was provided without "
                        "its required following item."
                    )
            case "message":
                if problem := _message(item, place):
                    return problem
            case other:
                return f"input[{place}]: invalid type {other!r}"
    if missing := called - answered:
        return f"No tool output found for function call {sorted(missing)[0]}."
    return None


def _message(item: dict[str, Any], place: int) -> str | None:
    role = item.get("role")
    if role not in ("system", "developer", "user", "assistant"):
        return f"input[{place}].role: invalid value {role!r}"
    if not item.get("content"):
        return f"input[{place}].content: expected content"
    if isinstance(item["content"], str):
        return None
    allowed = (
        {"output_text", "refusal"}
        if role == "assistant"
        else {
            "input_text",
            "input_image",
            "input_file",
        }
    )
    for part in item["content"]:
        if part.get("type") not in allowed:
            return f"input[{place}].content: invalid value {part.get('type')!r}"
    return None


_NATIVE = (
    *("apply_patch", "code_interpreter", "computer_use_preview", "file_search", "image_generation"),
    *("local_shell", "mcp", "shell", "web_search", "web_search_preview"),
)
"""Tools of the Responses API that the vendor runs or knows itself: they have no name."""

_NOT_AT_TOP = {"oneOf", "anyOf", "allOf", "enum", "not"}


def _tools(request: dict[str, Any], kinds: tuple[str, ...], *, nested: bool = False) -> str | None:
    """What is wrong with the tools; with `nested` their facts are below the name of their type."""
    names: list[str] = []
    for place, tool in enumerate(request.get("tools") or []):
        kind = tool.get("type")
        if kind not in kinds:
            listed = ", ".join(f"'{each}'" for each in kinds)
            if kind is None:
                return f"Missing required parameter: 'tools[{place}].type'."
            return f"Invalid value: '{kind}'. Supported values are: {listed}."
        if kind in _NATIVE:
            continue
        facts = tool.get(kind) if nested else tool
        at = f"tools[{place}].{kind}" if nested else f"tools[{place}]"
        if facts is None:
            return f"Missing required parameter: '{at}'."
        if not facts.get("name"):
            return f"Missing required parameter: '{at}.name'."
        names.append(facts["name"])
        schema = facts.get("parameters") or {"type": "object"}
        if schema["type"] != "object" or _NOT_AT_TOP & schema.keys():
            return (
                f"Invalid schema for function '{facts['name']}': schema must have type 'object' "
                "and not have 'oneOf'/'anyOf'/'allOf'/'enum'/'not' at the top level."
            )
    if len(names) > 128:
        return "Invalid 'tools': array too long. Expected an array with maximum length 128."
    return _tool_names(names)


def _tool_names(names: list[str]) -> str | None:
    for name in names:
        if not _NAME.match(name):
            return f"Invalid tool name {name!r}: expected ^[a-zA-Z0-9_-]{{1,64}}$"
    return None
