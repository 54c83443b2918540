"""Content blocks as plain dataclasses, for events and streaming displays (spec 000)."""

from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any


class ContentBlockType(StrEnum):
    """What a content block holds."""

    TEXT = "text"
    THINKING = "thinking"
    TOOL_CALL = "tool_call"
    TOOL_RESULT = "tool_result"


@dataclass
class ContentBlock:
    """One block of content.

    Args:
        type: What the block holds.
        raw: The provider's own object, for code that needs it. Never serialised.
    """

    type: ContentBlockType
    raw: Any = None

    def to_dict(self) -> dict[str, Any]:
        """Return the block as JSON-native data, the type's value first, without ``raw``."""
        return {"type": ContentBlockType(self.type).value}


@dataclass
class TextContent(ContentBlock):
    """Text of the model."""

    type: ContentBlockType = ContentBlockType.TEXT
    text: str = ""

    def to_dict(self) -> dict[str, Any]:
        """Return type and text."""
        return {**super().to_dict(), "text": self.text}


@dataclass
class ThinkingContent(ContentBlock):
    """Reasoning the model shows."""

    type: ContentBlockType = ContentBlockType.THINKING
    text: str = ""

    def to_dict(self) -> dict[str, Any]:
        """Return type and text."""
        return {**super().to_dict(), "text": self.text}


@dataclass
class ToolCallContent(ContentBlock):
    """A tool call of the model."""

    type: ContentBlockType = ContentBlockType.TOOL_CALL
    id: str = ""
    name: str = ""
    arguments: dict[str, Any] = field(default_factory=dict)

    def to_dict(self) -> dict[str, Any]:
        """Return type, id, name and arguments."""
        return {
            **super().to_dict(),
            "id": self.id,
            "name": self.name,
            "arguments": self.arguments,
        }


@dataclass
class ToolResultContent(ContentBlock):
    """What a tool call came to."""

    type: ContentBlockType = ContentBlockType.TOOL_RESULT
    tool_call_id: str = ""
    output: Any = None
    error: str | None = None

    def to_dict(self) -> dict[str, Any]:
        """Return type, tool_call_id and output, and the error when there is one."""
        block = {**super().to_dict(), "tool_call_id": self.tool_call_id, "output": self.output}
        if self.error:
            block["error"] = self.error
        return block
