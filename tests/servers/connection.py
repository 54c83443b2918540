"""The little of HTTP/1.1 that an LLM client needs: requests with a body, chunked answers."""

import asyncio
import json
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from http import HTTPStatus
from typing import Any

_MAX_HEAD = 2**16


@dataclass(frozen=True)
class HttpRequest:
    """One request; header names are lower-case."""

    method: str
    path: str
    headers: dict[str, str]
    body: bytes

    def json(self) -> Any:
        return json.loads(self.body) if self.body else None


Handler = Callable[[HttpRequest, "Connection"], Awaitable[None]]


class Connection(asyncio.StreamReaderProtocol):
    """One client connection, which notices at once when the client goes away."""

    def __init__(self, handler: Handler, tasks: set["asyncio.Task[None]"]) -> None:
        self.gone = asyncio.Event()
        self._handler = handler
        self._tasks = tasks
        self._reader = asyncio.StreamReader(limit=_MAX_HEAD)
        self._writer: asyncio.StreamWriter | None = None
        super().__init__(self._reader, self._begin)

    def eof_received(self) -> bool | None:
        self.gone.set()
        return super().eof_received()

    def connection_lost(self, exc: Exception | None) -> None:
        self.gone.set()
        super().connection_lost(exc)

    def _begin(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self._writer = writer
        task = asyncio.get_running_loop().create_task(self._serve())
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)

    async def _serve(self) -> None:
        assert self._writer is not None
        try:
            while not self.gone.is_set():
                request = await self._read_request()
                if request is None:
                    return
                await self._handler(request, self)
        except ConnectionError:
            return
        finally:
            self._writer.close()

    async def _read_request(self) -> HttpRequest | None:
        try:
            head = await self._reader.readuntil(b"\r\n\r\n")
        except (asyncio.IncompleteReadError, ConnectionError):
            return None
        first, *lines = head.decode("latin-1").rstrip("\r\n").split("\r\n")
        method, target, _ = first.split(" ", 2)
        headers = {
            name.strip().lower(): value.strip()
            for name, _, value in (line.partition(":") for line in lines)
        }
        body = await self._reader.readexactly(int(headers.get("content-length", "0")))
        return HttpRequest(method, target.partition("?")[0], headers, body)

    async def send(self, status: int, body: bytes, headers: dict[str, str] | None = None) -> None:
        """A whole answer with a known length."""
        await self._write(_head(status, {**(headers or {}), "content-length": str(len(body))}))
        await self._write(body)

    async def send_json(
        self, status: int, data: Any, headers: dict[str, str] | None = None
    ) -> None:
        kind = {"content-type": "application/json"}
        await self.send(status, json.dumps(data).encode(), {**kind, **(headers or {})})

    async def start_events(self) -> None:
        """Begin a stream of server-sent events."""
        kind = {"content-type": "text/event-stream; charset=utf-8", "cache-control": "no-cache"}
        await self.start_chunks(200, kind)

    async def start_chunks(self, status: int, headers: dict[str, str]) -> None:
        """Begin an answer of unknown length."""
        await self._write(_head(status, {**headers, "transfer-encoding": "chunked"}))

    async def send_chunk(self, data: bytes) -> None:
        await self._write(f"{len(data):x}\r\n".encode() + data + b"\r\n")

    async def end_chunks(self) -> None:
        await self._write(b"0\r\n\r\n")

    def cut(self) -> None:
        """Close without the end of the body: the client sees an incomplete answer."""
        assert self._writer is not None
        self._writer.close()

    async def _write(self, data: bytes) -> None:
        assert self._writer is not None
        self._writer.write(data)
        await self._writer.drain()


def _head(status: int, headers: dict[str, str]) -> bytes:
    try:
        reason = HTTPStatus(status).phrase
    except ValueError:
        reason = "Overloaded"
    lines = [
        f"HTTP/1.1 {status} {reason}",
        *(f"{name}: {value}" for name, value in headers.items()),
    ]
    return ("\r\n".join(lines) + "\r\n\r\n").encode("latin-1")
