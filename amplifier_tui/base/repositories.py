"""Where a repository keeps what git shows of it.

A repository may come out of an archive, with a ``.git`` that stands for another one on this
machine: by a link, or by what git reads from its files.
"""

import os
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from typing import Final

from amplifier_tui.base.git import run_now

_SECONDS: Final = 5.0
_MOST_LINK: Final = 4_096
"""Bytes of a file that names a folder."""
_MOST_ENTRIES: Final = 5_000
_KEPT_IN: Final = ("HEAD", "index", "packed-refs", "logs", "refs", "objects", "config")
_WORKTREE: Final = r"^core\.worktree$"


def shows_another(folder: Path, workspace: Path) -> bool:
    """Whether git in a folder would show a repository, or files, from outside a workspace.

    A repository that holds the workspace is not another one, and neither is one of which the
    workspace is a worktree or a submodule by that repository's own word. Blocking.

    Args:
        folder: Absolute, in the workspace.
        workspace: Absolute.
    """
    try:
        folder, workspace = folder.resolve(), workspace.resolve()
        # Git passes over what turns out to be no repository.
        around = [each for each in (folder, *folder.parents) if each.is_relative_to(workspace)]
        return any(_stands_for_another(each, workspace) for each in around if _holds(each))
    except (OSError, RuntimeError, ValueError):
        # What can't be looked at may be anything.
        return True


def kept_outside(workspace: Path) -> Path | None:
    """Return the folder outside of a workspace that keeps its repository; None if there is none.

    It is told of a worktree and of a submodule, by that repository's own word. Blocking.

    Args:
        workspace: Absolute, links followed.
    """
    mark = workspace / ".git"
    try:
        if not mark.is_file():
            return None
        git = _named(mark.resolve(), "gitdir:")
        if git.is_relative_to(workspace):
            return None
        if _is_worktree(git, mark):
            kept = git.parent.parent
        elif _is_submodule(git, workspace):
            kept = git
        else:
            return None
        return kept if _is_bare(kept) else None
    except (OSError, RuntimeError, ValueError):
        return None


def _stands_for_another(holder: Path, workspace: Path) -> bool:
    mark = holder / ".git"
    git = mark.resolve() if os.path.lexists(mark) else holder
    if git.is_file():
        git = _named(git, "gitdir:")
        if not git.is_relative_to(workspace):
            return not (_is_worktree(git, mark) or _is_submodule(git, holder))
    common = _named(git / "commondir") if (git / "commondir").exists() else git
    if not all(place.is_relative_to(workspace) for place in (git, common)):
        return True
    if any(not place.resolve().is_relative_to(workspace) for place in _parts(git, common)):
        return True
    return any(not place.is_relative_to(workspace) for place in _worktrees(holder, git))


def _holds(folder: Path) -> bool:
    return _is_bare(folder) or os.path.lexists(folder / ".git")


def _is_bare(folder: Path) -> bool:
    return (folder / "HEAD").exists() and (folder / "objects").exists()


def _named(file: Path, label: str = "") -> Path:
    """Return the folder that a file names."""
    with file.open("rb") as opened:
        text = os.fsdecode(opened.read(_MOST_LINK)).strip().removeprefix(label).strip()
    return (file.parent / text).resolve()


def _is_worktree(git: Path, mark: Path) -> bool:
    with suppress(OSError):
        return _named(git / "gitdir") == mark.resolve()
    return False


def _is_submodule(git: Path, holder: Path) -> bool:
    told = run_now(git, "config", "--file", "config", "core.worktree", timeout=_SECONDS)
    return told.code == 0 and (git / told.output.removesuffix("\n")).resolve() == holder


def _parts(git: Path, common: Path) -> Iterator[Path]:
    """Yield what lies in a repository's folders and may be a link, as far as git reads by it."""
    for folder in dict.fromkeys((git, common)):
        yield from (folder / name for name in _KEPT_IN)
    left, seen = [common / "refs", common / "objects"], 0
    while left:
        with suppress(FileNotFoundError, NotADirectoryError), os.scandir(left.pop()) as entries:
            for entry in entries:
                seen += 1
                if entry.is_symlink():
                    yield Path(entry)
                elif entry.is_dir() and seen < _MOST_ENTRIES:
                    left.append(Path(entry))


def _worktrees(folder: Path, git: Path) -> Iterator[Path]:
    told = run_now(folder, "config", "-z", "--get-regexp", _WORKTREE, timeout=_SECONDS)
    for setting in filter(None, told.output.split("\0")):
        yield (git / setting.partition("\n")[2]).resolve()
