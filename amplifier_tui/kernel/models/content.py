"""Content blocks as plain dataclasses, for events and streaming displays (spec 000)."""

from dataclasses import field, fields
from enum import StrEnum
from typing import Any

from amplifier_tui.base.lazy.dataclass import dataclass


class ContentBlockType(StrEnum):
    """What a content block holds."""

    TEXT = "text"
    THINKING = "thinking"
    TOOL_CALL = "tool_call"
    TOOL_RESULT = "tool_result"


@dataclass
class ContentBlock:
    """One block of content; ``raw``, the provider's own object, is never serialised."""

    type: ContentBlockType
    raw: Any = None

    def to_dict(self) -> dict[str, Any]:
        """Return the block as JSON-native data, the type's value first, without ``raw``."""
        names = [known.name for known in fields(self) if known.name not in ("type", "raw")]
        return {
            "type": ContentBlockType(self.type).value,
            **{name: getattr(self, name) for name in names},
        }


@dataclass
class TextContent(ContentBlock):
    """Text of the model."""

    type: ContentBlockType = ContentBlockType.TEXT
    text: str = ""


@dataclass
class ThinkingContent(ContentBlock):
    """Reasoning the model shows."""

    type: ContentBlockType = ContentBlockType.THINKING
    text: str = ""


@dataclass
class ToolCallContent(ContentBlock):
    """A tool call of the model."""

    type: ContentBlockType = ContentBlockType.TOOL_CALL
    id: str = ""
    name: str = ""
    arguments: dict[str, Any] = field(default_factory=dict)


@dataclass
class ToolResultContent(ContentBlock):
    """What a tool call came to."""

    type: ContentBlockType = ContentBlockType.TOOL_RESULT
    tool_call_id: str = ""
    output: Any = None
    error: str | None = None

    def to_dict(self) -> dict[str, Any]:
        """Return the block as JSON-native data; the error only when there is one."""
        block = super().to_dict()
        if not self.error:
            del block["error"]
        return block
