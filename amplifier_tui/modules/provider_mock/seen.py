"""What the scripted agent sees of a request: the turn, the words, the results."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any, Final

from amplifier_tui.kernel.message_models import ChatRequest, Message, TextBlock
from amplifier_tui.modules.provider_mock.script import CallOutcome

_DENIED: Final = re.compile(
    r"^\s*(?:denied by hook:\s*)?(?:user denied:\s*|approval timeout\b|hooks-approval:)", re.I
)
_PREFIX: Final = re.compile(r"^\s*(?:denied by hook:\s*)?(?:user denied:\s*)?", re.I)
_QUESTION: Final = re.compile(r"^\w+ wants to ")
"""Without a reason of the user's, a denial repeats the question."""


@dataclass(frozen=True)
class CallResult:
    """What a tool answered."""

    text: str
    outcome: CallOutcome

    @property
    def reason(self) -> str:
        """Why it was denied, in the words of whoever did."""
        first = self.text.strip().partition("\n")[0]
        reason = _PREFIX.sub("", first).strip()
        return "no reason given" if not reason or _QUESTION.match(reason) else reason


@dataclass
class Seen:
    """A conversation, as far as it matters to a script.

    Attributes:
        turn: How often the user spoke.
        prompt: What they said last.
        rounds: The results of each answer with tool calls since then.
        tools: Names of the tools on offer.
    """

    turn: int = 0
    prompt: str = ""
    rounds: list[list[CallResult]] = field(default_factory=list)
    tools: frozenset[str] = frozenset()


def look_at(request: ChatRequest) -> Seen:
    """Read a request."""
    seen = Seen(tools=frozenset(tool.name for tool in request.tools or ()))
    for message in request.messages:
        if message.role == "user" and _is_users_own(message):
            seen.turn += 1
            seen.prompt = text_of(message.content)
            seen.rounds = []
        elif message.role == "assistant" and _has_calls(message):
            seen.rounds.append([])
        elif message.role == "tool" and seen.rounds:
            seen.rounds[-1].append(_result(message))
    return seen


def text_of(content: str | Sequence[Any]) -> str:
    """Return the text of a message's content."""
    if isinstance(content, str):
        return content
    return "\n".join(block.text for block in content if isinstance(block, TextBlock))


def _is_users_own(message: Message) -> bool:
    metadata = message.metadata or {}
    return not metadata.get("source") and not metadata.get("ephemeral")


def _has_calls(message: Message) -> bool:
    if (message.model_extra or {}).get("tool_calls"):
        return True
    return not isinstance(message.content, str) and any(
        block.type == "tool_call" for block in message.content
    )


def _result(message: Message) -> CallResult:
    metadata = message.metadata or {}
    text = text_of(message.content)
    if metadata.get("denied") or _DENIED.match(text):
        return CallResult(text, "denied")
    return CallResult(text, "failed" if metadata.get("is_error") else "ok")
