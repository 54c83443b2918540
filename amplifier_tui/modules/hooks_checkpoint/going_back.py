"""Putting files back to what they were when a turn began: what it would do, and doing it.

What was put back is itself noted as a turn, so that it can be undone, and so that the turns it took
back count no more.
"""

import os
from collections.abc import Collection, Mapping
from dataclasses import replace
from itertools import pairwise
from pathlib import Path
from typing import Any, Final

from amplifier_tui.base.files import write_atomic, write_link
from amplifier_tui.base.files.under import folder_is_gone
from amplifier_tui.base.git import GitPlace, git_output_now
from amplifier_tui.base.lazy.dataclass import dataclass
from amplifier_tui.base.opened.folders import spot_of
from amplifier_tui.base.protected import configures, configures_as_link
from amplifier_tui.base.repositories.places import folders_above
from amplifier_tui.base.repositories.settings import places_named_by_settings
from amplifier_tui.modules._shared.places import shown_path
from amplifier_tui.modules.hooks_checkpoint.states import (
    clear_folder,
    is_blocked,
    is_placed,
    mode_of,
    put_mode,
    same,
    state,
)
from amplifier_tui.modules.hooks_checkpoint.store import (
    ChangedTurn,
    CopyLimits,
    CopyStore,
    FileEntry,
)

_SINCE: Final = "it was changed since by you or another program"
_BETWEEN: Final = "it was changed in between by you or another program"
_UNKNOWN: Final = "it is not known who changed it last"
_ELSEWHERE: Final = "it is not in the workspace, or behind a link by now"
_UNSAVED: Final = "it has changes in the editor that are not saved"


@dataclass(frozen=True, slots=True)
class FileReturn:
    """What going back means for a file.

    Attributes:
        entry: What it was.
        action: What is to be done: `restored`, `removed` or `unchanged`.
        conflict: Why it is not done without a question; empty where it is.
        perhaps: The conflict is no more than that somebody else perhaps changed it.
        problem: Why it can't be done; empty where it can.
        command: The command that changed it; empty for a tool that named it.
        together: How many commands ran together, any of which may be the one; 0 where it is known.
        note: What it becomes again beside its content: `mode 755`, `link to a.py`; empty for none.
    """

    entry: FileEntry
    action: str
    conflict: str = ""
    problem: str = ""
    command: str = ""
    note: str = ""
    perhaps: bool = False
    together: int = 0


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
            elif not entry.is_other_than(entry.before):
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
        return {path: [entry] for path, entry in done if entry.is_other_than(entry.before)}
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
    undone = chains(store, turn_id).values()
    going = {chain[0].path for chain in undone if not (chain[0].existed or chain[0].skipped)}
    checkout = (root, *folders_above(root))[-1]
    obeyed = frozenset(places_named_by_settings(checkout)) if undone else frozenset()
    found = [_return(store, root, chain, going, obeyed) for chain in undone]
    return [
        replace(file, conflict=_UNSAVED, perhaps=False)
        if file.action != "unchanged" and file.entry.path in unsaved
        else file
        for file in found
    ]


def _return(
    store: CopyStore,
    root: Path,
    chain: list[FileEntry],
    going: Collection[Path],
    obeyed: Collection[Path],
) -> FileReturn:
    """Look at one file.

    Args:
        chain: Its changes, the one to go back before first.
        going: The files and links that are removed, before others are put back.
        obeyed: What settings of git name.
    """
    entry, last = chain[0], chain[-1]
    first = next((each for each in chain if each.command), entry)
    as_it_is = FileReturn(entry, "unchanged", command=first.command, together=first.together)
    try:
        problem, now, note = _problem(entry, root, going), state(entry.path), ""
        if not problem and entry.copy is not None and not same(now, entry.before):
            data = store.read(entry.copy)
            note = f"link to {os.fsdecode(data)}" if entry.link else _mode_note(now, entry)
    except OSError as error:
        problem = error.strerror or str(error)
    if problem:
        return replace(as_it_is, problem=problem)
    if same(now, entry.before):
        return as_it_is
    conflict = ""
    if last.after == "":
        conflict = _UNKNOWN
    elif not same(now, last.after):
        conflict = _SINCE
    elif any(each.by_hand for each in chain) or any(
        not same(one.after, other.before) for one, other in pairwise(chain)
    ):
        conflict = _BETWEEN
    else:
        conflict = _planted(entry, now, root, obeyed) if first.command else ""
    ran = next((each.perhaps for each in chain if each.perhaps), "")
    perhaps = bool(ran) and not conflict
    if perhaps:
        conflict = f"changed while `{ran}` ran, perhaps by you"
    action = "removed" if entry.copy is None else "restored"
    return replace(as_it_is, action=action, conflict=conflict, note=note, perhaps=perhaps)


