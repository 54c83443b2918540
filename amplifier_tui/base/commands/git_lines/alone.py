"""Which command lines may write in the folders of repositories: those that are git's alone.

What else runs could write there what git believes without looking: names in its index that lead
elsewhere, files that it resolved before, what it goes on with.
"""

import re
from typing import Final

from amplifier_tui.base.shell import Redirection, ShellCommand, ShellLine, read_shell_line
from amplifier_tui.base.shell.looks import looks, writes_nothing

_ANY_WORDS: Final = frozenset(
    {"add", "am", "branch", "checkout", "clean", "commit", "mv", "notes", "reflog"}
    | {"reset", "restore", "rm", "stash", "switch", "tag"}
)
"""Commands of git without an option that runs a program or names a file to be written."""
_KNOWN_WORDS: Final = frozenset(
    {
        "apply",
        "bisect",
        "cherry-pick",
        "fetch",
        "gc",
        "lfs",
        "merge",
        "pull",
        "push",
        "rebase",
        "remote",
    }
    | {"revert", "submodule", "update-ref", "worktree"}
)
"""Commands of git that have such options: their words have to be known before they run."""
_LEAVES_FILES: Final = frozenset(
    {"branch", "fetch", "gc", "notes", "push", "reflog", "remote", "tag", "update-ref"}
)
"""Commands of git that leave the files of a checkout as they are, and its index."""
RECORDS: Final = _LEAVES_FILES | {"add", "commit"}
"""Those that make nothing of the files, either, but hooks may mend what is to be committed."""
_GOES_ON: Final = frozenset({"checkout", "fetch", "merge", "pull", "rebase", "reset", "switch"})
"""Commands of git that only make of what was fetched what they can, and of what was there."""
_FETCHING: Final = frozenset(
    {"-q", "--quiet", "-v", "--verbose", "-p", "--prune", "-t", "--tags", "--no-tags", "-r"}
    | {"--rebase", "--no-rebase", "--ff", "--ff-only", "--no-ff", "--no-edit", "--autostash"}
    | {"--progress", "--no-progress", "--stat", "-n", "--no-stat", "-f", "--force", "--unshallow"}
)
"""Options of fetching that say nothing of where from, or to."""
_RUNS: Final = (
    *("--build-fake-ancestor", "--config", "--exec", "--open-files-in-pager", "--output"),
    *("--receive-pack", "--template", "--unsafe-paths", "--upload-pack"),
)
"""Options that run a program, or name a file to be written; git takes their beginnings, too.

With one a patch may write in the repository's own folder.
"""
_STRATEGY: Final = "--strategy"
_STRATEGIES: Final = frozenset({"octopus", "ort", "ours", "recursive", "resolve", "subtree"})
"""Git's own; any other names a program."""
_WITH_STRATEGY: Final = frozenset({"merge", "pull", "rebase"})
"""Commands of git to which `-s` is that."""
_RUNNING: Final = frozenset(
    {("bisect", "replay"), ("bisect", "run"), ("bisect", "view"), ("bisect", "visualize")}
    | {("submodule", "foreach")}
)
_NAMES_BRANCH: Final = re.compile(r"refs/(?:heads|tags)/")
"""What `git update-ref` may name: other names are files by which git goes on, or stashes."""
_SETTINGS: Final = re.compile(
    r"(?:user\.(?:name|email)|commit\.gpgsign|tag\.gpgsign|advice\.\w+|color\.\w+|gc\.auto"
    r"|core\.quotepath|init\.defaultbranch|merge\.ff|pull\.(?:ff|rebase)|push\.default"
    r"|rebase\.autosquash|rebase\.autostash)(?:=.*)?"
    r"|(?:core\.(?:editor|pager)|sequence\.editor)=(?:true|:|cat)?",
    re.DOTALL | re.IGNORECASE,
)
"""What `-c` may set."""
_VARIABLES: Final = re.compile(
    r"(?:GIT_(?:AUTHOR|COMMITTER)_(?:NAME|EMAIL|DATE)|GIT_(?:TERMINAL_PROMPT|MERGE_AUTOEDIT)"
    r"|HUSKY|LANG|LC_\w+|NO_COLOR|SKIP|TZ)=.*"
    r"|(?:GIT_)?(?:EDITOR|PAGER)=(?:true|:|cat)?"
    r"|GIT_SEQUENCE_EDITOR=(?:true|:|cat)?"
    # How the commits of a rebase are put together without an editor.
    r"|GIT_SEQUENCE_EDITOR=sed -i(?: -e)? '?[\d,$ ]*s/\^?pick/(?:squash|fixup|reword|edit|drop|s|f)"
    r"/g?'?",
    re.DOTALL,
)
"""What may be in its environment."""
_OWN_NAME: Final = re.compile(r"[a-z]\w*\+?=.*|[A-Z]=.*", re.DOTALL)
"""Variables of the line's own, of which git hears nothing."""
_SAYS: Final = frozenset({"echo", "true", ":", "false", "exit"})
_OPTIONS_OF_SHELLS: Final = re.compile(r"[-+][eux]+|[-+][eux]*o|pipefail|errexit|nounset")
_LONE_DASH: Final = re.compile(r"(?<=\s)-(?=\s*<<)")
"""The parser drops it."""


def is_of_git_alone(text: str) -> bool:
    """Whether a command line runs git, and besides it only what looks.

    Args:
        text: As a shell reads it.
    """
    line = _read(text)
    return (
        line.complete
        and all(_OWN_NAME.fullmatch(f"{name}=") for name in line.sets)
        and any(map(_is_git, line.commands))
        and all(_is_git(each) or _is_harmless(each) for each in line.commands)
    )


