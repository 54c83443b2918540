"""What a tool answers, read leniently; and what hooks make of it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from pydantic import ValidationError

from amplifier_tui.kernel.models import ToolResult

RESULT_KEYS = ("result", "tool_result")
"""The names a result goes by in ``tool:post``: the library's and the specs'."""


def as_tool_result(value: Any) -> ToolResult:
    """Return what a tool returned as a :class:`ToolResult`.

    Args:
        value: A result of ours, one of another library's, or anything else, which is the output.
    """
    if isinstance(value, ToolResult):
        return value
    if isinstance(value, Mapping) and isinstance(value.get("success"), bool):
        fields = dict(value)
    elif isinstance(getattr(value, "success", None), bool):
        fields = {name: getattr(value, name, None) for name in ("success", "output", "error")}
        fields["content"] = getattr(value, "content", None)
    else:
        return ToolResult(output=value)
    try:
        return ToolResult.model_validate(fields)
    except ValidationError:
        return ToolResult(success=fields["success"], output=fields.get("output"))


def failure(message: str, kind: str) -> ToolResult:
    """Return an error result: a sentence for the model and a word for programs."""
    return ToolResult(success=False, output=message, error={"type": kind, "message": message})


def after_hooks(result: ToolResult, sent: dict[str, Any], data: Mapping[str, Any]) -> ToolResult:
    """Return the result as hooks left it.

    Args:
        result: What the tool returned.
        sent: How it was shown to the hooks, under every key of :data:`RESULT_KEYS`.
        data: The event data after the hooks.
    """
    for key in RESULT_KEYS:
        value = data.get(key, sent)
        if value != sent:
            return _changed(result, sent, value)
    return result


def _changed(result: ToolResult, sent: dict[str, Any], value: Any) -> ToolResult:
    if not isinstance(value, Mapping) or not {"success", "output"} & value.keys():
        return ToolResult(success=result.success, output=value, error=result.error)
    fields = {"success": result.success, **value}
    if fields.get("content") == sent.get("content"):
        # Hooks saw a line of text in place of each image; the images themselves are unchanged.
        fields["content"] = result.content
    return as_tool_result(fields)
