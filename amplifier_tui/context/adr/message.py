"""The message of ADR 0016, and the way to and from the kernel's."""

from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Self

from amplifier_tui.base.plain import copy_plain
from amplifier_tui.base.tool_calls import read_call
from amplifier_tui.context.adr.content import CALL, RESULT, TEXT, Content

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
        return self._row is not None and self._is_unchanged(self._row)

    def copy(self) -> Self:
        """Return a copy that shares the contents but not its additional properties."""
        other = type(self).__new__(type(self))
        other.role = self.role
        other.author_name = self.author_name
        other.message_id = self.message_id
        other.additional_properties = dict(self.additional_properties)
        other._row = self._row
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
        if self._row is not None and self._is_unchanged(self._row):
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

    def _is_unchanged(self, row: Mapping[str, Any]) -> bool:
        return self._contents is None or self._contents == row_contents(row)

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
            contents.append(_listed_call(call))
    return contents


def _listed_call(call: Mapping[str, Any]) -> Content:
    read = read_call(call)
    given = read.given if isinstance(read.given, str | Mapping) else None
    return Content.from_function_call(read.call_id, read.name, arguments=copy_plain(given))


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
