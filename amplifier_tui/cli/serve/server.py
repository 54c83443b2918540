"""The web server: who is let in, the page, and the line between a page and its program.

The terminal in the page is textual-serve's; so are the messages between the two. Its server is not
used: it lets everyone in, loads a font from elsewhere, and starts programs through a shell, without
the terminal that an editor needs.
"""

import asyncio
import hmac
import json
import logging
from collections.abc import Awaitable, Callable, Sequence
from importlib.util import find_spec
from ipaddress import ip_address
from pathlib import Path
from typing import Final
from urllib.parse import urlsplit

from aiohttp import WSCloseCode, WSMsgType, web

from amplifier_tui.cli.serve.program import LONGEST_END, MOST_TYPED, ServedProgram

MOST_PROGRAMS: Final = 16
"""Programs that run at the same time; each takes as much memory as one in a terminal."""

NEEDS_WEBGL: Final = "this.terminal.loadAddon(this.webglAddon),"
"""Of the page's terminal, which draws without WebGL but does not start where there is none."""

_log = logging.getLogger(__name__)

_HERE: Final = Path(__file__).parent
_HEARTBEAT: Final = 15.0
_GOODBYE: Final = 2.0
_HEADERS: Final = {
    "Cache-Control": "no-store",
    # The address is the key: it goes nowhere.
    "Referrer-Policy": "no-referrer",
    "Cross-Origin-Opener-Policy": "same-origin",
    "Cross-Origin-Resource-Policy": "same-origin",
    "X-Content-Type-Options": "nosniff",
    "X-Frame-Options": "DENY",
}
_POLICY: Final = (
    "default-src 'none'; script-src 'self'; style-src 'self' 'unsafe-inline'; img-src 'self' data:;"
    " font-src 'self' data:; connect-src 'self' ws://{host}; base-uri 'none'; form-action 'none';"
    " frame-ancestors 'none'"
)

_Handler = Callable[[web.Request], Awaitable[web.StreamResponse]]


