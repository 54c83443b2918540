"""A server that is reached over streamable HTTP."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any, Final

import httpx2
from mcp.client.streamable_http import streamable_http_client

from amplifier_tui.modules.tool_mcp.protocol.refusals import Explained
from amplifier_tui.modules.tool_mcp.protocol.stdio import LONGEST_MESSAGE
from amplifier_tui.modules.tool_mcp.settings import ServerSettings

_CONNECT: Final = 15.0
_SILENCE: Final = 600.0
"""Seconds a stream may be silent."""


@asynccontextmanager
async def http_streams(
    settings: ServerSettings, auth: httpx2.Auth | None = None
) -> AsyncIterator[tuple[Any, Any]]:
    """Exchange messages with a server at an address. It is told when this ends.

    Redirects are followed on the same server only, so that headers with keys go nowhere else.
    """
    assert settings.url is not None
    client = httpx2.AsyncClient(
        # What is around a value is no part of it, but refused: that of an empty variable, its line.
        headers={name: value.strip() for name, value in settings.headers.items()},
        auth=auth,
        timeout=httpx2.Timeout(_CONNECT, read=_SILENCE),
        transport=Explained(Bounded(httpx2.AsyncHTTPTransport()), settings.headers),
    )
    async with (
        client,
        streamable_http_client(
            settings.url, http_client=client, max_sse_event_size=LONGEST_MESSAGE
        ) as streams,
    ):
        yield streams


class Bounded(httpx2.AsyncBaseTransport):
    """Ends answers that are longer than a message may be; a stream of events has its own limit."""

    def __init__(self, inner: httpx2.AsyncBaseTransport) -> None:
        self._inner = inner

    async def handle_async_request(self, request: httpx2.Request) -> httpx2.Response:
        """Send a request; its answer can be read as far as it may be."""
        response = await self._inner.handle_async_request(request)
        if "text/event-stream" in response.headers.get("content-type", ""):
            return response
        # Unpacked here: a short answer may stand for a long one.
        headers = [
            (name, value)
            for name, value in response.headers.multi_items()
            if name.lower() not in ("content-encoding", "content-length")
        ]
        return httpx2.Response(
            response.status_code,
            headers=headers,
            stream=_Counted(response),
            extensions=response.extensions,
        )

    async def aclose(self) -> None:
        """Close the connections."""
        await self._inner.aclose()


class _Counted(httpx2.AsyncByteStream):
    def __init__(self, response: httpx2.Response) -> None:
        self._response = response

    async def __aiter__(self) -> AsyncIterator[bytes]:
        size = 0
        async for piece in self._response.aiter_bytes():
            size += len(piece)
            if size > LONGEST_MESSAGE:
                raise httpx2.ReadError(f"an answer of more than {LONGEST_MESSAGE:,} bytes")
            yield piece

    async def aclose(self) -> None:
        await self._response.aclose()
