"""A stored conversation that goes along into a new session: to another bundle, or as a fork."""

import asyncio
import logging
import os
import shutil
from bisect import bisect_left
from collections.abc import Callable, Mapping
from dataclasses import field, replace
from pathlib import Path
from time import time
from typing import Any, Final
from uuid import uuid4

from amplifier_tui.base.jsonl import Row, StoredRows, read_object
from amplifier_tui.base.lazy.dataclass import dataclass
from amplifier_tui.context.state_file import state_before, write_state
from amplifier_tui.host.events import HostEvent, TurnEnded, Usage, UsageChanged
from amplifier_tui.host.redaction import Redactor
from amplifier_tui.host.session.rewinding.files import COPIES
from amplifier_tui.host.store.lanes import TRANSCRIPT
from amplifier_tui.host.store.metadata import Metadata, now, read_metadata
from amplifier_tui.host.store.replay import messages_of
from amplifier_tui.host.store.session_store import SessionStore
from amplifier_tui.host.store.sessions import lost_rows
from amplifier_tui.host.store.state import FILE_NAME
from amplifier_tui.host.store.turns.outcomes import DISPLAY, goes_along, read_outcomes
from amplifier_tui.host.store.turns.prompts import NoSuchTurnError, prompt_rows, start_of
from amplifier_tui.paths import sessions_dir

logger = logging.getLogger(__name__)

_FORK: Final = " (fork)"


@dataclass(frozen=True, slots=True)
class Carried:
    """A conversation that goes along into a new session.

    Attributes:
        session_id: The session it comes from.
        state: What its context and sources remember; None where they don't.
        outcomes: What the screen knows of the rows, each with the number of rows there were.
        turns: Of a fork, the number of turns in it; None where the conversation just moves on.
        workspace: Of a fork, the scratch folder it begins with a copy of; may be empty.
        queue: The prompts that wait, as they are stored.
        copies: Where the copies of files lie that its turns changed, as far as they are of the same
            folder; None for none.
        model: Of a fork, the model that answered last; `model_choice` is what the user chose.
        used: What was used so far; nothing of a fork, which counts anew.
        limit: What it may use, as it is stored; none of a fork.
        rules: Its own rules that deny and ask, as they are stored.
        mounted: The modules that the user mounted in it, as they are stored.
        origin: The session that is told as the one it was taken from; empty for that it comes from.
        left: Called once it goes on in the new session.
    """

    session_id: str
    rows: tuple[Row, ...]
    title: str = ""
    state: Mapping[str, Any] | None = None
    outcomes: tuple[tuple[int, HostEvent], ...] = ()
    turns: int | None = None
    workspace: str = ""
    queue: tuple[Mapping[str, Any], ...] = ()
    model: str = ""
    model_choice: Mapping[str, Any] = field(default_factory=dict)
    copies: Path | None = None
    used: Usage = field(default_factory=Usage)
    limit: Mapping[str, Any] = field(default_factory=dict)
    rules: Mapping[str, Any] = field(default_factory=dict)
    mounted: Mapping[str, Any] = field(default_factory=dict)
    origin: str = ""
    left: Callable[[], None] = lambda: None

    def put_into(self, store: SessionStore) -> None:
        """Write it into the folder of a new session, what makes that one in the list at last."""
        if self.used != Usage():
            told = UsageChanged(session_id=self.session_id, at=time(), session=self.used)
            store.add_outcome(0, told)
        for rows, event in self.outcomes:
            store.add_outcome(rows, event)
        store.queue.save(self.queue)
        metadata = store.metadata
        metadata.parent_id = self.origin or self.session_id
        metadata.name = self.title
        metadata.limit = dict(self.limit)
        metadata.rules, metadata.mounted = dict(self.rules), dict(self.mounted)
        if self.turns is not None:
            # The ecosystem's names.
            metadata.other |= {"forked_from_turn": self.turns, "forked_at": now()}
            metadata.model, metadata.model_choice = self.model, dict(self.model_choice)
        if self.state is not None:
            self._write_state(store.folder)
        if self.copies is not None:
            _bring_copies(self.copies, store.folder / COPIES)
        store.add_rows(self.rows)
        store.save_metadata()

    def _write_state(self, folder: Path) -> None:
        try:
            problems = write_state(folder / FILE_NAME, self.state or {})
        except OSError as error:
            problems = [str(error)]
        for problem in problems:
            logger.warning("State that does not go along: %s", problem)


async def moved(store: SessionStore, state: Mapping[str, Any] | None, used: Usage) -> Carried:
    """Return a session's conversation, to go on with in another bundle.

    Args:
        state: What its context and sources remember, without secrets; None where they don't.
        used: What it used so far; a limit goes on counting from there.
    """

    def copy() -> Carried:
        read, place = _readable(store.stored())
        rows, told = tuple(read), read_outcomes(store.folder / DISPLAY).all()
        outcomes = tuple((place(count), _without_usage(event)) for count, event in told)
        name, queue = store.metadata.name, tuple(store.queue.load())
        return Carried(
            store.folder.name,
            rows,
            name,
            state,
            outcomes,
            queue=queue,
            copies=store.folder / COPIES,
            used=used,
            limit=store.metadata.limit,
            rules=store.metadata.rules,
            mounted=store.metadata.mounted,
            origin=store.origin,
            left=store.pass_on,
        )

    return await asyncio.to_thread(copy)


