"""What waits for the user of an editor: asked there, and answered to the session."""

import asyncio
import logging
from collections.abc import Coroutine
from typing import Any

from acp import schema

from amplifier_tui.base.text import one_line
from amplifier_tui.cli.acp.editor.protocol import EDITOR_ERRORS, Editor
from amplifier_tui.cli.acp.permissions import (
    asked_call,
    asked_limit,
    decision_of,
    form_of,
    limit_options,
    options_of,
    plan_options,
    reply_of,
)
from amplifier_tui.host.client import QuestionsReply, SessionClient
from amplifier_tui.host.events import (
    ApprovalRequested,
    ApprovalResolved,
    HostEvent,
    LimitAsked,
    LimitResolved,
    Mode,
    QuestionsAsked,
    QuestionsResolved,
)

logger = logging.getLogger(__name__)


class EditorQuestions:
    """The questions of one session that are open in an editor.

    Args:
        forms: The editor can show a form.
    """

    def __init__(self, client: SessionClient, editor: Editor, *, forms: bool) -> None:
        self.session_id = self.cwd = ""
        """Known once the session is open; nothing is asked before."""
        self._client = client
        self._editor = editor
        self._forms = forms
        self._asking: dict[str, asyncio.Task[None]] = {}

    def take(self, event: HostEvent) -> bool:
        """Ask, or take back, what an event says; whether it was about that."""
        match event:
            case ApprovalRequested():
                self.ask(event.request_id, self._decide(event))
            case QuestionsAsked():
                self.ask(event.request_id, self._answer(event))
            case LimitAsked():
                self.ask(event.request_id, self._spend(event))
            case ApprovalResolved() | QuestionsResolved() | LimitResolved():
                task = self._asking.pop(event.request_id, None)
                if task is not None:
                    task.cancel()
            case _:
                return False
        return True

    def close(self) -> None:
        """Wait for no answer any more."""
        for task in tuple(self._asking.values()):
            task.cancel()

    def ask(self, request_id: str, asking: Coroutine[Any, Any, None]) -> None:
        """Do what asks, beside everything else."""
        task = asyncio.create_task(asking)
        self._asking[request_id] = task
        task.add_done_callback(lambda _: self._asking.pop(request_id, None))

    async def _permission(self, call: Any, options: list[Any]) -> Any:
        """Return the outcome of a question; None when the editor could not ask."""
        try:
            response = await self._editor.request_permission(self.session_id, call, options)
        except EDITOR_ERRORS as error:
            logger.warning("The editor did not ask: %s", error)
            return None
        return response.outcome

    async def _decide(self, request: ApprovalRequested) -> None:
        outcome = await self._permission(asked_call(request, self.cwd), options_of(request))
        self._client.decide(request.request_id, decision_of(request, outcome))

    async def _spend(self, asked: LimitAsked) -> None:
        outcome = await self._permission(asked_limit(asked), limit_options())
        go = getattr(outcome, "option_id", "") == "go"
        self._client.answer_limit(asked.request_id, go=go)

    async def _answer(self, asked: QuestionsAsked) -> None:
        reply = QuestionsReply("unavailable")
        if self._forms:
            mode = schema.ElicitationFormSessionMode(
                session_id=self.session_id, requested_schema=form_of(asked.questions)
            )
            message = one_line(asked.questions[0].question, 600)
            try:
                answer = await self._editor.create_elicitation(message, mode)
                reply = reply_of(asked.questions, answer)
            except EDITOR_ERRORS as error:
                logger.warning("The editor did not ask: %s", error)
        self._client.answer_questions(asked.request_id, reply)

    async def plan(self) -> Mode | None:
        """Ask what becomes of a plan; returns the mode to do it in, None to leave it."""
        call = schema.ToolCallUpdate(
            tool_call_id="plan", title="Do what the plan says?", kind="switch_mode"
        )
        outcome = await self._permission(call, plan_options())
        chosen = getattr(outcome, "option_id", "")
        modes: tuple[Mode, ...] = ("ask", "edits")
        return next((mode for mode in modes if mode == chosen), None)
