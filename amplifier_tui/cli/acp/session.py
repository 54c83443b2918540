"""One session of an editor: its client, its events, its prompts."""

import asyncio
import logging
from collections import deque
from collections.abc import Coroutine
from dataclasses import field
from typing import Any, Final, Protocol

from acp import RequestError, helpers, schema

from amplifier_tui.base.lazy.dataclass import dataclass
from amplifier_tui.base.text import one_line
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
from amplifier_tui.cli.acp.turn import EditorTurn
from amplifier_tui.cli.acp.updates import Update, Updates
from amplifier_tui.host.client import OpenRequest, QuestionsReply, SessionClient, TrustDecision
from amplifier_tui.host.events import (
    MAIN_LANE,
    ApprovalRequested,
    ApprovalResolved,
    Failed,
    HostEvent,
    LimitAsked,
    LimitResolved,
    Mode,
    ModeChanged,
    ModelChanged,
    Notice,
    PlanProposed,
    QuestionsAsked,
    QuestionsResolved,
    QueueChanged,
    SessionOpened,
    TrustAsked,
    TurnEnded,
    TurnStarted,
)

logger = logging.getLogger(__name__)

_PATIENCE: Final = 5.0
"""Seconds for what a session does at once."""
_COMMAND: Final = 120.0
"""Seconds for a command such as a summary."""


class Editor(Protocol):
    """What a session asks of an editor; `acp.AgentSideConnection` does it."""

    async def session_update(self, session_id: str, update: Any) -> None:
        """Send an update."""

    async def request_permission(
        self, session_id: str, tool_call: Any, options: list[Any]
    ) -> schema.RequestPermissionResponse:
        """Ask the user."""

    async def create_elicitation(self, message: str, mode: Any) -> Any:
        """Ask the user to fill in a form."""


@dataclass(slots=True)
class EditorFacts:
    """What an editor is told of a session beside its conversation."""

    cwd: str
    mode: str = ""
    model: str = ""
    effort: str = ""
    efforts: tuple[str, ...] = ()
    opened: SessionOpened | None = None
    untrusted: list[str] = field(default_factory=list)


