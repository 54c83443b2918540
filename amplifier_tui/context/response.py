"""What an agent answers (ADR 0016)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

from amplifier_tui.context.content import Content
from amplifier_tui.context.message import Message


@dataclass
class ChatResponse:
    """What a model answered to one request.

    Attributes:
        messages: Usually one.
        response_id: Id of the response, if the service gives one.
        conversation_id: Id of the conversation, if the service keeps it.
        model: Id of the model.
        finish_reason: Why it stopped.
        usage_details: Tokens, as the provider counts them.
        raw_representation: What the provider returned.
    """

    messages: list[Message] = field(default_factory=list)
    response_id: str | None = None
    conversation_id: str | None = None
    model: str | None = None
    finish_reason: str | None = None
    usage_details: dict[str, Any] | None = None
    raw_representation: Any = None

    @property
    def text(self) -> str:
        """What is said in it."""
        return _text(self.messages)


@dataclass
class AgentResponse:
    """What an agent answered: everything it said and did in one run.

    Attributes:
        messages: Answers and tool results in order.
        response_id: Id of the last response, if the service gives one.
        agent_id: Id of the agent.
        usage_details: Tokens of all requests together.
        additional_properties: Whatever else is known of it.
        raw_representation: What the provider returned last.
    """

    messages: list[Message] = field(default_factory=list)
    response_id: str | None = None
    agent_id: str | None = None
    usage_details: dict[str, Any] | None = None
    additional_properties: dict[str, Any] = field(default_factory=dict)
    raw_representation: Any = None

    @property
    def text(self) -> str:
        """What is said in it."""
        return _text(self.messages)

    def __str__(self) -> str:
        return self.text


@dataclass
class AgentResponseUpdate:
    """A piece of an answer on its way.

    Attributes:
        contents: What is new.
        role: Who says it.
    """

    contents: list[Content] = field(default_factory=list)
    role: str = "assistant"

    @property
    def text(self) -> str:
        """The words in it."""
        return "".join(c.text or "" for c in self.contents if c.type == "text")

    def __str__(self) -> str:
        return self.text


def _text(messages: Sequence[Message]) -> str:
    return "\n".join(m.text for m in messages if m.role == "assistant" and m.text)
