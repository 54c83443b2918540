"""Where a repository keeps what git shows of it.

A repository may come out of an archive, with a ``.git`` that stands for another one on this
machine: by a link, or by what git reads from its files.
"""

import os
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from typing import Final

from amplifier_tui.base.files import read_regular
from amplifier_tui.base.git import run_now

_SECONDS: Final = 5.0
_MOST_LINK: Final = 4_096
"""Bytes of a file that names a folder."""
_MARK: Final = b"gitdir:"
_MOST_ENTRIES: Final = 5_000
_AT_ONCE: Final = 60.0
"""Seconds in which git makes the folder of a worktree and what names it."""
_KEPT_IN: Final = ("HEAD", "index", "packed-refs", "logs", "refs", "objects", "config")
_WORKTREE: Final = r"^core\.worktree$"


def is_git_folder(folder: Path) -> bool:
    """Whether git takes a folder for a repository's: a link in the place of `HEAD` may dangle."""
    return folder.name == ".git" or (
        os.path.lexists(folder / "HEAD")
        and (os.path.lexists(folder / "objects") or os.path.lexists(folder / "commondir"))
    )


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


def written_outside(folder: Path, workspace: Path) -> Path | None:
    """Return where git keeps what it writes of a folder, if that is outside of a workspace.

    It is told of a repository that holds the folder, and of a worktree or a submodule by that
    repository's own word. Blocking.

    Args:
        folder: Absolute.
        workspace: Absolute.
    """
    with suppress(OSError, RuntimeError, ValueError):
        folder, workspace = folder.resolve(), workspace.resolve()
        around = (each for each in (folder, *folder.parents) if os.path.lexists(each / ".git"))
        holder = next(around, None)
        if holder is not None:
            mark = holder / ".git"
            own = mark.is_dir() and not mark.is_symlink() and _is_bare(mark)
            kept = mark if own else kept_outside(holder)
            if kept is not None and not kept.is_relative_to(workspace):
                return kept
    return None


def main_checkout(folder: Path, *, surely: bool = True) -> Path:
    """Return the folder that one of a worktree is in the checkout it was made of.

    Both have to say so. Every other folder stands for itself, and is returned as it is. Blocking.

    Args:
        folder: It need not be the top of a worktree.
        surely: Not where something else may have come to the place of a removed worktree.
    """
    with suppress(OSError, RuntimeError, ValueError):
        place = folder.resolve()
        around = (each / ".git" for each in (place, *place.parents))
        mark = next(filter(os.path.lexists, around), None)
        if mark is not None and mark.is_file():
            git = _named(mark, "gitdir:")
            kept = git.parent.parent
            found = kept.parent / place.relative_to(mark.parent)
            listed = (git.parent.name, kept.name) == ("worktrees", ".git")
            # A link on the way there may lead to a project of its own.
            if listed and _is_worktree(git, mark) and found.resolve() == found:
                return found if not surely or _is_as_made(git, mark, kept) else folder
    return folder


def folders_above(folder: Path) -> tuple[Path, ...]:
    """Return the folders above one in the same checkout, the nearest first; none outside of one.

    Blocking.

    Returns:
        Links followed.
    """
    place = folder.resolve()
    around = (place, *place.parents)
    top = next((at for at, each in enumerate(around) if os.path.lexists(each / ".git")), 0)
    return around[1 : top + 1]


def remote_address(folder: Path, name: str = "", *, push: bool = False) -> str:
    """Return the address of a remote of a repository; empty where it is none. Blocking.

    Args:
        folder: In the repository.
        name: The remote; without it that of the branch, or the usual one.
        push: Where it is pushed to, and not where it is fetched from.
    """
    if not name:
        branch = run_now(folder, "symbolic-ref", "--short", "HEAD", timeout=_SECONDS).output.strip()
        asked = ("config", f"branch.{branch}.remote")
        name = run_now(folder, *asked, timeout=_SECONDS).output.strip() or "origin"
    options = ("--push",) if push else ()
    told = run_now(folder, "remote", "get-url", *options, "--", name, timeout=_SECONDS)
    return told.output.removesuffix("\n") if told.code == 0 else ""


def path_of_address(address: str, folder: Path) -> Path | None:
    """Return the folder that an address of a repository leads to; None for one of another machine.

    Links are followed, and so is a file that names the folder, as git does. Blocking.

    Args:
        folder: Where a relative one begins.
    """
    path = address.removeprefix("file://")
    if not path or (path == address and ("://" in path or ":" in path.partition("/")[0])):
        return None
    found = (folder / path).resolve()
    with suppress(OSError, ValueError, RuntimeError):
        if found.is_file() and read_regular(found, _MOST_LINK).startswith(_MARK):
            return _named(found, os.fsdecode(_MARK))
    return found


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
    text = os.fsdecode(read_regular(file, _MOST_LINK)).strip().removeprefix(label).strip()
    return (file.parent / text).resolve()


def _is_worktree(git: Path, mark: Path) -> bool:
    with suppress(OSError):
        # A mark that is a link may be that of another worktree.
        return _named(git / "gitdir") == mark
    return False


def _is_as_made(git: Path, mark: Path, kept: Path) -> bool:
    """Whether a worktree's mark is the one that was made with its folder in a repository."""
    common = git / "commondir"
    whole = _is_bare(kept) and (git / "HEAD").is_file() and _named(common) == kept
    # Archives bring every time but this one.
    return whole and abs(mark.stat().st_ctime - common.stat().st_ctime) < _AT_ONCE


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
