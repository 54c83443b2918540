"""Whether a JSON value is what a JSON Schema describes, in the keywords that tools use.

Keywords that are not known here are not checked; a tool checks its own arguments as well.
"""

import json
from collections.abc import Iterator, Mapping
from typing import Any, Final

_TYPES: Final[dict[str, type | tuple[type, ...]]] = {
    "object": dict,
    "array": list,
    "string": str,
    "boolean": bool,
    "null": type(None),
    "number": (int, float),
    "integer": (int, float),
}
_DEPTH: Final = 100


def read_object(text: str, schema: Mapping[str, Any]) -> dict[str, Any]:
    """Return the JSON object in a text.

    Raises:
        ValueError: It is none, or not what the schema describes; the message says where.
    """
    try:
        value = json.loads(text)
    except json.JSONDecodeError as error:
        where = f"line {error.lineno}, column {error.colno}"
        raise ValueError(f"This is no JSON: {error.msg} ({where}).") from error
    except RecursionError as error:
        raise ValueError("This is nested too deeply.") from error
    problem = schema_problem(value, {**schema, "type": "object"})
    if problem:
        raise ValueError(problem)
    return dict(value)


def schema_problem(value: Any, schema: Mapping[str, Any]) -> str:
    """Return what is wrong with a value first, with the place in it; empty when nothing is."""
    return next(_problems(value, schema, "", schema, 0), "")


def _problems(
    value: Any, schema: Any, at: str, root: Mapping[str, Any], depth: int
) -> Iterator[str]:
    if not isinstance(schema, Mapping) or depth > _DEPTH:
        if schema is False:
            yield f"{at or 'it'}: not allowed here"
        return
    where = at or "the arguments"
    reference = schema.get("$ref")
    if isinstance(reference, str) and reference.startswith("#/"):
        yield from _problems(value, _at(root, reference), at, root, depth + 1)
    wanted = schema.get("type")
    names = [wanted] if isinstance(wanted, str) else wanted if isinstance(wanted, list) else []
    if names and not any(_is(value, name) for name in names):
        yield f"{where}: {' or '.join(map(str, names))} is wanted, this is {_kind(value)}"
        return
    choices = [schema["const"]] if "const" in schema else schema.get("enum")
    if isinstance(choices, list) and value not in choices:
        yield f"{where}: one of {', '.join(map(repr, choices[:20]))} is wanted"
    yield from _size_problems(value, schema, where)
    if isinstance(value, dict):
        yield from _object_problems(value, schema, at, root, depth)
    elif isinstance(value, list):
        for number, item in enumerate(value):
            yield from _problems(item, schema.get("items"), f"{at}[{number}]", root, depth + 1)
    for every in schema.get("allOf") or ():
        yield from _problems(value, every, at, root, depth + 1)
    for keyword in ("anyOf", "oneOf"):
        ways = schema.get(keyword)
        if isinstance(ways, list) and ways:
            first = [next(_problems(value, way, at, root, depth + 1), "") for way in ways]
            if all(first):
                yield first[0] if len(first) == 1 else f"{where}: fits none of {len(first)} forms"


def _object_problems(
    value: dict[str, Any], schema: Mapping[str, Any], at: str, root: Mapping[str, Any], depth: int
) -> Iterator[str]:
    properties = schema.get("properties")
    known = properties if isinstance(properties, Mapping) else {}
    for name in schema.get("required") or ():
        if name not in value:
            yield f"{_member(at, name)} is missing"
    for name, item in value.items():
        if name in known:
            yield from _problems(item, known[name], _member(at, name), root, depth + 1)
        elif schema.get("additionalProperties") is False and "patternProperties" not in schema:
            yield f"{_member(at, name)}: there is no such argument; there are {', '.join(known)}"
        else:
            more = schema.get("additionalProperties")
            yield from _problems(item, more, _member(at, name), root, depth + 1)


def _size_problems(value: Any, schema: Mapping[str, Any], where: str) -> Iterator[str]:
    if isinstance(value, str):
        kind, size = "Length", len(value)
    elif isinstance(value, list):
        kind, size = "Items", len(value)
    elif _is(value, "number"):
        kind, size = "imum", value
    else:
        return
    least, most = schema.get(f"min{kind}"), schema.get(f"max{kind}")
    if isinstance(least, int | float) and size < least:
        yield f"{where}: at least {least} is wanted, this is {size}"
    if isinstance(most, int | float) and size > most:
        yield f"{where}: at most {most} is wanted, this is {size}"


def _is(value: Any, name: Any) -> bool:
    wanted = _TYPES.get(name) if isinstance(name, str) else None
    if wanted is None:
        return True
    if isinstance(value, bool):
        return bool(name == "boolean")
    if name == "integer" and isinstance(value, float):
        return value.is_integer()
    return isinstance(value, wanted)


def _kind(value: Any) -> str:
    return next(name for name in (*_TYPES, "a value") if name == "a value" or _is(value, name))


def _member(at: str, name: str) -> str:
    return f"{at}.{name}" if at else name


def _at(root: Mapping[str, Any], reference: str) -> Any:
    found: Any = root
    for part in reference[2:].split("/"):
        name = part.replace("~1", "/").replace("~0", "~")
        found = found.get(name) if isinstance(found, Mapping) else None
    return found
