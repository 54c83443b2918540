"""The engine's side of the client: one session at a time, opened, run and closed."""

import asyncio
import logging
from collections.abc import Callable, Collection, Coroutine, Mapping
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any, Final, Literal

from amplifier_tui.foundation.trust.gate import TrustCallback
from amplifier_tui.foundation.trust.items import TrustDecision, TrustItem
from amplifier_tui.host.client import (
    BundleCard,
    BundlePreview,
    OpenRequest,
    SearchFound,
    SessionCard,
)
from amplifier_tui.host.door.capture import PrintCapture, Tracebacks
from amplifier_tui.host.door.commands import NO_SESSION, SessionCommands
from amplifier_tui.host.door.descriptors import DescriptorCapture
from amplifier_tui.host.door.open_sessions import OpenSessions
from amplifier_tui.host.events import Failed, HostEvent, Mode
from amplifier_tui.host.failures import internal_failure, opening_failure
from amplifier_tui.host.models.setup import check_readers, trial
from amplifier_tui.host.redaction import Redactor
from amplifier_tui.host.session.carrying import Carried
from amplifier_tui.host.session.live import LiveSession
from amplifier_tui.host.session.opening.opening import Opening
from amplifier_tui.host.store.search.background import SessionSearch
from amplifier_tui.host.store.sessions import list_sessions
from amplifier_tui.host.store.turns.prompts import NoSuchTurnError
from amplifier_tui.host.trust.answers import TrustMemory
from amplifier_tui.host.turns.handle import TurnHandle
from amplifier_tui.host.turns.prompts import Prompt

logger = logging.getLogger(__name__)

_CLOSING_SECONDS: Final = 3.0
CARRY_OUT: Final = "Carry out the plan."
"""The prompt of a plan that the user says yes to."""

_PRINTED: int = 20
"""Printed lines of a session that become notices; the rest is only logged."""


