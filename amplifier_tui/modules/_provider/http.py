"""The HTTP client of the SDKs: stays with its host, and bounds what a server may send.

Imported with an SDK, never before: HTTP takes its time to import.
"""

import json
import os
import ssl
from collections.abc import AsyncGenerator
from contextlib import aclosing
from functools import lru_cache
from typing import Any, Final

import httpx2

from amplifier_tui.base.lazy.dataclass import dataclass
from amplifier_tui.kernel.llm_errors import ConfigurationError, LLMError, StreamError
from amplifier_tui.modules._provider.errors import advised
from amplifier_tui.modules._provider.sending import trace_sending
from amplifier_tui.modules._provider.settings import ProviderSettings

_MB: Final = 1_000_000
_EVENT_ENDS: Final = (b"\n\n", b"\r\r", b"\n\r\n")
_LONGEST_END: Final = 3


@dataclass(frozen=True)
class ResponseLimits:
    """Most bytes of what a server sends, unpacked.

    Attributes:
        body: Of an answer in one piece.
        error: Of an error's page; what is beyond is not read.
        event: Of one event of a stream.
        stream: Of a whole stream.
    """

    body: int = 32 * _MB
    error: int = 1 * _MB
    event: int = 32 * _MB
    stream: int = 256 * _MB


LIMITS = ResponseLimits()
"""Far above what any answer has, and far below what a machine has."""


class GuardedClient(httpx2.AsyncClient):
    """A client that follows no redirect to another host and reads no answer without end."""

    def __init__(self, settings: ProviderSettings, **options: Any) -> None:
        super().__init__(**options)
        self._settings = settings

    async def send(
        self, request: httpx2.Request, *, stream: bool = False, **options: Any
    ) -> httpx2.Response:
        """Send a request.

        Raises:
            ConfigurationError: It is redirected to another host, which got nothing.
            StreamError: The answer is too large, or not one of an API.
        """
        options["follow_redirects"] = False
        request.extensions = {**request.extensions, "trace": trace_sending}
        first = origin(request.url)
        for _ in range(self.max_redirects):
            response = await super().send(request, stream=True, **options)
            if response.next_request is None:
                break
            # Its body is of no use, and may have no end.
            await response.aclose()
            request = response.next_request
            if origin(request.url) != first:
                raise self._leads_away(first, origin(request.url))
        else:
            raise httpx2.TooManyRedirects("too many redirects", request=request)
        kind = response.headers.get("content-type", "")
        is_json = response.is_success and "json" in kind
        bounded = BoundedResponse(response, self._settings, events=stream and not is_json)
        if response.is_success and "text/html" in kind:
            await bounded.aclose()
            raise self._no_api("a web page")
        if not stream or is_json:
            try:
                await bounded.aread()
            finally:
                await bounded.aclose()
        if is_json and (status := _status_of_error(bounded.content)) is not None:
            bounded.status_code = status
        elif is_json and stream:
            raise self._no_api("something else than the stream that was asked for")
        return bounded

    def _no_api(self, what: str) -> LLMError:
        return advised(
            StreamError,
            f"{self._settings.where} answered with {what}.",
            f"Check `base_url` of {self._settings.module}: is this the address of such an API?",
            provider=self._settings.provider,
            retryable=False,
        )

    def _leads_away(self, here: str, there: str) -> ConfigurationError:
        return ConfigurationError(
            f"{here} redirects to another host, {there}, which was sent neither the prompt nor "
            f"the key. If that is where they belong, set `base_url` of {self._settings.module} "
            "to its address.",
            provider=self._settings.provider,
        )


def guarded_client(sdk: Any, settings: ProviderSettings) -> httpx2.AsyncClient:
    """Return the SDK's own client, which brings its proxies and socket options, guarded."""
    kind = type("GuardedSDKClient", (GuardedClient, sdk.DefaultAsyncHttpxClient), {})
    certificates = os.environ.get("SSL_CERT_FILE", ""), os.environ.get("SSL_CERT_DIR", "")
    client: httpx2.AsyncClient = kind(settings, verify=_ssl_context(*certificates))
    return client


@lru_cache(maxsize=8)
def _ssl_context(file: str, folder: str) -> ssl.SSLContext:
    """Return the context of certificates of these variables, else the system's.

    Reading them all takes some 20 ms, so every client of the process shares them.
    """
    return httpx2.create_ssl_context()


class BoundedResponse(httpx2.Response):
    """A response whose body ends at a limit, in the place of one of which nothing has been read.

    `events` says that a stream of events was asked for.
    """

    def __init__(
        self, response: httpx2.Response, settings: ProviderSettings, *, events: bool
    ) -> None:
        super().__init__(
            response.status_code,
            headers=response.headers,
            stream=response.stream,
            request=response.request,
            extensions=response.extensions,
            history=response.history,
            default_encoding=response.default_encoding,
        )
        self._settings = settings
        self._events = events and response.is_success

    async def aiter_bytes(self, chunk_size: int | None = None) -> AsyncGenerator[bytes, None]:
        """Yield the unpacked body; raise a `StreamError` when it is too large."""
        limits, total, event, tail = LIMITS, 0, 0, b""
        async with aclosing(super().aiter_bytes(chunk_size)) as chunks:
            async for chunk in chunks:
                total += len(chunk)
                if self.is_error and total > limits.error:
                    yield chunk[: len(chunk) - (total - limits.error)]
                    return
                if self._events:
                    tail += chunk
                    end = max(tail.rfind(mark) + len(mark) for mark in _EVENT_ENDS)
                    event = len(tail) - end if end >= _LONGEST_END else event + len(chunk)
                    tail = tail[-_LONGEST_END:]
                    self._check(event, limits.event, "one event")
                    self._check(total, limits.stream, "a stream")
                elif not self.is_error:
                    self._check(total, limits.body, "an answer")
                yield chunk

    def _check(self, size: int, most: int, what: str) -> None:
        if size > most:
            settings = self._settings
            raise advised(
                StreamError,
                f"{settings.where} sent {what} of more than {most / _MB:g} MB, and the rest was "
                "not read.",
                f"Check `base_url` of {settings.module}, or ask for less at once.",
                provider=settings.provider,
                retryable=False,
            )


def _status_of_error(body: bytes) -> int | None:
    """The status of an error that was sent as a success, which some servers do; None for none."""
    try:
        answer = json.loads(body) if b'"error"' in body else None
    except (ValueError, RecursionError):
        return None
    match answer:
        case {"choices": _} | {"output": _} | {"content": _}:
            return None
        case {"error": {"code": int(code)}} if 400 <= code < 600:
            return code
        case {"error": dict() | str()}:
            return 500
    return None


def origin(url: httpx2.URL) -> str:
    """Return scheme, host and port of an address; the port is left out where it is usual."""
    return f"{url.scheme}://{url.netloc.decode('ascii')}"
