"""Where a repository keeps what git shows of it.

A repository may come out of an archive, with a ``.git`` that stands for another one on this
machine: by a link, or by what git reads from its files.
"""

import os
import re
from collections.abc import Iterable, Iterator
from contextlib import suppress
from pathlib import Path
from typing import Final, NamedTuple

from amplifier_tui.base.files import read_regular
from amplifier_tui.base.git import run_now

_SECONDS: Final = 5.0
_MOST_LINK: Final = 4_096
"""Bytes of a file that names a folder."""
_MOST_ENTRIES: Final = 5_000
_AT_ONCE: Final = 60.0
"""Seconds in which git makes the folder of a worktree and what names it."""
_KEPT_IN: Final = ("HEAD", "index", "packed-refs", "logs", "refs", "objects", "config")
_WORKTREE: Final = r"^core\.worktree$"
_HOOKS: Final = [
    "applypatch-msg",
    "commit-msg",
    "fsmonitor-watchman",
    "p4-changelist",
    "p4-post-changelist",
    "p4-pre-submit",
    "p4-prepare-changelist",
    "post-applypatch",
    "post-checkout",
    "post-commit",
    "post-index-change",
    "post-merge",
    "post-receive",
    "post-rewrite",
    "post-update",
    "pre-applypatch",
    "pre-auto-gc",
    "pre-commit",
    "pre-merge-commit",
    "pre-push",
    "pre-rebase",
    "pre-receive",
    "prepare-commit-msg",
    "proc-receive",
    "push-to-checkout",
    "reference-transaction",
    "sendemail-validate",
    "update",
]
_HOOKS_PATH: Final = "core.hookspath"
_INCLUDES: Final = re.compile(r"include(?:if\..*)?\.path", re.DOTALL)
_RUNS: Final = re.compile(
    r"core\.(?:fsmonitor|sshcommand|askpass|pager|editor|gitproxy|alternaterefscommand)|pager\..*"
    r"|sequence\.editor|credential\.(?:.*\.)?helper|gpg\.(?:.*\.)?program|interactive\.difffilter"
    r"|(?:filter|diff|merge|mergetool|difftool|remote|trailer|lfs)\..*"
    r"\.(?:clean|smudge|process|command|cmd|textconv|driver|uploadpack|receivepack|path)"
    r"|gpg\.ssh\.defaultkeycommand|diff\.external|uploadpack\.packobjectshook"
    r"|hook\..*\.command|tar\..*\.command|(?:browser|man|guitool)\..*\.cmd|imap\.tunnel"
    r"|sendemail\.(?:.*\.)?(?:smtpserver|sendmailcmd|tocmd|cccmd|headercmd)|core\.attributesfile",
    re.DOTALL,
)
"""Settings that name a command, or a file that names some."""
_TEMPLATE: Final = "init.templatedir"
_ENTERS: Final = ("cd", "pushd")
_BY_COMMAND: Final = "ext::"
"""How the address of a remote begins that a command speaks for."""
_MAY_RUN: Final = (
    (re.compile(r"alias\..*|submodule\..*\.update", re.DOTALL), "!"),
    (re.compile(r"remote\..*\.(?:push)?url", re.DOTALL), _BY_COMMAND),
)
"""Settings that do so where their value begins in a certain way."""
_BETWEEN: Final = re.compile(r"[\s;|&()\"'<>!=`]+")
"""What stands between words that may be names of files, however they are quoted."""
_MOST_PARTS: Final = 40
_TOO_LONG: Final = -1
_BY_CALL: Final = "command"
"""The scope of what a call of git sets for itself."""


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


def places_of_hooks(checkout: Path) -> tuple[Path, ...]:
    """Return the folder that `core.hooksPath` names, in which git looks for hooks; else nothing.

    Where the checkout lies in that folder, the hooks alone are returned, by all their names. Every
    configuration that git would read counts, and what it includes. It is read, nothing runs, and
    nothing need be where it says. Blocking.

    Args:
        checkout: The folder that holds `.git`, or a bare repository.

    Returns:
        Absolute; only links to the folder that holds it are followed.
    """
    return _hooks_of(checkout, _settings(checkout))


def places_named_by_settings(checkout: Path) -> tuple[Path, ...]:
    """Return those, and the files that git reads settings from, by whatever includes them.

    Also files that may be included some time, and need not be there, and programs of the checkout
    that settings have git run. Blocking; nothing runs.

    Args:
        checkout: The folder that holds `.git`, or a bare repository.

    Returns:
        Absolute; only links to the folders that hold them are followed.
    """
    settings = _settings(checkout)
    named = {_place(checkout, os.fspath(each.file)) for each in settings if each.file is not None}
    named |= {
        _place(each.file.parent, each.value)
        for each in settings
        if each.file is not None and _INCLUDES.fullmatch(each.name) and each.value
    }
    return (*_hooks_of(checkout, settings), *sorted(named), *_programs_of(checkout, settings))


