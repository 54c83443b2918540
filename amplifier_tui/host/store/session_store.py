"""One session on disk, `projects/<slug>/sessions/<id>/`: its rows are written here."""

import errno
import logging
import shutil
from collections.abc import Callable, Iterable, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

from amplifier_tui.base.files import FileLock, FileLockedError
from amplifier_tui.base.jsonl import Row, StoredRows, encode_row, mend
from amplifier_tui.base.plain import plain
from amplifier_tui.host.events import (
    Failed,
    HostEvent,
    Notice,
    ShellEnded,
    ShellStarted,
    ToolEnded,
)
from amplifier_tui.host.messages import metadata_of
from amplifier_tui.host.redaction import Redactor
from amplifier_tui.host.store import event_log, partial_file, queue_file
from amplifier_tui.host.store.event_log import EventLogFile
from amplifier_tui.host.store.lanes import TRANSCRIPT
from amplifier_tui.host.store.listing.pins import pinned
from amplifier_tui.host.store.metadata import (
    LOCK_TIME,
    Called,
    Metadata,
    MetadataFile,
    Tell,
    TornMetadataError,
    called_by,
    now,
)
from amplifier_tui.host.store.partial_file import PartialFile, begun_prompts, recovered_rows
from amplifier_tui.host.store.queue_file import DraftFile, QueueFile
from amplifier_tui.host.store.replay import Replay, replay_of
from amplifier_tui.host.store.session_file import SessionFile
from amplifier_tui.host.store.sessions import (
    LOCK_NAME,
    SessionBusyError,
    complete,
    first_prompt,
    hold,
)
from amplifier_tui.host.store.turns.outcomes import DISPLAY, is_kept, read_outcomes
from amplifier_tui.host.store.turns.rewinds import REWINDS, Rewinds, TakenBack

logger = logging.getLogger(__name__)

OnTrouble = Callable[[OSError | None], None]
"""Gets the error when saving begins to fail, and None when it works again."""


