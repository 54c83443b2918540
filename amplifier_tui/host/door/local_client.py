"""The client of sessions in this very process, on an engine thread of their own.

Importing this costs next to nothing: kernel, foundation and pydantic are imported on the engine
thread when the first command comes.
"""

import logging
import threading
from collections.abc import Callable, Coroutine
from concurrent.futures import Future
from time import time
from typing import TYPE_CHECKING, Any, TypeVar

from amplifier_tui.host.client import (
    BundleCard,
    BundlePreview,
    CompactionPreview,
    Decision,
    MemoryCard,
    OpenRequest,
    SessionCard,
    SessionClient,
)
from amplifier_tui.host.door.engine import Engine
from amplifier_tui.host.door.outbox import Outbox
from amplifier_tui.host.door.stacks import described, innermost
from amplifier_tui.host.events import Failed, HostEvent

if TYPE_CHECKING:
    from amplifier_tui.foundation.trust import TrustCallback
    from amplifier_tui.host.door.service import Service

logger = logging.getLogger(__name__)

CLOSE_TIME = 3.0
"""Seconds `close` takes at most."""
BLOCKED_AFTER = 1.0
"""Seconds the engine has to take up an immediate stop."""

T = TypeVar("T")


class LocalClient(SessionClient):
    """A `SessionClient`; see there for its methods.

    Args:
        trust: Asked before a stranger's code is fetched, installed or executed, in place of the
            user.
    """

    def __init__(self, trust: "TrustCallback | None" = None) -> None:
        self._trust = trust
        self._outbox = Outbox()
        self._engine = Engine(self._failed)
        self._service: Service | None = None
        self._closing: Future[None] | None = None

    # --- commands --------------------------------------------------------------------------

    def open(self, request: OpenRequest) -> None:
        """Start the engine if need be and open a session."""
        self._post("open a session", lambda service: service.open(request))

    def submit(self, text: str, attachments: tuple[str, ...] = ()) -> None:
        """Send a prompt; while a turn runs it is queued."""
        self._post("send a prompt", lambda service: service.submit(text, attachments))

    def steer(self, text: str) -> None:
        """Give the running turn a message at its next step; without a turn, submit it."""
        self._post("steer the turn", lambda service: service.steer(text))

    def queue(self, text: str) -> None:
        """Send a prompt after the running turn; without a turn, at once."""
        self._post("queue a prompt", lambda service: service.submit(text, ()))

    def unqueue(self, index: int) -> None:
        """Take a waiting prompt back."""
        self._post("take a prompt back", lambda service: service.unqueue(index))

    def retry(self, *, without: str = "") -> None:
        """Go on with the prompt whose turn failed."""
        self._post("try again", lambda service: service.retry(without))

    def interrupt(self, immediate: bool = False) -> None:
        """Stop the running turn: after the current step, or at once."""
        service = self._service
        handle = service.handle if service is not None else None
        if handle is not None:
            # From this thread: the engine may be busy with the very thing to be stopped.
            handle.ask(immediate)
        self._post("stop the turn", lambda service: service.interrupt(immediate, handle))
        if handle is not None and immediate:
            watch = threading.Timer(
                BLOCKED_AFTER, handle.report_blocked, args=(self._engine.where,)
            )
            watch.daemon = True
            watch.start()

    def decide(self, request_id: str, decision: Decision) -> None:
        """Answer an approval request; a request that is gone is ignored."""
        self._post("answer a request", lambda service: service.decide(request_id, decision))

    def hold(self, request_id: str) -> None:
        """Stop a request's clock: the user is reading it."""
        self._post("hold a request", lambda service: service.hold(request_id))

    def switch_bundle(self, name: str, *, carry: bool = True) -> None:
        """Open another bundle in a new session; `carry` takes the conversation along."""
        self._post("switch bundles", lambda service: service.switch_bundle(name, carry=carry))

    def resume(self, session_id: str) -> None:
        """Close the session and open a stored one."""
        self._post("resume a session", lambda service: service.resume(session_id))

    def rename(self, title: str) -> None:
        """Give the session a title."""
        self._post("rename the session", lambda service: service.rename(title))

    def compact(self, instructions: str | None = None) -> None:
        """Make the view of the conversation smaller: by rule, or with a summary."""
        self._post("compact the conversation", lambda service: service.compact(instructions))

    def remember(self, text: str, *, everywhere: bool = False) -> None:
        """Store a memory, for this project or for all."""
        self._post("remember something", lambda service: service.remember(text, everywhere))

    def forget(self, memory_id: int) -> None:
        """Delete a memory."""
        self._post("forget something", lambda service: service.forget(memory_id))

    def fork(self, before_turn: int | None = None) -> None:
        """Copy the stored conversation into a new session and open that."""
        self._post("fork the session", lambda service: service.fork(before_turn))

    # --- questions -------------------------------------------------------------------------

    def compaction(self) -> "Future[CompactionPreview]":
        """Describe what `compact` would do now."""
        return self._ask(lambda service: service.compaction())

    def memories(self) -> "Future[tuple[MemoryCard, ...]]":
        """List the memories of this project and those for all, newest first."""
        return self._ask(lambda service: service.memories())

    def bundles(self) -> "Future[tuple[BundleCard, ...]]":
        """List every bundle that can be found without the network, broken ones included."""
        return self._ask(lambda service: service.bundles())

    def preview(self, name: str) -> "Future[BundlePreview]":
        """Describe what a bundle would mount."""
        return self._ask(lambda service: service.preview(name))

    def sessions(self) -> "Future[tuple[SessionCard, ...]]":
        """List the stored sessions of the working directory, newest first."""
        return self._ask(lambda service: service.sessions())

    def history(self, before: int, limit: int = 200) -> "Future[tuple[HostEvent, ...]]":
        """Return replayed events of stored rows before row `before`."""
        return self._ask(lambda service: service.history(before, limit))

    def payload(self, seq: int) -> "Future[str]":
        """Return the full JSON payload of an event log row, from disk, secrets redacted."""
        return self._ask(lambda service: service.payload(seq))

    # --- events ----------------------------------------------------------------------------

    def drain(self) -> list[HostEvent]:
        """Take the events that came since the last call."""
        return self._outbox.drain()

    def set_waker(self, wake: Callable[[], None] | None) -> None:
        """Have `wake` called from the engine thread when `drain` has something new."""
        self._outbox.set_waker(wake)

    # --- the end ---------------------------------------------------------------------------

    def close(self) -> "Future[None]":
        """End the session and the engine; every row is on disk when the future is done.

        A module that blocks the engine is left behind after some seconds; then the future fails
        with a `TimeoutError`, and what was said is on disk all the same.
        """
        if self._closing is not None:
            return self._closing
        future: Future[None] = Future()
        self._closing = future
        if not self._engine.started:
            future.set_result(None)
            return future
        self.interrupt(immediate=True)
        threading.Thread(
            target=self._close, args=(future,), name="amplifier-close", daemon=True
        ).start()
        return future

    def _close(self, future: "Future[None]") -> None:
        asked = self._ask(lambda service: service.close())
        try:
            asked.result(CLOSE_TIME)
        except TimeoutError:
            places = self._engine.where()
            logger.error("The engine does not end; it is at:\n%s", described(places))
            spot = innermost(places)
            future.set_exception(TimeoutError(f"a module blocks the engine: {spot}"))
            self._engine.stop(0)
            return
        except Exception as error:
            logger.exception("The session did not close in order")
            self._engine.stop(0.5)
            future.set_exception(error)
            return
        self._engine.stop(0.5)
        future.set_result(None)

    # --- between the threads ---------------------------------------------------------------

    def _post(self, what: str, work: "Callable[[Service], Coroutine[Any, Any, None]]") -> None:
        async def run() -> None:
            await work(self._start())

        self._engine.post(run, what)

    def _ask(self, work: "Callable[[Service], Coroutine[Any, Any, T]]") -> "Future[T]":
        async def run() -> T:
            return await work(self._start())

        return self._engine.ask(run)

    def _start(self) -> "Service":
        """Return the service; made, and everything heavy imported, with the first command."""
        if self._service is None:
            from amplifier_tui import compat

            # Before any module is loaded that imports `amplifier_core`.
            compat.install()
            from amplifier_tui.host.door.service import Service

            self._service = Service(self._outbox.put, self._trust)
        return self._service

    def _failed(self, error: BaseException, what: str) -> None:
        if self._service is not None:
            self._service.failed(error, what)
            return
        self._outbox.put(
            Failed(
                session_id="",
                at=time(),
                kind="internal",
                message=f"Could not {what}: {error or type(error).__name__}",
                remedy="The installation may be damaged: install the program again.",
            )
        )
