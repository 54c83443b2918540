"""Joins a session to the screen: events to the state and its widgets, the user's words back."""

from __future__ import annotations

import asyncio
import contextlib
import logging
from collections.abc import Awaitable, Callable
from functools import partial
from pathlib import Path
from time import time
from typing import TYPE_CHECKING

from amplifier_tui.base.text import one_line, written
from amplifier_tui.host.events import (
    MAIN_LANE,
    ApprovalRequested,
    CancelRequested,
    Failed,
    ModelChanged,
    Notice,
    QuestionsAsked,
    SessionHeld,
    SessionOpened,
    TerminalWanted,
    TrustAsked,
    TurnEnded,
    TurnStarted,
)
from amplifier_tui.ui.app import pace
from amplifier_tui.ui.dialogs.parts.sheet import Sheet
from amplifier_tui.ui.session.attention import call_user
from amplifier_tui.ui.session.earlier import EarlierRows
from amplifier_tui.ui.session.feed import Feed
from amplifier_tui.ui.session.forks import Forks
from amplifier_tui.ui.session.going_back import GoingBack
from amplifier_tui.ui.session.hits import HitOpener
from amplifier_tui.ui.session.questions import AskDialogs
from amplifier_tui.ui.session.trust import TrustDialogs
from amplifier_tui.ui.state.conversation.entries import NO_MODEL
from amplifier_tui.ui.state.formats import plural
from amplifier_tui.ui.state.open_sessions import is_empty
from amplifier_tui.ui.terminal import leave
from amplifier_tui.ui.terminal.leave import Farewell
from amplifier_tui.ui.widgets.messages import ActionWanted, ModelChosen, TerminalNeeded

if TYPE_CHECKING:
    from amplifier_tui.host.events import HostEvent
    from amplifier_tui.ui.keys.keymap import Keymap
    from amplifier_tui.ui.session.approvals import ApprovalDialogs
    from amplifier_tui.ui.session.keyboard import Keyboard
    from amplifier_tui.ui.session.tabs.tab import SessionTab
    from amplifier_tui.ui.state.conversation.entries import EntryChange
    from amplifier_tui.ui.state.session import SessionState

_log = logging.getLogger(__name__)

OPENING_FRAME = 0.15
"""Seconds between two looks at a session that opens: each takes the interpreter from it."""

_SHOWN_AT_ONCE = (SessionOpened, Failed, ApprovalRequested, QuestionsAsked, TrustAsked)


def why_none(state: SessionState, keymap: Keymap) -> str:
    """Return what is said where a session is needed and none is open."""
    if state.trust.pending is not None:
        return f"No session is open yet: {keymap.way_to('approval.show')} answers its question."
    if state.facts.comes_again:
        other = keymap.way_to("session.bundles")
        return f"No session is open: /new opens it again, {other} another bundle."
    return "No session is open: /new begins one, /sessions lists what is stored."