def advice_for_git(text: str) -> str:
    """Say why git could not write in a command line, and what to do; empty where it does not.

    Args:
        text: A command line that is not git's alone.
    """
    line = _read(text)
    if any(map(_is_git, line.commands)):
        return "; git could not write, as it can in a command line of its own"
    if any(each.words[:1] == ("git",) and not _is_harmless(each) for each in line.commands):
        return "; git could not write, as it would run what it was told to, or may"
    return ""


def brings_files(text: str) -> bool:
    """Whether a command line that is git's alone may change files of a checkout, or name others.

    Args:
        text: As a shell reads it.
    """
    found = filter(None, map(_behind_git, _read(text).commands))
    return any(name not in _LEAVES_FILES for name, *_ in found)


def records_files(text: str) -> bool:
    """Whether a command line that is git's alone only takes up what is in a checkout.

    Args:
        text: As a shell reads it.
    """
    found = filter(None, map(_behind_git, _read(text).commands))
    return all(name in RECORDS for name, *_ in found)


def goes_one_by_one(text: str) -> bool:
    """Whether no command of git in a command line may run while another one does.

    Args:
        text: As a shell reads it.
    """
    line = _read(text)
    apart = set[int]()
    for number, scope in enumerate(line.scopes):
        # What holds a scope comes before it.
        if scope.kind == "process" or scope.parent in apart:
            apart.add(number)
    return not any(_behind_git(each) for each in line.commands if each.scope in apart)


def remotes_fetched(text: str) -> tuple[str, ...]:
    """Return the remotes that a command line fetches from; an empty name for the usual one.

    Nothing where it fetches none, or may put elsewhere what it fetches, and nothing where something
    else of it may be taken for what was fetched.

    Args:
        text: A command line that is git's alone.
    """
    found = []
    moved = False
    for command in _read(text).commands:
        name, *words = _behind_git(command) or ("",)
        if name and (name not in _GOES_ON or "-C" in command.words):
            return ()
        moved = moved or name in ("checkout", "switch")
        if command.words[:1] in (("cd",), ("pushd",), ("popd",)):
            return ()
        if name in ("fetch", "pull"):
            options = {word.partition("=")[0] for word in words if word.startswith("-")}
            remote, *references = [word for word in words if not word.startswith("-")] or [""]
            if options - _FETCHING or any(":" in word for word in references):
                return ()
            if not remote and moved:
                # Another branch may have another.
                return ()
            found.append(remote)
    return tuple(found)


def _read(text: str) -> ShellLine:
    return read_shell_line(_LONE_DASH.sub("--", text))


def _is_harmless(command: ShellCommand) -> bool:
    """Whether a command looks, says something, or sets what git does not hear of."""
    if looks(command) is not None:
        return True
    if not all(map(_writes_nothing, command.redirections)):
        return False
    if not command.words:
        return all(map(_OWN_NAME.fullmatch, command.assignments))
    name, *arguments = command.words
    if command.assignments or not command.known[0]:
        return False
    if name == "export":
        return all(command.known) and all(map(_VARIABLES.fullmatch, arguments))
    if name == "set":
        return all(command.known) and all(map(_OPTIONS_OF_SHELLS.fullmatch, arguments))
    if name == "wait":
        # Its options set variables.
        return all(command.known) and not any(word.startswith("-") for word in arguments)
    return name in _SAYS


def _writes_nothing(redirection: Redirection) -> bool:
    # What text that is fed in runs stands among the commands.
    return redirection.operator in ("<<", "<<-", "<<<") or writes_nothing(redirection)


def _is_git(command: ShellCommand) -> bool:
    """Whether a command is one of git that writes, and runs nothing that it is told."""
    words = _behind_git(command)
    if not words or not all(map(_writes_nothing, command.redirections)):
        return False
    if not all(map(_VARIABLES.fullmatch, command.assignments)):
        return False
    name, arguments = words[0], words[1:]
    if name not in _ANY_WORDS and not (name in _KNOWN_WORDS and all(command.known)):
        return False
    action = next((word for word in arguments if not word.startswith("-")), "")
    if name == "update-ref" and not (
        _NAMES_BRANCH.match(action) and all(w == "-d" for w in arguments if w.startswith("-"))
    ):
        return False
    return (name, action) not in _RUNNING and not any(
        _runs(name, word, after)
        for word, after in zip(arguments, (*arguments[1:], ""), strict=False)
    )


def _behind_git(command: ShellCommand) -> tuple[str, ...]:
    """Return the command of git and its arguments; nothing where they can't be told."""
    words, known = command.words, command.known
    at = 1 if words[:2] == ("time", "git") else 0
    if words[at : at + 1] != ("git",):
        return ()
    at += 1
    while at < len(words):
        if words[at] in ("-C", "-c"):
            setting = "".join(words[at + 1 : at + 2])
            if words[at] == "-c" and not _SETTINGS.fullmatch(setting):
                return ()
            at += 2
        elif words[at] in ("--no-pager", "-P"):
            at += 1
        else:
            break
    return words[at:] if all(known[: at + 1]) else ()


def _runs(name: str, word: str, after: str) -> bool:
    """Whether a word of a command of git has it run a program, or write a file."""
    option, _, value = word.partition("=")
    if word.startswith("--"):
        if len(option) > 2 and any(each.startswith(option) for each in _RUNS):
            return True
        strategy = len(option) > 2 and _STRATEGY.startswith(option)
        return strategy and (value or after) not in _STRATEGIES
    if not word.startswith("-"):
        return False
    if name == "rebase" and "x" in word:
        return True
    return name in _WITH_STRATEGY and "s" in word and not (word == "-s" and after in _STRATEGIES)
