"""Putting files back."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from amplifier_tui.base.files import write_atomic
from amplifier_tui.modules.hooks_checkpoint.store import (
    ChangedTurn,
    CopyStore,
    FileEntry,
    digest,
)


@dataclass
class RestoreReport:
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
    store: CopyStore, root: Path, turn_id: str, paths: Collection[str] | None, force: bool
) -> RestoreReport:
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
    report = RestoreReport()
    before: dict[str, FileEntry] = {}
    last: dict[str, ChangedTurn] = {}
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
            if _restore_one(store, root, entry, known, force, shown, report):
                store.note_after(last[name], entry.path)
        except OSError as error:
            report.failed[shown] = error.strerror or str(error)
    return report


def inside(path: str, root: Path) -> Path | None:
    """Return the file a path means, every link followed; None where it is not in the workspace."""
    try:
        found = (root / Path(path).expanduser()).resolve()
    except (ValueError, RuntimeError, OSError):
        return None
    return found if found != root and found.is_relative_to(root) else None


def shown_path(path: Path, root: Path) -> str:
    """Return a path relative to the workspace, or as it is where it is not in it."""
    return str(path.relative_to(root)) if path.is_relative_to(root) else str(path)


def _restore_one(
    store: CopyStore,
    root: Path,
    entry: FileEntry,
    known: str | None,
    force: bool,
    shown: str,
    report: RestoreReport,
) -> bool:
    """Put one file back; whether anything was changed.

    Args:
        store: Has the copy.
        root: The workspace.
        entry: The file as it was.
        known: What was last noted of it; see `FileEntry.after`.
        force: Whether it may be something else by now.
        shown: How to name it.
        report: Takes what came of it.
    """
    # The way to it may have become a link in the meantime, or the workspace another one.
    if inside(str(entry.path), root) != entry.path:
        report.failed[shown] = "it is not in the workspace, or a link by now"
        return False
    if entry.skipped:
        report.failed[shown] = f"there is no copy: {entry.skipped}"
        return False
    now = digest(entry.path)
    if now == entry.copy:
        report.unchanged.append(shown)
        return False
    if not force and known != "" and now != known:
        report.conflicts.append(shown)
        return False
    if entry.copy is None:
        entry.path.unlink()
        report.removed.append(shown)
    else:
        write_atomic(entry.path, store.read(entry.copy), mode=entry.mode, durable=True)
        report.restored.append(shown)
    return True
