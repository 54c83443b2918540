"""A session that another window has open: shown and followed here, and never written to."""

import asyncio
import logging
from collections.abc import Callable
from pathlib import Path
from time import monotonic, time
from typing import Final

from amplifier_tui.base.files import FileLock
from amplifier_tui.base.jsonl import Row, StoredRows, decode_row
from amplifier_tui.base.messages.tool_calls import calls_of, unanswered
from amplifier_tui.host.client import OpenRequest
from amplifier_tui.host.events import (
    BranchChanged,
    HostEvent,
    Notice,
    SessionClosed,
    SessionHeld,
    SessionOpened,
    TitleChanged,
)
from amplifier_tui.host.messages import is_from_hook
from amplifier_tui.host.redaction import Redactor
from amplifier_tui.host.session.cleanup.ending import resume_command
from amplifier_tui.host.session.places.workspaces import git_branch
from amplifier_tui.host.store import event_log, metadata
from amplifier_tui.host.store.event_log import EventLogFile
from amplifier_tui.host.store.lanes import TRANSCRIPT
from amplifier_tui.host.store.metadata import called_by, read_metadata
from amplifier_tui.host.store.replay import TAIL, Replay, replay_of
from amplifier_tui.host.store.sessions import LOCK_NAME, lost_rows
from amplifier_tui.host.store.turns.outcomes import DISPLAY
from amplifier_tui.host.stream.sender import Stamp
from amplifier_tui.host.stream.traces import stored_traces

logger = logging.getLogger(__name__)

LOOK_SECONDS: Final = 1.0
"""Seconds between two looks at the files."""
_REST: Final = 20
"""A look that takes long is followed by a rest so many times as long."""
_WATCHED: Final = (TRANSCRIPT, DISPLAY, event_log.FILE_NAME, metadata.FILE_NAME)


