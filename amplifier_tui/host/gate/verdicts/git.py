"""What commands of git do, as far as an approval dialog has to know."""

import os
import re
from pathlib import Path
from typing import Final

from amplifier_tui.base.commands.git_lines.words import git_words
from amplifier_tui.base.git import git_output_now
from amplifier_tui.base.shell import only_looks
from amplifier_tui.base.shell.looks import git_folders
from amplifier_tui.host.events import Risk
from amplifier_tui.host.gate.calls.option_words import option_names
from amplifier_tui.host.gate.verdicts.words import (
    DELETES,
    LOSES,
    NETWORK,
    READS,
    REMOTE,
    SECRETS,
    Verdict,
    by_name,
)

_LOSES_SAVED: Final = "deletes saved work"
_CUTS_OFF: Final = "cuts off the repository's history"
_SETS: Final = "sets git's configuration"
_GIT: Final = by_name(
    (
        ("high", REMOTE, "push send-email imap-send send-pack http-push cvsexportcommit"),
        ("medium", NETWORK, "fetch pull clone ls-remote fetch-pack request-pull instaweb"),
        ("high", NETWORK, "daemon"),
        ("high", DELETES, "clean rm"),
        ("high", LOSES, "restore"),
        ("high", "rewrites history", "filter-branch filter-repo rebase"),
        ("medium", "drops unreachable objects", "gc prune"),
        ("medium", "changes git's configuration", "config"),
    )
)
_ACTIONS: Final[tuple[tuple[Risk, str, str, str], ...]] = (
    ("high", REMOTE, "svn", "dcommit commit-diff set-tree"),
    ("high", REMOTE, "p4", "submit"),
    ("high", REMOTE, "lfs", "push"),
    ("medium", NETWORK, "svn", "clone fetch rebase info"),
    ("medium", NETWORK, "p4", "clone sync rebase"),
    ("medium", NETWORK, "lfs", "pull fetch"),
    ("medium", NETWORK, "remote", "update show prune"),
    ("medium", NETWORK, "submodule", "add update"),
    ("high", _LOSES_SAVED, "stash", "drop"),
    ("critical", _LOSES_SAVED, "stash", "clear"),
    ("high", _LOSES_SAVED, "worktree", "remove"),
    ("high", _LOSES_SAVED, "reflog", "delete"),
    ("critical", _LOSES_SAVED, "reflog", "expire"),
)
_DEEP: Final = {
    (command, action): (risk, reason)
    for risk, reason, command, actions in _ACTIONS
    for action in actions.split()
}
"""By the command, and the word behind it that says what is done."""
_Row = tuple[str, str, str]
_BY_OPTION: Final[tuple[_Row, ...]] = (
    (
        "push",
        "overwrites or deletes on the remote",
        "f d force force-with-lease mirror delete prune",
    ),
    ("reset", LOSES, "hard merge"),
    ("checkout", LOSES, "f force ours theirs p patch"),
    ("checkout", "overwrites a branch", "B"),
    ("switch", LOSES, "f force discard-changes"),
    ("switch", "overwrites a branch", "C force-create"),
    ("branch", "deletes a branch", "D d delete"),
    ("branch", "overwrites a branch", "M C f force"),
    ("tag", _LOSES_SAVED, "d delete"),
    ("tag", "overwrites a tag", "f force"),
    ("update-ref", "deletes a branch", "d"),
    ("clone", _SETS, "c config"),
)
"""Options with which a command is of high risk, and why."""


_FETCHING: Final = ("fetch", "pull", "submodule")
_MAKES: Final = "b B t track orphan"
"""Options of `git checkout` with which its operands are no files."""
_PATTERN: Final = re.compile(r"\.|:.*|.*[*?\[].*", re.DOTALL)
"""What names files, and can be the name of no branch."""


