"""What `create_session` returns: `await` it for a session, or enter it as a context."""

from collections.abc import Awaitable, Callable, Coroutine, Generator
from types import TracebackType
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from amplifier_tui.kernel import AmplifierSession


class SessionOpening(Coroutine[Any, Any, "AmplifierSession"]):
    """A session about to be created; nothing happens before it is awaited or entered.

    `session = await opening` leaves the cleanup to the caller, `async with opening as session`
    does it. It counts as a coroutine, so `asyncio.create_task` and `gather` take it.

    Args:
        create: Makes the session.
    """

    def __init__(self, create: Callable[[], Coroutine[Any, Any, "AmplifierSession"]]) -> None:
        self._create = create
        self._running: Coroutine[Any, Any, AmplifierSession] | None = None
        self._session: AmplifierSession | None = None

    def __await__(self) -> Generator[Any, Any, "AmplifierSession"]:
        return self._start().__await__()

    def send(self, value: Any) -> Any:
        """Run to the next suspension, as a coroutine does."""
        return self._start().send(value)

    def throw(self, *args: Any) -> Any:
        """Raise inside, as in a coroutine."""
        return self._start().throw(*args)

    def close(self) -> None:
        """Give up; what has not started never will."""
        if self._running is not None:
            self._running.close()

    async def __aenter__(self) -> "AmplifierSession":
        self._session = await self
        return self._session

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        if self._session is not None:
            await self._session.cleanup()

    def _start(self) -> Coroutine[Any, Any, "AmplifierSession"]:
        if self._running is None:
            self._running = self._create()
        return self._running


async def maybe_await(value: Awaitable[Any] | Any) -> Any:
    """Return a value, awaiting it first if it can be."""
    return await value if isinstance(value, Awaitable) else value
