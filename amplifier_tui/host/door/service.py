"""The engine's side of the client: runs the session that is open, and answers questions."""

import asyncio
import logging
import threading
from collections import Counter
from collections.abc import Callable
from dataclasses import replace
from functools import partial
from typing import Final

from amplifier_tui.base.python import UNAWAITED
from amplifier_tui.foundation.trust.gate import TrustCallback
from amplifier_tui.host.client import (
    BundleCard,
    BundlePreview,
    ExportedFile,
    ExportRequest,
)
from amplifier_tui.host.door.capture import TRACEBACK, PrintCapture, Tracebacks
from amplifier_tui.host.door.commands.holder import NO_SESSION
from amplifier_tui.host.door.descriptors import DescriptorCapture
from amplifier_tui.host.door.stacks import running_module
from amplifier_tui.host.door.stored import StoredCommands
from amplifier_tui.host.events import MAIN_LANE, EngineBlocked, HostEvent, Level, Mode
from amplifier_tui.host.failures import internal_failure, stray_failure
from amplifier_tui.host.redaction import Redactor
from amplifier_tui.host.session.live import LiveSession
from amplifier_tui.host.store.turns.images import stored_image
from amplifier_tui.host.turns.control import TurnControl
from amplifier_tui.host.turns.prompts import Prompt
from amplifier_tui.host.turns.running import TurnHandle

logger = logging.getLogger(__name__)

CARRY_OUT: Final = "Carry out the plan."
"""The prompt of a plan that the user says yes to."""

_REMEDY: Final = "Choose a bundle or resume a session."

_PRINTED: int = 20
"""Printed lines of a session that become notices; the rest is only logged."""


