"""The stored sessions of a project: listed without reading what was said in them."""

import logging
from collections.abc import Iterable, Iterator, Sequence
from contextlib import suppress
from itertools import chain
from pathlib import Path
from typing import Final

from amplifier_tui.base.files import FileLock, FileLockedError, open_regular
from amplifier_tui.base.jsonl import Row, StoredRows, decode_row
from amplifier_tui.base.nearest import nearest
from amplifier_tui.base.text import printable, shortened
from amplifier_tui.host.client import SessionCard
from amplifier_tui.host.messages import is_from_hook, typed_prompt
from amplifier_tui.host.store import partial_file
from amplifier_tui.host.store.lanes import TRANSCRIPT
from amplifier_tui.host.store.listing.scan import scan
from amplifier_tui.host.store.metadata import Metadata, read_metadata
from amplifier_tui.host.store.partial_file import noted_prompts, recovered_rows
from amplifier_tui.host.store.queue_file import first_waiting
from amplifier_tui.host.store.turns.outcomes import DISPLAY
from amplifier_tui.paths import amplifier_home, project_slug, sessions_dir

logger = logging.getLogger(__name__)

PROMPT_LENGTH: Final = 200
_HEAD: Final = 64 * 1024


LOCK_NAME: Final = "session.lock"
"""The file in a session's folder that whoever has it open holds a lock on."""
_NAMED: Final = 3
"""How many sessions a mistake names."""
_MOMENT: Final = 0.1
"""Seconds to wait for who only looks whether a session is open."""


class SessionBusyError(Exception):
    """Another window has the session open.

    Attributes:
        folder: The session's folder.
    """

    def __init__(self, folder: Path, owner: str) -> None:
        process = f" (process {owner})" if owner else ""
        super().__init__(
            f"The session is open in another window{process}; close it there first: {folder.name}"
        )
        self.folder = folder


class SessionExistsError(Exception):
    """The id that was chosen for a new session is taken."""


class SessionNotFoundError(Exception):
    """No stored session has that id, or several begin like that."""


def find_session(cwd: Path, wanted: str, *, past_demo: bool = False) -> Path:
    """Return the folder of a stored session.

    Args:
        wanted: Its id, an unambiguous beginning of it, or `last` for the newest.
        past_demo: The last one is no demo, while there is another.

    Raises:
        SessionNotFoundError: None fits, or more than one does.
    """
    if wanted == "last":
        return next(_stored(cwd, past_demo=past_demo))
    folder = sessions_dir(cwd)
    if not wanted or any(mark in wanted for mark in ("/", "\\", "\0")) or wanted in (".", ".."):
        raise SessionNotFoundError(f"{wanted!r} is no session id")
    if (folder / wanted / TRANSCRIPT).is_file():
        return folder / wanted
    fitting = [path for _, path in _newest(cwd) if path.name.startswith(wanted)]
    none = "" if fitting else f"No session {wanted!r} was stored in {printable(str(cwd))}"
    return only_fitting(wanted, fitting, none and f"{none}{_meant(cwd, wanted)}")


def _meant(cwd: Path, wanted: str) -> str:
    """Return the end of a sentence that says which sessions may be meant by one that is not there.

    It is one of another folder, one with nearly that id, or the newest ones.
    """
    everywhere = (amplifier_home() / "projects").glob(f"*/sessions/*/{TRANSCRIPT}")
    named = (path.parent for path in everywhere if path.parent.name.startswith(wanted))
    away = [folder for folder in named if "_" not in folder.name]
    if len(away) == 1 and (folder := card_of(away[0], 0).cwd):
        if Path(folder).is_dir():
            return f", but in {printable(folder)}: start it there, or with --cwd"
        take = "/sessions copies it into this one; ctrl+t shows all folders there"
        return f", but in {printable(folder)}, which is gone: {take}"
    here = {path.name: path for _, path in _newest(cwd)}
    like = nearest(wanted, [*here, *(name[: len(wanted)] for name in here)])
    names = [name for name in here if like and name.startswith(like)] or [*here]
    cards = [card_of(here[name], 0) for name in names[:_NAMED]]
    said = (f"{card.session_id[:8]} {shortened(card.called, 40)!r}" for card in cards)
    head = "nearest" if like else "newest"
    return f"; the {head} there: {', '.join(said)}" if cards else ""


