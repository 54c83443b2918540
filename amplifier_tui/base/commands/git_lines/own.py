"""Whether git works in repositories alone that no command can have made, and no clone brought.

What git runs in a repository, hooks and programs that settings name, is the user's in those that
are kept from commands. Elsewhere in a workspace, and in the scratch folder, it may be anybody's.
"""

import os
from pathlib import Path
from typing import Final

from amplifier_tui.base.commands.git_lines.alone import RECORDS
from amplifier_tui.base.commands.git_lines.words import git_words
from amplifier_tui.base.files import read_regular
from amplifier_tui.base.repositories.places import (
    is_git_folder,
    path_of_address,
    remote_address,
)
from amplifier_tui.base.repositories.settings import addresses_named_by_settings
from amplifier_tui.base.shell import ShellLine, only_looks, programs_of, read_shell_line
from amplifier_tui.base.shell.looks import git_folders, looks

_MOVES: Final = frozenset({"cd", "pushd", "popd"})
_FOLLOWED: Final = _MOVES | {"git"}
_MOST_FOLDERS: Final = 16
_ELSEWHERE: Final = ("--git-dir", "--work-tree", "--namespace", "--exec-path")
"""Options of git itself with which it works on another repository, or runs other programs."""
_FETCHES: Final = frozenset({"fetch", "ls-remote", "pull"})
_RUNS_THERE: Final = frozenset({"archive", "push", "send-pack", "subtree"})
"""Commands of git that may have another repository's hooks or programs run."""
_SUFFIXES: Final = ("", ".git", "/.git", ".git/.git")
"""What git puts behind the path of a repository to find it."""
_SCRATCH: Final = "/tmp"
_MOST_LINK: Final = 4_096
_MARK: Final = b"gitdir:"


def line_keeps_to_own(text: str, folder: Path, workspace: Path) -> bool | None:
    """Whether git does so in all of a command line; None where its folders are not sure. Blocking.

    Args:
        text: As a shell reads it.
        folder: Where it runs, absolute.
        workspace: Absolute.
    """
    line = read_shell_line(text)
    folders = {folder}
    brought = makes_folders = False
    for command in line.commands:
        runs = list(programs_of(command))
        for run in runs:
            if run.program in _MOVES:
                words = [word for word in run.arguments if word != "--"]
                if run.program == "popd" or (run.program == "pushd" and not words):
                    # Back to where it was.
                    continue
                plain = len(words) == 1 and words[0][:1] not in "-~+"
                if not plain or not all(run.command.known) or _is_repeated(line, command.scope):
                    return None
                # It may fail, or be in a process of its own. Shells go back out of links by words.
                there = {
                    Path(lead(each / words[0]))
                    for each in folders
                    for lead in (os.path.realpath, os.path.normpath)
                }
                may_come = makes_folders or brought
                folders |= {each for each in there if may_come or _may_be(each, workspace)}
                if len(folders) > _MOST_FOLDERS:
                    return None
            elif run.program == "git":
                if not all(
                    keeps_to_own(run.arguments, each, workspace)
                    and not (brought and _speaks_to_new(run.arguments, each, workspace))
                    for each in folders
                ):
                    return False
                _, name, rest = git_words(run.arguments)
                brought = brought or not (name in RECORDS or only_looks(("git", name, *rest)))
        followed = runs and all(run.program in _FOLLOWED for run in runs)
        makes_folders = makes_folders or not (followed or looks(command) is not None)
    return True


def keeps_to_own(arguments: tuple[str, ...], folder: Path, workspace: Path) -> bool:
    """Whether git does so with some arguments. Blocking.

    Args:
        arguments: What stands behind `git`.
        folder: Where it runs, absolute.
        workspace: Absolute.
    """
    options, name, words = git_words(arguments)
    place = folder.joinpath(*git_folders(options))
    if any(word.startswith(_ELSEWHERE) for word in options) or _is_doubtful(place, workspace):
        return False
    # Where the values of its options stand need not be known: few words lead to a repository.
    addresses = [word.partition("=")[2] if word.startswith("-") else word for word in words]
    if name in _RUNS_THERE:
        addresses += addresses_named_by_settings(place)
        return not any(_is_doubtful_address(each, place, workspace) for each in addresses)
    # In one that it fetches from, git runs nothing of that.
    return name not in _FETCHES or not any(_leads_out(each, place, workspace) for each in addresses)


