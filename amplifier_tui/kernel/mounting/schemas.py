"""What is wrong with the schema of a tool's arguments, though it has one."""

import json
from collections.abc import Iterable, Mapping
from reprlib import repr as short_repr
from typing import Any, Final

from amplifier_tui.base.messages.tool_calls import told_schema
from amplifier_tui.base.nearest import did_you_mean
from amplifier_tui.kernel.mounting.contents import place_of
from amplifier_tui.kernel.mounting.errors import WrongAnswerError

_PYTHONS: Final = ("str", "int", "float", "bool", "list", "dict")
"""What a type is called by who thinks of Python."""
_TYPES: Final = ("object", "array", "string", "number", "integer", "boolean", "null")
SCHEMA: Final = 'Return a JSON schema: {"type": "object", "properties": {...}}'
"""What the author of a tool whose schema is none can do."""
ARGUMENT: Final = 'Put the arguments into properties: {"type": "object", "properties": {...}}'
"""What the author of a tool can do whose arguments models don't see."""
_LOOK_LIKE_ONE: Final = (
    *("type", "title", "description", "default", "const", "example", "not", "if", "then", "else"),
    *("items", "additionalItems", "unevaluatedItems", "contains", "contentSchema"),
    *("additionalProperties", "unevaluatedProperties", "propertyNames"),
)
"""Words of JSON Schema whose values may look like the schema of an argument, or like its type."""


def tool_schema_problem(tool: Any) -> tuple[str, str] | None:
    """Return what is wrong with the schema that a tool tells, and what to do; None for nothing."""
    try:
        told_by, schema = told_schema(tool)
    except Exception as error:
        wrong = f"input_schema or get_schema() raises {error!r:.200}: models see no arguments"
        return wrong, SCHEMA
    if wrong := schema_problem(schema, told_by):
        return wrong, SCHEMA
    wrong = argument_problem(schema, told_by)
    return (wrong, ARGUMENT) if wrong else None


def schema_problem(schema: Any, told_by: str = "input_schema") -> str:
    """Return why something is no JSON schema of a tool's arguments; empty where it is one.

    Args:
        schema: What the tool tells.
        told_by: The name it has in the answer.
    """
    if not isinstance(schema, dict):
        return f"{told_by} should return a dict, got {type(schema).__name__}"
    if wrong := json_problem(schema, told_by):
        return wrong
    if schema.get("type", "object") != "object":
        return f"{told_by} has the type {schema['type']!r:.80}; it must be 'object'"
    properties = schema.get("properties", {})
    if not isinstance(properties, dict):
        return f"{told_by}.properties should be a dict, got {type(properties).__name__}"
    for name, each in properties.items():
        if not isinstance(each, dict | bool):
            return f"{told_by}.properties.{name} should be a dict, got {type(each).__name__}"
        kind = each.get("type") if isinstance(each, dict) else None
        if isinstance(kind, str) and kind not in _TYPES:
            near = did_you_mean(kind, _TYPES)
            return f"{told_by}.properties.{name} has the type {kind!r:.80}, which is none{near}"
    required = schema.get("required", [])
    if not isinstance(required, list) or not all(isinstance(each, str) for each in required):
        return f"{told_by}.required should be a list of names"
    unknown = next((each for each in required if properties and each not in properties), None)
    if unknown is None:
        return ""
    return f"{told_by}.required names {unknown!r:.80}, which is no property"


def argument_problem(schema: Any, told_by: str = "input_schema") -> str:
    """Return which argument of a tool models don't see, as it is where a schema has keywords.

    Empty where there is none, also where there are properties: vendors have keywords of their own.
    """
    if not isinstance(schema, dict) or "properties" in schema:
        return ""
    for name, each in schema.items():
        kind = each.get("type") if isinstance(each, dict) else each
        if (
            kind in (*_TYPES, *_PYTHONS)
            and name not in _LOOK_LIKE_ONE
            and not str(name).startswith(("$", "x-"))
        ):
            return f"{told_by} has {name!r:.80} outside of properties: no model sees it there"
    return ""


def json_problem(schema: Any, told_by: str = "input_schema") -> str:
    """Return what of a schema no JSON can hold, so that no request can; empty where all is JSON."""
    place, value, around = told_by, schema, list[Any]()
    # A schema that holds itself has no end.
    while not (_is_json(value) or any(value is each for each in around)):
        around.append(value)
        for name, part in _parts(value):
            if not _is_json(part):
                place, value = f"{place}.{name}", part
                break
    return f"{place} is {short_repr(value)}, which is no JSON" if around else ""


def _is_json(value: Any) -> bool:
    try:
        json.dumps(value, allow_nan=False)
    except (TypeError, ValueError, RecursionError):
        return False
    return True


def _parts(value: Any) -> Iterable[tuple[Any, Any]]:
    if isinstance(value, dict):
        return value.items()
    return enumerate(value) if isinstance(value, list | tuple) else ()


def check_sendable(specs: Iterable[Any], tools: Mapping[str, Any]) -> None:
    """Raise `WrongAnswerError` for a tool whose schema no request can hold.

    Args:
        specs: What a request says of its tools.
        tools: The tools by name.
    """
    for spec in specs:
        if wrong := json_problem(getattr(spec, "parameters", None)):
            tool = tools.get(spec.name)
            raise WrongAnswerError(
                f"no model can be given the tool '{spec.name}': {wrong}",
                module=str(tool.__class__.__module__),
                place=place_of(tool),
            )
