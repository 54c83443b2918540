"""A server of the official SDK over streamable HTTP."""

import asyncio
import gzip
import json
import socket
import sys
import threading
from collections.abc import AsyncIterator, Iterator
from pathlib import Path
from typing import Any

import pytest

from amplifier_tui.base.capabilities.questions import QuestionAnswer, QuestionsReply
from amplifier_tui.base.protected import holds_secrets
from amplifier_tui.foundation.mentions.secrets import holds_users_secrets
from amplifier_tui.modules.tool_mcp import server as serving
from tests.modules.tool_mcp.support import Session

Scope = dict[str, Any]
BROWSER = """#!{python}
import json, os, sys, urllib.request
none = os.stat(os.devnull)
apart = [os.path.samestat(os.fstat(at), none) for at in (0, 1, 2)]
facts = [*apart, os.environ.get("SAMPLE_API_KEY")]
open("{seen}", "w").write(json.dumps(facts))
urllib.request.urlopen(sys.argv[1]).read()
"""


class Address:
    """A server on loopback, in a thread, and the headers it was asked with.

    Args:
        users: Who lets its users sign in; None where they need not.
    """

    def __init__(self, users: Any = None, port: int = 0) -> None:
        import uvicorn
        from mcp.server.auth.settings import AuthSettings, ClientRegistrationOptions
        from pydantic import AnyHttpUrl

        from tests.servers.mcp_server import make_server

        listener = socket.socket()
        listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        listener.bind(("127.0.0.1", port))
        self.port = listener.getsockname()[1]
        origin = f"http://127.0.0.1:{self.port}"
        self.url = f"{origin}/mcp"
        more: dict[str, Any] = {}
        if users is not None:
            auth = AuthSettings(
                issuer_url=AnyHttpUrl(origin),
                resource_server_url=AnyHttpUrl(self.url),
                client_registration_options=ClientRegistrationOptions(enabled=True),
                validate_token_resource=True,
            )
            more = {"auth": auth, "auth_server_provider": users}
        app = make_server(**more).streamable_http_app()
        self.headers: list[dict[bytes, bytes]] = []
        self.refuses = False

        async def listening(scope: Scope, receive: Any, send: Any) -> None:
            if scope["type"] == "http":
                self.headers.append(dict(scope["headers"]))
            if scope["type"] == "http" and self.refuses:
                await send({"type": "http.response.start", "status": 403, "headers": []})
                await send({"type": "http.response.body", "body": b"no more calls today"})
                return
            await app(scope, receive, send)

        config = uvicorn.Config(listening, log_level="error", lifespan="on")
        self._server = uvicorn.Server(config)
        self._thread = threading.Thread(target=self._server.run, args=([listener],))
        self._thread.start()
        while not self._server.started:
            threading.Event().wait(0.01)

    def stop(self, *, force: bool = False) -> None:
        self._server.should_exit = True
        self._server.force_exit = force
        if force:
            # From 3.12 on a server has ended when its last connection has, also one that is used.
            for connection in list(self._server.server_state.connections):
                connection.loop.call_soon_threadsafe(connection.transport.abort)
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
    await session.mount(
        {"sample": {"url": address.url, "headers": {"X-Team": " blue\n", "X-No": "Bearer "}}}
    )
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
    # Of an empty variable nothing is left to follow: the server says what it makes of that.
    assert all(headers[b"x-no"] == b"Bearer" for headers in address.headers)
    expanded = [await each.expand("a.py") for each in session.servers.commands()]
    assert expanded == ["Review a.py with some care."]
    await session.close()


async def test_one_that_was_started_anew_is_connected_to_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(serving, "FIRST_PAUSE", 0.01)
    first = Address()
    session = Session(tmp_path)
    await session.mount({"sample": {"url": first.url}})
    await session.until(lambda: "mcp__sample__add" in session.tools)
    assert (await session.call("add", a=1, b=2)).output == "3"
    await asyncio.to_thread(first.stop, force=True)
    assert not (await session.call("add", a=1, b=2)).success
    second = Address(port=first.port)
    assert (await session.call("add", a=1, b=2)).output == "3"
    await session.close()
    second.stop()