def last_free_session(cwd: Path, *, past_demo: bool = False) -> tuple[Path, bool]:
    """Return the folder of the newest session that nobody has open.

    Sessions in which nobody has worked on a screen are passed over while there is another.

    Args:
        past_demo: As of `find_session`.

    Returns:
        The folder, and whether a newer session is open. Where all are open, the newest.

    Raises:
        SessionNotFoundError: None was stored.
    """
    paths = _stored(cwd, past_demo=past_demo, past_unattended=True)
    newest = next(paths)
    free = next((path for path in chain([newest], paths) if not is_held(path)), newest)
    return free, free != newest


def _stored(cwd: Path, *, past_demo: bool, past_unattended: bool = False) -> Iterator[Path]:
    """Return the folders of a project's sessions, newest first and one at least."""
    paths = [path for _, path in _newest(cwd)]
    if not paths:
        raise SessionNotFoundError(f"No session was stored in {printable(str(cwd))} yet")
    if not (past_demo or past_unattended):
        return iter(paths)

    def is_own(folder: Path) -> bool:
        metadata = read_metadata(folder)
        is_demo = metadata.bundle == "demo" and bool(metadata.workspace)
        return not ((past_demo and is_demo) or (past_unattended and metadata.unattended))

    # Read one after the other: mostly the first will do.
    own = filter(is_own, paths)
    first = next(own, None)
    if first is not None:
        return chain([first], own)
    return _stored(cwd, past_demo=past_demo and past_unattended)


def only_fitting(wanted: str, fitting: Sequence[Path], none: str) -> Path:
    """Return the one folder of those that fit what was asked for.

    Raises:
        SessionNotFoundError: There is none, which `none` says, or more than one.
    """
    if len(fitting) == 1:
        return fitting[0]
    if fitting:
        names = ", ".join(path.name for path in fitting[:5])
        raise SessionNotFoundError(f"{wanted!r} fits {len(fitting)} sessions: {names}")
    raise SessionNotFoundError(none)


def hold(lock: FileLock) -> None:
    """Take the lock in a session's folder: until it is released no other window opens the session.

    Raises:
        SessionBusyError: Another process has the session open.
        OSError: The lock can't be made.
    """
    try:
        lock.acquire(_MOMENT)
    except FileLockedError as error:
        raise SessionBusyError(lock.path.parent, error.owner) from error


def is_held(folder: Path) -> bool:
    """Whether somebody has the session in a folder open; False where that can't be told."""
    try:
        return not FileLock(folder / LOCK_NAME).is_free()
    except OSError as error:
        logger.debug("%s: whether it is open can't be told: %s", folder, error)
        return False


def children_of(folder: Path) -> list[Path]:
    """Return the folders of a session's sub-agents, and of theirs."""
    waiting = [path for path in folder.parent.iterdir() if "_" in path.name and path.is_dir()]
    parents = {path: read_metadata(path).parent_id for path in waiting}
    found: list[Path] = []
    names = {folder.name}
    while more := [path for path in waiting if parents[path] in names and path not in found]:
        found += more
        names |= {path.name for path in more}
    return found


def _newest(cwd: Path) -> list[tuple[float, Path]]:
    """Return the folders of a project's sessions, each with the Unix time of its last change."""
    return [(updated, Path(path)) for updated, path in scan([str(sessions_dir(cwd))]).sessions]


def card_of(folder: Path, updated: float) -> SessionCard:
    """Return what a list shows of the session in a folder, last changed at a Unix time."""
    metadata = read_metadata(folder)
    prompt = metadata.first_prompt or _typed_at_head(folder)
    return SessionCard(
        session_id=folder.name,
        key=key_of(folder),
        title=metadata.name,
        description=metadata.description,
        tags=tuple(metadata.tags),
        bundle=metadata.bundle_reference,
        first_prompt=prompt or _other_at_head(folder),
        # A turn is counted when it ends: the first one runs, or ended in a crash.
        turns=metadata.turn_count or int(bool(prompt)),
        updated=updated,
        cwd=_folder_of(metadata, folder.parent.parent.name),
        directory=str(folder),
        branch=metadata.branch,
        model=metadata.model,
        cost=metadata.cost if metadata.dollars is not None else "",
        unpriced_tokens=metadata.unpriced_tokens,
        parent_id=metadata.parent_id,
    )


