"""The JSON Schema of events, made from their classes."""

from collections.abc import Iterable, Mapping
from typing import Any, Final

from amplifier_tui.host.events.base import HostEvent

VERSION: Final = 1
"""Raised when a program that reads events has to be changed: a type or a field goes, or means
something else. New types and new optional fields do not raise it."""

DIALECT: Final = "https://json-schema.org/draft/2020-12/schema"


def events_schema(others: Mapping[str, type[Any]] | None = None) -> dict[str, Any]:
    """Return the schema of one event as `HostEvent.to_json` writes it.

    Fields with their default are left out there. Readers should ignore fields and types that they
    do not know.

    Args:
        others: Classes of further objects that stand between events, by their `type`.
    """
    from pydantic import TypeAdapter

    shared: dict[str, Any] = {}
    classes: dict[str, type[Any]] = {**HostEvent.registry, **(others or {})}
    for name in sorted(classes):
        made = TypeAdapter(classes[name]).json_schema(ref_template="#/$defs/{model}")
        shared |= made.pop("$defs", {})
        made["properties"] = {**made["properties"], "type": {"const": name}}
        made["required"] = sorted({"type", *made.get("required", [])})
        shared[name] = made
    return {
        "$schema": DIALECT,
        "$id": f"urn:amplifier-tui:events:{VERSION}",
        "title": "Events of Amplifier sessions",
        "version": VERSION,
        "oneOf": [{"$ref": f"#/$defs/{name}"} for name in sorted(classes)],
        "$defs": {name: _plain(shared[name]) for name in sorted(shared)},
    }


def _plain(schema: Any) -> Any:
    """Return a schema without the titles that only repeat the fields' names."""
    if isinstance(schema, Mapping):
        kept = {key: value for key, value in schema.items() if not _is_title(key, value)}
        return {key: _plain(value) for key, value in kept.items()}
    if isinstance(schema, Iterable) and not isinstance(schema, str):
        return [_plain(each) for each in schema]
    return schema


def _is_title(key: str, value: object) -> bool:
    return key == "title" and isinstance(value, str)
