"""The message of ADR 0016, and the way to and from the kernel's."""

import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import field
from typing import Any, Final, Self

from amplifier_tui.base.lazy.dataclass import dataclass
from amplifier_tui.base.messages.tool_calls import read_call
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


ContentLike = str | Content | Mapping[str, Any]


class Message:
    """One message of a conversation.

    Args:
        role: "system", "developer", "user", "assistant" or "tool".
        contents: What it holds; texts become text contents.
        text: A text, instead of or after the contents.
        content: The same as the contents, under another of the ADR's names.
        author_name: Who speaks, where there are several.
        message_id: Its id.
        additional_properties: Whatever else is known of it; the ``metadata`` of the kernel's dict.
    """

    __slots__ = (
        "_contents",
        "_row",
        "additional_properties",
        "author_name",
        "message_id",
        "role",
    )

    def __init__(
        self,
        role: str,
        contents: ContentLike | Sequence[ContentLike] | None = None,
        *,
        text: str | None = None,
        content: ContentLike | Sequence[ContentLike] | None = None,
        author_name: str | None = None,
        message_id: str | None = None,
        additional_properties: Mapping[str, Any] | None = None,
    ) -> None:
        self.role = role
        self.author_name = author_name
        self.message_id = message_id
        self.additional_properties: dict[str, Any] = dict(additional_properties or {})
        self._row: Mapping[str, Any] | None = None
        self._contents: list[Content] | None = [*_contents(contents), *_contents(content)]
        if text is not None:
            self._contents.append(Content.from_text(text))

    @classmethod
    def system(cls, text: str) -> Self:
        """Return a system message."""
        return cls("system", [text])

    @classmethod
    def user(cls, text: str) -> Self:
        """Return a message of the user."""
        return cls("user", [text])

    @classmethod
    def assistant(cls, text: str) -> Self:
        """Return a message of the assistant."""
        return cls("assistant", [text])

    @property
    def contents(self) -> list[Content]:
        """What it holds; may be changed."""
        if self._contents is None:
            self._contents = [] if self._row is None else row_contents(self._row)
        return self._contents

    @contents.setter
    def contents(self, contents: Sequence[ContentLike]) -> None:
        self._contents = _contents(contents)

    @property
    def text(self) -> str:
        """What is said, a space between the pieces."""
        return " ".join(c.text for c in self.contents if c.type == TEXT and c.text)

    @property
    def is_as_loaded(self) -> bool:
        """Whether it came from the kernel and says what it said there."""
        return self._row is not None and (
            self._contents is None or self._contents == row_contents(self._row)
        )

    def copy(self) -> Self:
        """Return a copy that shares the contents but not its additional properties."""
        other = type(self).__new__(type(self))
        for name in Message.__slots__:
            setattr(other, name, getattr(self, name))
        other.additional_properties = dict(self.additional_properties)
        other._contents = None if self._contents is None else list(self._contents)
        return other

    def to_dict(self) -> dict[str, Any]:
        """Return JSON-native data that `from_dict` reads."""
        data: dict[str, Any] = {
            "type": "message",
            "role": self.role,
            "contents": [content.to_dict() for content in self.contents],
        }
        if self.author_name is not None:
            data["author_name"] = self.author_name
        if self.message_id is not None:
            data["message_id"] = self.message_id
        if self.additional_properties:
            data["additional_properties"] = copy_plain(self.additional_properties)
        return data

    @classmethod
    def from_dict(cls, data: Mapping[str, Any]) -> Self:
        """Return the message that `to_dict` wrote.

        Raises:
            ValueError: There is no role, or its contents are none.
        """
        role, contents = data.get("role"), data.get("contents")
        if not isinstance(role, str) or not role:
            raise ValueError("A message needs a 'role'")
        if contents is not None and not isinstance(contents, str | Mapping | list | tuple):
            raise ValueError(f"Contents of a message can't be a {type(contents).__name__}")
        author, identity = data.get("author_name"), data.get("message_id")
        extra = data.get("additional_properties")
        return cls(
            role,
            contents,
            author_name=author if isinstance(author, str) else None,
            message_id=identity if isinstance(identity, str) else None,
            additional_properties=copy_plain(extra) if isinstance(extra, Mapping) else None,
        )

    @classmethod
    def from_kernel(cls, row: Mapping[str, Any]) -> Self:
        """Return a kernel message, which must not change afterwards, as one of these."""
        message = cls.__new__(cls)
        message.role = str(row.get("role") or "")
        message.author_name = None
        metadata = row.get("metadata")
        message.additional_properties = (
            copy_plain(metadata) if isinstance(metadata, Mapping) else {}
        )
        identity, name = row.get("message_id"), row.get("name")
        message.message_id = identity if isinstance(identity, str) else None
        if message.role != "tool":
            message.author_name = name if isinstance(name, str) else None
        message._row = row
        message._contents = None
        return message

    def to_kernel(self) -> dict[str, Any]:
        """Return the kernel's message; what came from there unchanged goes back as it was."""
        if self.is_as_loaded:
            row: dict[str, Any] = copy_plain(self._row)
            row["role"] = self.role
        else:
            row = self._written()
        for key, value in (
            ("message_id", self.message_id),
            ("name", self.author_name if self.role != "tool" else None),
        ):
            if value is not None:
                row[key] = value
        if self.additional_properties:
            row["metadata"] = copy_plain(self.additional_properties)
        elif isinstance(row.get("metadata"), Mapping) and row["metadata"]:
            del row["metadata"]
        return row

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Message) and self.to_dict() == other.to_dict()

    def __repr__(self) -> str:
        return f"Message(role={self.role!r}, text={self.text[:60]!r})"

    def _written(self) -> dict[str, Any]:
        contents = self.contents
        if self.role == "tool" and len(contents) == 1 and contents[0].type == RESULT:
            only = contents[0]
            row = {"role": "tool", "tool_call_id": only.call_id, "content": copy_plain(only.result)}
            if only.name:
                row["name"] = only.name
            return row
        blocks = [content.to_block() for content in contents]
        if all(block.keys() == {"type", "text"} and block["type"] == "text" for block in blocks):
            text = "\n\n".join(block["text"] or "" for block in blocks)
            return {"role": self.role, "content": text}
        row = {"role": self.role, "content": blocks}
        calls = [
            {"id": c.call_id, "name": c.name, "tool": c.name, "arguments": c.parsed_arguments}
            for c in contents
            if c.type == CALL
        ]
        if calls and self.role == "assistant":
            row["tool_calls"] = calls
        return row


