"""Which commands of git write in its own folder."""

import posixpath
from typing import Final

from amplifier_tui.base.commands.git_lines.words import git_words
from amplifier_tui.base.shell import only_looks
from amplifier_tui.base.shell.looks import git_folders
from amplifier_tui.host.gate.calls.option_words import option_names


def _words(text: str) -> frozenset[str]:
    return frozenset(text.split())


_GIT_KEEPS: Final = _words(
    "annotate archive blame bugreport cat-file check-attr check-ignore check-mailmap "
    "check-ref-format cherry clean clone column count-objects credential daemon describe "
    "diagnose diff diff-files diff-index diff-tree difftool fast-export for-each-ref "
    "fmt-merge-msg format-patch get-tar-commit-id grep help interpret-trailers "
    "log ls-files ls-remote ls-tree mailinfo mailsplit merge-base merge-file "
    "name-rev patch-id range-diff request-pull rev-list rev-parse send-email "
    "shortlog show show-branch show-index show-ref status stripspace var verify-commit "
    "verify-pack verify-tag version whatchanged"
)
"""Commands of git that write nothing in its own folder; others, and aliases, may."""
_LOCKS: Final = _words("add commit mv rm stage")
"""Commands that lock the index even where they are told to write nothing."""
_REFLOG_WRITES: Final = _words("expire delete drop write")
CLONE_VALUES: Final = _words(
    "-o --origin -b --branch -u --upload-pack --reference --reference-if-able --depth -j --jobs -c "
    "--config --separate-git-dir --template --filter --server-option --shallow-since "
    "--shallow-exclude --bundle-uri --ref-format"
)
"""Options of `git clone` with a value behind them."""
INIT_VALUES: Final = _words("-b --initial-branch --template --separate-git-dir --object-format")
"""Options of `git init` with a value behind them."""
_TRIVIAL: Final = 3
_SETS: Final = 2
"""How many words set what one reads."""
_GIT_CLEARS: Final = _words("d delete unset unset-all remove-section e edit")
_GIT_SHOWS: Final = _words("exists foreach list log show status summary view visualize")
_GIT_DEEP: Final = _words("bisect notes reflog remote sparse-checkout stash submodule worktree")


def git_writes_from(arguments: tuple[str, ...]) -> tuple[str, ...] | None:
    """Return the folders that git goes to before it writes in its own; None if it does not.

    Args:
        arguments: What stands behind `git`.
    """
    options, subcommand, rest = git_words(arguments)
    if subcommand in ("", *_GIT_KEEPS) or only_looks(("git", subcommand, *rest)):
        return None
    if subcommand == "apply" and not option_names(rest) & {"index", "cached", "3", "3way"}:
        return None
    return None if _shows(subcommand, rest) else git_folders(options)


def _shows(subcommand: str, rest: tuple[str, ...]) -> bool:
    """Whether a command of git that writes in its folder does not with these words behind it."""
    operands = [word for word in rest if not word.startswith("-")]
    told_only = any(word.startswith("--show-current-patch") for word in rest) or (
        subcommand not in _LOCKS and "--dry-run" in rest
    )
    if told_only or rest[:1] in (("-h",), ("--help",)):
        return True
    flags, first = option_names(rest), "".join(operands[:1])
    match subcommand:
        case "reflog":
            return first not in _REFLOG_WRITES
        case "notes" | "submodule" if not operands:
            return True
        case _ if subcommand in _GIT_DEEP:
            return first in _GIT_SHOWS
        case "lfs":
            return first in ("status", "ls-files", "env", "version")
        case "rerere":
            return first in ("status", "diff", "remaining")
        case "bundle":
            return first != "unbundle"
        case "fsck":
            return "lost-found" not in flags
        case "hash-object":
            return "w" not in flags
        case "push" | "prune":
            return "-n" in rest
        case "merge-tree":
            # So it was before it could write; with a base of its own.
            return len(operands) == _TRIVIAL and "write-tree" not in flags
        case "init" | "init-db":
            return "bare" in flags or _names_folder(rest)
        case "config" if first in ("get", "list") or flags & {"f", "file"}:
            return True
        case "symbolic-ref" | "config":
            return len(operands) < _SETS and not flags & _GIT_CLEARS
    return False


def _names_folder(rest: tuple[str, ...]) -> bool:
    """Whether `git init` is given another folder than the one it runs in."""
    pairs = zip(("", *rest), rest, strict=False)
    named = [word for before, word in pairs if word[:1] != "-" and before not in INIT_VALUES]
    return bool({*named} - {".", "./"})


def moved_to(arguments: tuple[str, ...]) -> tuple[str, ...]:
    """Return the names that `git mv` may give to files, from where it runs.

    Args:
        arguments: What stands behind `git`.
    """
    _, name, words = git_words(arguments)
    *sources, target = [word for word in words if not word.startswith("-")] or [""]
    if name != "mv" or not sources:
        return ()
    return (
        target,
        *(posixpath.join(target, posixpath.basename(each.rstrip("/"))) for each in sources),
    )
