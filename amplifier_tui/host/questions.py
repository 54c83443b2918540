"""The questions of agents to the user: each waits for a front end's answer, or for a stop."""

import asyncio
from collections.abc import Awaitable, Callable, Container
from dataclasses import replace
from typing import Final
from uuid import uuid4

from amplifier_tui.base.capabilities.questions import (
    LONGEST_ANSWER,
    Question,
    QuestionAnswer,
    QuestionsReply,
)
from amplifier_tui.base.lazy.dataclass import dataclass
from amplifier_tui.base.text import shortened
from amplifier_tui.host.events import QuestionsAsked, QuestionsResolved
from amplifier_tui.host.gate.approvals.question import STOPPED
from amplifier_tui.host.stream.sender import Sender
from amplifier_tui.kernel.correlation import current_tool_call_id

_BY_USER: Final = ("answered", "declined", "unavailable")

AskUser = Callable[[tuple[Question, ...]], Awaitable[QuestionsReply]]


@dataclass(frozen=True, slots=True)
class _Waiting:
    asked: QuestionsAsked
    questions: tuple[Question, ...]
    reply: asyncio.Future[QuestionsReply]


class UserQuestions:
    """The questions of one session and its sub-agents that wait for an answer."""

    def __init__(self, sender: Sender) -> None:
        self._sender = sender
        self._waiting: dict[str, _Waiting] = {}

    def asker(self, lane: str) -> AskUser:
        """Return the capability by which an agent asks; see `base.capabilities.questions`."""

        async def ask(questions: tuple[Question, ...]) -> QuestionsReply:
            return await self._ask(lane, questions)

        return ask

    async def _ask(self, lane: str, questions: tuple[Question, ...]) -> QuestionsReply:
        asked = QuestionsAsked(
            **self._sender.stamp(lane),
            request_id=uuid4().hex[:12],
            call_id=current_tool_call_id() or "",
            questions=tuple(map(self._shown, questions)),
        )
        waiting = _Waiting(asked, questions, asyncio.get_running_loop().create_future())
        self._waiting[asked.request_id] = waiting
        self._sender.send(asked)
        try:
            return await waiting.reply
        except asyncio.CancelledError:
            self._finish(waiting, QuestionsReply("withdrawn", reason=STOPPED))
            raise

    def _shown(self, question: Question) -> Question:
        """Return a question as it may leave the session: without secrets."""
        text = self._sender.redactor.text
        options = tuple(
            replace(option, label=text(option.label), description=text(option.description))
            for option in question.options
        )
        return replace(
            question,
            question=text(question.question),
            header=text(question.header),
            options=options,
        )

    def answer(self, request_id: str, reply: QuestionsReply) -> None:
        """Take a front end's reply; one to questions that wait no more is ignored."""
        waiting = self._waiting.get(request_id)
        if waiting is None or reply.outcome not in _BY_USER:
            return
        answers: tuple[QuestionAnswer, ...] = ()
        if reply.outcome == "answered":
            missing = (QuestionAnswer(),) * len(waiting.questions)
            answers = tuple(map(_checked, waiting.questions, reply.answers + missing))
        reason = shortened(reply.reason.strip(), LONGEST_ANSWER)
        self._finish(waiting, QuestionsReply(reply.outcome, answers, reason))

    def withdraw(self, reason: str = STOPPED, lanes: Container[str] | None = None) -> None:
        """Take all questions back, or those of some lanes: who asked is being stopped."""
        for waiting in tuple(self._waiting.values()):
            if lanes is None or waiting.asked.agent in lanes:
                self._finish(waiting, QuestionsReply("withdrawn", reason=reason))

    def _finish(self, waiting: _Waiting, reply: QuestionsReply) -> None:
        if self._waiting.pop(waiting.asked.request_id, None) is None:
            return
        asked = waiting.asked
        self._sender.send(
            QuestionsResolved(
                **self._sender.stamp(asked.agent),
                request_id=asked.request_id,
                call_id=asked.call_id,
                outcome=reply.outcome,
                reason=reply.reason,
            )
        )
        if not waiting.reply.done():
            waiting.reply.set_result(reply)


def _checked(question: Question, answer: QuestionAnswer) -> QuestionAnswer:
    """Return an answer with what the question offers, and no more."""
    chosen = tuple(at for at in range(len(question.options)) if at in answer.chosen)
    most = len(chosen) if question.multi_select else 1
    return QuestionAnswer(chosen[:most], shortened(answer.text.strip(), LONGEST_ANSWER))
