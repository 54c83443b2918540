"""Which command lines need the user's terminal itself: those that draw on it, or read keys."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Final

from amplifier_tui.base.lazy.dataclass import dataclass

if TYPE_CHECKING:
    from amplifier_tui.base.shell import ProgramRun, ShellLine


def _names(words: str) -> frozenset[str]:
    return frozenset(words.split())


FULL_SCREEN: Final = _names(
    "vi vim nvim view vimdiff nano pico emacs helix hx micro kak joe ne mcedit less more most "
    "man info top htop btop atop iotop glances watch tmux screen mc ranger nnn lf vifm tig "
    "lazygit gitui lazydocker k9s fzf ncdu w3m lynx links elinks mutt neomutt aerc cmus "
    "ncmpcpp visidata vd dialog whiptail"
)
"""Programs that draw on a screen of their own."""
ASKING: Final = _names(
    "sudo doas su passwd ssh sftp ftp telnet gdb lldb psql mysql sqlite3 redis-cli mongosh "
    "ipython ptpython bpython"
)
"""Programs that read what is typed."""
BARE: Final = _names("python python3 node irb ghci lua julia R php bash sh zsh fish dash bc")
"""Programs that do so when they are given nothing to do."""
_CONTAINERS: Final = _names("docker podman kubectl")
_LONGEST: Final = 4_000
"""Characters of a command line that is looked at; a longer one is a script."""
_MESSAGE: Final = ("-m", "-F", "-C", "--message", "--file", "--no-edit", "--fixup", "--reuse")


@dataclass(frozen=True, slots=True)
class TerminalNeed:
    """Whether a command line needs the terminal; `full_screen`: it leaves nothing to read there."""

    needed: bool = False
    full_screen: bool = False


def terminal_need(command: str) -> TerminalNeed:
    """Say what a command line wants of the terminal. Takes some milliseconds."""
    if len(command) > _LONGEST:
        return TerminalNeed()
    from amplifier_tui.base.shell import read_shell_line

    runs = list(_runs(read_shell_line(command)))
    needed = any(_needs(run, last) for run, last in runs)
    drawn = [run.program in FULL_SCREEN for run, last in runs if last]
    return TerminalNeed(needed, needed and drawn[-1:] == [True])


def _runs(line: ShellLine) -> Iterator[tuple[ProgramRun, bool]]:
    """Yield the programs of a line, and whether what they write goes to the terminal."""
    from amplifier_tui.base.shell import programs_of

    for at, command in enumerate(line.commands):
        following = line.commands[at + 1 : at + 2]
        feeds = any(next_.piped and next_.pipeline == command.pipeline for next_ in following)
        elsewhere = any(redirection.writes for redirection in command.redirections)
        last = not (feeds or elsewhere or command.nested)
        yield from ((run, last) for run in programs_of(command))


def _needs(run: ProgramRun, last: bool) -> bool:
    name, rest = run.program, run.arguments
    if name in ASKING or not ASKING.isdisjoint(run.wrappers):
        return True
    if not last or "--help" in rest or "--version" in rest:
        return False
    if name == "git":
        return _git_asks(rest)
    if name in _CONTAINERS:
        return any(word in ("-it", "-ti", "-i", "--interactive") for word in rest)
    return name in FULL_SCREEN or (name in BARE and not rest and not run.command.piped)


def _git_asks(words: tuple[str, ...]) -> bool:
    verb = next((word for word in words if not word.startswith("-")), "")
    if verb == "commit":
        return not any(word.startswith(_MESSAGE) or _holds(word, "m") for word in words)
    asks = any(word in ("-i", "-p", "--interactive", "--patch") for word in words)
    return verb in ("rebase", "add", "checkout", "restore", "reset", "stash") and asks


def _holds(word: str, letter: str) -> bool:
    """Whether a word is one-letter options with this one among them."""
    return word.startswith("-") and not word.startswith("--") and letter in word
