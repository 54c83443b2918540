"""The engine thread: an asyncio loop of its own, where sessions and modules run.

Nothing here imports the kernel: what runs on the loop does, once the thread is there, so that the
front end's first frame does not wait for it.
"""

import asyncio
import concurrent.futures
import logging
import threading
from collections.abc import Callable, Coroutine
from functools import partial
from typing import Any, TypeVar

from amplifier_tui.base.python import without_exit
from amplifier_tui.host.door.stacks import Place, thread_places

logger = logging.getLogger(__name__)

T = TypeVar("T")

OnFailure = Callable[[BaseException, str], None]
"""Gets an exception nobody else took and what was being done."""


class EngineStoppedError(RuntimeError):
    """The engine has ended and takes no more work."""


class Engine:
    """A daemon thread with an event loop, started with the first piece of work.

    Both are called on the engine thread.

    Args:
        on_failure: Told of every exception that leaves a piece of work.
        on_stray: Told of every other: a background task raised it, and nobody retrieved it.
    """

    def __init__(
        self, on_failure: OnFailure, on_stray: Callable[[BaseException], None] = lambda _: None
    ) -> None:
        self._on_failure, self._on_stray = on_failure, on_stray
        self._lock = threading.Lock()
        self._loop: asyncio.AbstractEventLoop | None = None
        self._thread: threading.Thread | None = None
        self._stopped = False
        # asyncio holds its tasks weakly.
        self._tasks: set[asyncio.Task[Any]] = set()

    @property
    def started(self) -> bool:
        """Whether the thread was started."""
        return self._thread is not None

    def post(
        self, work: Callable[[], Coroutine[Any, Any, None]], what: str
    ) -> "concurrent.futures.Future[None]":
        """Run `work` on the engine; never blocks and never raises for what the work does.

        Args:
            work: Makes the coroutine, on the engine thread.
            what: Names it for `on_failure`, such as `open a session`.

        Returns:
            What is done when the work is.
        """

        def report(done: "concurrent.futures.Future[None]") -> None:
            error = done.exception()
            if isinstance(error, EngineStoppedError):
                logger.info("Ignored after the end: %s", what)
            elif error is not None:
                self._failed(error, what)

        done = self.ask(work)
        done.add_done_callback(report)
        return done

    def ask(self, work: Callable[[], Coroutine[Any, Any, T]]) -> concurrent.futures.Future[T]:
        """Run `work` on the engine and return its result or exception as a future."""
        future: concurrent.futures.Future[T] = concurrent.futures.Future()
        with self._lock:
            if self._loop is None and not self._stopped:
                self._loop = self._start()
            loop = None if self._stopped else self._loop
        try:
            if loop is None:
                raise EngineStoppedError
            loop.call_soon_threadsafe(self._answer, work, future)
        except RuntimeError:
            # Also of a loop that has closed in the meantime.
            future.set_exception(EngineStoppedError("The engine has ended"))
        return future

    def where(self) -> list[Place]:
        """Return what the engine thread executes right now, innermost last; may be empty."""
        thread = self._thread
        return thread_places(thread.ident if thread is not None else None)

    def stop(self, timeout: float) -> bool:
        """Cancel what still runs and end the thread; called from another thread.

        Returns:
            False when the thread is still busy; it is a daemon and ends with the program.
        """
        with self._lock:
            self._stopped = True
            loop, thread = self._loop, self._thread
        if loop is None or thread is None:
            return True
        try:
            loop.call_soon_threadsafe(loop.stop)
        except RuntimeError:
            return True
        thread.join(timeout)
        return not thread.is_alive()

    def _start(self) -> asyncio.AbstractEventLoop:
        loop = asyncio.new_event_loop()
        loop.set_exception_handler(self._stray)
        self._thread = threading.Thread(
            target=self._run, args=(loop,), name="amplifier-engine", daemon=True
        )
        self._thread.start()
        return loop

    def _run(self, loop: asyncio.AbstractEventLoop) -> None:
        asyncio.set_event_loop(loop)
        try:
            while not self._stopped:
                try:
                    loop.run_forever()
                except (SystemExit, KeyboardInterrupt) as error:
                    # asyncio lets these through; a module that calls sys.exit() ends itself only.
                    self._strayed(error)
        finally:
            self._end(loop)

    def _end(self, loop: asyncio.AbstractEventLoop) -> None:
        try:
            left = asyncio.all_tasks(loop)
            for task in left:
                task.cancel()
            if left:
                # A task that refuses to end must not keep the program from ending.
                loop.run_until_complete(asyncio.wait(left, timeout=0.3))
            loop.run_until_complete(asyncio.wait_for(loop.shutdown_asyncgens(), timeout=0.3))
        except (Exception, asyncio.CancelledError):
            logger.debug("Leftovers at the engine's end", exc_info=True)
        finally:
            loop.set_exception_handler(lambda *_: None)
            loop.close()

    def _answer(
        self, work: Callable[[], Coroutine[Any, Any, T]], future: concurrent.futures.Future[T]
    ) -> None:
        async def run() -> None:
            if not future.set_running_or_notify_cancel():
                return
            try:
                # Raised to its reader, an exit would end the program.
                with without_exit():
                    result = await work()
            except asyncio.CancelledError:
                future.set_exception(EngineStoppedError("The engine has ended"))
                raise
            except BaseException as error:
                # Its reader sees it; a BaseException must not tear down the loop.
                future.set_exception(error)
            else:
                future.set_result(result)

        task = asyncio.ensure_future(run())
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)

    def _failed(self, error: BaseException, what: str) -> None:
        logger.error("Could not %s", what, exc_info=error)
        self._report(partial(self._on_failure, error, what))

    def _strayed(self, error: BaseException) -> None:
        logger.error("A background task failed", exc_info=error)
        self._report(partial(self._on_stray, error))

    def _report(self, report: Callable[[], None]) -> None:
        try:
            report()
        except Exception:
            logger.exception("The failure could not be reported")

    def _stray(self, loop: asyncio.AbstractEventLoop, context: dict[str, Any]) -> None:
        """Take what a background task raised."""
        error = context.get("exception")
        if isinstance(error, SystemExit | KeyboardInterrupt):
            return  # It has ended the loop already, and was told of then.
        if isinstance(error, BaseException):
            self._strayed(error)
        else:
            logger.warning("asyncio: %s", context.get("message", "a background task failed"))
