"""Git that runs outside of the sandbox: the user's own, in a terminal."""

import os
from collections.abc import Iterator
from pathlib import Path
from typing import Final

from amplifier_tui.base.files import read_regular
from amplifier_tui.base.watcher.process import process_ids

_GOING_ON: Final = frozenset({b"rebase", b"cherry-pick", b"revert"})
_MAKING: Final = frozenset({b"clone", b"init", b"submodule", b"worktree"})
_LONGEST: Final = 10_000
_BEFORE_A_COMMAND: Final = (b"--exec=", b"-x", b"--strategy=", b"-s")


def given_outside(git: Path) -> frozenset[bytes] | None:
    """Return what git was called with that goes on in a repository outside of the sandbox.

    No command in the sandbox can call one, or change what it was called with. Blocking.

    Args:
        git: The repository's folder.

    Returns:
        Its arguments, also without the option that one begins with; None where there is none, or
        that can't be told here.
    """
    given: set[bytes] = set()
    found = False
    for called, folder in _outside():
        try:
            if _GOING_ON.isdisjoint(called[1:]) or not _is_in(folder, git):
                continue
        except OSError:
            continue
        found = True
        for each in called[1:]:
            given |= {each.strip()}
            given |= {
                each.removeprefix(option).strip()
                for option in _BEFORE_A_COMMAND
                if each.startswith(option)
            }
    return frozenset(given) if found else None


def makes_repository_outside(workspace: Path) -> bool:
    """Whether git outside of the sandbox makes a repository in a workspace. Blocking.

    Args:
        workspace: Absolute, without links.
    """
    return any(
        not _MAKING.isdisjoint(called[1:]) and _reaches(workspace, folder, called[1:])
        for called, folder in _outside()
    )


def _reaches(workspace: Path, folder: Path, given: list[bytes]) -> bool:
    """Whether what git was called with in a folder may have it make something in a workspace."""
    if folder.is_relative_to(workspace):
        return True
    if not workspace.is_relative_to(folder):
        return any(os.fsencode(workspace) in each for each in given)
    # A program's own git runs in `/` and clones to anywhere.
    return b"submodule" in given or any(
        Path(os.path.normpath(folder / os.fsdecode(name))).is_relative_to(workspace)
        for each in given
        # What is cloned without a folder to clone into gives it its name.
        for name in (each, os.path.basename(each.rstrip(b"/")).removesuffix(b".git"))
        if name
    )


def _outside() -> Iterator[tuple[list[bytes], Path]]:
    """Yield what each git was called with that runs outside of a sandbox, and its folder."""
    for pid in process_ids():
        try:
            called = Path(f"/proc/{pid}/cmdline").read_bytes().split(b"\0")
            # Those of a sandbox are numbered apart.
            if os.path.basename(called[0]) == b"git" and (
                os.readlink(f"/proc/{pid}/ns/pid") == os.readlink("/proc/self/ns/pid")
            ):
                yield called, Path(os.readlink(f"/proc/{pid}/cwd"))
        except OSError:
            continue  # It has ended, or is somebody else's.


def _is_in(folder: Path, git: Path) -> bool:
    """Whether git would find a repository's folder from another folder.

    Raises:
        OSError: One of them is gone.
    """
    for each in (folder, *folder.parents):
        mark = each / ".git"
        if mark.is_dir():
            return mark.samefile(git)
        if mark.is_file():
            # Of a worktree or a submodule.
            named = read_regular(mark, _LONGEST).removeprefix(b"gitdir:").strip()
            return (each / os.fsdecode(named)).samefile(git)
    return False
