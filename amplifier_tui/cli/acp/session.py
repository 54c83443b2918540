"""One session of an editor: its client, its events, its prompts."""

import asyncio
import logging
from collections.abc import Sequence
from dataclasses import field
from typing import Final, NamedTuple
from uuid import uuid4

from acp import RequestError, helpers, schema

from amplifier_tui.base.lazy.dataclass import dataclass
from amplifier_tui.base.text import one_line, with_remedy
from amplifier_tui.cli.acp.asking import EditorQuestions
from amplifier_tui.cli.acp.calls import Content
from amplifier_tui.cli.acp.content import EditorPrompt, image_blocks, sent_images
from amplifier_tui.cli.acp.editor.protocol import Editor
from amplifier_tui.cli.acp.turn import EditorTurn
from amplifier_tui.cli.acp.updates import ASKED_ELSEWHERE, Update, Updates, helps, with_images
from amplifier_tui.host.client import OpenRequest, SessionClient, TrustDecision
from amplifier_tui.host.events import (
    MAIN_LANE,
    Failed,
    HostEvent,
    ImagesAdded,
    Mode,
    ModeChanged,
    ModelChanged,
    Notice,
    PlanProposed,
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
_MOST_RETOLD: Final = 20
"""Images of a stored conversation that the editor is sent: the latest."""


@dataclass(slots=True)
class EditorFacts:
    """What an editor is told of a session beside its conversation."""

    mode: str = ""
    model: str = ""
    effort: str = ""
    efforts: tuple[str, ...] = ()
    opened: SessionOpened | None = None
    untrusted: list[str] = field(default_factory=list)


class _Images(NamedTuple):
    """Images that became part of the conversation, and what their call was shown with then."""

    event: ImagesAdded
    result: Sequence[Content]


class EditorSession:
    """Runs one session through a client of its own.

    Args:
        client: A new one.
        forms: The editor can show a form.
    """

    def __init__(self, client: SessionClient, editor: Editor, *, forms: bool) -> None:
        self.client = client
        self.facts = EditorFacts()
        self._editor = editor
        self._questions = EditorQuestions(client, editor, forms=forms)
        self._updates = Updates()
        self._loop = asyncio.get_running_loop()
        self._news = asyncio.Event()
        self._pump: asyncio.Task[None] | None = None
        self._opening: asyncio.Future[SessionOpened] | None = None
        self._held: list[Update | _Images] | None = []
        """Updates until the editor knows the session."""
        self._turns: dict[str, EditorTurn] = {}
        """Of the prompts that have not begun, by their ids."""
        self._turn: EditorTurn | None = None
        self._planned: EditorTurn | None = None
        """Whose plan is going to be carried out."""
        self._deciding: list[EditorTurn] = []
        """Those that have ended in a plan, of which the user is asked what becomes of it."""
        self._waiters: list[tuple[type[HostEvent], str, asyncio.Future[HostEvent]]] = []

    @property
    def session_id(self) -> str:
        """Its id; empty until it is open."""
        return self.facts.opened.session_id if self.facts.opened is not None else ""

    @property
    def is_busy(self) -> bool:
        """Whether a turn runs or waits."""
        return bool(self._turn or self._planned or self._turns)

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
        told = [update for event in earlier or () for update in self._told(event)]
        # What happens meanwhile is held, too, or it would overtake what came before.
        while told := [*told, *(self._held or ())]:
            self._held = []
            for update in _with_latest_images(told):
                await self._send_now(update)
            told = []
        self._held = None
        if self.facts.untrusted:
            titles = ", ".join(self.facts.untrusted)
            text = (
                f"Not used without your trust, for which you can't be asked here: {titles}."
                f" {ASKED_ELSEWHERE} `amplifier-tui acp --trust` uses all of it.\n\n"
            )
            await self.send(helpers.update_agent_thought_text(text))

    async def show_terminal(self, call_id: str, terminal_id: str) -> None:
        """Show a terminal of the editor in the call whose command runs there."""
        for update in self._updates.terminal(call_id, terminal_id):
            await self.send(update)

    def forget_held(self) -> None:
        """Send nothing of what was said before: the editor has it."""
        self._held = []

    async def prompt(self, prompt: EditorPrompt) -> schema.PromptResponse:
        """Run a turn; returns how it ended.

        Raises:
            RequestError: It failed, in words.
        """
        turn, prompt_id = EditorTurn(self._loop.create_future()), uuid4().hex[:12]
        self._turns[prompt_id] = turn
        text = prompt.text or "Look at the attached files."
        self.client.submit(text, prompt.files, prompt_id, typed=prompt.typed)
        return await turn.answer

    def cancel(self) -> None:
        """Stop the running turn at once, and send none of the prompts that wait for its end."""
        if not self.is_busy and not self._waiters:
            # An interruption would be one of the opening, which is told before it is over.
            return
        waiting, self._turns = self._turns, {}
        for prompt_id, turn in waiting.items():
            # One that begins all the same is the turn that is stopped.
            self.client.unqueue(prompt_id)
            turn.answer.set_result(schema.PromptResponse(stop_reason="cancelled"))
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
        self._questions.close()
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

    def _fail(self, error: BaseException) -> None:
        begun = (self._turn, self._planned, *self._deciding)
        for turn in (*(each for each in begun if each is not None), *self._turns.values()):
            turn.fail(error)
        if self._opening is not None and not self._opening.done():
            self._opening.set_exception(error)
        self._turn = self._planned = None
        self._deciding.clear()
        self._turns.clear()

    async def _take(self, event: HostEvent) -> None:
        self._note(event)
        for update in self._told(event):
            await self.send(update)
        match event:
            case TrustAsked():
                self._updates.untrusting = True
                self.facts.untrusted += [one_line(item.title) for item in event.items]
                self.client.answer_trust(event.request_id, TrustDecision(unasked=True))
            case _ if self._questions.take(event):
                pass
            case _ if event.agent != MAIN_LANE or event.replayed:
                pass
            case TurnStarted():
                planned, self._planned = self._planned, None
                found = self._turns.pop(event.prompt_id, planned)
                self._turn = found or EditorTurn(self._loop.create_future())
            case PlanProposed() if self._turn is not None:
                self._turn.plan = asyncio.create_task(self._questions.plan())
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

    def _told(self, event: HostEvent) -> list[Update | _Images]:
        """Return what the editor is sent of an event."""
        found: list[Update | _Images] = [*self._updates.of(event)]
        match event:
            case ImagesAdded(call_id="", replayed=False):
                # The editor shows what its user sends by itself.
                pass
            case ImagesAdded() if event.agent == MAIN_LANE:
                found.append(_Images(event, self._updates.result_of(event.call_id)))
        return found

    async def _send_now(self, update: Update | _Images) -> None:
        updates = [update]
        if isinstance(update, _Images):
            # Read only now, one at a time: together they may be very large.
            blocks = await image_blocks(self.client, update.event)
            updates = with_images(update.event.call_id, update.result, blocks)
        for each in updates:
            await self._editor.session_update(self.session_id, each)

    def _note(self, event: HostEvent) -> None:
        facts = self.facts
        match event:
            case SessionOpened():
                facts.opened = event
                self._questions.session_id = event.session_id
                # Some bundles work on a copy of their own, not in the editor's folder.
                self._updates.cwd = self._questions.cwd = event.cwd
                facts.model = f"{event.provider}/{event.model}" if event.model else ""
                if self._opening is not None and not self._opening.done():
                    self._opening.set_result(event)
            case ModeChanged(agent="main"):
                facts.mode = event.mode
            case ModelChanged(agent="main"):
                facts.model = f"{event.provider}/{event.model}"
                facts.effort, facts.efforts = event.effort, event.efforts

    async def send(self, update: Update | _Images) -> None:
        """Send an update, or hold it until the editor knows the session."""
        if self._held is not None:
            self._held.append(update)
        else:
            await self._send_now(update)

    def _failed(self, event: Failed) -> None:
        error = RequestError(
            -32603, one_line(with_remedy(event.message, helps(event.remedy)), 2_000)
        )
        if event.kind in ("authentication", "no_provider"):
            error = RequestError(-32000, str(error))
        if self._turn is not None:
            self._turn.failure = event
        elif self._opening is not None and not self._opening.done():
            self._opening.set_exception(error)
        elif self._turns:
            # The prompt was not accepted.
            self._turns.pop(next(iter(self._turns))).fail(error)

    async def _ended(self, event: TurnEnded) -> None:
        turn, self._turn = self._turn, None
        if turn is None or turn.answer.done():
            return
        plan, turn.plan = turn.plan, None
        if plan is not None:
            # Here, or the answer would come before the question. A question that is closed before
            # it has begun ends nothing.
            self._deciding.append(turn)
            self._questions.ask("plan", self._after_plan(turn, plan, event))
        else:
            turn.settle(event)

    async def _after_plan(
        self, turn: EditorTurn, plan: "asyncio.Task[Mode | None]", event: TurnEnded
    ) -> None:
        mode: Mode | None = None
        try:
            mode = await plan
        finally:
            if turn in self._deciding:
                self._deciding.remove(turn)
            # The mode may have changed, another prompt may have come, the session may be closed.
            if mode is not None and self.facts.mode == "plan" and not self.is_busy:
                self._planned = turn
                self.client.carry_out(mode)
            else:
                turn.settle(event)


def _with_latest_images(told: list[Update | _Images]) -> list[Update | _Images]:
    """Return what is told without the images that are too many, the first ones."""
    left, kept = _MOST_RETOLD, list[Update | _Images]()
    for each in reversed(told):
        if isinstance(each, _Images):
            left -= len(sent_images(each.event))
        if left >= 0 or not isinstance(each, _Images):
            kept.append(each)
    return kept[::-1]
