"""Opens and closes sessions, one after the other."""

import asyncio
import logging
from collections.abc import Awaitable, Callable, Collection, Coroutine, Mapping
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any, Final, Literal

from amplifier_tui.foundation.exceptions import refusal_in
from amplifier_tui.foundation.trust.gate import TrustCallback
from amplifier_tui.foundation.trust.items import TrustDecision, TrustItem
from amplifier_tui.host.client import OpenRequest
from amplifier_tui.host.door.commands.session import SessionCommands
from amplifier_tui.host.door.open_sessions import OpenSessions
from amplifier_tui.host.events import Failed, HostEvent, Mode, ModuleFailed
from amplifier_tui.host.failures import opening_failure
from amplifier_tui.host.models.setup import check_readers, trial
from amplifier_tui.host.requests import request_problem
from amplifier_tui.host.session.carrying import Carried
from amplifier_tui.host.session.live import LiveSession
from amplifier_tui.host.session.opening.opening import Opening
from amplifier_tui.host.session.opening.viewing import ViewedSession
from amplifier_tui.host.store.sessions import SessionBusyError
from amplifier_tui.host.store.turns.prompts import NoSuchTurnError
from amplifier_tui.host.trust.answers import TrustMemory
from amplifier_tui.host.turns.prompts import Prompt

logger = logging.getLogger(__name__)

_CLOSING_SECONDS: Final = 3.0

Carry = Callable[[], Awaitable[Carried | None]]
"""Returns what goes along of the session that is open; None for nothing."""