def _folder_of(metadata: Metadata, slug: str) -> str:
    """Return the folder whose sessions it is listed with; empty where the metadata name none."""
    for cwd in (metadata.project_dir, metadata.working_dir):
        with suppress(OSError, ValueError):
            if cwd and project_slug(Path(cwd)) == slug:
                return cwd
    return ""


def key_of(folder: Path) -> str:
    """Return how `SessionClient` names the session in a folder."""
    return f"{folder.parent.parent.name}/{folder.name}"


def folder_of(key: str) -> Path:
    """Return where the session that a key names is stored, or would be.

    Raises:
        SessionNotFoundError: It is no key.
    """
    project, _, name = key.partition("/")
    for part in (project, name):
        if not part or part in (".", "..") or any(mark in part for mark in ("/", "\\", "\0")):
            raise SessionNotFoundError(f"{key!r} names no session")
    return amplifier_home() / "projects" / project / "sessions" / name


def stored_at(key: str) -> Path:
    """Return the folder of the session that a key names.

    Raises:
        SessionNotFoundError: There is none.
    """
    folder = folder_of(key)
    if not (folder / TRANSCRIPT).is_file():
        raise SessionNotFoundError(f"The session {folder.name} is not there any more")
    return folder


def prompt_at_head(folder: Path) -> str:
    """Return the first prompt among the first rows of a session, or before them in a crash.

    Where there is none, the first one that waits, or the first command that the user ran in it.
    """
    return _typed_at_head(folder) or _other_at_head(folder)


def _typed_at_head(folder: Path) -> str:
    noted = (shorten(text) for text in noted_prompts(_head(folder / partial_file.FILE_NAME)))
    return first_prompt(_head(folder / TRANSCRIPT)) or next(noted, "")


def _other_at_head(folder: Path) -> str:
    return shorten(first_waiting(folder)) or next(_commands(_head(folder / DISPLAY)), "")


def _commands(rows: Iterable[Row]) -> Iterator[str]:
    """Yield the user's commands among what was noted beside rows, as they are typed."""
    for row in rows:
        match row.get("event"):
            case {"type": "ShellStarted" | "ShellEnded", "command": str(command), **event}:
                yield shorten(("!" if event.get("told", True) else "!!") + command)


def _head(path: Path) -> Iterator[Row]:
    """Yield the first rows of a file."""
    try:
        with open_regular(path) as file:
            head = file.read(_HEAD)
    except OSError:
        return
    rows = (decode_row(line) for line in head.split(b"\n"))
    yield from (row for row in rows if row is not None)


def first_prompt(rows: Iterable[Row]) -> str:
    """Return the first prompt among rows, shortened; empty when there is none."""
    prompts = (row for row in rows if row.get("role") == "user" and not is_from_hook(row))
    return next((shorten(typed_prompt(row)) for row in prompts), "")


def complete(metadata: Metadata, rows: StoredRows) -> None:
    """Tell from a session's rows what another program's metadata do not say."""
    if metadata.first_prompt and metadata.created:
        return
    metadata.first_prompt = metadata.first_prompt or first_prompt(row for _, row in rows.read())
    if not metadata.created:
        begun = next((row.get("timestamp") for _, row in rows.read(0, 1)), None)
        metadata.created = begun if isinstance(begun, str) else ""


def shorten(text: str) -> str:
    """Return a prompt as one line of at most `PROMPT_LENGTH` characters."""
    return shortened(" ".join(text.split()), PROMPT_LENGTH)


def lost_rows(folder: Path) -> list[Row]:
    """Return what a crash kept from becoming rows of a session, as it will once it is opened.

    Nothing is written. While somebody has the session open there is none: rows of it are to come.

    Raises:
        OSError: The session can't be read.
    """
    noted = folder / partial_file.FILE_NAME
    if not noted.exists() or is_held(folder):
        return []
    return recovered_rows(noted, StoredRows(folder / TRANSCRIPT))
