"""Requests: what a server answers, within limits of size and time, redirects judged one by one."""

import asyncio
import re
import ssl
import zlib
from collections.abc import Mapping
from functools import cached_property
from http import HTTPStatus
from typing import TYPE_CHECKING, Final
from urllib.robotparser import RobotFileParser

from amplifier_tui.base.lazy.dataclass import dataclass
from amplifier_tui.base.text import one_line
from amplifier_tui.modules._shared.tool import ToolProblem
from amplifier_tui.modules.tool_web.addresses import DENIED_HOST, WebAddress, check_public, named
from amplifier_tui.modules.tool_web.settings import WebSettings

if TYPE_CHECKING:
    import httpcore2

    from amplifier_tui.modules.tool_web.connecting import CheckedBackend

_REDIRECTS: Final = frozenset({301, 302, 303, 307, 308})
_CHARSET: Final = re.compile(r"""charset=["']?([A-Za-z0-9._:-]{1,40})""", re.IGNORECASE)
_MOST_ROBOTS: Final = 200
"""Hosts whose robots.txt is kept."""
_ACCEPT: Final = "text/html,application/xhtml+xml,application/json;q=0.9,*/*;q=0.8"


@dataclass(frozen=True)
class Answer:
    """What a server sent.

    Attributes:
        address: Where it came from in the end.
        media_type: Such as ``text/html``; empty when the server did not say.
        charset: As the server says; empty when it did not.
        body: Unpacked.
        cut: Whether the body goes on beyond the limit.
    """

    address: WebAddress
    media_type: str
    charset: str
    body: bytes
    cut: bool