class SessionOpener(SessionCommands):
    """Opens a session in the place of the one that is open; see `SessionClient`.

    Args:
        put: Takes events on their way up.
        trust: Answers for what a project or a stranger brings; None asks the user.
        window: Whether its sessions are offered again after a crash.
        place: Their place among those of the window, for the order in which they are offered.
    """

    def __init__(
        self,
        put: Callable[[HostEvent], None],
        trust: TrustCallback | None,
        *,
        window: bool,
        place: int,
    ) -> None:
        super().__init__(put)
        self._windows = OpenSessions(place) if window else None
        self._trust_all = trust
        self._memory = TrustMemory()
        self._cwd = Path.cwd()
        self._mode: Mode | Literal[""] = ""
        self._asked: OpenRequest | None = None
        self._carry: Carry | None = None
        """What goes along into the session that was asked for, until it is open."""
        self._trying: Opening | None = None
        self._refused: tuple[TrustItem, ...] = ()
        """What was refused of the session that is open."""
        self._untrusted: Opening | None = None
        """The last opening, where what it needs was refused."""
        self._opening_task: asyncio.Task[None] | None = None
        self._early: list[Prompt] = []
        self._naming = False
        self._closing: set[asyncio.Task[Any]] = set()
        self._noting = asyncio.Lock()

    async def resume(self, session_id: str) -> None:
        if self._live is not None and self._live.session_id == session_id:
            self._live.sender.notice("info", "This session is open already")
        else:
            await self.open(OpenRequest(cwd=self._cwd, resume=session_id, shows_busy=True))

    async def open_again(self) -> None:
        if self._live is None:
            await self._ask_anew()

    async def _ask_anew(self) -> None:
        """Open what was asked for last, with what has been said since."""
        asked = self._asked
        if asked is None:
            return
        if not asked.resume or (self._live is None and self._viewed is None):
            # It may have been chosen since; beside another session, not for a stored one.
            asked = replace(asked, mode=self._mode)
        await self.open(asked, self._carry)

    async def take_over(self) -> None:
        """Open the session that is shown of another window, if that has let it go."""
        viewed = self._viewed
        if viewed is None:
            self._say("info", "This session is open in no other window")
        elif not await asyncio.to_thread(viewed.is_free):
            await viewed.tell(self._take_early())
        elif self._viewed is viewed:
            self._viewed = None
            # What is stored is told once more, as by every session that is opened.
            viewed.close("taken over")
            await self.open(viewed.request, taken=viewed)

    async def switch_bundle(
        self, name: str, *, carry: bool = True, mode: Mode | Literal[""] = ""
    ) -> None:
        request = OpenRequest(cwd=self._cwd, bundle=name, mode=self._mode if carry else mode)
        await self.open(request, self._moved if carry else None)

    async def _moved(self, workspace: str = "") -> Carried | None:
        """Return the conversation of the session that is open; None where nothing was said.

        Args:
            workspace: The scratch folder to begin with a copy of.
        """
        live = self._live
        # Prompts may wait where everything that was said has been taken back.
        if live is None or not (live.store.has_work or live.turns.queue):
            return None
        return replace(await live.moved(), workspace=workspace)

    def _is_busy(self) -> bool:
        """Whether something runs, which another session must not end; the user is told."""
        live = self._live
        work = live.work if live is not None else ""
        if work:
            # Short: while something runs little of the status bar is left.
            self._say("warning", f"{work} is running: stop it first")
        return bool(work)

    async def _closings(self) -> None:
        """Wait for sessions that are being closed."""
        if self._closing:
            await asyncio.wait(self._closing, timeout=_CLOSING_SECONDS)

    async def open(
        self,
        request: OpenRequest,
        carry: Carry | None = None,
        taken: ViewedSession | None = None,
    ) -> None:
        """Open a session; the one that runs ends once the new one is there.

        Args:
            carry: Gives what goes along into it.
            taken: It was shown while another window had it open, and is again where this fails.
        """
        try:
            carried = await carry() if carry is not None else None
        except (NoSuchTurnError, OSError) as error:
            self._not_copied(error)
            return
        stored = bool(request.resume or carried or request.playback)
        problem, remedy = request_problem(request, stored=stored)
        if problem:
            self._refuse("request", problem, remedy)
            return
        if self._viewed is not None and request.resume == self._viewed.session_id:
            await self.take_over()
            return
        if self._is_busy():
            return
        await self._give_up_opening()
        if self._is_busy():
            # The one that opened was there already, and has begun what was sent to it.
            return
        if request.resume:
            # It may be the session that has just been left.
            await self._closings()
        self._cwd, self._asked, self._carry, self._untrusted = request.cwd, request, carry, None
        self._mode = request.mode
        self.chosen |= request.models
        # A stored session has a limit of its own.
        self._limit = request.limit or (None if request.resume else self._limit)
        shown = self._live or self._viewed
        opening = Opening(
            replace(request, models=self.chosen, limit=self._limit),
            self._put,
            self._trust_all or self._memory,
            carried,
            asks_as=shown.session_id if shown is not None else "",
        )
        self._opening = opening
        task = asyncio.get_running_loop().create_task(self._finish_opening(opening, taken))
        self._opening_task = task
        await asyncio.wait({task})
        if not task.cancelled() and (lost := task.exception()) is not None:
            logger.error("Opening a session did not end well", exc_info=lost)
            self._put(self._opening_failure(opening, lost))

    def _not_copied(self, error: NoSuchTurnError | OSError) -> None:
        if isinstance(error, NoSuchTurnError):
            self._refuse("no_turn", str(error), "Choose a turn of the conversation.")
        else:
            self._refuse("copy", f"The session can't be copied: {error}", "Nothing has changed.")

    async def _finish_opening(self, opening: Opening, taken: ViewedSession | None) -> None:
        try:
            live = await opening.run()
        except asyncio.CancelledError as error:
            if taken is not None:
                await self._view(taken.request, taken.folder)
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
        except SessionBusyError as error:
            if self._live is not None and error.folder == self._live.store.folder:
                self._say("info", "This session is open already")
                self._send_early(self._live)
            elif opening.request.shows_busy:
                await self._view(opening.request, error.folder, self._take_early())
            else:
                self._put(self._opening_failure(opening, error))
            return
        except Exception as error:
            logger.warning("A session could not be opened", exc_info=error)
            if refusal_in(error) is not None:
                self._untrusted = opening
            failure = self._opening_failure(opening, error)
            if taken is not None:
                await self._view(taken.request, taken.folder)
            self._put(failure)
            return
        finally:
            if self._opening is opening:
                self._opening = None
        self._refused, self._carry = opening.refused, None
        # Before anything is waited for: whoever opens another session now ends this task.
        self._replace(live, None)
        if self._mode and live.gating.gate.mode != self._mode:
            # Chosen while it opened.
            await live.gating.set_mode(self._mode)
        of_run = "" if opening.request.resume else self.named.get(live.bundle, "")
        model = opening.request.model or of_run
        if model and live.has_provider:
            await self._name_model(live, model)
        self._look_at_price(live)
        self._send_early(live)

    async def _name_model(self, live: LiveSession, model: str) -> None:
        """Have the named model answer; prompts wait for it, as no other must answer unasked."""
        self._naming = True
        self.named[live.bundle] = model
        try:
            refused = partial(self._misnamed, live)
            named = await live.models.switch("", model, kept=False, refused=refused)
        finally:
            self._naming = False
        self.named.pop(live.bundle, None)
        self._chose(live, named)

    def _misnamed(self, live: LiveSession, why: str) -> None:
        """Say that the model a session was to open with is none, and give back what was sent."""
        facts = live.models.facts
        live.sender.send(
            Failed(
                **live.sender.stamp(),
                kind="not_found",
                message=why,
                remedy=f"Until you choose another, {facts.model or facts.name} answers.",
                prompt=self._take_early(),
            )
        )

    def _send_early(self, live: LiveSession) -> None:
        """Send what was sent while it opened."""
        early, self._early = self._early, []
        for prompt in early:
            live.turns.submit(prompt)

    def _opening_failure(self, opening: Opening, error: BaseException) -> Failed:
        stamp = self._stamp(opening.session_id)
        failure = opening_failure(error, stamp, opening.redactor)
        if module := failure.module:
            # It was mounted, and the session could not be taken up with it.
            self._put(
                ModuleFailed(
                    **stamp,
                    module_id=module,
                    kind="unknown",
                    error=failure.message,
                    remedy=failure.remedy,
                    fatal=True,
                )
            )
        return replace(failure, prompt=self._take_early())

    async def _view(self, request: OpenRequest, folder: Path, prompt: str = "") -> None:
        """Show a session that another window has open, in place of the one that is open here."""
        viewed = ViewedSession(folder, request, self._put)
        try:
            read = await viewed.read(prompt)
        except OSError as error:
            self._refuse("busy", f"The session can't be shown: {error}", "Choose another.", prompt)
            return
        viewed.show(read)
        self._replace(None, viewed)
        if self._early:
            # Sent while it was read.
            await viewed.tell(self._take_early())

    def _replace(self, live: LiveSession | None, viewed: ViewedSession | None) -> None:
        """Put a session in the place of the one that was there, which is closed."""
        before, self._live = self._live, live
        seen, self._viewed = self._viewed, viewed
        if seen is not None:
            seen.close("replaced")
        if before is not None:
            self._in_background(before.close("replaced"))
        self._in_background(self._note_open(live, before))

    async def _note_open(self, live: LiveSession | None, before: LiveSession | None) -> None:
        """Keep on disk which session is open in this window."""
        if self._windows is None:
            return
        async with self._noting:
            if live is not None:
                project = Path(live.store.metadata.project_dir)
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

    async def answer_trust(self, request_id: str, decision: TrustDecision) -> None:
        for opening in (self._opening, self._trying):
            if opening is not None:
                opening.answer_trust(request_id, decision)
        if self._live is not None:
            self._live.modules.sources.answer(request_id, decision)

    async def ask_trust_again(self, *, shown: bool = False) -> None:
        live = self._live
        untrusted = None if shown and (live or self._viewed) else self._untrusted
        if untrusted is None and (self._viewed is not None or self._asked is None):
            self._say("warning", self._missing)
            return
        refused = untrusted.refused if untrusted is not None else self._refused
        if not (refused or untrusted or live is None):
            self._say("info", "Nothing of this session was refused")
            return
        try:
            await asyncio.to_thread(self._memory.forget, refused)
        except OSError as error:
            self._say("warning", f"What was refused can't be forgotten: {error}")
            return
        if untrusted is None and live is not None:
            await self.switch_bundle(live.reference)
        else:
            await self._ask_anew()

    async def set_up(self, variables: Mapping[str, str], bundle: str = "") -> None:
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
            kept = f"It answers. {await asyncio.to_thread(attempt.keep)}"
        except (OSError, ValueError) as error:
            kept = f"It works, but it counts for this run only: {error}"
        if self._live is live:
            await self._go_on_in(live, reference)
        self._say("warning" if attempt.shadowed else "info", kept, "setup")

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
        workspace = live.store.metadata.workspace if reference == live.reference else ""
        request = OpenRequest(cwd=self._cwd, bundle=reference, mode=live.gating.gate.mode)
        await self.open(request, partial(self._moved, workspace))

    async def _end_session(self) -> None:
        """Close the session, and leave no record of it as open."""
        live, self._live = self._live, None
        viewed, self._viewed = self._viewed, None
        if viewed is not None:
            viewed.close()
        if live is not None:
            await live.close()
        if self._closing:
            await asyncio.wait(self._closing, timeout=1)
        if self._windows is not None:
            await asyncio.to_thread(self._windows.close)
