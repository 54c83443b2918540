"""A site on loopback, and the tools that may read it."""

import asyncio
from collections.abc import Mapping
from dataclasses import dataclass, field
from types import TracebackType
from typing import Any, Self

import httpcore2

from amplifier_tui.kernel.coordinator import ModuleCoordinator
from amplifier_tui.kernel.models import ToolResult
from amplifier_tui.modules import tool_web
from amplifier_tui.modules.tool_web.connecting import CheckedBackend

HTML = {"Content-Type": "text/html"}


@dataclass
class Page:
    body: bytes = b""
    headers: Mapping[str, str] = field(default_factory=dict)
    status: int = 200
    endless: bool = False


class Site:
    """Serves `pages` by path and query, and keeps the requests as (path, headers)."""

    def __init__(self) -> None:
        self.pages: dict[str, Page] = {}
        self.requests: list[tuple[str, dict[str, str]]] = []
        self.port = 0
        self.asked = asyncio.Event()
        self.left = asyncio.Event()

    async def __aenter__(self) -> Self:
        self._server = await asyncio.start_server(self._serve, "127.0.0.1", 0)
        self.port = self._server.sockets[0].getsockname()[1]
        return self

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        at: TracebackType | None,
    ) -> None:
        self._server.close()
        await self._server.wait_closed()

    def url(self, path: str, host: str = "127.0.0.1") -> str:
        return f"http://{host}:{self.port}{path}"

    def put(self, path: str, body: str | bytes = b"", status: int = 200, **headers: str) -> str:
        raw = body.encode() if isinstance(body, str) else body
        named = {name.replace("_", "-"): value for name, value in headers.items()}
        self.pages[path] = Page(raw, named, status)
        return self.url(path)

    @property
    def paths(self) -> list[str]:
        return [path for path, _ in self.requests]

    async def _serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        try:
            first, *rows = (await reader.readuntil(b"\r\n\r\n")).decode().strip().split("\r\n")
            path = first.split()[1]
            headers = dict(row.lower().split(": ", 1) for row in rows)
            self.requests.append((path, headers))
            self.asked.set()
            page = self.pages.get(path) or Page(b"gone", status=404)
            named = {"Connection": "close", **page.headers}
            if not page.endless:
                named["Content-Length"] = str(len(page.body))
            head = "".join(f"{name}: {value}\r\n" for name, value in named.items())
            writer.write(f"HTTP/1.1 {page.status} X\r\n{head}\r\n".encode() + page.body)
            await writer.drain()
            if page.endless:
                await reader.read()  # until the client goes away
                self.left.set()
        finally:
            writer.close()


async def web_tools(**config: Any) -> Mapping[str, Any]:
    """The tools as they are mounted; this machine may be read."""
    coordinator = ModuleCoordinator()
    await tool_web.mount(coordinator, {"private_hosts": ["127.0.0.1"], **config})
    tools: Mapping[str, Any] = coordinator.get("tools")
    return tools


async def fetch(url: str, **config: Any) -> ToolResult:
    result: ToolResult = await (await web_tools(**config))["web_fetch"].execute({"url": url})
    return result


def kind(result: ToolResult) -> str:
    assert not result.success, result.output
    assert result.error is not None
    return str(result.error["type"])


class Names:
    """A name server and a network: every answer in turn, every connection ends at the site."""

    def __init__(self, site: Site, *answers: list[str]) -> None:
        self.looked_up: list[str] = []
        self.connected: list[str] = []
        self._answers = list(answers)
        self._site = site

    def backend(self, *private_hosts: str) -> CheckedBackend:
        return CheckedBackend(private_hosts, _Network(self, self._site), self._resolve)

    async def _resolve(self, host: str, port: int) -> list[str]:
        self.looked_up.append(host)
        return self._answers.pop(0)


class _Network(httpcore2.AsyncNetworkBackend):
    def __init__(self, names: Names, site: Site) -> None:
        self._names = names
        self._site = site

    async def connect_tcp(
        self, host: str, port: int, *more: Any, **options: Any
    ) -> httpcore2.AsyncNetworkStream:
        self._names.connected.append(host)
        return await httpcore2.AnyIOBackend().connect_tcp("127.0.0.1", self._site.port)