class ViewedSession:
    """Tells what is stored of a session, and what is added to it.

    Args:
        folder: The session's folder.
        request: What was asked for; with it the session is opened once it is free.
        put: Takes events on their way up.
    """

    def __init__(
        self, folder: Path, request: OpenRequest, put: Callable[[HostEvent], None]
    ) -> None:
        self.folder = folder
        self.request = request
        self.redactor = Redactor()
        self.log = EventLogFile(folder / event_log.FILE_NAME)
        self._put = put
        self._lock = FileLock(folder / LOCK_NAME)
        self._following: asyncio.Task[None] | None = None
        self._looks: dict[str, tuple[int, int, int]] = {}
        """Of each file: inode, size, time of its last change."""
        self._rows = self._notes = self._traced = 0
        """How much was told: rows, outcomes that belong to no call, rows of the event log."""
        self._called: tuple[str, str, tuple[str, ...]] = ("", "", ())
        self._project = self._workspace = self._branch = ""
        self._free = False
        self._shown = False

    @property
    def session_id(self) -> str:
        """The session's id."""
        return self.folder.name

    def replay(self) -> Replay:
        """Return what turns its rows into events."""
        return replay_of(self.folder)

    def is_free(self) -> bool:
        """Whether no other window has it open any more. Blocking."""
        return self._lock.is_free()

    async def read(self, prompt: str = "") -> list[HostEvent]:
        """Return what is stored, and whether it is still open elsewhere; for `show`.

        Args:
            prompt: What was sent to it already, and goes back.
        """
        return [
            *await asyncio.to_thread(self._look),
            await asyncio.to_thread(self._held, prompt),
        ]

    def show(self, events: list[HostEvent]) -> None:
        """Tell what was read, and follow what comes.

        Nothing is waited for: who hears of the session may ask it at once.
        """
        self._send(events)
        self._following = asyncio.get_running_loop().create_task(self._follow())

    async def tell(self, prompt: str = "") -> None:
        """Say whether it is still open elsewhere; a prompt that could not be sent goes back."""
        self._put(await asyncio.to_thread(self._held, prompt))

    def close(self, reason: str = "") -> None:
        """Follow it no longer, and say that it is closed here."""
        if self._following is not None:
            self._following.cancel()
        self._put(self._closed(reason))

    async def _follow(self) -> None:
        pause = LOOK_SECONDS
        while True:
            await asyncio.sleep(pause)
            began = monotonic()
            try:
                self._send(await asyncio.to_thread(self._look))
            except Exception as error:
                logger.warning("A session of another window can't be followed", exc_info=error)
                text = f"What the other window adds is not shown any more: {error}"
                self._put(Notice(**self._stamp(), level="warning", text=text, source="store"))
                return
            pause = max(LOOK_SECONDS, _REST * (monotonic() - began))

    def _send(self, events: list[HostEvent]) -> None:
        for event in events:
            self._put(event)

    def _look(self) -> list[HostEvent]:
        """Return the events of what was added since the last look. Blocking."""
        if not self.folder.is_dir():
            raise FileNotFoundError(f"the session {self.session_id} is not there any more")
        # First: what is read after it was let go is all there is.
        free = self._lock.is_free()
        before, self._looks = self._looks, {name: self._status(name) for name in _WATCHED}
        found: list[HostEvent] = []
        (old, size, _), (new, now, _) = before.get(TRANSCRIPT, (0, 0, 0)), self._looks[TRANSCRIPT]
        if not self._shown or old != new or now < size:
            # It is shown for the first time, or went back to an earlier turn.
            found += self._all(free)
        elif before != self._looks or free != self._free:
            found += self._added(free)
        # Looked at as where the session is open: what is stored is of the end of a turn.
        shown, self._branch = self._branch, self._checked_out()
        if self._branch != shown:
            found.append(BranchChanged(**self._stamp(), branch=self._branch))
        if free != self._free:
            self._free = free
            found.append(self._held())
        return found

    def _status(self, name: str) -> tuple[int, int, int]:
        try:
            found = (self.folder / name).stat()
        except FileNotFoundError:
            return (0, 0, 0)
        return found.st_ino, found.st_size, found.st_mtime_ns

    def _all(self, free: bool) -> list[HostEvent]:
        """Return the events of the end of what is stored, as if it was opened."""
        stored = self._stored(free)
        replay = replay_of(self.folder, stored)
        self._rows = stop = len(stored) if free else _settled(stored)
        self._notes = replay.notes
        start = max(0, stop - TAIL)
        traces = stored_traces(self.log, self.session_id)
        self._traced = max((trace.seq for trace in traces), default=0)
        known = read_metadata(self.folder)
        self._called, self._project = known.shown, known.project_dir
        self._workspace = known.working_dir
        self._branch = self._checked_out()
        opened = SessionOpened(
            **self._stamp(),
            bundle=known.bundle_reference,
            cwd=known.working_dir,
            directory=str(self.folder),
            **called_by(known.shown, self.redactor),
            first_prompt=self.redactor.text(known.first_prompt),
            provider=known.provider,
            model=known.model,
            resumed=True,
            earlier=start,
            branch=self._branch,
        )
        again = [self._closed("it went back to an earlier turn")] if self._shown else []
        self._shown = True
        return [*again, *replay.events(start, stop), *replay.plan(), *traces, opened]

    def _stored(self, free: bool) -> StoredRows:
        """Return its rows; once it is free also those that the other window's crash left unwritten.

        Whoever opens it writes just these.
        """
        return StoredRows(self.folder / TRANSCRIPT, lost_rows(self.folder) if free else ())

    def _checked_out(self) -> str:
        return git_branch(Path(self._workspace)) if self._workspace else ""

    def _added(self, free: bool) -> list[HostEvent]:
        stored = self._stored(free)
        replay = replay_of(self.folder, stored)
        start, stop = self._rows, len(stored) if free else _settled(stored)
        found = [*replay.later_notes(self._notes, start), *replay.events(start, stop)]
        self._rows, self._notes = max(start, stop), replay.notes
        traces = stored_traces(self.log, self.session_id)
        found += [trace for trace in traces if trace.seq > self._traced]
        self._traced = max((trace.seq for trace in traces), default=self._traced)
        called = read_metadata(self.folder).shown
        if called != self._called:
            self._called = called
            found.append(TitleChanged(**self._stamp(), **called_by(called, self.redactor)))
        return found

    def _held(self, prompt: str = "") -> SessionHeld:
        free = self._lock.is_free()
        try:
            owner = self._lock.path.read_text(encoding="ascii", errors="replace").strip()[:20]
            since = self._lock.path.stat().st_mtime
        except OSError as error:
            logger.info("Who has the session open is not known: %s", error)
            owner, since = "", 0.0
        owner = owner if owner.isdigit() else ""
        return SessionHeld(**self._stamp(), owner=owner, since=since, free=free, prompt=prompt)

    def _closed(self, reason: str) -> SessionClosed:
        again = resume_command(self.session_id, self._project) if self._rows else ""
        return SessionClosed(**self._stamp(), reason=reason, resume_command=again)

    def _stamp(self) -> Stamp:
        return {"session_id": self.session_id, "agent": "main", "at": time()}


def _settled(stored: StoredRows) -> int:
    """Return how many rows will not be told otherwise: a call waits for its result, to be one."""
    count = len(stored)
    if count and decode_row(stored.line(count - 1)) is None:
        count -= 1  # It is being written.
    tail: list[Row] = []
    for index in reversed(range(count)):
        row = decode_row(stored.line(index)) or {}
        tail.insert(0, row)
        if next(calls_of(row), None) is not None:
            return index if unanswered(tail) else count
        if row.get("role") == "user" and not is_from_hook(row):
            break
    return count
