"""Scratch workspaces: a bundle may bring a folder its sessions work in, each on its own copy."""

import hashlib
import logging
import os
import shutil
import time
from pathlib import Path
from typing import Any, Final

from amplifier_tui.base.files import changed_at, read_regular
from amplifier_tui.base.files.under import folder_is_gone
from amplifier_tui.host.session.modules.facts import section_of
from amplifier_tui.paths import user_state_dir

logger = logging.getLogger(__name__)

KEPT: Final = 20
"""Copies that are kept however old they are."""
KEPT_DAYS: Final = 14
_SKIPPED: Final = shutil.ignore_patterns("__pycache__", "*.pyc", ".git", ".venv", "node_modules")


class WorkspaceError(ValueError):
    """The bundle's template is no folder beside it."""


def template_of(plan: dict[str, Any], base: Path | None) -> Path | None:
    """Return the folder a plan's `session.workspace.template` names, None when it names none.

    Raises:
        WorkspaceError: It is not a folder below the bundle's.
    """
    template = section_of(plan, "session", "workspace").get("template")
    if not template:
        return None
    if base is None or not isinstance(template, str):
        raise WorkspaceError(f"session.workspace.template {template!r} has no folder to start from")
    root = base.resolve()
    path = (root / template).resolve()
    if not path.is_relative_to(root) or path == root:
        raise WorkspaceError(f"session.workspace.template {template!r} is not beside the bundle")
    if not path.is_dir():
        raise WorkspaceError(f"session.workspace.template: there is no folder {path}")
    return path


def scratch_root() -> Path:
    """Return the folder that holds the copies."""
    return user_state_dir() / "workspaces"


def is_scratch(folder: Path) -> bool:
    """Return whether a folder is one of the copies, or in one."""
    return folder.resolve().is_relative_to(scratch_root().resolve())


def beginning_of(workspace: str, template: Path) -> Path:
    """Return the folder a copy begins with: that of the session it was taken from, or the template.

    Args:
        workspace: As the metadata have it, which may say anything.
    """
    if not workspace or not Path(workspace).is_dir():
        return template
    folder = Path(workspace).resolve()
    is_copy = folder.is_relative_to(scratch_root().resolve()) and folder.name == template.name
    return folder if is_copy else template


def make_workspace(template: Path, session_id: str, root: Path | None = None) -> Path:
    """Copy a template for a session; a session that has its copy keeps it.

    Args:
        root: The folder that holds the copies; None for the usual one.

    Returns:
        The copy's folder.

    Raises:
        OSError: It can't be copied.
    """
    target = _folder(session_id, root) / template.name
    if not target.is_dir():
        # Half a copy, of a full disk or a killed program, must not be taken for a whole one.
        half = target.with_name(f".{target.name}.half")
        shutil.rmtree(half, ignore_errors=True)
        shutil.copytree(template, half, symlinks=True, ignore=_SKIPPED)
        half.rename(target)
    # Its age counts from its last use; what is written in it does not change its folder's time.
    os.utime(target.parent)
    return target


def prune_workspaces(keep: str, now: float | None = None) -> int:
    """Remove old copies; returns how many."""
    limit = (time.time() if now is None else now) - KEPT_DAYS * 86_400
    try:
        folders = [path for path in scratch_root().iterdir() if path.is_dir()]
    except OSError:
        return 0
    folders.sort(key=changed_at, reverse=True)
    removed, kept = 0, _folder(keep)
    for folder in folders[KEPT:]:
        if folder != kept and changed_at(folder) < limit:
            shutil.rmtree(folder, ignore_errors=True)
            removed += 1
    if removed:
        logger.info("Removed %d old scratch workspaces", removed)
    return removed


def _folder(session_id: str, root: Path | None = None) -> Path:
    # Short, because commands and dialogs show it; of the whole id, because ids share prefixes.
    return (root or scratch_root()) / hashlib.sha256(session_id.encode()).hexdigest()[:8]


_LIMIT = 4_096


def git_branch(folder: Path) -> str:
    """Return the branch checked out at or above a folder.

    Returns:
        The branch, the first digits of the commit when none is checked out, or nothing where
        there is no repository, or the folder is gone: one above it is another's.
    """
    if folder_is_gone(folder):
        return ""
    for parent in (folder, *folder.parents):
        git = parent / ".git"
        # Not `Path.exists`, which raises where a folder can't be looked into.
        if os.path.exists(git):
            return _branch(git)
    return ""


def _branch(git: Path) -> str:
    try:
        if git.is_file():
            # A worktree or a submodule: the file says where the repository is.
            target = _read(git).removeprefix("gitdir:").strip()
            git = (git.parent / target).resolve()
        head = _read(git / "HEAD").strip()
    except (OSError, ValueError):
        return ""
    if head.startswith("ref:"):
        return head.removeprefix("ref:").strip().removeprefix("refs/heads/")
    return head[:9]


def _read(path: Path) -> str:
    return read_regular(path, _LIMIT).decode("utf-8", "replace")