def row_contents(row: Mapping[str, Any]) -> list[Content]:
    """Return what a kernel message holds."""
    content = row.get("content")
    if row.get("role") == "tool" and row.get("tool_call_id") is not None:
        result = Content(RESULT, call_id=str(row["tool_call_id"]), result=copy_plain(content))
        name = row.get("name")
        result.name = name if isinstance(name, str) else None
        return [result]
    contents: list[Content] = []
    if isinstance(content, str):
        contents = [Content.from_text(content)] if content else []
    elif isinstance(content, list):
        contents = [Content.from_block(block) for block in content]
    elif content is not None:
        contents = [Content.from_text(str(content))]
    known = {c.call_id for c in contents if c.type == CALL}
    calls = row.get("tool_calls")
    for call in calls if isinstance(calls, list) else ():
        if isinstance(call, Mapping) and str(call.get("id")) not in known:
            read = read_call(call)
            given = copy_plain(read.given) if isinstance(read.given, str | Mapping) else None
            contents.append(Content.from_function_call(read.call_id, read.name, arguments=given))
    return contents


def _contents(given: ContentLike | Sequence[ContentLike] | None) -> list[Content]:
    if given is None:
        return []
    if isinstance(given, str | Content | Mapping):
        given = [given]
    return [_content(item) for item in given]


def _content(item: ContentLike) -> Content:
    if isinstance(item, Content):
        return item
    if isinstance(item, str):
        return Content.from_text(item)
    return Content.from_dict(item)


def as_messages(given: str | Message | Iterable[str | Message] | None) -> list[Message]:
    """Return what a caller says as messages of the user; messages stay what they are."""
    if given is None:
        return []
    if isinstance(given, str | Message):
        given = [given]
    return [Message.user(item) if isinstance(item, str) else item for item in given]


ChatMessage = Message
"""The ADR's other name for it."""
