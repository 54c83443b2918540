"""What an agent's tools are: kernel tools, or plain functions."""

import inspect
import logging
import types
import typing
from collections.abc import Callable, Iterable, Mapping
from typing import Any, Final

from amplifier_tui.base.python import awaited, signature_of
from amplifier_tui.context.adr.message import Content, Message
from amplifier_tui.kernel.message_models import ToolCall
from amplifier_tui.kernel.models import ToolResult
from amplifier_tui.kernel.models.tool_result import text_for_model

logger = logging.getLogger(__name__)

_JSON_TYPES: Final[dict[Any, str]] = {
    str: "string",
    int: "integer",
    float: "number",
    bool: "boolean",
    list: "array",
    dict: "object",
}


class FunctionTool:
    """A function the model can call, sync or async, with annotated parameters.

    Its docstring describes it. What else is known of it is in ``additional_properties``.
    """

    def __init__(self, function: Callable[..., Any]) -> None:
        self._function = function
        self.name: str = getattr(function, "__name__", "function")
        self.description = inspect.getdoc(function) or ""
        self.additional_properties: dict[str, Any] = {}

    @property
    def input_schema(self) -> dict[str, Any]:
        """JSON schema of the parameters."""
        try:
            hints = typing.get_type_hints(self._function)
        except (NameError, TypeError) as error:
            logger.debug("The annotations of '%s' can't be read: %s", self.name, error)
            hints = {}
        properties: dict[str, Any] = {}
        required: list[str] = []
        for name, parameter in signature_of(self._function).parameters.items():
            if parameter.kind in (parameter.VAR_POSITIONAL, parameter.VAR_KEYWORD):
                continue
            properties[name] = _json_type(hints.get(name))
            if parameter.default is parameter.empty:
                required.append(name)
        return {"type": "object", "properties": properties, "required": required}

    async def execute(self, input: dict[str, Any]) -> ToolResult:
        """Call the function."""
        return ToolResult(output=await awaited(self._function(**input)))


def named_tools(*given: Iterable[Any] | None) -> dict[str, Any]:
    """Return kernel tools and functions from several places by name.

    Raises:
        ValueError: Two different ones have the same name.
    """
    tools: dict[str, Any] = {}
    for tool in (tool for some in given for tool in some or ()):
        ready = tool if hasattr(tool, "execute") else FunctionTool(tool)
        known = tools.get(ready.name)
        if known is not None and known is not ready:
            raise ValueError(f"Two tools are called '{ready.name}': rename one of them")
        tools[ready.name] = ready
    return tools


async def run_call(call: ToolCall, tools: Mapping[str, Any]) -> Message:
    """Run a tool call and return its result; what goes wrong is the result."""
    tool = tools.get(call.name)
    problem = getattr(call, "arguments_error", None)
    if tool is None:
        text = f"There is no tool '{call.name}'; there are: {', '.join(tools) or 'none'}"
        return _answer(call, text)
    if problem:
        return _answer(call, str(problem))
    try:
        result = await tool.execute(dict(call.arguments))
    except Exception as error:
        logger.warning("Tool '%s' failed", call.name, exc_info=error)
        return _answer(call, f"{call.name} failed: {error or type(error).__name__}")
    if not isinstance(result, ToolResult):
        result = ToolResult(output=result)
    return _answer(call, text_for_model(result), failed=not result.success)


def _answer(call: ToolCall, text: str, *, failed: bool = True) -> Message:
    content = Content.from_function_result(call.id, result=text)
    content.name = call.name
    return Message("tool", [content], additional_properties={"is_error": True} if failed else None)


def _json_type(hint: Any) -> dict[str, Any]:
    """The JSON schema of an annotation, as far as it is a plain one."""
    if typing.get_origin(hint) in (typing.Union, types.UnionType):
        parts = [part for part in typing.get_args(hint) if part is not type(None)]
        return _json_type(parts[0]) if len(parts) == 1 else {}
    if typing.get_origin(hint) is typing.Literal:
        return {"enum": list(typing.get_args(hint))}
    plain = typing.get_origin(hint) or hint
    return {"type": _JSON_TYPES[plain]} if plain in _JSON_TYPES else {}
