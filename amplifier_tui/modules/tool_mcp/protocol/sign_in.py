"""Signing in at servers (OAuth): in the user's browser, once they said so; tokens are kept."""

import asyncio
import hashlib
import os
import socket
import subprocess
import sys
from contextlib import suppress
from pathlib import Path
from typing import Final
from urllib.parse import parse_qs, urlsplit

from mcp.client.auth import AuthorizationCodeResult, OAuthClientProvider, OAuthFlowError
from mcp.shared.auth import OAuthClientInformationFull, OAuthClientMetadata, OAuthToken
from pydantic import AnyUrl, ValidationError

from amplifier_tui.base.commands.environment import without_secrets
from amplifier_tui.base.files import locked
from amplifier_tui.base.jsonl import read_object, write_object
from amplifier_tui.base.text import one_line
from amplifier_tui.modules._shared.session_paths import amplifier_home
from amplifier_tui.modules.tool_mcp.callbacks import ServerCallbacks
from amplifier_tui.modules.tool_mcp.elicitation import may_sign_in

_PATH: Final = "/callback"
_PATIENCE: Final = 300.0
"""Seconds the user has in the browser."""
_OPENING: Final = 10.0
"""Seconds the browser has to start."""
_LONGEST_REQUEST: Final = 16_384
_PAGE: Final = (
    b"HTTP/1.1 200 OK\r\nContent-Type: text/plain; charset=utf-8\r\nConnection: close\r\n\r\n"
    b"Thank you. You can close this page and go back to the terminal.\n"
)


class TokenFile:
    """The tokens of one server, and how this program is registered there, for the user alone.

    What can't be read counts as not there: the user signs in again.
    """

    def __init__(self, server: str, url: str) -> None:
        digest = hashlib.sha256(f"{server}\0{url}".encode("utf-8", "replace")).hexdigest()[:32]
        self.path = amplifier_home() / "mcp-tokens" / f"{digest}.json"

    async def get_tokens(self) -> OAuthToken | None:
        """Return the tokens."""
        try:
            return OAuthToken.model_validate((await asyncio.to_thread(_read, self.path))["tokens"])
        except (KeyError, ValidationError):
            return None

    async def set_tokens(self, tokens: OAuthToken) -> None:
        """Keep tokens."""
        await asyncio.to_thread(self._set, "tokens", tokens.model_dump(mode="json"))

    async def get_client_info(self) -> OAuthClientInformationFull | None:
        """Return how this program is registered."""
        try:
            data = (await asyncio.to_thread(_read, self.path))["client"]
            return OAuthClientInformationFull.model_validate(data)
        except (KeyError, ValidationError):
            return None

    async def set_client_info(self, client_info: OAuthClientInformationFull) -> None:
        """Keep how this program is registered."""
        await asyncio.to_thread(self._set, "client", client_info.model_dump(mode="json"))

    def _set(self, key: str, value: object) -> None:
        self.path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        with locked(self.path):
            write_object(self.path, {**_read(self.path), key: value}, mode=0o600)


def _read(path: Path) -> dict[str, object]:
    try:
        return dict(read_object(path))
    except (OSError, ValueError):
        return {}


async def sign_in(server: str, url: str, callbacks: ServerCallbacks) -> OAuthClientProvider:
    """Return what authorizes requests to a server, and has the user sign in where it must.

    Args:
        server: Its name, in the question.
        url: Its address.
    """
    storage = TokenFile(server, url)
    known = await storage.get_client_info()
    ports = [uri.port for uri in (known.redirect_uris if known else None) or () if uri.port]
    browser = _Browser(server, ports[0] if ports else _free_port(), callbacks)
    metadata = OAuthClientMetadata(
        client_name="amplifier-tui",
        redirect_uris=[AnyUrl(f"http://127.0.0.1:{browser.port}{_PATH}")],
        token_endpoint_auth_method="none",
    )
    return OAuthClientProvider(
        url,
        metadata,
        storage,
        redirect_handler=browser.open,
        callback_handler=browser.wait,
    )


def _free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port: int = probe.getsockname()[1]
        return port


def _browse(url: str) -> None:
    """Open an address in the user's browser, if there is one. Blocking."""
    # Apart from this program's terminal: one of text would take it, others write on it.
    with suppress(OSError, subprocess.TimeoutExpired):
        subprocess.run(
            [sys.executable, "-I", "-m", "webbrowser", url],
            env=without_secrets(os.environ),
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            start_new_session=True,
            timeout=_OPENING,
            check=False,
        )


def _first(fields: dict[str, list[str]]) -> dict[str, str]:
    return {name: values[0] for name, values in fields.items()}


class _Browser:
    """The user's browser, which comes back to a port of this machine with what it got."""

    def __init__(self, server: str, port: int, callbacks: ServerCallbacks) -> None:
        self.port = port
        self._server = server
        self._callbacks = callbacks
        self._listener: asyncio.Server | None = None
        self._came: asyncio.Future[AuthorizationCodeResult] | None = None
        self._state: str | None = None

    async def open(self, url: str) -> None:
        """Open an address, if the user wants that.

        Raises:
            OAuthFlowError: They don't, or can't be asked now.
        """
        ask = self._callbacks.ask()
        if urlsplit(url).scheme not in ("https", "http"):
            raise OAuthFlowError(f"it wants to be signed in to at {one_line(url, 200)}")
        if ask is None:
            raise OAuthFlowError("it wants you to sign in: start it with /mcp")
        self._callbacks.patient(_PATIENCE)
        if not await may_sign_in(self._server, url, ask):
            raise OAuthFlowError("you did not sign in")
        self._came = asyncio.get_running_loop().create_future()
        self._state = _first(parse_qs(urlsplit(url).query)).get("state")
        try:
            self._listener = await asyncio.start_server(self._answer, "127.0.0.1", self.port)
        except OSError as error:
            raise OAuthFlowError(f"port {self.port} is taken: {error.strerror}") from error
        self._callbacks.wrote(f"Sign in at {url}\n")
        try:
            await asyncio.to_thread(_browse, url)
        except BaseException:
            self._listener.close()
            raise

    async def wait(self) -> AuthorizationCodeResult:
        """Return what the browser came back with.

        Raises:
            OAuthFlowError: It did not in time, or with an error.
        """
        assert self._came is not None
        try:
            async with asyncio.timeout(_PATIENCE):
                return await self._came
        except TimeoutError as error:
            raise OAuthFlowError("nobody signed in") from error
        finally:
            if self._listener is not None:
                self._listener.close()

    async def _answer(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        try:
            line = (await reader.readline())[:_LONGEST_REQUEST].decode("ascii", "replace")
            target = urlsplit(line.split(" ")[1] if line.count(" ") > 1 else "")
            if target.path == _PATH:
                self._came_back(parse_qs(target.query))
            writer.write(_PAGE)
            await writer.drain()
        except (OSError, ValueError):
            pass  # not the browser, or it is gone: the next one is waited for
        finally:
            writer.close()

    def _came_back(self, fields: dict[str, list[str]]) -> None:
        if self._came is None or self._came.done():
            return
        given = _first(fields)
        if self._state is not None and given.get("state") != self._state:
            # Any page can send a browser here; the one that is waited for knows the state.
            return
        if given.get("code"):
            result = AuthorizationCodeResult(
                code=given["code"], state=given.get("state"), iss=given.get("iss")
            )
            self._came.set_result(result)
        else:
            why = one_line(given.get("error_description") or given.get("error") or "no code", 200)
            self._came.set_exception(OAuthFlowError(f"signing in failed: {why}"))