def judge_git(arguments: tuple[str, ...]) -> Verdict:
    """Return how risky git is with these arguments, paths not considered."""
    own, subcommand, rest = git_words(arguments)
    if subcommand.startswith("credential"):
        # Also `credential-cache` and others: they print passwords, or are given them.
        return "high", (SECRETS,)
    if any(word.startswith(("-c", "--config-env", "--exec-path=")) for word in own):
        # Any configuration may name a program to run.
        return "high", (f"{_SETS} for this call",)
    at = rest.index("--") if "--" in rest else len(rest)
    flags = option_names(rest[:at])
    operands = [word for word in rest[:at] if not word.startswith("-")]
    for command, reason, names in _BY_OPTION:
        if command == subcommand and given(flags, names):
            return "high", (reason,)
    if subcommand == "push" and any(word.startswith(("+", ":")) for word in rest):
        return "high", ("overwrites or deletes on the remote",)
    if subcommand == "checkout" and _takes_files(rest, operands, flags):
        return "high", (LOSES,)
    if _drops_unreachable(subcommand, rest, flags):
        return "critical", (_LOSES_SAVED,)
    if subcommand in _FETCHING and given(
        flags, "depth shallow-since shallow-exclude update-shallow"
    ):
        return "critical", (_CUTS_OFF,)
    if subcommand == "archive" and given(flags, "remote"):
        return "medium", (NETWORK,)
    if deep := _DEEP.get((subcommand, "".join(operands[:1]))):
        risk, reason = deep
        return risk, (reason,)
    if subcommand == "config" and only_looks(("git", *arguments)):
        return READS
    if subcommand in _GIT and not _keeps_files(subcommand, flags):
        risk, reason = _GIT[subcommand]
        return risk, (reason,)
    if only_looks(("git", *arguments)):
        return READS
    return "medium", ("changes the repository",)


def with_files_told(arguments: tuple[str, ...], folder: Path) -> tuple[str, ...]:
    """Return arguments of git with a `--` before what `git checkout` takes for a file. Blocking.

    A word alone is a revision to it if there is such a one, whatever files there are.

    Args:
        folder: Where it runs.
    """
    options, subcommand, rest = git_words(arguments)
    operands = [word for word in rest if not word.startswith("-")]
    if subcommand != "checkout" or len(operands) != 1 or given(option_names(rest), _MAKES):
        return arguments
    there, (word,) = folder.joinpath(*git_folders(options)), operands
    if not os.path.lexists(there / word):
        return arguments
    # With an option such as `--git-dir` it is another repository that has the branches.
    asked = not any(each.startswith("--git") for each in options)
    if asked and git_output_now(there, "rev-parse", "--verify", "--quiet", f"{word}^{{commit}}"):
        return arguments
    return (*options, subcommand, "--", *rest)


def takes_up(arguments: tuple[str, ...]) -> bool:
    """Whether git only takes files into its index or a commit, and leaves them as they are."""
    own, subcommand, rest = git_words(arguments)
    flags = option_names(rest)
    if own:
        return False
    if subcommand == "reset":
        return not given(flags, "hard merge keep recurse-submodules")
    if subcommand == "restore":
        return _keeps_files(subcommand, flags)
    return subcommand in ("add", "stage", "commit")


def given(flags: set[str], names: str) -> bool:
    """Whether one of some options is given; git takes the beginning of a long one for it."""
    return any(
        flag == name or (len(flag) > 1 and len(name) > 1 and name.startswith(flag))
        for flag in flags
        for name in names.split()
    )


_LONG_AGO: Final = re.compile(
    r"never|false|(?:[2-9]|[1-9]\d+)[. ](?:week|month|year)s?(?:[. ]ago)?"
)


def _drops_unreachable(subcommand: str, words: tuple[str, ...], flags: set[str]) -> bool:
    """Whether what was dropped or reset shortly before can't be brought back afterwards."""
    if subcommand == "gc":
        given_times = (word.partition("=") for word in words if word.startswith("--p"))
        return any(
            equals and not _LONG_AGO.fullmatch(when) and "prune".startswith(name[2:])
            for name, equals, when in given_times
        )
    return subcommand == "prune" and not given(flags, "n dry-run expire")


def _takes_files(words: tuple[str, ...], operands: list[str], flags: set[str]) -> bool:
    """Whether `git checkout` puts files back: they stand behind a revision, or `--`."""
    if "--" in words or given(flags, "pathspec-from-file"):
        return True
    return not given(flags, _MAKES) and (len(operands) > 1 or any(map(_PATTERN.match, operands)))


def _keeps_files(subcommand: str, flags: set[str]) -> bool:
    """Whether options say that only the index changes, or that something is given up."""
    if subcommand == "restore":
        return given(flags, "S staged") and not given(flags, "W worktree")
    if subcommand == "rm":
        return given(flags, "cached")
    return subcommand == "rebase" and given(flags, "abort quit")
