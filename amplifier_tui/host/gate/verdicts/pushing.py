"""Where `git push` goes: to another machine, or to a repository on this disk."""

import re
from pathlib import Path
from typing import Final

from amplifier_tui.base.commands.git_lines.words import git_words
from amplifier_tui.base.git import run_now
from amplifier_tui.base.repositories.places import path_of_address, remote_address
from amplifier_tui.base.shell import ProgramRun, ShellCommand, only_looks
from amplifier_tui.base.shell.looks import git_folders
from amplifier_tui.host.gate.calls.option_words import first_word, option_names
from amplifier_tui.host.gate.verdicts.git import takes_up
from amplifier_tui.host.gate.verdicts.words import ELSEWHERE, REMOTE, Verdict

_PLAIN: Final = {
    *("u", "set-upstream", "v", "verbose", "q", "quiet", "n", "dry-run", "tags", "follow-tags"),
    *("all", "branches", "atomic", "progress", "porcelain", "no-verify"),
}
"""Options of `git push` that change nothing about where it goes, and have no value behind them."""
_ADDRESSES: Final = r"^(url\..*\.(pushinsteadof|insteadof)|remote\..*\.(push)?url|push\..*)$"
_ADDRESS: Final = re.compile(r"remote\..*\.url", re.DOTALL)


_SECONDS: Final = 5.0
_NONE: Final = 1
"""With it git says that there are no such settings."""


def pushed_to(arguments: tuple[str, ...], folder: Path) -> Path | None:
    """Return the folder of a repository on this machine that git would push to. Blocking.

    Args:
        arguments: What stands behind `git`; it pushes.
        folder: Where it runs.

    Returns:
        None where it is on another machine, or none can be told.
    """
    options, _, rest = git_words(arguments)
    remote, start = first_word(rest), folder.joinpath(*git_folders(options))
    address = remote_address(start, remote, push=True)
    return path_of_address(address or (remote if "/" in remote else ""), start)


def with_remote_told(verdict: Verdict, run: ProgramRun, folder: Path) -> Verdict:
    """Return what is said of a command, in other words where it surely pushes on this disk.

    Blocking.
    """
    risk, reasons = verdict
    options, name, rest = git_words(run.arguments)
    if (run.program, name) != ("git", "push") or REMOTE not in reasons:
        return verdict
    plain = not (options or run.wrappers or run.command.assignments) and all(run.command.known)
    if not plain or not option_names(rest) <= _PLAIN:
        return verdict
    if _leads_elsewhere(folder) or pushed_to(run.arguments, folder) is None:
        return verdict
    return risk, tuple(ELSEWHERE if each == REMOTE else each for each in reasons)


def _leads_elsewhere(folder: Path) -> bool:
    """Whether by its settings git may push elsewhere than the one address of a remote says."""
    asked = ("config", "-z", "--name-only", "--get-regexp", _ADDRESSES)
    told = run_now(folder, *asked, timeout=_SECONDS)
    names = told.output.split("\0")[:-1]
    plain = len({*names}) == len(names) and all(map(_ADDRESS.fullmatch, names))
    return not plain or told.code not in (0, _NONE)


def leaves_remotes(command: ShellCommand) -> bool:
    """Whether `git push` surely goes where it would without a command before it."""
    words = command.words
    git = words[:1] == ("git",) and takes_up(words[1:])
    return not command.assignments and (git or only_looks(words))
