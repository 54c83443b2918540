"""Tool calls as a model wrote them: arguments in JSON, or in something that is nearly JSON."""

import json
from collections.abc import Set
from typing import Any, Final

from amplifier_tui.kernel.message_models import ChatResponse, ToolCall, ToolCallBlock

_SHOWN: Final = 400
"""How many characters of unreadable arguments are quoted."""


def read_tool_call(identity: str, name: str, raw: str, *, cut_off: bool = False) -> ToolCall:
    """A call from its id, the tool's name and the arguments as the model wrote them.

    Arguments nobody can read are ``{}``, and the extra field ``arguments_error`` tells the model
    what is wrong with them. ``cut_off`` says that the output limit ended the answer in this call:
    then it needs arguments that are whole.
    """
    arguments, problem = parse_tool_arguments(raw, name)
    if cut_off and not raw.strip():
        problem = f"No arguments of {name} came. The tool was not run. Call it again."
    if problem is None:
        return ToolCall(id=identity, name=name, arguments=arguments)
    if cut_off:
        problem = f"The answer was cut off by the output limit. {problem}"
    extra: dict[str, Any] = {"arguments_error": problem}
    return ToolCall(id=identity, name=name, arguments={}, **extra)


def call_block(call: ToolCall) -> ToolCallBlock:
    """The call as a content block."""
    return ToolCallBlock(id=call.id, name=call.name, input=dict(call.arguments))


def response_tool_calls(response: ChatResponse) -> list[ToolCall]:
    """The tool calls of a response, from its list or else from its content."""
    if response.tool_calls:
        return list(response.tool_calls)
    return [
        ToolCall(id=block.id, name=block.name, arguments=block.input)
        for block in response.content
        if isinstance(block, ToolCallBlock)
    ]


def distinct_calls(response: ChatResponse, taken: Set[str]) -> ChatResponse:
    """The response with an id of its own for each call, other than those that are `taken`.

    Some servers repeat an id, within an answer or with every answer, or give none.
    """
    calls = response.tool_calls or []
    ids = [call.id for call in calls]
    if all(ids) and len(set(ids)) == len(ids) and taken.isdisjoint(ids):
        return response
    used = set(taken)
    made = [call.model_copy(update={"id": _free_id(call.id or "call", used)}) for call in calls]
    fresh = iter(call.id for call in made)
    content = [
        block.model_copy(update={"id": next(fresh)}) if isinstance(block, ToolCallBlock) else block
        for block in response.content
    ]
    return response.model_copy(update={"tool_calls": made, "content": content})


def parse_tool_arguments(raw: str, tool_name: str) -> tuple[dict[str, Any], str | None]:
    """Read the arguments of a tool call as the model wrote them; empty text means none.

    Returns:
        The arguments and None; or ``{}`` and a sentence that tells the model what is wrong,
        where, and what it wrote.
    """
    if not raw.strip():
        return {}, None
    try:
        value = json.loads(raw, parse_constant=_refuse)
    except json.JSONDecodeError as error:
        where = f"line {error.lineno} column {error.colno} (character {error.pos})"
        return {}, _sentence(tool_name, f"are not valid JSON: {error.msg} at {where}", raw)
    except (RecursionError, ValueError) as error:
        # Nested too deeply, NaN, or a number with more digits than Python converts.
        return {}, _sentence(tool_name, f"can't be read: {error}", raw)
    if not isinstance(value, dict):
        kind = "null" if value is None else type(value).__name__
        return {}, _sentence(tool_name, f"must be a JSON object, not {kind}", raw)
    return value, None


def _free_id(wanted: str, used: set[str]) -> str:
    identity, number = wanted, 1
    while identity in used:
        number += 1
        identity = f"{wanted}_{number}"
    used.add(identity)
    return identity


def _refuse(constant: str) -> None:
    raise ValueError(f"{constant} is not a JSON value")


def _sentence(tool_name: str, problem: str, raw: str) -> str:
    shown = raw if len(raw) <= _SHOWN else f"{raw[:_SHOWN]}… ({len(raw)} characters)"
    return (
        f"The arguments of {tool_name} {problem}. The tool was not run. "
        f"Call it again with one complete JSON object. Received: {shown}"
    )
