"""Why a server over HTTP refused a request, in words: the SDK says only that it did."""

import asyncio
import json
from collections.abc import Mapping
from contextlib import suppress
from http import HTTPStatus
from typing import Any, Final

import httpx2
import mcp_types as types

from amplifier_tui.base.secrets.names import by_length
from amplifier_tui.base.text import one_line

_READING: Final = 5.0
"""Seconds the body of a refusal may take."""
_LONGEST_BODY: Final = 64_000
_LONGEST_WORDS: Final = 200
_REFUSED: Final = (HTTPStatus.UNAUTHORIZED, HTTPStatus.FORBIDDEN)
_WRONG_KEY: Final = (
    "the Authorization in its `headers` is refused: correct it, or the variable it comes from, "
    "and open the bundle anew with /bundle"
)
NO_KEY: Final = "put its token into its `headers` as Authorization"


class Explained(httpx2.AsyncBaseTransport):
    """Answers a message that was refused with an error of the protocol, which says why.

    Args:
        inner: What sends the requests.
        headers: Those that the user gave; their values are kept out of what is said.
    """

    def __init__(self, inner: httpx2.AsyncBaseTransport, headers: Mapping[str, str]) -> None:
        self._inner = inner
        self._keys = by_length(word for value in headers.values() for word in value.split())
        self._has_key = any(name.lower() == "authorization" for name in headers)

    async def handle_async_request(self, request: httpx2.Request) -> httpx2.Response:
        """Send a request; an answer keeps its status and its headers."""
        response = await self._inner.handle_async_request(request)
        status = response.status_code
        ended = status == HTTPStatus.NOT_FOUND and "mcp-session-id" in request.headers
        # Requests of a sign-in are answered as they are.
        if status < HTTPStatus.BAD_REQUEST or ended or b'"jsonrpc"' not in request.content:
            return response
        error = self._error(status, response.headers.get("content-type", ""), await _body(response))
        headers = [
            (name, value)
            for name, value in response.headers.multi_items()
            if name.lower() not in ("content-type", "content-encoding", "content-length")
        ]
        return httpx2.Response(
            status, headers=headers, json={"jsonrpc": "2.0", "id": None, "error": error}
        )

    def _error(self, status: int, kind: str, text: str) -> dict[str, Any]:
        said: Any = None if "html" in kind or text.lstrip().startswith("<") else text
        with suppress(ValueError, RecursionError):
            said = json.loads(text)
        inner = said.get("error") if isinstance(said, dict) and "jsonrpc" in said else None
        if isinstance(inner, dict) and isinstance(inner.get("code"), int):
            error = inner
            if status not in _REFUSED:
                return error
        else:
            error = {"code": types.INTERNAL_ERROR}
            if status == HTTPStatus.NOT_FOUND:
                error = {"code": types.METHOD_NOT_FOUND}
        words = _words(said)
        for key in self._keys:
            words = words.replace(key, "…")
        why = f"{status} {_phrase(status)}".rstrip()
        if words and words.casefold() != _phrase(status).casefold():
            why += f', "{one_line(words, _LONGEST_WORDS)}"'
        if status in _REFUSED:
            why += f"; {_WRONG_KEY if self._has_key else NO_KEY}"
            if status == HTTPStatus.UNAUTHORIZED and not self._has_key:
                why += ", or sign in with /mcp"
        elif status == HTTPStatus.NOT_FOUND:
            why += "; see whether its `url` is right"
        return {**error, "message": why}

    async def aclose(self) -> None:
        """Close the connections."""
        await self._inner.aclose()


async def _body(response: httpx2.Response) -> str:
    body = b""
    # A stream of events need not end.
    if "text/event-stream" not in response.headers.get("content-type", ""):
        with suppress(TimeoutError, httpx2.HTTPError):
            async with asyncio.timeout(_READING):
                async for piece in response.aiter_bytes():
                    body += piece
                    if len(body) > _LONGEST_BODY:
                        break
    await response.aclose()
    return body[:_LONGEST_BODY].decode("utf-8", "replace")


def _phrase(status: int) -> str:
    with suppress(ValueError):
        return HTTPStatus(status).phrase
    return ""


def _words(said: Any) -> str:
    """Return what a server says of an error, wherever it puts it."""
    if isinstance(said, str):
        return said
    if isinstance(said, dict):
        for key in ("error_description", "message", "error", "detail"):
            if words := _words(said.get(key)):
                return words
    return ""
