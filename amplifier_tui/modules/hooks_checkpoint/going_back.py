"""Putting files back to what they were when a turn began: what it would do, and doing it.

What was put back is itself noted as a turn, so that it can be undone, and so that the turns it took
back count no more.
"""

from collections.abc import Collection, Mapping
from dataclasses import replace
from itertools import pairwise
from pathlib import Path
from typing import Any, Final

from amplifier_tui.base.files import write_atomic
from amplifier_tui.base.lazy.dataclass import dataclass
from amplifier_tui.modules._shared.places import shown_path
from amplifier_tui.modules.hooks_checkpoint.store import (
    ChangedTurn,
    CopyLimits,
    CopyStore,
    FileEntry,
    digest,
    inside,
)

_SINCE: Final = "it was changed since by you or another program"
_BETWEEN: Final = "it was changed in between by you or another program"
_UNKNOWN: Final = "it is not known who changed it last"
_UNSAVED: Final = "it has changes in the editor that are not saved"


@dataclass(frozen=True, slots=True)
class FileReturn:
    """What going back means for a file.

    Attributes:
        entry: What it was.
        action: What is to be done: `restored`, `removed` or `unchanged`.
        conflict: Why it is not done without a question; empty where it is.
        problem: Why it can't be done; empty where it can.
        command: The command that changed it; empty for a tool that named it.
    """

    entry: FileEntry
    action: str
    conflict: str = ""
    problem: str = ""
    command: str = ""


def standing(turns: list[ChangedTurn]) -> dict[str, list[ChangedTurn]]:
    """Return by path the turns whose change of it has not been taken back, in order."""
    order = {turn.id: place for place, turn in enumerate(turns)}
    found: dict[str, list[ChangedTurn]] = {}
    before: dict[tuple[str, str], list[ChangedTurn]] = {}
    for turn in turns:
        for path, entry in turn.files.items():
            stood = before[turn.id, path] = found.get(path, [])
            if not turn.back_to:
                found[path] = [*stood, turn]
            elif entry.after in ("", entry.copy):
                continue  # It was not put back after all.
            elif (turn.back_to, path) in before and turns[order[turn.back_to]].back_to:
                found[path] = before[turn.back_to, path]
            else:
                until = order.get(turn.back_to, 0)
                found[path] = [each for each in stood if order[each.id] < until]
    return found


def chains(store: CopyStore, turn_id: str) -> dict[str, list[FileEntry]]:
    """Return by path the changes that going back to the beginning of a turn undoes, in order.

    Raises:
        KeyError: There is no such turn.
    """
    place = next((place for place, turn in enumerate(store.turns) if turn.id == turn_id), None)
    if place is None:
        raise KeyError(turn_id)
    undone = store.turns[place]
    if undone.back_to:
        done = undone.files.items()
        return {path: [entry] for path, entry in done if entry.after not in ("", entry.copy)}
    later = {turn.id for turn in store.turns[place:]}
    found = {
        path: [turn.files[path] for turn in turns if turn.id in later]
        for path, turns in standing(store.turns).items()
    }
    return {path: chain for path, chain in found.items() if chain}


def returns(
    store: CopyStore, root: Path, turn_id: str, unsaved: Collection[Path] = ()
) -> list[FileReturn]:
    """Return what going back to the beginning of a turn means for each file.

    Args:
        unsaved: Files of which an editor has what is not saved.

    Raises:
        KeyError: There is no such turn.
    """
    found = [_return(store, root, chain) for chain in chains(store, turn_id).values()]
    return [
        replace(file, conflict=_UNSAVED)
        if file.action != "unchanged" and file.entry.path in unsaved
        else file
        for file in found
    ]


def _return(store: CopyStore, root: Path, chain: list[FileEntry]) -> FileReturn:
    """Look at one file: `chain` are its changes, the one to go back before first."""
    entry, last = chain[0], chain[-1]
    command = next((each.command for each in chain if each.command), "")
    # The way to it may have become a link in the meantime, or the workspace another one.
    if inside(str(entry.path), root) != entry.path:
        problem = "it is not in the workspace, or a link by now"
        return FileReturn(entry, "unchanged", problem=problem, command=command)
    if entry.skipped:
        problem = f"there is no copy: {entry.skipped}"
        return FileReturn(entry, "unchanged", problem=problem, command=command)
    try:
        now = digest(entry.path)
        if now == entry.copy:
            return FileReturn(entry, "unchanged", command=command)
        if entry.copy is not None:
            store.read(entry.copy)
    except OSError as error:
        problem = error.strerror or str(error)
        return FileReturn(entry, "unchanged", problem=problem, command=command)
    conflict = ""
    if last.after == "":
        conflict = _UNKNOWN
    elif now != last.after:
        conflict = _SINCE
    elif any(each.by_hand for each in chain) or any(
        one.after != other.copy for one, other in pairwise(chain)
    ):
        conflict = _BETWEEN
    action = "removed" if entry.copy is None else "restored"
    return FileReturn(entry, action, conflict, command=command)


def restore(
    store: CopyStore,
    root: Path,
    turn_id: str,
    unsaved: Collection[Path],
    paths: Collection[str] | None,
    force: bool | Collection[str],
) -> dict[str, Any]:
    """Put files back to what they were when a turn began; see the package's docstring.

    Each is looked at here, as a file may have changed while an editor was asked.

    Raises:
        KeyError: There is no such turn.
    """
    report: dict[str, Any] = {
        **{name: [] for name in ("restored", "removed", "unchanged", "conflicts")},
        "failed": {},
        "id": "",
    }
    noted: ChangedTurn | None = None
    for file in returns(store, root, turn_id, unsaved):
        shown = shown_path(file.entry.path, root)
        forced = force if isinstance(force, bool) else shown in force
        if paths is not None and shown not in paths:
            continue
        if file.problem:
            report["failed"][shown] = file.problem
        elif file.action == "unchanged":
            report["unchanged"].append(shown)
        elif file.conflict and not forced:
            report["conflicts"].append(shown)
        else:
            try:
                if noted is None:
                    noted = store.begin(0, "", turn_id)
                    report["id"] = noted.id
                _put_back(file.entry, store, noted)
            except OSError as error:
                report["failed"][shown] = error.strerror or str(error)
            else:
                report[file.action].append(shown)
    return report


def _put_back(entry: FileEntry, store: CopyStore, noted: ChangedTurn) -> None:
    kept = store.add(noted, entry.path, CopyLimits())
    if kept.skipped:
        raise OSError(f"what is there now can't be kept: {kept.skipped}")
    try:
        if entry.copy is None:
            entry.path.unlink()
        else:
            data = store.read(entry.copy)
            write_atomic(entry.path, data, mode=entry.mode, durable=True)
    finally:
        store.note_after(noted, entry.path)


def described(file: FileReturn, root: Path) -> Mapping[str, Any]:
    """Return a file as `checkpoint.preview` tells of it."""
    return {
        "path": shown_path(file.entry.path, root),
        "action": file.action,
        "conflict": file.conflict,
        "problem": file.problem,
        "command": file.command,
    }
