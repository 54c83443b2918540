"""Searches and lists, and has the index brought up to date by a process of its own meanwhile."""

import asyncio
import contextlib
import logging
import sys
import time
from collections import deque
from dataclasses import replace
from pathlib import Path
from typing import Final

from amplifier_tui.base.jsonl import decode_row
from amplifier_tui.host.stored_cards import SearchFound, SessionList

logger = logging.getLogger(__name__)

_ROOT: Final = str(Path(__file__).resolve().parents[4])
_START: Final = (
    "import sys; sys.path += sys.argv[1:2]; "
    "from amplifier_tui.host.store.search.worker import main; main()"
)
_KEPT: Final = 50
"""Lines of what the process says of itself that are logged when it fails."""
_REST: Final = 5.0
"""Seconds between two looks at what is new, while somebody types."""


class SessionSearch:
    """Searches and lists all stored sessions; for one event loop."""

    def __init__(self) -> None:
        self._task: asyncio.Task[None] | None = None
        self._closed = False
        self._next = 0.0
        self._part = ""
        self._done = self._changed = 0
        self._problem = ""

    async def search(self, typed: str, cwd: Path | None) -> SearchFound:
        """Return what is indexed of the words; see `finding.find`."""
        # No session needs these to open.
        import sqlite3

        from amplifier_tui.host.store.search.database import is_damaged
        from amplifier_tui.host.store.search.finding import find

        self._refresh()
        problem = ""
        found = SearchFound()
        try:
            found = await asyncio.to_thread(find, typed, cwd)
        except sqlite3.Error as error:
            problem = f"The index can't be read: {error}"
            if is_damaged(error):
                self._refresh("anew")
        return replace(
            found,
            indexing=self._running,
            # Of the texts nothing is done while the cards are read.
            done=self._done if self._part == "texts" else 0,
            changed=self._changed,
            problem=problem or self._problem,
        )

    async def list(self, typed: str, cwd: Path, *, here: bool, most: int) -> SessionList:
        """Return a page of the sessions that match; see `list_sessions`."""
        from amplifier_tui.host.store.listing.listing import list_sessions

        # What the index says of the time of changes is put right by the next answer.
        listed = await asyncio.to_thread(
            list_sessions, typed, cwd, here=here, most=most, look=bool(self._problem)
        )
        # Not before: another process would compete with what somebody waits for.
        self._refresh()
        reading = self._running and self._part != "texts"
        problem = listed.problem or (self._problem if typed.strip() else "")
        done, changed = (self._done, self._changed) if reading else (0, 0)
        return replace(listed, indexing=reading, done=done, changed=changed, problem=problem)

    def changed(self) -> None:
        """Look at what is stored with the next question, as it has just been changed."""
        self._next = 0.0

    def begin(self) -> None:
        """Index what is new, unless that is going on."""
        self._refresh()

    @property
    def _running(self) -> bool:
        return self._task is not None and not self._task.done()

    async def close(self) -> None:
        """End the process; what it has indexed so far is kept."""
        self._closed = True
        if self._task is not None and not self._task.done():
            self._task.cancel()
            await asyncio.wait([self._task], timeout=1)

    def _refresh(self, how: str = "") -> None:
        if not self._running and not self._closed and (how or time.monotonic() >= self._next):
            self._task = asyncio.create_task(self._update(how))

    async def _update(self, how: str) -> None:
        self._part = ""
        self._done = self._changed = 0
        problem = ""
        process = None
        said: deque[str] = deque(maxlen=_KEPT)
        try:
            # Isolated: neither the folder it starts in nor the environment adds code to it.
            process = await asyncio.create_subprocess_exec(
                *(sys.executable, "-I", "-c", _START, _ROOT, how),
                stdin=asyncio.subprocess.DEVNULL,
                stdout=asyncio.subprocess.PIPE,
                stderr=asyncio.subprocess.STDOUT,
            )
            assert process.stdout is not None
            async for line in process.stdout:
                row = decode_row(line)
                if row is None:
                    said.append(line.decode(errors="replace"))
                    continue
                self._part = row.get("part", self._part)
                self._done = row.get("done", self._done)
                self._changed = row.get("changed", self._changed)
                problem = row.get("problem", problem)
            if await process.wait():
                logger.error("The indexing failed:\n%s", "".join(said))
                problem = problem or "see the log: amplifier-tui logs"
        except OSError as error:
            problem = str(error)
        finally:
            if process is not None and process.returncode is None:
                with contextlib.suppress(ProcessLookupError):
                    process.kill()
                await process.wait()
            self._problem = f"The newest may be missing: {problem}" if problem else ""
            self._next = time.monotonic() + _REST
