"""Pages as text, kept for a while."""

import asyncio
import contextlib
import json
import os
import sys
import time
from collections import OrderedDict
from pathlib import Path
from typing import Final, NamedTuple

from amplifier_tui.base.lazy.dataclass import dataclass
from amplifier_tui.base.text import clean, one_line
from amplifier_tui.modules._shared.tool import ToolProblem
from amplifier_tui.modules.tool_web.addresses import WebAddress
from amplifier_tui.modules.tool_web.fetching import Answer, Fetcher

_READING: Final = Path(__file__).with_name("reading.py")
_PATIENCE: Final = 20.0
"""Seconds it may take to make text of one page."""
_AT_ONCE: Final = 4
"""Pages that are fetched and read at the same time; the model may ask for many."""
_MOST_KEPT: Final = 8_000_000
"""Characters of all pages that are kept."""


@dataclass(frozen=True)
class WebPage:
    """A page as text; `cut` says that it goes on beyond what was fetched."""

    url: str
    title: str
    text: str
    cut: bool


class Kept(NamedTuple):
    """A page and when it was fetched, by the monotonic clock."""

    page: WebPage
    fetched: float


class WebPages:
    """Fetches pages, each once within some seconds."""

    def __init__(self, fetcher: Fetcher, seconds: float) -> None:
        self._fetcher = fetcher
        self._seconds = seconds
        self._slots = asyncio.Semaphore(_AT_ONCE)
        self._kept: OrderedDict[str, Kept] = OrderedDict()

    def check(self, address: WebAddress) -> None:
        """Raise a `ToolProblem` when an address may not be asked, as far as it tells itself."""
        self._fetcher.check_written(address)

    async def get(self, address: WebAddress) -> WebPage:
        """Return the page at an address.

        Raises:
            ToolProblem: There is none, or none that can be read.
        """
        self._fetcher.check_host(address.host)
        kept = self._kept.get(address.url)
        if kept is not None and time.monotonic() - kept.fetched < self._seconds:
            return kept.page
        async with self._slots:
            page = await read_page(await self._fetcher.get(address))
        self._keep(address.url, page)
        return page

    def _keep(self, url: str, page: WebPage) -> None:
        self._kept.pop(url, None)
        self._kept[url] = Kept(page, time.monotonic())
        while sum(len(kept.page.text) for kept in self._kept.values()) > _MOST_KEPT:
            self._kept.popitem(last=False)


async def read_page(answer: Answer) -> WebPage:
    """Make text of what a server sent, in a process of its own.

    Raises:
        ToolProblem: It is not text, or takes too long to read.
    """
    url = answer.address.url
    asked = {"media_type": answer.media_type, "charset": answer.charset, "url": url}
    kept = {name: os.environ[name] for name in ("PATH", "SYSTEMROOT") if name in os.environ}
    # -I: nothing of the environment's or the workspace's is imported.
    try:
        process = await asyncio.create_subprocess_exec(
            *(sys.executable, "-I", "-X", "utf8", str(_READING)),
            stdin=asyncio.subprocess.PIPE,
            stdout=asyncio.subprocess.PIPE,
            stderr=asyncio.subprocess.PIPE,
            env=kept,
        )
    except OSError as error:
        raise ToolProblem(f"The page can't be read: {error}.", "os_error") from error
    try:
        async with asyncio.timeout(_PATIENCE):
            read, trouble = await process.communicate(
                json.dumps(asked).encode() + b"\n" + answer.body
            )
    except TimeoutError as error:
        raise ToolProblem(
            f"{url} takes more than {_PATIENCE:g} s to read. Look for a shorter page.", "unreadable"
        ) from error
    finally:
        with contextlib.suppress(ProcessLookupError):
            process.kill()
        await process.wait()
    if process.returncode:
        last = one_line(trouble.decode("utf-8", "replace").strip().rpartition("\n")[2])
        raise ToolProblem(f"{url} can't be read: {last or 'the reader ended'}.", "unreadable")
    found = json.loads(read)
    if "problem" in found:
        problem = one_line(found["problem"], 200)
        cut = ", of which only the first part was fetched (`max_bytes`)" if answer.cut else ""
        raise ToolProblem(f"{url} is {problem}{cut}.", "unreadable")
    title = one_line(found["title"], 200)
    return WebPage(url, title, await asyncio.to_thread(clean, found["text"]), answer.cut)
