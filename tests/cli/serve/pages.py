"""A server with small programs in place of ours, and pages without a browser."""

import asyncio
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from typing import Any, Self

from aiohttp import ClientSession, ClientWebSocketResponse, WSMsgType

from amplifier_tui.cli.serve.server import BrowserServer

TOKEN = "kZ3-sN0_xQ7rT5wY8uB2vC4dE6fG9hJ1aL0mP3oI5nk"
PATIENCE = 20.0
ECHO = ["/bin/sh", "-c", "stty -echo; echo ready; while read line; do echo got $line; done"]
"""Says what it is sent."""


class Page:
    """What a browser does with the socket of a page."""

    def __init__(self, socket: ClientWebSocketResponse) -> None:
        self.socket = socket
        self.drawn = ""
        self.messages: list[Any] = []

    async def type(self, text: str) -> None:
        await self.socket.send_json(["stdin", text])

    async def resize(self, columns: int, rows: int) -> None:
        await self.socket.send_json(["resize", {"width": columns, "height": rows}])

    async def shows(self, text: str) -> None:
        """Read until the program has drawn a text since the last call; fails at the end."""
        async with asyncio.timeout(PATIENCE):
            while text not in self.drawn:
                assert await self._read(), f"closed: {self.drawn}"
        self.drawn = self.drawn.partition(text)[2]

    async def hears(self) -> Any:
        """Return the next message that is not drawn."""
        async with asyncio.timeout(PATIENCE):
            while not self.messages:
                assert await self._read(), "closed"
        return self.messages.pop(0)

    async def closed(self) -> int | None:
        """Read until the server closes the line, and return its code."""
        async with asyncio.timeout(PATIENCE):
            while await self._read():
                pass
        return self.socket.close_code

    async def _read(self) -> bool:
        message = await self.socket.receive()
        if message.type is WSMsgType.BINARY:
            self.drawn += message.data.decode("utf-8", "replace")
        elif message.type is WSMsgType.TEXT:
            self.messages.append(message.json())
        else:
            return False
        return True


class Visits:
    """Opens pages of a server."""

    def __init__(self, server: BrowserServer, browser: ClientSession) -> None:
        self.server = server
        self.browser = browser
        self.origin, _, _ = server.address.partition(f"/{TOKEN}")

    async def page(self, number: int = 1, size: tuple[int, int] = (80, 24), **headers: str) -> Page:
        """Open the page of a tab of the browser."""
        address = f"{self.server.address}ws/{number:032x}?width={size[0]}&height={size[1]}"
        sent = {"Origin": self.origin, **headers}
        return Page(await self.browser.ws_connect(address, headers=sent))

    @classmethod
    @asynccontextmanager
    async def to(cls, command: Sequence[str] = ECHO, *, keep: bool = False) -> AsyncIterator[Self]:
        """Serve a program to pages."""
        server = BrowserServer(command, TOKEN, "127.0.0.1", local=True, keep=keep)
        await server.start(0)
        try:
            async with ClientSession() as browser:
                yield cls(server, browser)
        finally:
            await server.close()
