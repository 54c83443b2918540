"""A server of the official SDK over streamable HTTP."""

import asyncio
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.modules.tool_mcp.support import Session

Scope = dict[str, Any]


class Address:
    """A server on loopback, in a thread, and the headers it was asked with."""

    def __init__(self) -> None:
        import uvicorn

        from tests.servers.mcp_server import make_server

        app = make_server().streamable_http_app()
        self.headers: list[dict[bytes, bytes]] = []

        async def listening(scope: Scope, receive: Any, send: Any) -> None:
            if scope["type"] == "http":
                self.headers.append(dict(scope["headers"]))
            await app(scope, receive, send)

        config = uvicorn.Config(listening, port=0, log_level="error", lifespan="on")
        self._server = uvicorn.Server(config)
        self._thread = threading.Thread(target=self._server.run)
        self._thread.start()
        while not self._server.started:
            threading.Event().wait(0.01)
        port = self._server.servers[0].sockets[0].getsockname()[1]
        self.url = f"http://127.0.0.1:{port}/mcp"

    def stop(self) -> None:
        self._server.should_exit = True
        self._thread.join()


@pytest.fixture(scope="module")
def address() -> Iterator[Address]:
    found = Address()
    yield found
    found.stop()


async def test_it_is_used_like_any_other_and_gets_its_headers(
    address: Address, tmp_path: Path
) -> None:
    session = Session(tmp_path)
    await session.mount({"sample": {"url": address.url, "headers": {"X-Team": "blue"}}})
    await session.until(lambda: "mcp__sample__add" in session.tools)
    assert (await session.call("add", a=1, b=2)).output == "3"
    await session.call("count", to=1)
    assert session.words("tool:progress", "text") == ["at 1 (1 of 1)\n"]
    call = asyncio.create_task(session.call("wait"))
    await session.until(lambda: "waiting (0 of 1)\n" in session.words("tool:progress", "text"))
    call.cancel()
    with pytest.raises(asyncio.CancelledError):
        await call
    assert all(headers[b"x-team"] == b"blue" for headers in address.headers)
    expanded = [await each.expand("a.py") for each in session.servers.commands()]
    assert expanded == ["Review a.py with some care."]
    await session.close()


async def test_one_that_is_not_there_is_said(tmp_path: Path) -> None:
    session = Session(tmp_path)
    await session.mount({"away": {"type": "http", "url": "http://127.0.0.1:9/mcp"}})
    await session.until(lambda: session.words("user:notification", "message"))
    (said,) = session.words("user:notification", "message")
    assert said.startswith("The MCP server away can't be used: ")
    await session.close()