class Service(SessionCommands):
    """Runs sessions on the engine's loop; created there.

    Args:
        trust: Answers for what a project or a stranger brings; None asks the user.
        printed: Catches what is written to the program's descriptors.
        window: Whether its sessions are offered again after a crash.
    """

    def __init__(
        self,
        put: Callable[[HostEvent], None],
        trust: TrustCallback | None = None,
        printed: DescriptorCapture | None = None,
        *,
        window: bool = False,
    ) -> None:
        super().__init__(put)
        self._windows = OpenSessions() if window else None
        self._search = SessionSearch()
        self._trust_all = trust
        self._memory = TrustMemory()
        self._cwd = Path.cwd()
        self._mode: Mode | Literal[""] = ""
        self._trying: Opening | None = None
        self._refused: tuple[TrustItem, ...] = ()
        self._opening_task: asyncio.Task[None] | None = None
        self._early: list[Prompt] = []
        self._closing: set[asyncio.Task[Any]] = set()
        self._noting = asyncio.Lock()
        self._printed = 0
        tracebacks = Tracebacks(self._printed_text)
        self._capture = PrintCapture(tracebacks.take)
        self._capture.start()
        if printed is not None:
            printed.pass_on(partial(_soon, asyncio.get_running_loop(), tracebacks.take))

    @property
    def handle(self) -> TurnHandle | None:
        """The running turn, for other threads."""
        live = self._live
        return None if live is None else live.turns.handle

    async def resume(self, session_id: str) -> None:
        """Open a stored session instead of the running one."""
        if self._live is not None and self._live.session_id == session_id:
            self._live.sender.notice("info", "This session is open already")
            return
        await self.open(OpenRequest(cwd=self._cwd, resume=session_id))

    async def switch_bundle(self, name: str, *, carry: bool = True) -> None:
        """Open another bundle in a new session."""
        carried = None
        live = self._live
        # Prompts may wait where everything that was said has been taken back.
        if live is not None and carry and (live.store.rows or live.turns.queue):
            carried = await live.moved()
        await self.open(OpenRequest(cwd=self._cwd, bundle=name), carried)

    async def set_up(self, variables: Mapping[str, str], bundle: str = "") -> None:
        """Try what a provider needs, and keep it where it works."""
        live = self._opened()
        if live is None:
            return
        if live.turns.running:
            self._say("warning", "A turn is running: stop it first")
            return
        reference = bundle or live.reference
        try:
            with trial(variables) as attempt:
                problem = await self._try_out(live, reference, variables)
                attempt.works = not problem
        except ValueError as error:
            problem = str(error)
        if problem:
            self._say("warning", f"Nothing was kept: {problem}", "setup")
            return
        try:
            kept = await asyncio.to_thread(attempt.keep)
        except (OSError, ValueError) as error:
            kept = f"It works, but it counts for this run only: {error}"
        if self._live is live:
            await self._go_on_in(live, reference)
        self._say("info", kept, "setup")

    async def _try_out(self, live: LiveSession, reference: str, names: Collection[str]) -> str:
        """Open a bundle behind the session on screen, and ask the providers that read variables.

        Returns:
            Why there was no answer; empty where there was one.
        """

        def put(event: HostEvent) -> None:
            # All that is shown of it is what it asks as the session on screen.
            if event.session_id == live.session_id:
                self._put(event)

        request = OpenRequest(cwd=self._cwd, bundle=reference)
        trust = self._trust_all or self._memory
        self._trying = opening = Opening(request, put, trust, asks_as=live.session_id)
        try:
            opened = await opening.run()
        except Exception as error:
            # Modules' code: whatever it raises is why the bundle can't be opened.
            logger.info("A provider could not be tried", exc_info=error)
            return opening_failure(error, self._stamp(), opening.redactor).message
        finally:
            self._trying = None
        try:
            return await check_readers(opened, names)
        finally:
            await opened.close()

    async def _go_on_in(self, live: LiveSession, reference: str) -> None:
        """Open a bundle with the conversation and the mode of a session."""
        carried = None
        if live.store.rows:
            carried = await live.moved()
            if reference == live.reference:
                carried = replace(carried, workspace=live.store.metadata.workspace)
        mode = live.gating.gate.mode
        await self.open(OpenRequest(cwd=self._cwd, bundle=reference, mode=mode), carried)

    async def fork(self, before_turn: int | None = None) -> None:
        """Open a copy of the session, whole or up to a turn; the session itself stays stored."""
        live = self._live
        if live is None:
            self._refuse("no_session", NO_SESSION, "Choose a bundle or resume a session.")
        elif live.turns.running:
            self._refuse("busy", "A turn is running", "Stop it, or wait for its end, then fork.")
        else:
            try:
                carried = await live.forked(before_turn)
            except NoSuchTurnError as error:
                self._refuse("no_turn", str(error), "Choose a turn of the conversation.")
                return
            mode = live.gating.gate.mode
            request = OpenRequest(cwd=self._cwd, bundle=live.reference, mode=mode)
            await self.open(request, carried)

    async def open(self, request: OpenRequest, carried: Carried | None = None) -> None:
        """Open a session; the one that runs ends once the new one is there."""
        live = self._live
        if live is not None and (live.turns.running or live.shell.running):
            what = "A turn" if live.turns.running else "A command of yours"
            live.sender.notice(
                "warning", f"{what} is running: stop it before you open another session"
            )
            return
        await self._give_up_opening()
        if request.resume and self._closing:
            # It may be the session that has just been left.
            await asyncio.wait(self._closing, timeout=_CLOSING_SECONDS)
        self._cwd = request.cwd
        # A stored session has a mode of its own.
        self._mode = request.mode or ("" if request.resume else self._mode)
        self._models |= request.models
        # As the mode: a stored session has its own.
        self._limit = request.limit or (None if request.resume else self._limit)
        opening = Opening(
            replace(request, mode=self._mode, models=self._models, limit=self._limit),
            self._put,
            self._trust_all or self._memory,
            carried,
            asks_as=self._live.session_id if self._live is not None else "",
        )
        self._opening = opening
        task = asyncio.get_running_loop().create_task(self._finish_opening(opening))
        self._opening_task = task
        await asyncio.wait({task})

    async def _finish_opening(self, opening: Opening) -> None:
        try:
            live = await opening.run()
        except asyncio.CancelledError as error:
            self._put(
                Failed(
                    **self._stamp(opening.session_id),
                    kind="cancelled",
                    message="Opening the session was stopped",
                    remedy="Open it again, or another one.",
                    prompt=self._take_early(),
                )
            )
            logger.info("Opening was cancelled: %s", error)
            return
        except Exception as error:
            logger.warning("A session could not be opened", exc_info=error)
            failure = opening_failure(error, self._stamp(opening.session_id), opening.redactor)
            self._put(replace(failure, prompt=self._take_early()))
            return
        finally:
            if self._opening is opening:
                self._opening = None
        before, self._live, self._refused = self._live, live, opening.refused
        # Before anything is waited for: whoever opens another session now ends this task.
        if before is not None:
            self._in_background(before.close("replaced"))
        self._in_background(self._note_open(live, before))
        if self._mode and live.gating.gate.mode != self._mode:
            # Chosen while it opened.
            await live.gating.set_mode(self._mode)
        self._printed = 0
        early, self._early = self._early, []
        for prompt in early:
            live.turns.submit(prompt)

    async def _note_open(self, live: LiveSession, before: LiveSession | None) -> None:
        """Keep on disk which session is open in this window."""
        if self._windows is None:
            return
        project = Path(live.store.metadata.project_dir)
        async with self._noting:
            await asyncio.to_thread(self._windows.opened, live.session_id, project)
            if before is not None:
                await asyncio.to_thread(self._windows.closed, before.session_id)

    def _in_background(self, work: Coroutine[Any, Any, Any]) -> None:
        task = asyncio.get_running_loop().create_task(work)
        self._closing.add(task)
        task.add_done_callback(self._closing.discard)

    async def _give_up_opening(self) -> None:
        task = self._opening_task
        if task is not None and not task.done():
            task.cancel()
            await asyncio.wait({task}, timeout=2)

    def _take_early(self) -> str:
        """Return what was sent before a session was there: it goes back to its writer."""
        early, self._early = self._early, []
        return "\n\n".join(prompt.text for prompt in early)

    async def submit(self, text: str, attachments: tuple[str, ...] = ()) -> None:
        """Run a prompt, now or after the running turn."""
        prompt = Prompt(text, attachments)
        if self._opening is not None:
            self._early.append(prompt)
        elif self._live is not None:
            self._live.turns.submit(prompt)
        else:
            self._refuse("no_session", NO_SESSION, "Choose a bundle or resume a session.", text)

    async def steer(self, text: str) -> None:
        """Give the running turn a message."""
        if self._live is not None and self._opening is None:
            self._live.turns.steer(text)
        else:
            await self.submit(text)

    queue = submit

    async def retry(self, *, without: str = "") -> None:
        """Go on with the turn that failed."""
        if self._opening is not None or self._live is None:
            self._say("info", "There is nothing to try again: no session is open")
        else:
            self._live.retry(without)

    async def interrupt(self, immediate: bool = False, handle: TurnHandle | None = None) -> None:
        """Stop the running turn, or the opening of a session.

        Args:
            immediate: Do not wait for the running step.
            handle: The turn that is meant, if its token was set and `CancelRequested` sent
                already.
        """
        if handle is not None and handle is not self.handle:
            return  # It has ended in the meantime; what runs now is another one.
        if self._live is not None and self._live.turns.interrupt(
            immediate, told=handle is not None
        ):
            return
        if self._live is not None and self._live.compactor.cancel():
            return
        if self._opening_task is not None:
            self._opening_task.cancel()

    async def answer_trust(self, request_id: str, decision: TrustDecision) -> None:
        """Answer the question of trust."""
        for opening in (self._opening, self._trying):
            if opening is not None:
                opening.answer_trust(request_id, decision)
        if self._live is not None:
            self._live.modules.sources.answer(request_id, decision)

    async def set_mode(self, mode: Mode) -> None:
        """Change what goes through unasked."""
        self._mode = mode
        if self._live is not None:
            await self._live.gating.set_mode(mode)

    async def carry_out(self, mode: Mode) -> None:
        """Do what the plan mode ended in."""
        live = self._opened()
        if live is None:
            return
        if live.turns.running or live.gating.gate.mode != "plan":
            self._say("info", "There is no plan to carry out: plan mode ends in one")
            return
        await self.set_mode(mode)
        live.turns.submit(Prompt(CARRY_OUT))

    async def ask_trust_again(self) -> None:
        """Forget what was refused of this session, and open its bundle anew."""
        live = self._opened()
        if live is None:
            return
        if not self._refused:
            self._say("info", "Nothing of this session was refused")
            return
        try:
            await asyncio.to_thread(self._memory.forget, self._refused)
        except OSError as error:
            self._say("warning", f"What was refused can't be forgotten: {error}")
            return
        await self.switch_bundle(live.reference)

    async def bundles(self) -> tuple[BundleCard, ...]:
        """List the bundles."""
        from amplifier_tui.host.door.catalog import list_bundles

        return await list_bundles(self._cwd, self._active)

    async def preview(self, name: str) -> BundlePreview:
        """Describe a bundle."""
        from amplifier_tui.host.door.catalog import preview_bundle

        return await preview_bundle(self._cwd, name, self._active)

    @property
    def _active(self) -> str:
        return self._live.bundle if self._live is not None else ""

    async def sessions(self) -> tuple[SessionCard, ...]:
        """List the stored sessions of the project."""
        return await asyncio.to_thread(list_sessions, self._cwd)

    async def search(self, typed: str, *, here: bool = False) -> SearchFound:
        """Look for words in all stored sessions."""
        return await self._search.search(typed, self._cwd if here else None)

    async def left_open(self) -> tuple[SessionCard, ...]:
        """List the sessions that were open in windows that were killed."""
        return await asyncio.to_thread(self._windows.left) if self._windows is not None else ()

    async def dismiss_left_open(self, session_ids: tuple[str, ...]) -> None:
        """Offer sessions no more."""
        if self._windows is not None:
            await asyncio.to_thread(self._windows.dismiss, session_ids)

    async def close(self) -> None:
        """End everything; takes at most some 3 seconds."""
        await self._give_up_opening()
        await self._search.close()
        live, self._live = self._live, None
        if live is not None:
            await live.close()
        if self._closing:
            await asyncio.wait(self._closing, timeout=1)
        if self._windows is not None:
            await asyncio.to_thread(self._windows.close)
        self._capture.stop()

    def failed(self, error: BaseException, what: str) -> None:
        """Report an exception nobody expected."""
        self._put(internal_failure(error, what, self._stamp(), Redactor()))

    def _printed_text(self, text: str, stream: str) -> None:
        logger.info("printed to %s: %s", stream, text)
        self._printed += 1
        if self._live is None and self._opening is None:
            return
        if self._printed <= _PRINTED:
            self._say("info", Redactor().text(text), stream)
        elif self._printed == _PRINTED + 1:
            self._say("info", "Modules print more; the rest is in the program's log", stream)


def _soon(loop: asyncio.AbstractEventLoop, take: Callable[[str, str], None], line: str) -> None:
    """Hand a line that was written to a descriptor to the engine; called in a thread."""
    try:
        loop.call_soon_threadsafe(take, line, "descriptor")
    except RuntimeError:
        # The engine has ended, and the program is about to.
        logger.info("printed at the end: %s", line)