class SessionStore:
    """Reads and writes a session's folder; nothing it does stops the session.

    Args:
        folder: The session's folder; its name is the session's id.
        on_trouble: Told once when the disk stops taking what is written, and when it takes it
            again.
        tell: Told of metadata that can't be used, and what became of it.

    Attributes:
        rows: How many rows the transcript has.
        recovered: Rows that a crash had kept from being written and that were added now.
        torn: Where a torn end of the transcript went; None when there was none.
    """

    def __init__(
        self,
        folder: Path,
        redactor: Redactor,
        on_trouble: OnTrouble,
        tell: Tell = logger.warning,
    ) -> None:
        self.folder = folder
        self._metadata_file = MetadataFile(folder, tell)
        self._unsaved = False
        self._shown = self.metadata.shown
        self.recovered = 0
        self.torn: Path | None = None
        self.on_row: Callable[[Row], None] | None = None
        """Told of every row once it is written."""
        self.on_title: Callable[[], None] = lambda: None
        """Told when title, description or tags are others than before."""
        self.redactor = redactor
        self.rows = 0
        self._has_commands = False
        self._on_trouble = on_trouble
        self._troubled: set[Path] = set()
        self._lock = FileLock(folder / LOCK_NAME)
        self._is_new = not folder.exists()
        self._came_along = 0
        """Rows that came along from another session."""
        self._has_noted = self._is_passed_on = False
        self._is_others = False
        self._transcript = SessionFile(folder / TRANSCRIPT, self._trouble)
        self._outcomes = SessionFile(folder / DISPLAY, self._trouble)
        self.rewinds = Rewinds(folder / REWINDS)
        self.partial = PartialFile(
            folder / partial_file.FILE_NAME, self._trouble, lambda: self._transcript.trouble is None
        )
        self.queue = QueueFile(folder / queue_file.FILE_NAME, self._note_trouble)
        self.draft = DraftFile(folder / queue_file.DRAFT, self._note_trouble)
        self.log = EventLogFile(folder / event_log.FILE_NAME, self._trouble)

    def open(self) -> None:
        """Lock the folder, mend what a crash left behind, read the metadata.

        Raises:
            SessionBusyError: Another process has the session open.
        """
        steps = [self.rewinds.load, self._count, self._metadata_file.load]
        try:
            self.folder.mkdir(parents=True, exist_ok=True, mode=0o700)
            hold(self._lock)
            steps = [self._move_torn, steps[0], self._end_rewind, steps[1], self._recover, steps[2]]
        except SessionBusyError:
            self._is_others = True
            raise
        except OSError as error:
            self._note_trouble(self.folder, error)
        for step in steps:
            # What can't be mended now is no reason to open it as if nothing else were stored.
            try:
                step()
            except OSError as error:
                self._note_trouble(self.folder, error)
        if self.rows:
            complete(self.metadata, self.stored())
        elif not self._is_new:
            # Without rows a session can only be found if the user ran commands in it.
            self._has_commands = (self.folder / TRANSCRIPT).exists()
        self.metadata.created = self.metadata.created or now()
        self._shown = self.metadata.shown
        self.partial.start_at(self.rows)

    @property
    def has_work(self) -> bool:
        """Whether there is something to come back to: words, or commands of the user's own."""
        said = bool(self.rows) or self._has_commands or not self.rewinds.is_empty
        return said and not self._is_passed_on

    @property
    def origin(self) -> str:
        """The session that what goes on from here was taken from: where nothing is its own, its."""
        return self.folder.name if self._has_own else self.metadata.parent_id

    @property
    def _has_own(self) -> bool:
        """Whether it has anything that did not come along into it."""
        came = self._is_new and self.rows == self._came_along and self.rewinds.is_empty
        kept = self._has_noted or self.metadata.tags or self.folder.name in pinned()
        return not came or bool(kept)

    def pass_on(self) -> None:
        """Its conversation goes on in another session: where nothing is its own, it is not kept."""
        self._is_passed_on = not self._has_own

    @property
    def metadata(self) -> Metadata:
        """What is known of the session; `save_metadata` writes it."""
        return self._metadata_file.metadata

    def _move_torn(self) -> None:
        self.torn = mend(self.folder / TRANSCRIPT)

    def _end_rewind(self) -> None:
        unfinished = self.rewinds.unfinished(self.stored())
        if unfinished is not None:
            taken, undone = unfinished
            (self._put_in if undone else self._take_out)(taken)

    def _count(self) -> None:
        self.rows = len(self.stored())

    def _recover(self) -> None:
        path = self.folder / partial_file.FILE_NAME
        lost = recovered_rows(path, self.stored())
        # One that had just begun may still be among those that wait.
        self.queue.drop(begun_prompts(path))
        for row in lost:
            self._append(row)
        self.recovered = len(lost)
        if self._transcript.trouble is not None:
            # As long as the disk does not take the rows, they are only there.
            self.partial.keep()
        else:
            path.unlink(missing_ok=True)

    def prompt_begins(self, text: str, prompt_id: str = "") -> None:
        """Note a prompt that is about to be shown; with the first one the session can be found."""
        self.partial.prompt(text, prompt_id)
        if not self.rows:
            self._transcript.append(b"")

    def add_row(self, message: Mapping[str, Any], extra: Mapping[str, Any] | None = None) -> None:
        """Write a message as the next row.

        Args:
            extra: Metadata for the stored row only.
        """
        row = self._row_of(message)
        if extra:
            row = {**row, "metadata": {**metadata_of(row), **self.redactor.values(plain(extra))}}
        self._append(row)
        self.partial.row_added(self.rows, row)
        self.metadata.first_prompt = self.metadata.first_prompt or first_prompt([row])
        if self.on_row is not None:
            self.on_row(row)

    def add_rows(self, messages: Iterable[Mapping[str, Any]]) -> None:
        """Write a conversation that comes along, at once: a kill leaves all of it or nothing."""
        rows = [self._row_of(message) for message in messages]
        if rows:
            self._transcript.append(b"".join(map(encode_row, rows)))
            self.rows += len(rows)
            self._came_along = self.rows
            self.partial.start_at(self.rows)
            self.metadata.first_prompt = self.metadata.first_prompt or first_prompt(rows)

    def _row_of(self, message: Mapping[str, Any]) -> Row:
        row: Row = self.redactor.values(plain(message))
        return {**row, "timestamp": row.get("timestamp") or now()}

    def _append(self, row: Row) -> None:
        if self._transcript.append(encode_row(row)) is not None:
            self._note_trouble(self.folder, None)
        self.rows += 1

    def go_back(
        self,
        rows: int,
        turn: int,
        files: str,
        turns: int,
        decided: Mapping[str, Any] | None = None,
    ) -> None:
        """Take out all rows after the first ones; they are kept in ``rewinds.jsonl``.

        Args:
            rows: How many stay.
            turn: The first turn that is taken out, and `turns` how many are.
            files: What undoes the change of files that belongs to it.
            decided: What the context decided about its messages so far.

        Raises:
            OSError: The disk does not take it; everything is as it was.
        """
        stored = self.stored()
        if len(stored) != self.rows:
            raise OSError(errno.EIO, "some rows are not on disk yet")
        lines = [stored.line(index) for index in range(rows, len(stored))]
        taken = self.rewinds.add(rows, turn, files, lines, turns, decided or {})
        if not lines:
            return
        try:
            self._take_out(taken)
        except OSError:
            self.rewinds.undo(taken)
            self._outcomes.append(encode_row({"undo": taken.id}))
            raise
        self._rows_changed(rows)

    def go_forward(self, taken: TakenBack) -> None:
        """Put the rows in again that were taken out.

        Raises:
            OSError: The disk does not take it; everything is as it was.
        """
        self.rewinds.undo(taken)
        if not taken.lines:
            return
        try:
            self._put_in(taken)
        except OSError:
            self.rewinds.stand_again(taken)
            self._note_taken(taken)
            raise
        self._rows_changed(taken.rows + len(taken.lines))

    def _note_taken(self, taken: TakenBack) -> None:
        if taken.id not in read_outcomes(self.folder / DISPLAY).taken:
            row = {"rewind": taken.id, "row": taken.rows, "turn": taken.turn}
            self._outcomes.append(encode_row(row))

    def _take_out(self, taken: TakenBack) -> None:
        stored = self.stored()
        self._note_taken(taken)
        self._replace_rows(stored.line(index) for index in range(taken.rows))

    def _put_in(self, taken: TakenBack) -> None:
        stored = self.stored()
        self._outcomes.append(encode_row({"undo": taken.id}))
        kept = (stored.line(index) for index in range(taken.rows))
        self._replace_rows((*kept, *taken.lines))

    def _replace_rows(self, lines: Iterable[bytes]) -> None:
        self._transcript.replace(b"".join(line + b"\n" for line in lines))

    def _rows_changed(self, rows: int) -> None:
        self.rows = rows
        self.partial.start_at(rows)
        self.metadata.first_prompt = first_prompt(row for _, row in self.stored().read())

    def note(self, event: HostEvent) -> None:
        """Note an outcome, so that a resumed session shows it again."""
        if is_kept(event):
            # What the user runs meanwhile stands below the words on screen, whose row is to come.
            below = isinstance(event, ShellStarted | ShellEnded | Notice)
            beside = below and self.partial.awaits_row
            self._has_noted = True
            self.add_outcome(self.rows + beside, event)

    def add_outcome(self, rows: int, event: HostEvent) -> None:
        """Note an outcome of another session, which came when there were `rows` rows."""
        if isinstance(event, ToolEnded):
            event = replace(event, output="")  # It is in its row.
        elif isinstance(event, Failed):
            # It goes back to its writer as it was; on disk it is as in its row.
            event = replace(event, prompt=self.redactor.text(event.prompt))
        elif isinstance(event, ShellEnded) and not self.has_work:
            self._has_commands = True
            self._transcript.append(b"")  # With it the session can be found.
        self._outcomes.append(encode_row({"row": rows, "event": event.to_json()}))

    def audit(self, entry: Mapping[str, Any]) -> None:
        """Note who allowed or refused what."""
        mode = {"in_mode": self.metadata.mode} if self.metadata.mode else {}
        noted = {"ts": now(), **mode, **self.redactor.fields(plain(entry))}
        self._outcomes.append(encode_row({"row": self.rows, "approval": noted}))

    def called(self) -> Called:
        """Return what the session is called, for an event."""
        return called_by(self.metadata.shown, self.redactor)

    def save_metadata(self) -> None:
        """Write what changed of the metadata, and take up what others wrote.

        While another program changes it, that waits for `follow_metadata` or `close`: nothing
        else that happens in the session waits.
        """
        self._save_metadata(0.0, again=True)

    def follow_metadata(self) -> None:
        """Take up what others wrote of the metadata, if they did, and write what waits."""
        if self._unsaved or self._metadata_file.is_changed():
            self._save_metadata(0.0)

    def _save_metadata(self, wait: float, *, again: bool = False) -> None:
        """Save the metadata; `again` where it will be tried again, and nobody is told as yet."""
        try:
            self._metadata_file.save(wait)
        except OSError as error:
            self._unsaved = isinstance(error, FileLockedError)
            # One that is torn is left to whom may be writing it, until the next time.
            waits = isinstance(error, TornMetadataError) or (again and self._unsaved)
            if not waits:
                logger.error("The metadata of %s were not saved: %s", self.folder.name, error)
                self._note_trouble(self._metadata_file.path, error)
        else:
            self._unsaved = False
            self._note_trouble(self._metadata_file.path, None)
        if self.metadata.shown != self._shown:
            self._shown = self.metadata.shown
            self.on_title()

    def save_again(self) -> None:
        """Write what waits for the disk, as much of it as it takes now."""
        for file in (self._transcript, self._outcomes, self.partial, self.log):
            file.flush()
        self.save_metadata()

    @property
    def trouble(self) -> OSError | None:
        """Why not all of the conversation is on disk; None when it is."""
        return self._transcript.trouble or self._outcomes.trouble

    @property
    def rows_on_disk(self) -> int:
        """How many rows of the transcript the disk has taken."""
        return self.rows - self._transcript.unsaved

    def close(self) -> None:
        """Close every file and give the folder back; a session without any work leaves none.

        Of a session that another process has open nothing is touched.
        """
        if self._is_others:
            return
        if self.has_work:
            self._save_metadata(LOCK_TIME)
        for file in (self._transcript, self._outcomes, self.partial, self.log):
            file.close()
        self._lock.release()
        if self._is_new and not self.has_work:
            shutil.rmtree(self.folder, ignore_errors=True)

    def discard(self) -> None:
        """Close for a session that did not open: what it made goes, what was there before stays."""
        if self._is_new:
            # A conversation that was to come along is whole where it came from.
            self.rows, self._has_commands = 0, False
        self.close()

    def stored(self) -> StoredRows:
        """Return the rows on disk."""
        return StoredRows(self.folder / TRANSCRIPT)

    def replay(self, stored: StoredRows | None = None) -> Replay:
        """Return what turns rows into events.

        Args:
            stored: The rows, when they have been read already.
        """
        return replay_of(self.folder, stored)

    def _trouble(self, file: SessionFile, error: OSError | None) -> None:
        self._note_trouble(file.path, error)

    def _note_trouble(self, path: Path, error: OSError | None) -> None:
        before = bool(self._troubled)
        if error is None:
            self._troubled.discard(path)
        else:
            self._troubled.add(path)
        if bool(self._troubled) != before:
            self._on_trouble(error)