class EditorSession:
    """Runs one session through a client of its own.

    Args:
        client: A new one.
        forms: The editor can show a form.
    """

    def __init__(self, client: SessionClient, editor: Editor, cwd: str, *, forms: bool) -> None:
        self.client = client
        self.facts = EditorFacts(cwd)
        self._editor = editor
        self._forms = forms
        self._updates = Updates(cwd)
        self._loop = asyncio.get_running_loop()
        self._news = asyncio.Event()
        self._pump: asyncio.Task[None] | None = None
        self._opening: asyncio.Future[SessionOpened] | None = None
        self._held: list[Update] | None = []
        """Updates until the editor knows the session."""
        self._turns: deque[EditorTurn] = deque()
        self._waiting: tuple[str, ...] = ()
        """Ids of the prompts that wait for the end of the running turn."""
        self._turn: EditorTurn | None = None
        self._asking: dict[str, asyncio.Task[None]] = {}
        self._waiters: list[tuple[type[HostEvent], str, asyncio.Future[HostEvent]]] = []

    @property
    def session_id(self) -> str:
        """Its id; empty until it is open."""
        return self.facts.opened.session_id if self.facts.opened is not None else ""

    @property
    def is_busy(self) -> bool:
        """Whether a turn runs or waits."""
        return self._turn is not None or bool(self._turns)

    async def open(self, request: OpenRequest) -> None:
        """Open the session.

        Raises:
            RequestError: It can't be opened.
        """
        self._opening = self._loop.create_future()
        self.client.set_waker(self._woken)
        self._pump = asyncio.create_task(self._work())
        mode = self.expect(ModeChanged)
        self.client.open(request)
        await self._opening
        # The mode that is applied is said right after.
        await self.answer(mode, _PATIENCE)

    async def show(self, earlier: list[HostEvent] | None = None) -> None:
        """Send what was held back; the editor knows the session now."""
        told = [update for event in earlier or () for update in self._updates.of(event)]
        # What happens meanwhile is held, too, or it would overtake what came before.
        while told := [*told, *(self._held or ())]:
            self._held = []
            for update in told:
                await self._editor.session_update(self.session_id, update)
            told = []
        self._held = None
        if self.facts.untrusted:
            titles = ", ".join(self.facts.untrusted)
            text = (
                f"Not used without your trust: {titles}. Run `amplifier-tui` here to be asked.\n\n"
            )
            await self.send(helpers.update_agent_thought_text(text))

    def forget_held(self) -> None:
        """Send nothing of what was said before: the editor has it."""
        self._held = []

    async def prompt(self, text: str, files: tuple[str, ...]) -> schema.PromptResponse:
        """Run a turn; returns how it ended.

        Raises:
            RequestError: It failed, in words.
        """
        turn = EditorTurn(self._loop.create_future())
        self._turns.append(turn)
        self.client.submit(text, files)
        return await turn.answer

    def cancel(self) -> None:
        """Stop the running turn at once, and send none of the prompts that wait for its end."""
        for turn in self._turns:
            turn.stopped = True
        self._take_back()
        self.client.interrupt(immediate=True)

    def expect(self, kind: type[HostEvent], notices: str = "") -> "asyncio.Future[HostEvent]":
        """Return a future of the next event of a class, or of the next notice of a source."""
        found: asyncio.Future[HostEvent] = self._loop.create_future()
        self._waiters.append((kind, notices, found))
        return found

    async def answer(
        self, expected: "asyncio.Future[HostEvent]", seconds: float = _COMMAND
    ) -> HostEvent | None:
        """Wait for what `expect` returned; None when it does not come in time."""
        try:
            async with asyncio.timeout(seconds):
                return await expected
        except TimeoutError:
            return None

    async def close(self) -> None:
        """End what runs and close the session."""
        await asyncio.wrap_future(self.client.close())
        if self._pump is not None:
            self._pump.cancel()
        for task in tuple(self._asking.values()):
            task.cancel()
        self._fail(RequestError.internal_error({"details": "The session was closed"}))

    def _woken(self) -> None:
        self._loop.call_soon_threadsafe(self._news.set)

    # --- events ---------------------------------------------------------------------------

    async def _work(self) -> None:
        try:
            while True:
                await self._news.wait()
                self._news.clear()
                for event in self.client.drain():
                    await self._take_safely(event)
        except ConnectionError as error:
            # The editor is gone; whoever serves it closes the session.
            self._fail(error)

    async def _take_safely(self, event: HostEvent) -> None:
        try:
            await self._take(event)
        except ConnectionError:
            raise
        except Exception as error:
            # The prompts end with it; the next one can still be told.
            logger.exception("An event of a session can't be told")
            self._fail(error)

    def _take_back(self) -> None:
        """Answer the prompts that were stopped while they waited; they do not run."""
        stopped = {
            prompt_id: turn
            for prompt_id, turn in zip(self._waiting, self._turns, strict=False)
            if turn.stopped
        }
        for prompt_id, turn in stopped.items():
            self.client.unqueue(prompt_id)
            self._turns.remove(turn)
            turn.answer.set_result(schema.PromptResponse(stop_reason="cancelled"))
        self._waiting = tuple(each for each in self._waiting if each not in stopped)

    def _fail(self, error: BaseException) -> None:
        turns = [*([self._turn] if self._turn is not None else []), *self._turns]
        waiting: list[asyncio.Future[Any]] = [turn.answer for turn in turns]
        for turn in turns:
            if turn.plan is not None:
                turn.plan.cancel()
        if self._opening is not None:
            waiting.append(self._opening)
        for future in waiting:
            if not future.done():
                future.set_exception(error)
        self._turn = None
        self._turns.clear()

    async def _take(self, event: HostEvent) -> None:
        self._note(event)
        for update in self._updates.of(event):
            await self.send(update)
        match event:
            case TrustAsked():
                self.facts.untrusted += [one_line(item.title) for item in event.items]
                self.client.answer_trust(event.request_id, TrustDecision())
            case ApprovalRequested():
                self._ask(event.request_id, self._decide(event))
            case QuestionsAsked():
                self._ask(event.request_id, self._answer(event))
            case LimitAsked():
                self._ask(event.request_id, self._spend(event))
            case ApprovalResolved() | QuestionsResolved() | LimitResolved():
                task = self._asking.pop(event.request_id, None)
                if task is not None:
                    task.cancel()
            case _ if event.agent != MAIN_LANE or event.replayed:
                pass
            case QueueChanged():
                self._waiting = event.ids
                self._take_back()
            case TurnStarted() if self._turns:
                self._turn = self._turns.popleft()
            case PlanProposed() if self._turn is not None:
                self._turn.plan = asyncio.create_task(self._carry_out())
            case Failed():
                self._failed(event)
            case TurnEnded():
                await self._ended(event)
        if not event.replayed:
            source = event.source if isinstance(event, Notice) else None
            for waiter in tuple(self._waiters):
                kind, notices, future = waiter
                if isinstance(event, kind) or (notices and source == notices) or future.done():
                    self._waiters.remove(waiter)
                    if not future.done():
                        future.set_result(event)

    def _note(self, event: HostEvent) -> None:
        facts = self.facts
        match event:
            case SessionOpened():
                facts.opened = event
                facts.model = f"{event.provider}/{event.model}" if event.model else ""
                if self._opening is not None and not self._opening.done():
                    self._opening.set_result(event)
            case ModeChanged(agent="main"):
                facts.mode = event.mode
            case ModelChanged(agent="main"):
                facts.model = f"{event.provider}/{event.model}"
                facts.effort, facts.efforts = event.effort, event.efforts

    async def send(self, update: Update) -> None:
        """Send an update, or hold it until the editor knows the session."""
        if self._held is not None:
            self._held.append(update)
        else:
            await self._editor.session_update(self.session_id, update)

    def _failed(self, event: Failed) -> None:
        error = RequestError(-32603, one_line(f"{event.message} {event.remedy}", 2_000))
        if event.kind in ("authentication", "no_provider"):
            error = RequestError(-32000, str(error))
        if self._turn is not None:
            self._turn.failure = event
        elif self._opening is not None and not self._opening.done():
            self._opening.set_exception(error)
        elif self._turns:
            # The prompt was not accepted.
            self._turns.popleft().answer.set_exception(error)

    async def _ended(self, event: TurnEnded) -> None:
        turn, self._turn = self._turn, None
        if turn is None or turn.answer.done():
            return
        plan, turn.plan = turn.plan, None
        if plan is not None:
            # Here, or the answer would come before the question.
            self._ask("plan", self._after_plan(turn, plan, event))
        else:
            turn.settle(event)

    # --- questions ------------------------------------------------------------------------

    def _ask(self, request_id: str, asking: "Coroutine[Any, Any, None]") -> None:
        task = asyncio.create_task(asking)
        self._asking[request_id] = task
        task.add_done_callback(lambda _: self._asking.pop(request_id, None))

    async def _permission(self, call: Any, options: list[Any]) -> Any:
        """Return the outcome of a question; None when the editor could not ask."""
        try:
            response = await self._editor.request_permission(self.session_id, call, options)
        except (RequestError, ConnectionError, ValueError) as error:
            logger.warning("The editor did not ask: %s", error)
            return None
        return response.outcome

    async def _decide(self, request: ApprovalRequested) -> None:
        outcome = await self._permission(asked_call(request), options_of(request))
        self.client.decide(request.request_id, decision_of(request, outcome))

    async def _spend(self, asked: LimitAsked) -> None:
        outcome = await self._permission(asked_limit(asked), limit_options())
        go = getattr(outcome, "option_id", "") == "go"
        self.client.answer_limit(asked.request_id, go=go)

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
            except (RequestError, ConnectionError, ValueError) as error:
                logger.warning("The editor did not ask: %s", error)
        self.client.answer_questions(asked.request_id, reply)

    async def _carry_out(self) -> Mode | None:
        """Ask what becomes of a plan; returns the mode to do it in, None to leave it."""
        call = schema.ToolCallUpdate(
            tool_call_id="plan", title="Do what the plan says?", kind="switch_mode"
        )
        outcome = await self._permission(call, plan_options())
        chosen = getattr(outcome, "option_id", "")
        modes: tuple[Mode, ...] = ("ask", "edits")
        return next((mode for mode in modes if mode == chosen), None)

    async def _after_plan(
        self, turn: EditorTurn, plan: "asyncio.Task[Mode | None]", event: TurnEnded
    ) -> None:
        mode: Mode | None = None
        try:
            mode = await plan
        finally:
            # The mode may have changed, another prompt may have come, the session may be closed.
            if mode is not None and self.facts.mode == "plan" and not self.is_busy:
                self._turns.append(turn)
                self.client.carry_out(mode)
            else:
                turn.settle(event)
