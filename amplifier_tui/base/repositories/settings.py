"""What the settings of git name in a repository: hooks, programs, files, and addresses."""

import os
import re
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Final, NamedTuple

from amplifier_tui.base.git import run_now

_SECONDS: Final = 5.0
HOOKS: Final = [
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
"""The names of all hooks."""
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
_ADDRESSES: Final = re.compile(
    r"remote\..*\.(?:push)?url|branch\..*\.(?:push)?remote|remote\.pushdefault", re.DOTALL
)
"""Settings that name another repository, or a remote."""


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


def addresses_named_by_settings(checkout: Path) -> tuple[str, ...]:
    """Return the addresses of the remotes of a repository, and names of remotes. Blocking.

    Args:
        checkout: The folder that holds `.git`, or a bare repository.
    """
    found = (each.value for each in _settings(checkout) if _ADDRESSES.fullmatch(each.name))
    return tuple(dict.fromkeys(filter(None, found)))


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
        return tuple(folder / name for name in HOOKS)
    return (folder,)
