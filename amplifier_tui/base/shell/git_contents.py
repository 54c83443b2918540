"""Commands of git that may print what is in files, told from their words.

Of what is neither in the table of programs nor known here to print names alone, as of an alias, it
is said that it may.
"""

import posixpath
import re
from dataclasses import replace
from typing import Final, NamedTuple

from amplifier_tui.base.shell.line import ShellCommand
from amplifier_tui.base.shell.looks import EXPANDED, git_folders, named
from amplifier_tui.base.shell.options import Arguments, option_tables, read_arguments


class GitContents(NamedTuple):
    """Of what a command of git may print the contents.

    Attributes:
        folder: Where it runs, from the current folder; empty for that one.
        words: Revisions and objects, and files where there are such of the name.
        paths: Patterns of files, as git reads them, from `folder`.
        narrow: What it prints is of nothing but these; else it may be of all in the repository.
    """

    folder: str
    words: tuple[str, ...] = ()
    paths: tuple[str, ...] = ()
    narrow: bool = False


_KEEPS_FILES: Final = frozenset(
    {
        *("add", "branch", "bundle", "commit", "config", "fetch", "gc", "init", "maintenance"),
        *("notes", "prune", "push", "reflog", "remote", "tag", "update-index", "update-ref"),
    }
)
"""Commands that do more than read, and leave the files of a worktree as they are."""
_QUIET: Final = frozenset(
    {
        *("add", "am", "apply", "branch", "cherry", "cherry-pick", "checkout", "clean", "clone"),
        *("commit", "commit-tree", "fetch", "fsck", "gc", "hash-object", "help", "init"),
        *("ls-remote", "maintenance", "merge", "mktree", "mv", "notes", "prune", "pull", "push"),
        *("rebase", "reflog", "remote", "reset", "restore", "revert", "rm", "sparse-checkout"),
        *("stash", "submodule", "switch", "symbolic-ref", "tag", "update-index", "update-ref"),
        *("var", "worktree", "write-tree", "--help", "--version"),
    }
)
"""Commands that say names, or nothing, beside those of the table of programs."""
_HUNKS: Final = {
    "add": "-p -i -e --patch --interactive --edit",
    "am": "--show-current-patch",
    "checkout": "-p --patch",
    "commit": "-p -v --patch --interactive --verbose",
    "config": "--blob",
    "rebase": "--show-current-patch",
    "reset": "-p --patch",
    "restore": "-p --patch",
    "stash": "-p --patch",
    "status": "-v --verbose",
}
"""Options with which commands print contents that else print none."""
_BY_DEFAULT: Final = frozenset({"diff", "show", "stash show"})
_IF_TOLD: Final = frozenset(
    {
        *("log", "whatchanged", "reflog", "reflog show", "stash list"),
        *("diff-tree", "diff-index", "diff-files"),
    }
)
_PATCH: Final = (
    *("-p", "-u", "-U", "-c", "-L", "--patch", "--unified", "--binary", "--cc", "--check"),
    *("--patch-with-raw", "--patch-with-stat", "--submodule"),
)
_NO_PATCH: Final = (
    *("-s", "--no-patch", "--quiet", "--stat", "--numstat", "--shortstat", "--dirstat", "--raw"),
    *("--dirstat-by-file", "--summary", "--compact-summary", "--name-only", "--name-status"),
)
_ELSEWHERE: Final = ("--follow", "--full-diff", "--stdin", "-L")
"""With these, patterns of files are no bounds."""
_HEX: Final = re.compile(r"[0-9a-fA-F]{4,}")


def git_contents(command: ShellCommand) -> GitContents | None:
    """Return what a command of git may print the contents of; None for nothing.

    Files that it names to `git blame` are none of this, see `looks`.
    """
    command, program, at = _told(command)
    name = program.removeprefix("git").strip()
    words, known = command.written[at:], command.known[at:]
    everything = GitContents(posixpath.join("", *git_folders(command.written[:at])))
    if name in _HUNKS and _has_any(name, words):
        return everything
    table = option_tables().get(program)
    prints = {*_BY_DEFAULT, *_IF_TOLD, "cat-file", "grep"}
    if name not in prints:
        silent = name in _QUIET or table is not None or program == "git"
        sure = name != "status" or all(known)
        return None if silent and sure else everything
    arguments = read_arguments(table, words) if table is not None else None
    unknown = any(
        "{" in word or EXPANDED.search(word)
        for word, sure in zip(words, known, strict=True)
        if not sure
    )
    if arguments is None or unknown:
        return everything
    if not _prints(name, arguments):
        return None
    return _bounded(name, words, arguments, everything)


def git_keeps_files(command: ShellCommand) -> bool:
    """Return whether a command of git leaves the files of a worktree as they are.

    It is not said of those that only read.
    """
    return _told(command)[1].removeprefix("git").strip() in _KEEPS_FILES


def _told(command: ShellCommand) -> tuple[ShellCommand, str, int]:
    """Return the command by the name `git`, its name in the table, and where its words begin."""
    command = replace(
        command,
        words=("git", *command.words[1:]),
        written=("git", *command.written[1:]),
    )
    return command, *named(command)


def _has_any(name: str, words: tuple[str, ...]) -> bool:
    options = _HUNKS[name].split()
    for word in words:
        if word.startswith("--"):
            # Git takes the beginning of an option for it.
            begin = word.partition("=")[0]
            if len(begin) > 2 and any(option.startswith(begin) for option in options):
                return True
        elif word.startswith("-"):
            letters = re.split("[mFCct]", word)[0] if name == "commit" else word
            if any(option[1] in letters for option in options if option[1] != "-"):
                return True
    return False


def _prints(name: str, arguments: Arguments) -> bool:
    operands = [word for _, word in arguments.operands]
    if name == "grep":
        return True
    if name == "cat-file":
        batch = arguments.has("-p", "--batch", "--batch-command")
        return batch or not arguments.has("-t", "-s", "-e", "--batch-check")
    if name in _IF_TOLD:
        return arguments.has(*_PATCH)
    # Of what a number stands for, be it a file, `git show` prints all.
    numbers = name == "show" and any(map(_HEX.fullmatch, operands))
    return numbers or arguments.has(*_PATCH) or not arguments.has(*_NO_PATCH)


def _bounded(
    name: str, words: tuple[str, ...], arguments: Arguments, everything: GitContents
) -> GitContents:
    if arguments.has(*_ELSEWHERE) or name == "stash show":
        return everything
    operands = arguments.operands
    if name == "cat-file" and not arguments.has("-p"):
        operands = operands[1:] if operands[:1] and operands[0][1] == "blob" else operands
    if name == "grep" and not arguments.has("-e", "-f"):
        operands = operands[1:]
    end = words.index("--") if "--" in words else len(words)
    return everything._replace(
        words=tuple(word for place, word in operands if place < end),
        paths=tuple(word for place, word in operands if place > end),
        narrow=True,
    )