def _planted(entry: FileEntry, now: str | None, root: Path, obeyed: Collection[Path]) -> str:
    """Return why a file may be none of the user's, and would take effect on programs; else empty.

    A command in the sandbox may write such a file again and again; it is moved aside each time, but
    may have been copied before, as if the user had it.
    """
    if entry.copy is None:
        return ""
    path = entry.path
    whom = configures(path, root) or (configures_as_link(path.name) if entry.link else "")
    if not whom and any(each in obeyed for each in (path, *path.parents)):
        whom = "git"
    if not whom:
        return ""
    tracked = ("ls-files", "--error-unmatch", "--", str(path))
    if now is not None and git_output_now(root, "--literal-pathspecs", *tracked) is not None:
        return ""
    return f"it takes effect on {whom}, and a command in the sandbox may have made it"


def _problem(entry: FileEntry, root: Path, going: Collection[Path]) -> str:
    """Return why a file can't be put back, as far as what stands at its path tells."""
    if folder_is_gone(root):
        # Making it anew would put the files where nobody looks for them.
        return "the folder of the session is gone"
    # The way to it may have become a link in the meantime, or the workspace another one.
    freed = any(parent in going for parent in entry.path.parents)
    if not is_placed(entry.path, root) and not freed:
        return _ELSEWHERE
    if entry.skipped:
        return f"there is no copy: {entry.skipped}"
    if entry.copy is not None and is_blocked(entry.path, going):
        return "what is in its place is no file"
    return ""


def _mode_note(now: str | None, entry: FileEntry) -> str:
    mode = mode_of(entry.before)
    return f"mode {mode}" if now is not None and mode_of(now) != mode else ""


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
    found = returns(store, root, turn_id, unsaved)
    # What was made stands in the way of what was there.
    for file in sorted(found, key=lambda file: file.action != "removed"):
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
                _put_back(file.entry, store, noted, root)
            except OSError as error:
                report["failed"][shown] = error.strerror or str(error)
            else:
                report[file.action].append(shown)
    for name in ("restored", "removed", "unchanged", "conflicts"):
        report[name].sort()
    return report


def _put_back(entry: FileEntry, store: CopyStore, noted: ChangedTurn, root: Path) -> None:
    path = entry.path
    if not is_placed(path, root):
        raise OSError(_ELSEWHERE)
    if entry.copy is not None:
        clear_folder(path)
    kept = store.add(noted, path, CopyLimits(), command=entry.command)
    if kept.skipped:
        raise OSError(f"what is there now can't be kept: {kept.skipped}")
    try:
        if entry.copy is None:
            with spot_of(path) as spot:
                os.unlink(spot.name, dir_fd=spot.folder)
        elif entry.link:
            write_link(path, store.read(entry.copy))
        elif (kept.copy, kept.link) == (entry.copy, False):
            put_mode(path, entry.mode)
        else:
            data = store.read(entry.copy)
            # A command that runs may put a link in the place of a folder.
            write_atomic(path, data, mode=entry.mode, durable=True, resolved=True)
    finally:
        store.note_after(noted, path)


def git_moved(then: GitPlace | None, now: GitPlace | None) -> dict[str, Any] | None:
    """Return what going back leaves as it is of git; None for nothing, and where nobody knows."""
    if then is None or now is None:
        return None
    staged = None not in (then.staged, now.staged) and now.staged not in ("", then.staged)
    if not staged and then[:2] == now[:2]:
        return None
    stood, stands = ({"branch": each.branch, "commit": each.commit} for each in (then, now))
    return {"then": stood, "now": stands, "staged": staged}


def described(file: FileReturn, root: Path) -> Mapping[str, Any]:
    """Return a file as `checkpoint.preview` tells of it."""
    return {
        "path": shown_path(file.entry.path, root),
        "action": file.action,
        "conflict": file.conflict,
        "perhaps": file.perhaps,
        "problem": file.problem,
        "command": file.command,
        "together": file.together,
        "note": file.note,
    }


def turn_described(
    turn: ChangedTurn, stands: Mapping[str, list[ChangedTurn]], root: Path
) -> dict[str, Any]:
    """Return a turn as `checkpoint.list` tells of it."""
    return {
        "id": turn.id,
        "turn": turn.number,
        "prompt": turn.prompt,
        "at": turn.at,
        "unseen": turn.unseen,
        "git": turn.stood is not None,
        "files": [
            {
                "path": shown_path(entry.path, root),
                "action": "changed" if entry.existed else "created",
                "size": entry.size,
                "skipped": entry.skipped,
                "command": entry.command,
            }
            for path, entry in turn.files.items()
            if entry.differs and turn in stands.get(path, ())
        ],
        "taken_back": [
            shown_path(entry.path, root)
            for path, entry in turn.files.items()
            if turn not in stands.get(path, ())
        ],
    }
