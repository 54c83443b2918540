"""Whether arguments are what a tool's JSON Schema describes."""

import json
from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Any, Final

from jsonschema import Draft202012Validator, SchemaError, ValidationError, validators
from jsonschema.exceptions import best_match
from jsonschema.protocols import Validator
from referencing import Registry
from referencing.exceptions import Unresolvable

from amplifier_tui.base.text import shortened

# The library has no types for it.
_EXTEND: Final[Callable[..., type[Validator]]] = validators.extend


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
    """Return what is wrong with a value, with the place in it; empty when nothing is.

    A schema that makes no sense, or refers to what is not in it, finds nothing wrong: the tool
    checks its own arguments as well, and nothing is fetched for it.
    """
    kind = _without_patterns(validators.validator_for(schema, default=Draft202012Validator))
    try:
        kind.check_schema(dict(schema))
        # A registry of its own: the default one reads addresses on the network.
        error = best_match(kind(schema, registry=Registry()).iter_errors(value))
    except (SchemaError, Unresolvable, RecursionError):
        return ""
    return "" if error is None else _words(error)


def _without_patterns(kind: type[Validator]) -> type[Validator]:
    """Return a validator that runs no pattern of a tool: one can take for ever."""
    more = kind.VALIDATORS.get("additionalProperties")

    def unless_patterns(
        validator: Validator, wanted: Any, instance: Any, schema: Mapping[str, Any]
    ) -> Iterable[ValidationError]:
        if more is not None and "patternProperties" not in schema:
            yield from more(validator, wanted, instance, schema)

    nothing = {"pattern": _nothing, "patternProperties": _nothing}
    return _EXTEND(kind, {**nothing, "additionalProperties": unless_patterns})


def _nothing(*_: object) -> Iterator[ValidationError]:
    return iter(())


def _words(error: ValidationError) -> str:
    where = error.json_path.removeprefix("$").removeprefix(".")
    text = shortened(error.message, 300)
    return f"{where}: {text}" if where else text
