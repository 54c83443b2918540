"""What a user does in a conversation, whichever front end it is held through."""

import time
from collections import deque
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal

from amplifier_tui.host.client import OpenRequest, SpendLimit
from amplifier_tui.host.events import (
    MAIN_LANE,
    ApprovalRequested,
    CancelRequested,
    Failed,
    HostEvent,
    LimitAsked,
    Mode,
    PlanProposed,
    QuestionsAsked,
    QueueChanged,
    Scope,
    SessionOpened,
    ToolStarted,
    TurnEnded,
)

Answer = Scope | Literal["deny", "decline", "go", "stop"] | Mode | tuple[int, ...]
"""To an approval, to questions (places of options), at a limit, about a plan (a mode, or deny)."""


@dataclass(frozen=True, kw_only=True)
class Conversation:
    """A conversation as data.

    Attributes:
        prompts: Each is sent when the turn before it has ended.
        bundle: Arguments of `Project.bundle`.
        allow: The user's rules.
        answers: To whatever is asked, in order.
        meanwhile: What the user does once the tool `wait` runs: `("steer", words)`,
            `("queue", words)`, `("stop",)` or `("stop", "now")`.
        at_question: The turn is stopped where something is asked for the first time.
        turns: How many turns there will be, where it is not one for each prompt.
        again: Prompts for the session in a second life.
        attached: To each prompt: images as `data:` addresses.
        files: In the project, before it begins.
        skills: Of the user: name and text.
        limit: Of the session.
        not_through: Front ends that have no way to do it, and why.
    """

    name: str
    prompts: tuple[str, ...] = ("go",)
    bundle: Mapping[str, Any] = field(default_factory=dict)
    allow: tuple[str, ...] = ()
    answers: tuple[Answer, ...] = ()
    meanwhile: tuple[str, ...] = ()
    at_question: tuple[str, ...] = ()
    turns: int = 0
    again: tuple[str, ...] = ()
    attached: tuple[str, ...] = ()
    files: Mapping[str, str] = field(default_factory=dict)
    skills: Mapping[str, str] = field(default_factory=dict)
    mode: Mode | Literal[""] = ""
    limit: SpendLimit | None = None
    not_through: Mapping[str, str] = field(default_factory=dict)

    def request(self, folder: Path, bundle: str) -> OpenRequest:
        """Return the request that opens its session."""
        return OpenRequest(cwd=folder, bundle=bundle, mode=self.mode, limit=self.limit)


@dataclass(frozen=True)
class Act:
    """One thing the user does.

    Attributes:
        kind: `prompt`, `steer`, `queue`, `stop`, `decide`, `answer`, `limit`, `plan` or `leave`.
        what: The words, the answer, or `now`.
        attached: To a prompt.
        asked: The event that it answers.
    """

    kind: str
    what: Any = ""
    asked: Any = None
    attached: tuple[str, ...] = ()


class Player:
    """Says what the user does next, event by event.

    Args:
        folder: Where the tool `wait` says that it runs, and is let go on.
    """

    def __init__(self, conversation: Conversation, prompts: tuple[str, ...], folder: Path) -> None:
        self._conversation = conversation
        self._started, self._release = folder / "started", folder / "release"
        self._prompts = deque(prompts)
        self._answers = deque(conversation.answers)
        self._meanwhile = conversation.meanwhile
        self._at_question = conversation.at_question
        again = prompts is not conversation.prompts
        self._left = len(prompts) if again else conversation.turns or len(prompts)
        self._unanswered = 0
        self._planned = False

    def sees(self, event: HostEvent) -> list[Act]:
        """Return what the user does about an event."""
        if event.replayed:
            return []
        match event:
            case SessionOpened():
                return self._next()
            case ApprovalRequested():
                return self._asked("decide", event)
            case QuestionsAsked():
                return self._asked("answer", event)
            case LimitAsked():
                return self._asked("limit", event)
            case _ if event.agent != MAIN_LANE:
                return []
            case PlanProposed():
                self._planned = True
            case ToolStarted(tool="wait") if self._meanwhile:
                (kind, *words), self._meanwhile = self._meanwhile, ()
                self.wait_until_begun()
                return [Act(kind, " ".join(words))]
            case QueueChanged(items=items, steering=steering) if items or steering:
                self._release.touch()
            case CancelRequested() if self._conversation.meanwhile == ("stop",):
                self._release.touch()
            case TurnEnded():
                self._left -= 1
                self._unanswered -= 1
                if self._left == 0:
                    return [Act("leave")]
                planned, self._planned = self._planned, False
                if planned and (mode := self._answers.popleft()) != "deny":
                    return [Act("plan", mode)]
                return self._next()
            case Failed() if not self._unanswered:
                return [Act("leave")]
        return []

    def wait_until_begun(self) -> None:
        """Wait until the tool does what it was called for: its start is said before."""
        deadline = time.monotonic() + 10
        while not self._started.exists():
            assert time.monotonic() < deadline, "the tool did not begin"
            time.sleep(0.002)

    def _next(self) -> list[Act]:
        if not self._prompts or self._unanswered > 0:
            return []
        self._unanswered += 1
        return [Act("prompt", self._prompts.popleft(), attached=self._conversation.attached)]

    def _asked(self, kind: str, event: Any) -> list[Act]:
        if self._at_question:
            (first, *words), self._at_question = self._at_question, ()
            return [Act(first, " ".join(words))]
        return [Act(kind, self._answers.popleft(), event)]
