"""One-way switches that a test, the server's thread and a client's event loop share."""

import asyncio
import threading

SAFETY_S = 20.0
"""How long a test waits for something that should happen at once, in seconds."""


class Flag:
    """A one-way switch: any thread sets it, any thread or event loop waits for it."""

    def __init__(self, name: str = "flag") -> None:
        self.name = name
        self._event = threading.Event()
        self._lock = threading.Lock()
        self._waiters: list[tuple[asyncio.AbstractEventLoop, asyncio.Future[None]]] = []

    def __repr__(self) -> str:
        return f"<Flag {self.name} {'set' if self.is_set() else 'not set'}>"

    def is_set(self) -> bool:
        return self._event.is_set()

    def set(self) -> None:
        with self._lock:
            self._event.set()
            waiters, self._waiters = self._waiters, []
        for loop, future in waiters:
            if not loop.is_closed():
                loop.call_soon_threadsafe(_resolve, future)

    async def wait(self, timeout: float | None = SAFETY_S) -> None:
        with self._lock:
            if self._event.is_set():
                return
            loop = asyncio.get_running_loop()
            future: asyncio.Future[None] = loop.create_future()
            self._waiters.append((loop, future))
        try:
            await asyncio.wait_for(future, timeout)
        except TimeoutError:
            raise AssertionError(f"{self.name} was not set within {timeout} s") from None

    def wait_blocking(self, timeout: float = SAFETY_S) -> None:
        if not self._event.wait(timeout):
            raise AssertionError(f"{self.name} was not set within {timeout} s")


def _resolve(future: asyncio.Future[None]) -> None:
    if not future.done():
        future.set_result(None)


class Gate:
    """A place in a reply where the server waits until the test opens it."""

    def __init__(self, name: str = "gate") -> None:
        self.name = name
        self.reached = Flag(f"{name} reached")
        self.opened = Flag(f"{name} opened")

    def open(self) -> None:
        self.opened.set()

    async def pass_through(self) -> None:
        self.reached.set()
        await self.opened.wait(timeout=None)