def _speaks_to_new(arguments: tuple[str, ...], folder: Path, workspace: Path) -> bool:
    """Whether git may speak to a repository that an earlier command of its line brings."""
    options, name, words = git_words(arguments)
    if name not in _RUNS_THERE:
        return False
    place = folder.joinpath(*git_folders(options))
    addresses = [word for word in words if not word.startswith("-")][:1]
    addresses = [each for each in addresses if not remote_address(place, each, push=True)]
    addresses += [word.partition("=")[2] for word in words if word.startswith("--re")]
    addresses += [each for each in addresses_named_by_settings(place) if "/" in each]
    found = (path_of_address(each, place) for each in addresses)
    own = Path(os.path.realpath(workspace))
    return any(each is not None and each.is_relative_to(own) for each in found)


def _is_repeated(line: ShellLine, scope: int) -> bool:
    while scope and line.scopes[scope].kind != "loop":
        scope = line.scopes[scope].parent
    return line.scopes[scope].kind == "loop"


def _may_be(folder: Path, workspace: Path) -> bool:
    """Whether a folder is there, or may be where only the command sees it."""
    return folder.is_dir() or _is_in_scratch(folder, workspace)


def _leads_out(address: str, place: Path, workspace: Path) -> bool:
    """Whether an address is a file of a workspace that names a repository outside of it."""
    own = os.path.realpath(workspace)
    named = path_of_address(address, place)
    written = os.path.realpath(place / address.removeprefix("file://"))
    inside = Path(written).is_relative_to(own)
    return named is not None and inside and not named.is_relative_to(own)


def _is_doubtful_address(address: str, place: Path, workspace: Path) -> bool:
    if "::" in address:
        # A program speaks for it.
        return True
    # Git goes to the top of the checkout first.
    starts = {place, workspace, *(each for each in place.parents if each.is_relative_to(workspace))}
    path = address.removeprefix("file://")
    return any(
        _is_in_scratch(each / path, workspace) or _is_repository_of_others(each / path, workspace)
        for each in starts
        if path_of_address(address, each) is not None
    )


def _is_doubtful(place: Path, workspace: Path) -> bool:
    """Whether git would find a repository from a folder that anybody may have made."""
    if _is_in_scratch(place, workspace):
        return True
    real = Path(os.path.realpath(place))
    for each in (real, *real.parents):
        if not each.is_relative_to(os.path.realpath(workspace)):
            return False
        mark = each / ".git"
        if mark.is_dir():
            return mark.is_symlink()
        if os.path.lexists(mark):
            return not _is_kept(mark)
        if is_git_folder(each):
            return True
    return False


def _is_in_scratch(place: Path, workspace: Path) -> bool:
    """Whether a place is in the folder that is the sandbox's own there, or may be."""
    own = Path(os.path.realpath(workspace))
    for text in (os.path.realpath(place), os.path.normpath(place)):
        within = Path(text)
        if within.is_relative_to(_SCRATCH) and not within.is_relative_to(own):
            return True
    return False


def _is_repository_of_others(path: Path, workspace: Path) -> bool:
    """Whether what git would take for a repository there, in a workspace, anybody may have made."""
    for suffix in _SUFFIXES:
        found = Path(os.path.realpath(f"{path}{suffix}"))
        if not found.is_relative_to(os.path.realpath(workspace)):
            continue
        if found.is_dir():
            if found.name != ".git" and is_git_folder(found):
                return True
        elif found.is_file() and _starts_like_a_mark(found) and not _is_kept(found):
            return True
    return False


def _is_kept(mark: Path) -> bool:
    """Whether a file in the place of `.git` is one: those that commands make are moved aside."""
    return mark.name == ".git" and not mark.is_symlink()


def _starts_like_a_mark(file: Path) -> bool:
    try:
        return read_regular(file, _MOST_LINK).startswith(_MARK)
    except OSError:
        return False
