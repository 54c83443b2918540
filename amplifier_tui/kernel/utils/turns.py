"""A conversation as turns, in words that fit every chat API."""

from dataclasses import field
from typing import Literal

from amplifier_tui.base.lazy.dataclass import dataclass
from amplifier_tui.kernel.message_models import (
    ImageBlock,
    ReasoningBlock,
    RedactedThinkingBlock,
    TextBlock,
    ThinkingBlock,
    ToolCallBlock,
)

AssistantBlock = TextBlock | ThinkingBlock | RedactedThinkingBlock | ReasoningBlock | ToolCallBlock
UserBlock = TextBlock | ImageBlock


class EphemeralText(TextBlock):
    """Text that is in this request only: a cached prefix that ends with it is of no use."""


@dataclass(frozen=True)
class ToolOutput:
    """What one tool call came to; `ephemeral` where a hook added to it for this request only."""

    call_id: str
    content: list[UserBlock]
    is_error: bool = False
    ephemeral: bool = False

    @property
    def text(self) -> str:
        """The text of the output, without its images."""
        return "\n".join(block.text for block in self.content if isinstance(block, TextBlock))

    @property
    def images(self) -> list[ImageBlock]:
        """The images of the output."""
        return [block for block in self.content if isinstance(block, ImageBlock)]


@dataclass(frozen=True)
class UserTurn:
    """Words and images of the user; never empty."""

    content: list[UserBlock]


@dataclass(frozen=True)
class InstructionTurn:
    """What the application, not the user, says in the middle of a conversation; never empty."""

    role: Literal["system", "developer"]
    text: str


@dataclass(frozen=True)
class AssistantTurn:
    """What the model said; never empty."""

    content: list[AssistantBlock]

    @property
    def calls(self) -> list[ToolCallBlock]:
        """The tool calls of the turn."""
        return [block for block in self.content if isinstance(block, ToolCallBlock)]


@dataclass(frozen=True)
class ToolTurn:
    """The results of all calls of the assistant turn before it, in the order of the calls."""

    outputs: list[ToolOutput]


Turn = UserTurn | InstructionTurn | AssistantTurn | ToolTurn


@dataclass(frozen=True)
class Repair:
    """One thing that had to be put right in the sequence of calls and results."""

    kind: Literal["missing_result", "orphan_result", "moved_result", "renamed_call"]
    tool_call_id: str
    tool_name: str | None = None


@dataclass
class Conversation:
    """A request's messages, ready to be written in an API's format.

    Attributes:
        system: The system messages at the start, joined by empty lines.
        turns: The rest. User and assistant turns never follow one of their own kind, and a
            `ToolTurn` follows every assistant turn with calls.
        repairs: What was put right.
    """

    system: str = ""
    turns: list[Turn] = field(default_factory=list)
    repairs: list[Repair] = field(default_factory=list)
