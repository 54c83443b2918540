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
from typing import IO
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
    shown = redact_uri(url)
    try:
        request = urllib.request.Request(url, headers={"User-Agent": "amplifier-tui"})
        opener = urllib.request.build_opener(_SafeRedirects())
        with opener.open(request, timeout=limits.connect_seconds) as response:
            return _copy(response, target, limits, stop, tell, shown)
    except urllib.error.HTTPError as error:
        raise BundleNotFoundError(f"Failed to download {shown}: HTTP {error.code}") from error
    except (OSError, ValueError, http.client.HTTPException) as error:
        reason = getattr(error, "reason", None) or error
        raise BundleNotFoundError(f"Failed to download {shown}: {reason}") from error


def _copy(
    response: http.client.HTTPResponse,
    target: Path,
    limits: FetchLimits,
    stop: threading.Event,
    tell: Callable[[str], None],
    shown: str,
) -> str:
    digest, size, deadline = hashlib.sha256(), 0, monotonic() + limits.download_seconds
    announced = int(response.headers.get("Content-Length") or 0)
    percent = -1
    target.parent.mkdir(parents=True, exist_ok=True)
    complete = False
    try:
        with target.open("wb") as stream:
            while chunk := response.read1(_CHUNK):
                size += len(chunk)
                if stop.is_set():
                    raise BundleNotFoundError(f"Cancelled: {shown}")
                if size > limits.download_bytes:
                    raise BundleNotFoundError(
                        f"Failed to download {shown}: larger than {limits.download_bytes:,} bytes"
                    )
                if monotonic() > deadline:
                    raise BundleNotFoundError(
                        f"Failed to download {shown}: not done after {limits.download_seconds:g} s"
                    )
                digest.update(chunk)
                stream.write(chunk)
                if announced and size * 100 // announced != percent:
                    percent = size * 100 // announced
                    tell(f"{percent}%")
        if announced and size < announced:
            raise BundleNotFoundError(f"Failed to download {shown}: the connection was cut")
        complete = True
    finally:
        if not complete:
            target.unlink(missing_ok=True)
    return digest.hexdigest()


class _SafeRedirects(urllib.request.HTTPRedirectHandler):
    def redirect_request(
        self,
        req: urllib.request.Request,
        fp: IO[bytes],
        code: int,
        msg: str,
        headers: http.client.HTTPMessage,
        newurl: str,
    ) -> urllib.request.Request | None:
        old, new = urlsplit(req.full_url).scheme, urlsplit(newurl).scheme
        if new not in ("http", "https") or (old == "https" and new == "http"):
            raise urllib.error.URLError(f"refused a redirect from {old} to {new}")
        return super().redirect_request(req, fp, code, msg, headers, newurl)
