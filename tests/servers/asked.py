"""What a request carries, whichever API it is for: the last words, the last tool result."""

from typing import Any


def last_user(request: dict[str, Any]) -> str:
    """The text of the last message a user wrote; empty if there is none."""
    for message in reversed(_messages(request)):
        if message.get("role") == "user" and (text := _text(message.get("content"))):
            return text
    return ""


def last_tool_result(request: dict[str, Any]) -> str:
    """The text of the last tool result; empty if there is none."""
    results = tool_results(request)
    return results[-1] if results else ""


def tool_results(request: dict[str, Any]) -> list[str]:
    """The texts of all tool results, in order."""
    found: list[str] = []
    for message in _messages(request):
        if message.get("type") == "function_call_output":
            found.append(_text(message["output"]))
        elif message.get("role") == "tool":
            found.append(_text(message.get("content")))
        elif isinstance(message.get("content"), list):
            found += [
                _text(block.get("content"))
                for block in message["content"]
                if block.get("type") == "tool_result"
            ]
    return found


def tool_names(request: dict[str, Any]) -> list[str]:
    """The names of the tools the request offers."""
    tools = request.get("tools") or []
    return [tool.get("function", tool).get("name") or tool["type"] for tool in tools]


def system_text(request: dict[str, Any]) -> str:
    """The system prompt, wherever the API keeps it."""
    if "system" in request:
        return _text(request["system"])
    if request.get("instructions"):
        return str(request["instructions"])
    return "\n\n".join(
        _text(message.get("content"))
        for message in _messages(request)
        if message.get("role") == "system"
    )


def _messages(request: dict[str, Any]) -> list[dict[str, Any]]:
    messages = request.get("messages") or request.get("input") or []
    return [{"role": "user", "content": messages}] if isinstance(messages, str) else messages


def _text(content: Any) -> str:
    if isinstance(content, str):
        return content
    pieces = [part.get("text") for part in content or [] if isinstance(part, dict)]
    return "".join(piece for piece in pieces if piece)