class BrowserServer:
    """Serves the program to browsers that know the token.

    Args:
        command: Starts the program of a visitor; run without a shell.
        token: First part of every path that is answered with anything but 403.
        host: Listened on.
        local: Only this machine reaches `host`.
        keep: A program goes on when its page goes, and shows on the next page that opens.
    """

    def __init__(
        self, command: Sequence[str], token: str, host: str, *, local: bool, keep: bool
    ) -> None:
        self._command = list(command)
        self._token = token
        self._host = host
        self._local = local
        self._keep = keep
        self._programs: dict[str, ServedProgram] = {}
        """By the page that shows it, or showed it last; the one that was left last comes last."""
        self._sockets: dict[str, web.WebSocketResponse] = {}
        """Of the pages that show a program."""
        self._ending: set[ServedProgram] = set()
        self._choosing = asyncio.Lock()
        app = web.Application(middlewares=[self._guard])
        app.add_routes(
            [
                web.get(f"/{token}", self._redirect),
                web.get(f"/{token}/", self._page),
                web.get(f"/{token}/page.js", self._script),
                web.get(f"/{token}/ws/{{page:[0-9a-f]{{32}}}}", self._talk),
                web.get(f"/{token}/static/js/textual.js", self._terminal),
                web.static(f"/{token}/static", _statics()),
            ]
        )
        app.on_response_prepare.append(_add_headers)
        app.on_shutdown.append(self._end_programs)
        # No access log: it would keep the token on disk. So would what is said of broken requests.
        self._runner = web.AppRunner(
            app,
            access_log=None,
            logger=logging.Logger("requests", logging.CRITICAL + 1),
            shutdown_timeout=LONGEST_END + 2,
        )

    async def start(self, port: int) -> None:
        """Listen; port 0 takes a free one.

        Raises:
            OSError: The address can't be listened on.
        """
        await self._runner.setup()
        try:
            await web.TCPSite(self._runner, self._host, port).start()
        except OSError:
            await self._runner.cleanup()
            raise

    async def close(self) -> None:
        """Listen no more, and end the programs."""
        await self._runner.cleanup()

    @property
    def address(self) -> str:
        """What a browser on this machine opens."""
        anywhere = {"0.0.0.0": "127.0.0.1", "::": "::1"}
        host = anywhere.get(self._host, self._host)
        host = f"[{host}]" if ":" in host else host
        return f"http://{host}:{self._runner.addresses[0][1]}/{self._token}/"

    # --- who is let in ---------------------------------------------------------------------

    @web.middleware
    async def _guard(self, request: web.Request, handler: _Handler) -> web.StreamResponse:
        if not self._knows_token(request) or not self._is_ours(request):
            return web.Response(status=403, text="Forbidden\n")
        try:
            return await handler(request)
        except web.HTTPException:
            raise
        except Exception:
            _log.exception("a request can't be answered")
            return web.Response(status=500, text="This did not work; the log says why.\n")

    def _knows_token(self, request: web.Request) -> bool:
        given = request.path.removeprefix("/").partition("/")[0]
        return hmac.compare_digest(given.encode("utf-8", "replace"), self._token.encode())

    def _is_ours(self, request: web.Request) -> bool:
        """Say whether no page of another site is behind a request.

        A name in `Host` may be another site's that now points here; an address can't be.
        """
        host = request.headers.get("Host", "")
        if not self._is_our_host(host):
            return False
        origin = request.headers.get("Origin")
        if origin is None:
            return "Upgrade" not in request.headers
        return origin.lower() == f"http://{host.lower()}"

    def _is_our_host(self, host: str) -> bool:
        try:
            parts = urlsplit(f"//{host}")
            # Of these, the first raises for what is no number.
            if parts.port == 0 or parts.netloc != host or "@" in host:
                return False
        except ValueError:
            return False
        name = parts.hostname or ""
        if name in ("localhost", self._host.lower()):
            return True
        try:
            address = ip_address(name)
        except ValueError:
            return False
        return address.is_loopback or not self._local

    # --- what is served --------------------------------------------------------------------

    async def _redirect(self, request: web.Request) -> web.StreamResponse:
        raise web.HTTPFound(f"/{self._token}/")

    async def _page(self, request: web.Request) -> web.StreamResponse:
        headers = {"Content-Security-Policy": _POLICY.format(host=request.headers["Host"])}
        return web.FileResponse(_HERE / "page.html", headers=headers)

    async def _script(self, request: web.Request) -> web.StreamResponse:
        return web.FileResponse(_HERE / "page.js")

    async def _terminal(self, request: web.Request) -> web.StreamResponse:
        script = await asyncio.to_thread((_statics() / "js" / "textual.js").read_text, "utf-8")
        return web.Response(text=script.replace(NEEDS_WEBGL, ""), content_type="text/javascript")

    async def _talk(self, request: web.Request) -> web.StreamResponse:
        page = request.match_info["page"]
        size = _side(request.query.get("width"), 80), _side(request.query.get("height"), 24)
        socket = web.WebSocketResponse(
            heartbeat=_HEARTBEAT, timeout=_GOODBYE, max_msg_size=MOST_TYPED
        )
        keep = self._keep
        try:
            async with self._choosing:
                program = await self._program_for(page, size)
                if program is None:
                    return web.Response(status=503, text=f"{MOST_PROGRAMS} programs run already.\n")
                self._programs[page] = program
                self._sockets[page] = socket
        except OSError as error:
            _log.exception("a visitor's program can't be started")
            return web.Response(status=503, text=f"{error.strerror}\n")
        try:
            await socket.prepare(request)
            await program.show_on(socket, *size)
            # Of a mistake in pasting, no session ends.
            in_order = await _listen(socket, program)
            keep = keep or not in_order
        except ConnectionError:
            _log.info("a page went while its program was shown on it")
        finally:
            await self._leave(page, socket, keep=keep)
        return socket

    async def _program_for(self, page: str, size: tuple[int, int]) -> ServedProgram | None:
        """Return the program that a page showed before, one that is shown nowhere, or a new one.

        None when there are too many.

        Raises:
            OSError: It can't be started.
        """
        ended = [key for key, program in self._programs.items() if program.ended]
        for key in ended:
            del self._programs[key]
        left = [key for key in self._programs if key not in self._sockets]
        if page in self._programs:
            return self._programs[page]
        if left:
            return self._programs.pop(left[-1])
        if len(self._programs) + len(self._ending) >= MOST_PROGRAMS:
            return None
        return await ServedProgram.start(self._command, *size)

    async def _leave(self, page: str, socket: web.WebSocketResponse, *, keep: bool) -> None:
        """A page has gone: end its program, unless that is kept or the page came again."""
        if self._sockets.get(page) is not socket:
            return
        del self._sockets[page]
        program = self._programs.pop(page, None)
        if program is None:
            return
        program.page = None
        if keep:
            self._programs[page] = program
            return
        self._ending.add(program)
        await program.end()
        self._ending.discard(program)

    async def _end_programs(self, app: web.Application) -> None:
        going = [socket.close(code=WSCloseCode.GOING_AWAY) for socket in self._sockets.values()]
        programs = {*self._programs.values(), *self._ending}
        ending = (program.end() for program in programs)
        for result in await asyncio.gather(*going, *ending, return_exceptions=True):
            if isinstance(result, BaseException):
                _log.error("a page or its program did not end in order", exc_info=result)


async def _listen(socket: web.WebSocketResponse, program: ServedProgram) -> bool:
    """Hand what the page sends to the program until the page goes.

    Returns:
        Whether it went in order; False where it had sent more than the program takes.
    """
    async for message in socket:
        if message.type is WSMsgType.ERROR:
            return getattr(message.data, "code", None) != WSCloseCode.MESSAGE_TOO_BIG
        if message.type is not WSMsgType.TEXT:
            continue
        try:
            kind, *values = json.loads(message.data)
        except (TypeError, ValueError, RecursionError):
            continue
        match kind, values:
            case "stdin", [str(typed)]:
                if not program.write(typed.encode("utf-8", "replace")):
                    await socket.close(code=WSCloseCode.MESSAGE_TOO_BIG)
                    return False
            case "resize", [{"width": int(columns), "height": int(rows)}]:
                program.resize(columns, rows)
            case "ping", [str(sent)]:
                await socket.send_json(["pong", sent])
            case _:
                # Whether the page has the focus: the program is told by the terminal itself.
                continue
    return True


async def _add_headers(request: web.Request, response: web.StreamResponse) -> None:
    response.headers.update(_HEADERS)
    response.headers.popall("Server", None)


def _side(text: str | None, otherwise: int) -> int:
    """Read a side of the terminal."""
    known = text is not None and text.isdecimal() and text.isascii() and len(text) < 4
    return max(2, int(text)) if known and text is not None else otherwise


def _statics() -> Path:
    """Return the folder with the terminal that runs in the page.

    Raises:
        ModuleNotFoundError: textual-serve is not installed.
    """
    spec = find_spec("textual_serve")
    if spec is None or spec.origin is None:
        raise ModuleNotFoundError("textual-serve is not installed", name="textual_serve")
    return Path(spec.origin).with_name("static")