class Service(StoredCommands):
    """Runs sessions on the engine's loop; created there. `SessionClient` says what its methods do.

    Args:
        trust: Answers for what a project or a stranger brings; None asks the user.
        printed: Catches what is written to the program's descriptors.
        window: Whether its sessions are offered again after a crash.
        place: Its number among the services of the process, for the order in which they are.
    """

    def __init__(
        self,
        put: Callable[[HostEvent], None],
        trust: TrustCallback | None = None,
        printed: DescriptorCapture | None = None,
        *,
        window: bool = False,
        place: int = 0,
    ) -> None:
        super().__init__(put, trust, window=window, place=place)
        self._printed = 0
        self._printing: LiveSession | None = None
        self._on_trial: Counter[tuple[str, str, str]] = Counter()
        """What modules printed when they were mounted for trial: they do so once more."""
        self._tracebacks = Tracebacks(self._printed_text)
        self._capture = PrintCapture(self._tracebacks.take)
        self._capture.start()
        self._written: Callable[[], None] = lambda: None
        if printed is not None:
            loop = asyncio.get_running_loop()
            self._written = printed.pass_on(partial(_soon, loop, self._tracebacks.take))

    @property
    def handle(self) -> TurnHandle | None:
        """The running turn, for other threads."""
        live = self._live
        return None if live is None else live.turns.handle

    async def submit(
        self,
        text: str,
        attachments: tuple[str, ...] = (),
        prompt_id: str = "",
        *,
        typed: str | None = None,
    ) -> None:
        prompt = Prompt(text, attachments, typed=typed)
        if prompt_id:
            prompt = replace(prompt, prompt_id=prompt_id)
        await self._run(prompt)

    async def _run(self, prompt: Prompt) -> None:
        if self._opening is not None or self._naming:
            self._early.append(prompt)
        elif self._live is not None:
            self._live.turns.submit(prompt)
        elif self._viewed is not None:
            self._early.append(prompt)
            await self.take_over()
        else:
            self._refuse("no_session", NO_SESSION, _REMEDY, prompt.text)

    @property
    def turns(self) -> TurnControl | None:
        """The turns of the session that is open, for other threads."""
        live = self._live
        return None if live is None else live.turns

    def tell_blocked(self, module: str = "", *, over: bool = False) -> None:
        """Say that a module blocks the engine, or does so no more; from any thread."""
        self._put(EngineBlocked(**self._stamp(), module=module, over=over))

    async def take_up(self, turns: TurnControl, prompt_id: str) -> None:
        """Take up a prompt that was sent to a session, unless it was taken back on its way."""
        sent = turns.arriving.take(prompt_id)
        if sent is None:
            return
        if sent.steers:
            await self.steer(sent.prompt.text)
        else:
            await self._run(sent.prompt)
        if sent.late:
            turns.arrived()

    async def steer(self, text: str) -> None:
        if self._live is not None and self._opening is None:
            self._live.turns.steer(text)
        else:
            await self.submit(text)

    queue = submit

    async def retry(self, *, without: str = "") -> None:
        if self._opening is not None or self._live is None:
            self._say("info", "There is nothing to try again: no session is open")
        else:
            self._live.retry(without)

    async def interrupt(
        self, immediate: bool = False, turn: int = 0, handle: TurnHandle | None = None
    ) -> None:
        """Stop the running turn, or the opening of a session.

        Args:
            immediate: Do not wait for the running step.
            turn: The number of the turn that is meant; 0 for whichever runs.
            handle: The turn that is meant, if its token was set and `CancelRequested` sent
                already.
        """
        running = self.handle
        if (handle is not None and handle is not running) or (
            turn and (running is None or running.number != turn)
        ):
            return  # It has ended in the meantime; what runs now is another one.
        if self._live is not None:
            # It may be what the turn waits for.
            self._live.modules.stop_change()
        if self._live is not None and self._live.turns.interrupt(
            immediate, told=handle is not None
        ):
            return
        if self._live is not None and self._live.compactor.cancel():
            return
        if self._opening_task is not None:
            self._opening_task.cancel()

    async def set_mode(self, mode: Mode) -> None:
        self._mode = mode
        if self._live is not None:
            await self._live.gating.set_mode(mode)

    async def carry_out(self, mode: Mode) -> None:
        live = self._opened()
        if live is None:
            return
        if live.turns.running or live.gating.gate.mode != "plan":
            self._say("info", "There is no plan to carry out: plan mode ends in one")
            return
        await self.set_mode(mode)
        live.turns.submit(Prompt(CARRY_OUT))

    async def bundles(self) -> tuple[BundleCard, ...]:
        from amplifier_tui.host.door.catalog import list_bundles

        return await list_bundles(self._cwd, self._active)

    async def preview(self, name: str) -> BundlePreview:
        from amplifier_tui.host.door.catalog import preview_bundle

        return await preview_bundle(self._cwd, name, self._active)

    @property
    def _active(self) -> str:
        return self._live.bundle if self._live is not None else ""

    async def export(self, request: ExportRequest) -> ExportedFile:
        from amplifier_tui.host.store.export.conversation import StoredSession
        from amplifier_tui.host.store.export.saving import save_export

        if (shown := self._stored) is None:
            return ExportedFile(path=request.path, problem=NO_SESSION)
        begun = self._live.begun if self._live is not None else {}
        stored = StoredSession(shown.folder, dict(begun))
        ended = threading.Event()
        try:
            return await asyncio.to_thread(
                save_export, stored, request, shown.redactor, self._cwd, ended.is_set
            )
        finally:
            # A thread is not cancelled with what waits for it, and keeps the program from ending.
            ended.set()

    async def image(self, key: str, lane: str = MAIN_LANE) -> bytes:
        # Of a session that opens the conversation is shown already, that of the one before still.
        folders = [each.folder for each in (self._opening, self._stored) if each is not None]
        problem: Exception | None = None
        for folder in filter(None, folders):
            try:
                return await asyncio.to_thread(stored_image, folder, lane, key)
            except (LookupError, OSError, ValueError) as error:
                problem = error
        raise RuntimeError(NO_SESSION if problem is None else str(problem)) from problem

    async def close(self) -> None:
        """End everything; takes at most some 3 seconds."""
        await self._give_up_opening()
        await self._end_search()
        # A run without a screen ends sooner than a traceback is taken to be whole.
        self._tracebacks.finish()
        await self._end_session()
        self._written()
        self._capture.stop()

    def failed(self, error: BaseException, what: str) -> None:
        """Report an exception nobody expected."""
        self._put(internal_failure(error, what, self._stamp(), Redactor()))

    def strayed(self, error: BaseException) -> None:
        """Say what a background task raised, once."""
        event = stray_failure(error, self._stamp(), Redactor())
        session = self._live or self._opening
        if session:
            told = session.facts.broken.setdefault(event.module, set())
            if event.text in told:
                return
            told.add(event.text)
        self._put(event)

    def _printed_text(self, text: str, stream: str, runs: bool) -> None:
        logger.info("printed to %s: %s", stream, text)
        if self._live is not self._printing:
            self._printing, self._printed = self._live, 0
        self._printed += 1
        if self._live is None and self._opening is None:
            return
        if self._printed <= _PRINTED:
            # An exception that nobody caught, such as that of a thread, is no mere print, nor is
            # code that does not run.
            is_fault = TRACEBACK in text or UNAWAITED in text
            level: Level = "warning" if is_fault else "info"
            module, on_trial = running_module() if runs else ("", False)
            line = (module, stream, text)
            if self._on_trial[line] and not on_trial:
                self._on_trial[line] -= 1
                self._printed -= 1
                return
            self._on_trial[line] += on_trial
            by = f"{module}: " if module else ""
            self._say(level, Redactor().text(f"{by}{text}"), stream)
        elif self._printed == _PRINTED + 1:
            self._say("info", "Modules print more; the rest is in the program's log", stream)


def _soon(loop: asyncio.AbstractEventLoop, take: Callable[[str, str], None], line: str) -> None:
    """Hand a line that was written to a descriptor to the engine; called in a thread."""
    try:
        loop.call_soon_threadsafe(take, line, "descriptor")
    except RuntimeError:
        # The engine has ended, and the program is about to.
        logger.info("printed at the end: %s", line)