class SessionLink:
    """Follows one session, whether it is shown or not.

    Args:
        send: Sends a text of the user, a slash command too, as if it was sent now.
        early: What was sent before a session is open, each with whether it is to be queued.
        approvals: Asks what its agents want to do.
        changed: Called after every batch.
        look_back: Whether to say, once it is open, which sessions a crash has cut off.
    """

    def __init__(
        self,
        tab: SessionTab,
        keyboard: Keyboard,
        send: Callable[..., Awaitable[None]],
        early: list[tuple[str, bool]],
        approvals: ApprovalDialogs,
        changed: Callable[[], None],
        *,
        look_back: bool = False,
    ) -> None:
        self.tab = tab
        self._screen = tab.screen
        self._app = tab.screen.app
        self._client = tab.client
        self._state = tab.state
        self._feed = Feed(tab.client, self.take)
        self._send = send
        self._approvals = approvals
        self._changed = changed
        self._look_back = look_back
        self.keyboard = keyboard
        self.trust = TrustDialogs(tab, keyboard)
        self.questions = AskDialogs(tab, keyboard)
        self.forks = Forks(tab)
        self.going_back = GoingBack(tab, self.forks)
        self.earlier = EarlierRows(tab)
        self.hits = HitOpener(tab, self.earlier.fetch)
        self.opening = False
        """Whether the first session is still to come."""
        self.after_turn: Callable[[], object] | None = None
        """What is to be done when the running turn has ended."""
        self._knows_held = False
        """Whether it was told that another window has the session open."""
        self._draft_waits = False
        """Whether the draft that is stored was not shown yet."""
        self._kept = ""
        """The draft that is stored."""
        self._taken_back = ("", "")
        """The queued prompt that was taken back last: its id and its words."""
        self._settled = asyncio.Event()
        self._early = early
        self._changes: list[EntryChange] = []
        """What the state says that is still to be drawn."""
        self._showing = False

    def follow(self) -> None:
        """Follow the session that was asked for."""
        self.opening = True
        self._tell_early()
        self._feed.start()

    def shown(self) -> None:
        """Take note that the session has come to the screen, for the first time or again."""
        self.trust.shown()
        self.questions.shown()
        if not self.opening:
            self._send_early()

    async def wait_until_open(self, timeout: float) -> None:
        """Wait until the session is open or has failed to, but no longer than `timeout` seconds."""
        with contextlib.suppress(TimeoutError):
            await asyncio.wait_for(self._settled.wait(), timeout)

    def take(self, events: list[HostEvent]) -> None:
        """Apply a batch and draw what changed; while a session opens, a little later.

        Nothing is left to draw on when the app ends before its sessions.
        """
        if not self._app.is_running:
            return
        try:
            self._take(events)
        except Exception as error:
            # The loop would only log it: a screen that no longer follows must say so.
            _log.exception("A batch of events could not be shown")
            report = leave.write_report(error)
            self.tab.say(f"Something could not be shown. Report: {report}", "error")

    def _take(self, events: list[HostEvent]) -> None:
        state = self._state
        self._changes += state.apply(events)
        urgent = any(isinstance(event, _SHOWN_AT_ONCE) for event in events)
        if urgent or not (self.opening and events):
            changes, self._changes = self._changes, []
            self._showing = False
            (self._screen.show if self.tab.shown else self.tab.keep)(changes)
        elif not self._showing:
            self._showing = True
            self._screen.set_timer(OPENING_FRAME, partial(self.take, []))
        if isinstance(self._app.screen, Sheet) and self._app.screen.is_mounted:
            self._app.screen.state_changed()
        for event in events:
            if not event.replayed:
                self._react(event)
        self.questions.sync(next(iter(state.questions.pending), None))
        self.trust.sync(state.trust.pending)
        self._approvals.sync()
        self._changed()

    def _react(self, event: HostEvent) -> None:
        self.forks.take(event)
        self.going_back.take(event)
        self.hits.take(event)
        call_user(self._app, self.tab, event)
        match event:
            case SessionOpened():
                self._opened(event)
            case SessionHeld():
                self._held(event)
            case Failed():
                self._failed(event)
            case ModelChanged() if event.chosen:
                self._model_chosen(event)
            case TerminalWanted():
                needed = TerminalNeeded(event)
                self.tab.when_shown(lambda: self._screen.post_message(needed))
            case Notice():
                self.tab.pass_on(event.text, event.level)
            case TurnStarted() if event.agent == MAIN_LANE:
                self._turn_started(event)
            case TurnEnded() if event.agent == MAIN_LANE:
                self.tab.turn_ended()
                if call := self.after_turn:
                    self.after_turn = None
                    self.tab.when_shown(call)
                if self.tab.shown:
                    # After the screen has drawn the end of the turn.
                    self._app.set_timer(0.5, pace.turn_ended)
            case _:
                pass

    def _opened(self, event: SessionOpened) -> None:
        first, self.opening = self.opening, False
        self._knows_held = False
        self._settled.set()
        if self.tab.shown:
            self._screen.prompt.set_root(Path(event.cwd))
            self._screen.leave_conversation()
        self._kept, self._draft_waits = event.draft, bool(event.draft)
        if event.draft:
            self.tab.when_shown(partial(self._give_back, written(event.draft)))
        self._send_early()
        if first and self._look_back:
            self._screen.run_worker(self._look_for_left_open(), group="left-open")
        elif not first:
            self._app.set_timer(0.5, pace.session_changed)

    def take_back(self, prompt_id: str, text: str) -> None:
        """Take a queued prompt back into the draft, which is empty."""
        self._taken_back = prompt_id, text
        self._client.unqueue(prompt_id)
        self._screen.prompt.restore(text)

    def _leave_sent(self, text: str) -> None:
        """Take what could not be taken back any more out of the draft, unless it was changed."""
        draft = self._screen.prompt.input
        if draft.draft == text:
            draft.clear_draft()
            self.tab.say("It was sent already: it could not be taken back.", "warning")

    def _turn_started(self, event: TurnStarted) -> None:
        """Store the draft anew: what was stored is gone with the turn that began.

        It need not be what the turn began with: that may have waited in the queue.
        """
        prompt_id, text = self._taken_back
        if prompt_id and event.prompt_id == prompt_id:
            self.tab.when_shown(partial(self._leave_sent, text))
        stored, self._kept = self._kept, ""
        self.keep_draft(stored if self._draft_waits else self.tab.written)

    def _give_back(self, draft: str) -> None:
        self._draft_waits = False
        self._screen.prompt.give_back(draft)

    def _held(self, event: SessionHeld) -> None:
        """Say what another window does with the session, where that is news or was asked for."""
        self.tab.restore(event.prompt)
        asked, self._knows_held = self._knows_held, True
        if event.free:
            way = self._screen.keymap.way_to("session.take_over")
            text = f"The other window has let the session go: {way} goes on with it here."
            self.tab.say(text, until="opened")
        elif asked:
            self.tab.say("The session is still open in another window: close it there.", "warning")

    def _send_early(self) -> None:
        """Send what was sent before the session was open; unseen, commands of the screen wait."""
        early = self._early[:]
        self._early.clear()
        for text, queue in early:
            if self.tab.shown:
                self._app.call_next(partial(self._send, text, queue=queue))
            elif text.startswith("/"):
                self._early.append((text, queue))
            else:
                self.submit(text, queue=queue)
        self._tell_early()

    def _tell_early(self) -> None:
        """Show what waits for the session to be open: a question may stand before that."""
        early = tuple(text for text, _ in self._early)
        if early != self._state.queue.early:
            self._state.queue.early = early
            self.tab.show([])

    async def _look_for_left_open(self) -> None:
        """Say once which sessions a crash has cut off."""
        try:
            left = await asyncio.wrap_future(self._client.left_open())
        except Exception:
            # The list says why, where somebody asks for it.
            _log.exception("What was left open is not known")
            return
        if left:
            verb = "was" if len(left) == 1 else "were"
            way = self._screen.keymap.way_to("session.left_open")
            count = plural(len(left), "session")
            self._screen.say_left_open(f"{count} {verb} open when the program ended: {way}")

    def _failed(self, event: Failed) -> None:
        self.tab.pass_on(event.message, "error")
        idle = self._app.screen is self._screen and not self.keyboard.question_wait()
        if event.kind == NO_MODEL and idle and self.tab.shown:
            self._screen.post_message(ActionWanted("model.choose"))
        if self.opening:
            # Nothing is open: what was sent in the meantime goes back to its writer.
            self.opening = False
            self._settled.set()
            self.tab.restore("\n\n".join(text for text, _ in self._early))
            self._early.clear()
            self._tell_early()
        else:
            # Often the next words are others: they do not go behind those that failed.
            self.tab.restore(event.prompt, selected=True)

    def _model_chosen(self, event: ModelChanged) -> None:
        effort = f" ({event.effort})" if event.effort else ""
        bundle = self._state.facts.bundle
        if not event.doubted:
            # Whole at 80 cells with most names; what the user has just chosen may be cut.
            self.tab.say(f"Now and in later {bundle} sessions: {event.model}{effort}")
        self._screen.post_message(ModelChosen(bundle, event))

    def submit(self, text: str, *, queue: bool) -> bool:
        """Send a prompt the way the moment asks for; with `queue`, for after the running turn.

        Returns:
            False when no session is open; the draft is to be kept.
        """
        if self.opening:
            self._early.append((text, queue))
            self._tell_early()
        elif not self._state.facts.opened:
            self._screen.say(why_none(self._state, self._screen.keymap), "warning", "opened")
            return False
        elif not self._state.activity.running:
            failed = self._state.conversation.failures.newest
            if failed is not None and failed.taken and failed.prompt == text:
                # The draft was given back; the conversation has the prompt already.
                self._client.retry()
            else:
                self._client.submit(text)
        elif queue:
            self._client.queue(text)
        else:
            self._client.steer(text)
        return True

    @property
    def keeps_drafts(self) -> bool:
        """Whether what was written and not sent is stored with the session."""
        facts = self._state.facts
        return facts.opened and facts.held is None and not is_empty(self._state)

    def keep_draft(self, draft: str) -> None:
        """Have the draft stored with the session, where it is another one than is stored."""
        draft = draft.strip()
        if self.keeps_drafts and draft != self._kept and (draft or not self._draft_waits):
            self._kept = draft
            self._client.keep_draft(draft)

    def compact(self, instructions: str | None) -> None:
        """Compact the conversation; `stop` ends a summary that is being written."""
        self._client.compact(instructions)

    def stop(self) -> None:
        """Stop the user's own command; else the turn, and asked again, at once."""
        activity = self._state.activity
        if activity.blocker and not activity.running:
            # What it holds up is asked to stop all the same: for when the engine is free.
            self._say_blocker(one_line(activity.blocker))
        if activity.commands:
            self._client.stop_shell()
            return
        if not activity.running:
            if activity.compacting:
                # Which is no turn.
                self._client.interrupt(False)
            elif activity.changing:
                self._client.stop_change()
            elif activity.slow_opening(time()):
                self._client.interrupt(False)
            elif not activity.blocker:
                self._screen.say("Nothing is running.")
            return
        if (waiting := self._state.conversation.limit) is not None:
            # Nothing runs that could end its step: the request is not sent.
            self._client.answer_limit(waiting.asked.request_id, go=False)
            return
        immediate = bool(activity.stop)
        # By the time it gets there another one may run.
        self._client.interrupt(immediate, activity.turn)
        # The screen says so before the engine does.
        said = CancelRequested(session_id=self._state.facts.session_id, immediate=immediate)
        self.tab.show(self._state.apply([said]))

    def _say_blocker(self, who: str) -> None:
        """Say that a module which does not give the engine back can't be stopped."""
        then = "resume the session" if self._state.facts.opened else "open another bundle"
        self._screen.say(f"{who} can't be stopped: if it goes on, quit and {then}.", "warning")

    async def close(self, timeout: float, draft: str = "") -> Farewell:
        """Close the session in so many seconds and say what there is to say; keep its draft."""
        problem = ""
        self.keep_draft(draft)
        try:
            await asyncio.wait_for(asyncio.wrap_future(self._client.close()), timeout)
        except TimeoutError:
            problem = f"The session did not close within {timeout:.0f} s; its rows so far are kept."
        except Exception as error:
            _log.exception("The session did not close in order")
            problem = f"The session did not close in order: {error}"
        self._feed.flush()
        self._feed.stop()
        # Nobody waits for an answer any more, whatever the session still said.
        self.trust.sync(None)
        self.questions.sync(None)
        facts = self._state.facts
        again = facts.resume_command
        if problem and facts.opened and self._state.prompt_of() is not None:
            again = again or f"amplifier-tui --resume {facts.session_id}"
        # A session that closes in time says itself what of it is lost.
        problem = problem or (f"{facts.unsaved}." if facts.unsaved else "")
        return Farewell(facts.last_answer, again, problem, ends=facts.ends, aside=facts.aside)
