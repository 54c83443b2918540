"""What a server offers, as plain data within bounds: all of it are a stranger's words."""

import json
from collections.abc import Mapping, Sequence
from dataclasses import asdict
from typing import Any, Final

from amplifier_tui.base.lazy.dataclass import dataclass
from amplifier_tui.base.text import clean, one_line, shortened

MOST_TOOLS: Final = 500
MOST_OTHERS: Final = 1_000
"""Resources and prompts of one server, each."""
LONGEST_SCHEMA: Final = 24_000
"""Characters of a tool's schema as JSON."""
_LONGEST_TEXT: Final = 2_000
_DEEPEST: Final = 40


@dataclass(frozen=True, slots=True)
class ToolInfo:
    """A tool of a server; `name` is the server's own."""

    name: str
    description: str
    schema: dict[str, Any]


@dataclass(frozen=True, slots=True)
class PromptInfo:
    """A prompt of a server; `arguments` are names, those that are needed first, then the others."""

    name: str
    description: str = ""
    arguments: tuple[str, ...] = ()
    needed: int = 0


@dataclass(frozen=True, slots=True)
class ResourceInfo:
    """Something of a server that can be read."""

    uri: str
    name: str = ""
    description: str = ""


@dataclass(frozen=True, slots=True)
class Listing:
    """All that a server offers.

    Attributes:
        problems: What it offers and can't be used, in sentences.
    """

    tools: tuple[ToolInfo, ...] = ()
    prompts: tuple[PromptInfo, ...] = ()
    resources: tuple[ResourceInfo, ...] = ()
    problems: tuple[str, ...] = ()

    def to_json(self) -> dict[str, Any]:
        """Return it as plain data."""
        return asdict(self)


def bounded(text: str | None) -> str:
    """Return a description without control characters, and of a length a model can be given."""
    return shortened(clean((text or "")[: 4 * _LONGEST_TEXT]).strip(), _LONGEST_TEXT)


def read_tool(name: str, description: str | None, schema: Any) -> ToolInfo | str:
    """Return a tool, or why it can't be used."""
    shown = one_line(name, 80)
    if not name or len(name) > 200 or clean(name) != name:
        return f"A tool has a name that can't be used: {shown or 'none'}."
    if not isinstance(schema, Mapping) or schema.get("type", "object") != "object":
        return f"{shown}: its schema is not that of an object."
    properties = schema.get("properties", {})
    if not isinstance(properties, Mapping) or not isinstance(schema.get("required", []), list):
        return f"{shown}: its schema makes no sense."
    try:
        text = json.dumps(schema, ensure_ascii=False)
    except (TypeError, ValueError, RecursionError):
        return f"{shown}: its schema is no JSON."
    if len(text) > LONGEST_SCHEMA or _depth(schema) > _DEEPEST:
        return f"{shown}: its schema is too large ({len(text):,} characters)."
    whole = {"type": "object", "properties": {}, **json.loads(clean(text))}
    return ToolInfo(name, bounded(description), whole)


def read_listing(data: Any) -> Listing:
    """Return a listing that was kept as plain data.

    Raises:
        ValueError: It is something else.
    """
    if not isinstance(data, Mapping):
        raise ValueError("no listing")
    try:
        tools = [read_tool(row["name"], row["description"], row["schema"]) for row in data["tools"]]
        return Listing(
            tuple(tool for tool in tools if isinstance(tool, ToolInfo)),
            tuple(
                PromptInfo(**{**row, "arguments": tuple(row["arguments"])})
                for row in data["prompts"]
            ),
            tuple(ResourceInfo(**row) for row in data["resources"]),
        )
    except (KeyError, TypeError, AttributeError) as error:
        raise ValueError("no listing") from error


def _depth(value: Any) -> int:
    deepest, left = 0, [(value, 1)]
    while left and deepest <= _DEEPEST:
        item, depth = left.pop()
        deepest = max(deepest, depth)
        inner: Sequence[Any] = ()
        if isinstance(item, Mapping):
            inner = list(item.values())
        elif isinstance(item, list):
            inner = item
        left += [(each, depth + 1) for each in inner]
    return deepest