async def forked(
    store: SessionStore,
    state: Mapping[str, Any] | None,
    begun: Mapping[int, int],
    before_turn: int | None,
) -> Carried:
    """Return a copy of a session's conversation.

    Args:
        state: What its context and sources remember, without secrets; None where they don't.
        begun: How many rows there were when a turn began, of the turns since it was opened.
        before_turn: The first turn that is left out; None for a copy of all.

    Raises:
        NoSuchTurnError: There is no such turn.
    """
    return await asyncio.to_thread(
        lambda: _copied(store.stored(), store.folder, store.metadata, state, begun, before_turn)
    )


def fork_stored(folder: Path, before_turn: int | None, cwd: Path | None = None) -> Path:
    """Copy the conversation of a stored session into a new one; blocking.

    Args:
        before_turn: The first turn that is left out; None for a copy of all.
        cwd: The folder the new one is of and works in; None for that of the copied one.

    Returns:
        The folder of the new session.

    Raises:
        NoSuchTurnError: There is no such turn, or nothing before it.
        OSError: The conversation can't be read or written.
    """
    metadata = read_metadata(folder)
    try:
        state: Mapping[str, Any] | None = read_object(folder / FILE_NAME) or None
    except (OSError, ValueError) as error:
        logger.warning("State that does not go along: %s", error)
        state = None
    stored = StoredRows(folder / TRANSCRIPT, lost_rows(folder))
    carried = _copied(stored, folder, metadata, state, {}, before_turn)
    if cwd is not None:
        carried = replace(carried, copies=None)
    if not carried.rows:
        raise NoSuchTurnError("There is nothing to copy: nothing was said before that")
    troubles: list[OSError | None] = []
    place = folder.parent if cwd is None else sessions_dir(cwd)
    store = SessionStore(place / str(uuid4()), Redactor(), troubles.append)
    try:
        store.open()
        carried.put_into(store)
        new = store.metadata
        for name in ("bundle", "opened_with", "provider", "mode", "limit"):
            setattr(new, name, getattr(metadata, name))
        for name in ("disabled", "description", "branch"):
            setattr(new, name, getattr(metadata, name))
        if cwd is None:
            for name in ("working_dir", "project_dir", "workspace"):
                setattr(new, name, getattr(metadata, name))
        else:
            # What goes through unasked was decided for the other folder.
            new.working_dir = new.project_dir = str(cwd)
            new.mode = ""
        new.tags, new.turn_count, new.updated = list(metadata.tags), carried.turns or 0, now()
        store.close()
        if troubles and troubles[-1] is not None:
            raise troubles[-1]
    except BaseException:
        store.discard()
        raise
    return store.folder


def _copied(
    stored: StoredRows,
    folder: Path,
    metadata: Metadata,
    state: Mapping[str, Any] | None,
    begun: Mapping[int, int],
    before_turn: int | None,
) -> Carried:
    rows, place = _readable(stored)
    begun = {turn: place(count) for turn, count in begun.items()}
    prompts = prompt_rows(enumerate(rows), begun)
    cut = len(rows)
    if before_turn is not None:
        cut = start_of(before_turn, prompts, begun, len(rows))
    kept = rows[:cut]
    known = read_outcomes(folder / DISPLAY)
    noted = ((place(count), event) for count, event in known.all())
    told = [item for item in noted if goes_along(item, cut, before_turn)]
    remembered = state
    if state is not None and cut < len(rows):
        remembered = state_before(state, len(messages_of(kept)))
    return Carried(
        folder.name,
        tuple(kept),
        f"{metadata.name.removesuffix(_FORK)}{_FORK}" if metadata.name else "",
        remembered,
        tuple((count, _without_usage(event)) for count, event in told),
        sum(prompt.index < cut for prompt in prompts),
        metadata.workspace,
        model=metadata.model,
        model_choice=metadata.model_choice,
        rules=metadata.rules,
        mounted=metadata.mounted,
        copies=None if metadata.workspace else folder / COPIES,
    )


def _readable(stored: StoredRows) -> tuple[list[Row], Callable[[int], int]]:
    """Return the rows that can be read, and what makes a number of all rows one of those."""
    found = list(stored.read())
    indices = [index for index, _ in found]

    def place(count: int) -> int:
        # What stands below words whose row is to come counts that one, too.
        return bisect_left(indices, count) + max(0, count - len(stored))

    return [row for _, row in found], place


def _bring_copies(copies: Path, place: Path) -> None:
    """Copy the record of what changed in files: without it no turn before can be undone in them."""
    try:
        if copies.is_dir():
            shutil.copytree(copies, place, symlinks=True, copy_function=_copy)
    except OSError as error:
        logger.warning("Copies of files that do not go along: %s", error)
        shutil.rmtree(place, ignore_errors=True)


def _copy(source: str, target: str) -> None:
    # What was copied is never changed, and may be large: another name for it is enough.
    try:
        if Path(source).suffix != ".jsonl":
            os.link(source, target)
            return
    except OSError as error:
        logger.debug("%s gets no other name: %s", source, error)
    shutil.copy2(source, target)


def _without_usage(event: HostEvent) -> HostEvent:
    """A fork has not used what its origin used; of what moves on, all of it is told in one sum."""
    return replace(event, usage=Usage()) if isinstance(event, TurnEnded) else event
