"""Putting files back."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from amplifier_tui.modules.hooks_checkpoint.location import inside
from amplifier_tui.modules.hooks_checkpoint.store import (
    FileEntry,
    Store,
    Turn,
    digest,
    write_file,
)


@dataclass
class Outcome:
    """What came of a restore: paths relative to the workspace; see the package's docstring."""

    restored: list[str] = field(default_factory=list)
    removed: list[str] = field(default_factory=list)
    unchanged: list[str] = field(default_factory=list)
    conflicts: list[str] = field(default_factory=list)
    failed: dict[str, str] = field(default_factory=dict)

    def as_dict(self) -> dict[str, Any]:
        """Return it as plain data."""
        return dict(vars(self))


def restore(
    store: Store, root: Path, turn_id: str, paths: Collection[str] | None, force: bool
) -> Outcome:
    """Put files back to what they were when a turn began.

    Args:
        store: Has the copies.
        root: The workspace, without links.
        turn_id: The turn.
        paths: Only these, relative to the workspace; None for all.
        force: Also those somebody else changed since.

    Raises:
        KeyError: There is no such turn.
    """
    first = next((place for place, turn in enumerate(store.turns) if turn.id == turn_id), None)
    if first is None:
        raise KeyError(turn_id)
    outcome = Outcome()
    before: dict[str, FileEntry] = {}
    last: dict[str, Turn] = {}
    for turn in store.turns[first:]:
        for name, entry in turn.files.items():
            before.setdefault(name, entry)
            last[name] = turn
    for name, entry in before.items():
        shown = shown_path(entry.path, root)
        if paths is not None and shown not in paths:
            continue
        try:
            known = last[name].files[name].after
            if _restore_one(store, root, entry, known, force, shown, outcome):
                store.note_after(last[name], entry.path)
        except OSError as error:
            outcome.failed[shown] = error.strerror or str(error)
    return outcome


def shown_path(path: Path, root: Path) -> str:
    """Return a path relative to the workspace, or as it is where it is not in it."""
    return str(path.relative_to(root)) if path.is_relative_to(root) else str(path)


def _restore_one(
    store: Store,
    root: Path,
    entry: FileEntry,
    known: str | None,
    force: bool,
    shown: str,
    outcome: Outcome,
) -> bool:
    """Put one file back; whether anything was changed.

    Args:
        store: Has the copy.
        root: The workspace.
        entry: The file as it was.
        known: What was last noted of it; see `FileEntry.after`.
        force: Whether it may be something else by now.
        shown: How to name it.
        outcome: Takes what came of it.
    """
    # The way to it may have become a link in the meantime, or the workspace another one.
    if inside(str(entry.path), root) != entry.path:
        outcome.failed[shown] = "it is not in the workspace, or a link by now"
        return False
    if entry.skipped:
        outcome.failed[shown] = f"there is no copy: {entry.skipped}"
        return False
    now = digest(entry.path)
    if now == entry.copy:
        outcome.unchanged.append(shown)
        return False
    if not force and known != "" and now != known:
        outcome.conflicts.append(shown)
        return False
    if entry.copy is None:
        entry.path.unlink()
        outcome.removed.append(shown)
    else:
        entry.path.parent.mkdir(parents=True, exist_ok=True)
        write_file(entry.path, store.read(entry.copy), entry.mode)
        outcome.restored.append(shown)
    return True