class Fetcher:
    """Asks servers.

    Args:
        settings: Limits, and which hosts may be asked.
        backend: Makes the connections; None for one that reaches only public addresses.
    """

    def __init__(self, settings: WebSettings, backend: "CheckedBackend | None" = None) -> None:
        self._settings = settings
        self._backend = backend
        self._robots: dict[str, RobotFileParser] = {}

    async def get(self, address: WebAddress, headers: Mapping[str, str] | None = None) -> Answer:
        """Request an address, with headers beside the usual ones.

        Raises:
            ToolProblem: There is no answer, none in time, or an error. A redirect to another
                server is one too: whoever approved this server did not approve that one.
        """
        seconds = self._settings.timeout
        try:
            async with asyncio.timeout(seconds):
                return await self._get(address, headers or {})
        except TimeoutError as error:
            raise ToolProblem(
                f"{address.origin} did not answer in full within {seconds:g} s.", "timeout"
            ) from error

    def check_host(self, host: str) -> None:
        """Raise a `ToolProblem` when a host may not be asked."""
        settings = self._settings
        denied = named(host, settings.denied_hosts)
        if denied or (settings.allowed_hosts and not named(host, settings.allowed_hosts)):
            setting = "denied_hosts" if denied else "allowed_hosts"
            raise ToolProblem(
                f"{host} may not be contacted: `{setting}` of tool-web. Use another source.",
                DENIED_HOST,
            )

    def check_written(self, address: WebAddress) -> None:
        """Raise a `ToolProblem` when a host may not be asked, as far as its name tells.

        Nobody is asked what the name stands for: that is judged when a connection is made.
        """
        self.check_host(address.host)
        written = address.host
        if written == "localhost" or written.endswith(".localhost"):
            written = "127.0.0.1"
        if ":" in written or written.replace(".", "").isdecimal():
            check_public(address.host, (written,), self._settings.private_hosts)

    async def _get(self, address: WebAddress, headers: Mapping[str, str]) -> Answer:
        for _ in range(self._settings.max_redirects + 1):
            self.check_host(address.host)
            if self._settings.robots:
                await self._ask_robots(address)
            answer = await self._request(address, headers)
            if isinstance(answer, Answer):
                return answer
            if not address.may_lead_to(answer):
                raise ToolProblem(
                    f"{address.url} redirects to another server, which was not contacted: "
                    f"{answer.url} . Call the tool with that address if it is wanted.",
                    "redirect",
                )
            address = answer
        raise ToolProblem(
            f"{address.origin} redirects more than {self._settings.max_redirects} times.",
            "redirects",
        )

    async def _request(
        self, address: WebAddress, headers: Mapping[str, str]
    ) -> Answer | WebAddress:
        """Return the answer, or where it redirects to."""
        import httpcore2

        host = address.origin.partition("://")[2]
        sent = {
            "Host": host,
            "User-Agent": self._settings.user_agent,
            "Accept": _ACCEPT,
            "Accept-Encoding": "gzip",
            **headers,
        }
        url = httpcore2.URL(
            scheme=address.scheme, host=address.host, port=address.port, target=address.target
        )
        try:
            async with (
                await self._pool() as pool,
                pool.stream("GET", url, headers=list(sent.items())) as response,
            ):
                got = {
                    name.decode("latin-1").lower(): value.decode("latin-1")
                    for name, value in response.headers
                }
                if response.status in _REDIRECTS and got.get("location"):
                    return address.follow(got["location"])
                if not 200 <= response.status < 300:
                    raise _error(address, response.status, got)
                body, cut = await self._read(response, got.get("content-encoding", ""))
        except (
            httpcore2.NetworkError,
            httpcore2.ProtocolError,
            httpcore2.TimeoutException,
        ) as error:
            reason = one_line(str(error), 200) or type(error).__name__
            raise ToolProblem(f"{host} can't be reached: {reason}.", "unreachable") from error
        said = got.get("content-type", "")
        charset = _CHARSET.search(said)
        return Answer(
            address,
            media_type=said.partition(";")[0].strip().lower(),
            charset=charset[1] if charset else "",
            body=body,
            cut=cut,
        )

    async def _read(self, response: "httpcore2.Response", encoding: str) -> tuple[bytes, bool]:
        """Read a body up to the limit, and say whether it goes on."""
        encoding = encoding.strip().lower()
        if encoding not in ("", "identity", "gzip", "x-gzip"):
            raise ToolProblem(f"The answer is packed as {one_line(encoding, 40)}.", "encoding")
        # Unpacked piece by piece: a small packed body may stand for one without end.
        unpack = zlib.decompressobj(31) if "gzip" in encoding else None
        most, body = self._settings.max_bytes, bytearray()
        async for chunk in response.aiter_stream():
            try:
                body += unpack.decompress(chunk, most + 1 - len(body)) if unpack else chunk
            except zlib.error as error:
                raise ToolProblem(f"The answer can't be unpacked: {error}.", "encoding") from error
            if len(body) > most:
                return bytes(body[:most]), True
        return bytes(body), False

    async def _pool(self) -> "httpcore2.AsyncConnectionPool":
        import httpcore2

        from amplifier_tui.modules.tool_web.connecting import CheckedBackend

        if self._backend is None:
            self._backend = CheckedBackend(self._settings.private_hosts)
        # Not kept: a connection belongs to the call that was approved.
        return httpcore2.AsyncConnectionPool(
            network_backend=self._backend,
            ssl_context=await asyncio.to_thread(lambda: self._certificates),
        )

    @cached_property
    def _certificates(self) -> ssl.SSLContext:
        import httpx2

        return httpx2.create_ssl_context()

    async def _ask_robots(self, address: WebAddress) -> None:
        rules = self._robots.get(address.origin)
        if rules is None:
            text = ""
            try:
                answer = await self._request(address._replace(target="/robots.txt"), {})
                if isinstance(answer, Answer):
                    text = answer.body.decode("utf-8", "replace")
            except ToolProblem as problem:
                # A site without the file allows everything; one that fails allows nothing.
                if problem.kind != "http_4xx":
                    raise
            if len(self._robots) == _MOST_ROBOTS:
                del self._robots[next(iter(self._robots))]
            rules = self._robots[address.origin] = RobotFileParser()
            rules.parse(text.splitlines())
        if not rules.can_fetch(self._settings.user_agent, address.url):
            raise ToolProblem(
                f"The robots.txt of {address.host} asks programs not to read {address.target}.",
                "robots",
            )


def _error(address: WebAddress, status: int, headers: Mapping[str, str]) -> ToolProblem:
    try:
        words = f"{status} {HTTPStatus(status).phrase}"
    except ValueError:
        words = str(status)
    advice = {
        401: " It wants a login, which this tool does not have.",
        403: " It does not answer programs, or not without a login.",
        404: " Look the address up instead of guessing it.",
        410: " The page was removed.",
        429: " Wait before the next request to this server.",
    }.get(status, "")
    wait = one_line(headers.get("retry-after", ""), 40)
    advice += f" Retry after: {wait}." if wait else ""
    return ToolProblem(f"{address.url} answered {words}.{advice}", f"http_{status // 100}xx")
