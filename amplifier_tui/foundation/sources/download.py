"""Downloads: bounded in size and time, cancelled within a moment, never to another scheme."""

import asyncio
import contextlib
import hashlib
import http.client
import threading
import urllib.error
import urllib.request
from collections.abc import Callable
from concurrent.futures import Future
from pathlib import Path
from time import monotonic
from typing import IO, Any
from urllib.parse import urlsplit

from amplifier_tui.foundation.exceptions import BundleNotFoundError
from amplifier_tui.foundation.paths import redact_uri
from amplifier_tui.foundation.sources.context import FetchLimits

_CHUNK = 65_536


async def download(
    url: str, target: Path, limits: FetchLimits, report: Callable[[str], None]
) -> str:
    """Download a URL into a file and return its SHA-256; after a failure there is no file.

    Redirects stay within http and https, and https stays https. `report` gets readable progress.
    Raises `BundleNotFoundError` when it cannot be had or exceeds the limits.
    """
    loop, stop = asyncio.get_running_loop(), threading.Event()
    done: Future[str] = Future()

    def tell(text: str) -> None:
        with contextlib.suppress(RuntimeError):  # the loop is closed
            loop.call_soon_threadsafe(report, text)

    def work() -> None:
        done.set_running_or_notify_cancel()
        try:
            done.set_result(_download(url, target, limits, stop, tell))
        except BaseException as error:
            done.set_exception(error)

    # Not the loop's executor: a connection that hangs must not hold up the end of the program.
    threading.Thread(target=work, name="download", daemon=True).start()
    try:
        return await asyncio.wrap_future(done)
    finally:
        stop.set()  # when cancelled: the thread notices at its next chunk and removes the file


def _download(
    url: str, target: Path, limits: FetchLimits, stop: threading.Event, tell: Callable[[str], None]
) -> str:
    failed = f"Failed to download {redact_uri(url)}"
    try:
        request = urllib.request.Request(url, headers={"User-Agent": "amplifier-tui"})
        opener = urllib.request.build_opener(_SafeRedirects())
        target.parent.mkdir(parents=True, exist_ok=True)
        with (
            opener.open(request, timeout=limits.connect_seconds) as response,
            target.open("wb") as stream,
        ):
            return _copy(response, stream, limits, stop, tell)
    except BaseException as error:
        target.unlink(missing_ok=True)
        if isinstance(error, urllib.error.HTTPError):
            raise BundleNotFoundError(f"{failed}: HTTP {error.code}") from error
        if not isinstance(error, OSError | ValueError | http.client.HTTPException | _Refused):
            raise
        reason = getattr(error, "reason", None) or error
        raise BundleNotFoundError(f"{failed}: {reason}") from error


def _copy(
    response: http.client.HTTPResponse,
    stream: IO[bytes],
    limits: FetchLimits,
    stop: threading.Event,
    tell: Callable[[str], None],
) -> str:
    digest, size, deadline = hashlib.sha256(), 0, monotonic() + limits.download_seconds
    announced = int(response.headers.get("Content-Length") or 0)
    percent = -1
    while chunk := response.read1(_CHUNK):
        size += len(chunk)
        if stop.is_set():
            raise _Refused("cancelled")
        if size > limits.download_bytes:
            raise _Refused(f"larger than {limits.download_bytes:,} bytes")
        if monotonic() > deadline:
            raise _Refused(f"not done after {limits.download_seconds:g} s")
        digest.update(chunk)
        stream.write(chunk)
        if announced and size * 100 // announced != percent:
            percent = size * 100 // announced
            tell(f"{percent}%")
    if size < announced:
        raise _Refused("the connection was cut")
    return digest.hexdigest()


class _Refused(Exception):
    """The download breaks a limit, or is no longer wanted."""


class _SafeRedirects(urllib.request.HTTPRedirectHandler):
    def redirect_request(self, *args: Any, **kwargs: Any) -> urllib.request.Request | None:
        request, *_, target = args
        old, new = urlsplit(request.full_url).scheme, urlsplit(target).scheme
        if new not in ("http", "https") or (old == "https" and new == "http"):
            raise urllib.error.URLError(f"refused a redirect from {old} to {new}")
        return super().redirect_request(*args, **kwargs)
