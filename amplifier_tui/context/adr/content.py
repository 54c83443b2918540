"""What a message holds: text, reasoning, calls, results (ADR 0016)."""

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Final, Self

from amplifier_tui.base.plain import copy_plain

TEXT: Final = "text"
REASONING: Final = "text_reasoning"
CALL: Final = "function_call"
RESULT: Final = "function_result"

_OPTIONAL: Final = ("text", "call_id", "name", "arguments", "result")

# Kind of content, the kernel's block type, and the block's keys by field.
_BLOCKS: Final[dict[str, tuple[str, dict[str, str]]]] = {
    TEXT: ("text", {"text": "text"}),
    REASONING: ("thinking", {"text": "thinking"}),
    CALL: ("tool_call", {"call_id": "id", "name": "name", "arguments": "input"}),
    RESULT: ("tool_result", {"call_id": "tool_call_id", "result": "output"}),
}
_KINDS: Final = {block: kind for kind, (block, _) in _BLOCKS.items()}


@dataclass
class Content:
    """One piece of a message.

    Args:
        type: "text", "text_reasoning", "function_call", "function_result", or the type of a
            kernel block that has no kind of its own here, such as "image".
        text: What is said.
        call_id: Id of the call this is, or is the result of.
        name: The tool's name.
        arguments: The call's arguments: an object, or its JSON.
        result: What came of the call.
        additional_properties: Everything else, such as a signature; it survives the round trip.
    """

    type: str
    text: str | None = None
    call_id: str | None = None
    name: str | None = None
    arguments: dict[str, Any] | str | None = None
    result: Any = None
    additional_properties: dict[str, Any] = field(default_factory=dict)

    @classmethod
    def from_text(cls, text: str) -> Self:
        """Return words."""
        return cls(TEXT, text=text)

    @classmethod
    def from_text_reasoning(cls, text: str) -> Self:
        """Return reasoning."""
        return cls(REASONING, text=text)

    @classmethod
    def from_function_call(
        cls, call_id: str, name: str, *, arguments: dict[str, Any] | str | None = None
    ) -> Self:
        """Return a tool call."""
        return cls(CALL, call_id=call_id, name=name, arguments=arguments)

    @classmethod
    def from_function_result(cls, call_id: str, *, result: Any = None) -> Self:
        """Return the result of a tool call."""
        return cls(RESULT, call_id=call_id, result=result)

    @property
    def parsed_arguments(self) -> dict[str, Any]:
        """The arguments as an object; empty where they are none."""
        if isinstance(self.arguments, Mapping):
            return dict(self.arguments)
        try:
            value = json.loads(self.arguments or "{}")
        except (ValueError, RecursionError):
            return {}
        return value if isinstance(value, dict) else {}

    def to_dict(self) -> dict[str, Any]:
        """Return JSON-native data, as far as the result is."""
        data: dict[str, Any] = {"type": self.type}
        for name in _OPTIONAL:
            value = getattr(self, name)
            if value is not None:
                data[name] = copy_plain(value)
        if self.additional_properties:
            data["additional_properties"] = copy_plain(self.additional_properties)
        return data

    @classmethod
    def from_dict(cls, data: Mapping[str, Any]) -> Self:
        """Return the content that `to_dict` wrote; unknown fields become additional ones.

        Raises:
            ValueError: It is no content.
        """
        if not isinstance(data, Mapping):
            raise ValueError(f"A content must be an object, not {type(data).__name__}")
        given = dict(data)
        kind = str(given.pop("type", TEXT))
        extra = given.pop("additional_properties", None)
        extra = extra if isinstance(extra, Mapping) else {}
        known = {name: _as_field(name, given.pop(name)) for name in _OPTIONAL if name in given}
        return cls(kind, **known, additional_properties=copy_plain({**extra, **given}))

    @classmethod
    def from_block(cls, block: Any) -> Self:
        """Return the content of a kernel block."""
        if not isinstance(block, Mapping):
            return cls(TEXT, text=str(block))
        rest = dict(block)
        block_type = str(rest.pop("type", "text"))
        kind = _KINDS.get(block_type)
        if kind is None:
            return cls(block_type, additional_properties=copy_plain(rest))
        fields = {
            name: _as_field(name, copy_plain(rest.pop(key)))
            for name, key in _BLOCKS[kind][1].items()
            if key in rest
        }
        return cls(kind, **fields, additional_properties=copy_plain(rest))

    def to_block(self) -> dict[str, Any]:
        """Return the kernel block."""
        found = _BLOCKS.get(self.type)
        if found is None:
            return {"type": self.type, **copy_plain(self.additional_properties)}
        block_type, keys = found
        block: dict[str, Any] = {"type": block_type}
        for name, key in keys.items():
            value = self.parsed_arguments if name == "arguments" else getattr(self, name)
            block[key] = copy_plain(value)
        return {**block, **copy_plain(self.additional_properties)}


def _as_field(name: str, value: Any) -> Any:
    """The value of a field; what must be a text and is none becomes one."""
    if name in ("text", "call_id", "name"):
        return value if value is None or isinstance(value, str) else str(value)
    if name == "arguments" and not isinstance(value, Mapping | str):
        return None
    return value