async def test_one_that_is_not_there_is_said(tmp_path: Path) -> None:
    session = Session(tmp_path)
    await session.mount({"away": {"type": "http", "url": "http://127.0.0.1:9/mcp"}})
    await session.until(lambda: session.words("user:notification", "message"))
    (said,) = session.words("user:notification", "message")
    assert said.startswith("The MCP server away can't be used: ")
    assert "Its log" not in said  # it has none
    await session.close()


async def test_one_that_refuses_a_call_says_so_and_is_asked_again(tmp_path: Path) -> None:
    address = Address()
    session = Session(tmp_path)
    await session.mount({"sample": {"url": address.url}})
    await session.until(lambda: "mcp__sample__add" in session.tools)
    address.refuses = True
    refused = await session.call("add", a=1, b=2)
    assert '403 Forbidden, "no more calls today"; put its token' in str(refused.output)
    address.refuses = False
    assert (await session.call("add", a=1, b=2)).output == "3"
    await session.close()
    address.stop()


async def test_one_signs_in_in_the_browser_once(
    tmp_path: Path, own_home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from tests.servers.mcp_sign_in import Everybody

    browser, seen = tmp_path / "browser", tmp_path / "seen"
    browser.write_text(BROWSER.format(python=sys.executable, seen=seen))
    browser.chmod(0o700)
    monkeypatch.setenv("BROWSER", str(browser))
    monkeypatch.setenv("SAMPLE_API_KEY", "not-for-browsers")
    users = Everybody()
    address = Address(users)
    servers = {"sample": {"url": address.url}}
    session = Session(tmp_path)
    await session.mount(servers)
    # Nobody asked for it, so nobody is asked.
    await session.until(lambda: session.words("user:notification", "message"))
    assert "sign in: start it with /mcp" in session.words("user:notification", "message")[0]
    assert session.asked == []
    session.replies = [QuestionsReply("answered", (QuestionAnswer((1,)),))]
    assert "you did not sign in" in await session.servers.restart("sample")
    session.replies = [QuestionsReply("answered", (QuestionAnswer((0,)),))]
    assert await session.servers.restart("sample") == ""
    host = address.url.removeprefix("http://").removesuffix("/mcp")
    assert f"to sign in at {host}?" in session.asked[-1].question
    # It neither reads from the terminal nor writes on it, and gets no keys.
    assert json.loads(seen.read_text()) == [True, True, True, None]
    await session.until(lambda: "mcp__sample__add" in session.tools)
    assert (await session.call("add", a=1, b=2)).output == "3"
    log = session.servers.statuses()[0].log
    await session.close()

    (kept,) = (own_home / ".amplifier/mcp-tokens").glob("*.json")
    assert holds_secrets(kept)
    assert holds_users_secrets(kept)
    assert kept.stat().st_mode & 0o777 == 0o600
    (token,) = users.tokens
    assert token in kept.read_text()
    assert not any(token in line for line in log)
    again = await Session(tmp_path).mount(servers)
    assert (await again.call("add", a=1, b=1)).output == "2"
    assert users.signed_in == 1
    await again.close()
    address.stop()


@pytest.mark.parametrize(("size", "comes"), [(1_000, True), (20_000_000, False)])
async def test_an_answer_that_is_packed_is_no_longer_than_any_other(size: int, comes: bool) -> None:
    import httpx2

    from amplifier_tui.modules.tool_mcp.protocol.http import Bounded

    headers = {"content-type": "application/json", "content-encoding": "gzip"}
    packed = gzip.compress(b"0" * size)
    pieces = [packed[at : at + 4_096] for at in range(0, len(packed), 4_096)]

    async def sent() -> AsyncIterator[bytes]:
        for piece in pieces:
            yield piece

    server = httpx2.MockTransport(lambda _: httpx2.Response(200, headers=headers, content=sent()))
    async with httpx2.AsyncClient(transport=Bounded(server)) as client:
        if comes:
            assert (await client.get("http://server.invalid/")).content == b"0" * size
            return
        with pytest.raises(httpx2.ReadError, match="an answer of more than"):
            await client.get("http://server.invalid/")