def programs_named_by_settings(checkout: Path) -> tuple[Path, ...]:
    """Return the files of a checkout that settings have git run, but for hooks. Blocking.

    Args:
        checkout: The folder that holds `.git`, or a bare repository.
    """
    return tuple(filter(Path.is_file, _programs_of(checkout, _settings(checkout))))


class _Setting(NamedTuple):
    """A setting of git's.

    Attributes:
        file: Where it stands; None where it is of no file.
    """

    scope: str
    file: Path | None
    name: str
    value: str


def _settings(checkout: Path) -> list[_Setting]:
    """Return all that git would read in a repository, as they come."""
    asked = ("config", "--show-scope", "--show-origin", "-z", "--list")
    listed = run_now(checkout, *asked, timeout=_SECONDS)
    if listed.code == _TOO_LONG:
        # Git waits for ever for a pipe that is included: without it, that is named at least.
        listed = run_now(checkout, *asked, "--no-includes", timeout=_SECONDS)
    words = listed.output.split("\0")
    found = []
    for scope, origin, text in zip(words[::3], words[1::3], words[2::3], strict=False):
        name, _, value = text.partition("\n")
        kind, _, path = origin.partition(":")
        file = checkout.absolute() / path if kind == "file" else None
        found.append(_Setting(scope, file, name, value))
    return found


def _programs_of(checkout: Path, settings: Iterable[_Setting]) -> tuple[Path, ...]:
    """Return the files that commands in settings name, in the checkout, and folders of such."""
    top = Path(os.path.realpath(checkout))
    found: set[Path] = set()
    for each in settings:
        if each.name == _TEMPLATE and each.value:
            found.add(_place(checkout, each.value))
        elif _names_command(each):
            found |= _named_in(each.value.removeprefix(_BY_COMMAND), checkout, top)
    return tuple(sorted(each for each in found if top in each.parents))


def _named_in(text: str, checkout: Path, top: Path) -> set[Path]:
    """Return what the words of a command name, those behind it that it goes into among them."""
    words = list(filter(None, _BETWEEN.split(text)))
    found, folders = set(), []
    for before, word in zip(("", *words), words, strict=False):
        for place in _places_of(checkout, word):
            if not place.is_dir():
                found.add(place)
            elif top in place.parents:
                folders.append(place)
                if "/" in word and before not in _ENTERS and place == _place(checkout, word):
                    found.add(place)
    # Only what is there: any word may be the name of a folder.
    inside = (_place(folder, word) for folder in dict.fromkeys(folders) for word in words)
    return found.union(filter(os.path.isfile, inside))


def _names_command(setting: _Setting) -> bool:
    return _RUNS.fullmatch(setting.name) is not None or any(
        setting.value.startswith(begin) and name.fullmatch(setting.name) for name, begin in _MAY_RUN
    )


def _places_of(checkout: Path, word: str) -> Iterator[Path]:
    """Yield what a word of a command may name in a checkout; any part may stand for a folder."""
    place = _place(checkout, word)
    if "/" not in word:
        if os.path.lexists(place):
            yield place
        return
    # What is not there yet may come.
    yield place
    if os.path.isfile(place) or not word.startswith(("/", "$")):
        return
    # A variable, or the output of a command, says where the checkout is.
    parts = word.split("/")
    for at in range(1, min(len(parts), _MOST_PARTS)):
        rest = _place(checkout, "/".join(parts[at:]))
        if at == 1 or os.path.isfile(rest):
            yield rest


def _place(folder: Path, text: str) -> Path:
    """Return the place that a setting names; links to the folder that it is in are followed."""
    named = Path(os.path.normpath(folder.absolute() / os.path.expanduser(text)))
    return Path(os.path.realpath(named.parent), named.name)


def _hooks_of(checkout: Path, settings: Iterable[_Setting]) -> tuple[Path, ...]:
    said = [each.value for each in settings if each.name == _HOOKS_PATH and each.scope != _BY_CALL]
    if not said or not said[-1]:
        return ()
    folder = _place(checkout, said[-1])
    # Links may lead in a circle, which only this passes over.
    if Path(os.path.realpath(checkout)).is_relative_to(os.path.realpath(folder)):
        return tuple(folder / name for name in _HOOKS)
    return (folder,)


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

    Args:
        folder: Where a relative one begins.
    """
    path = address.removeprefix("file://")
    if path == address and ("://" in path or ":" in path.partition("/")[0]):
        return None
    return (folder / path).resolve() if path else None


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
