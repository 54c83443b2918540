"""Which hooks a command of git runs that may run files of the workspace, and with its network.

A hook itself no agent may change; what it runs, such as tests, an agent changes all day.
"""

import os
import re
from collections.abc import Container, Iterable, Iterator
from hashlib import sha256
from itertools import product
from pathlib import Path
from typing import Final

from amplifier_tui.base.commands.git_lines.words import git_words
from amplifier_tui.base.files import read_regular
from amplifier_tui.base.git import git_output_now
from amplifier_tui.base.repositories.settings import places_of_hooks, programs_named_by_settings
from amplifier_tui.base.shell import ProgramRun, ShellCommand, programs_of, read_shell_line
from amplifier_tui.base.shell.looks import git_folders
from amplifier_tui.host.gate.rules.matching import Part
from amplifier_tui.host.gate.verdicts.lent.node_installs import run_by_install
from amplifier_tui.host.gate.verdicts.lent.of_registry import Ran

_MOST_BYTES: Final = 100_000
_MOST_NAMED: Final = 3
_FETCHING: Final = frozenset({"pre-auto-gc", "reference-transaction"})
_OF_COMMAND: Final = {
    "fetch": _FETCHING,
    "ls-remote": frozenset[str](),
    "push": frozenset({"pre-push", "reference-transaction"}),
    "remote": _FETCHING,
}
_OF_OTHERS: Final = _FETCHING | {
    *("applypatch-msg", "commit-msg", "post-applypatch", "post-checkout", "post-commit"),
    *("post-index-change", "post-merge", "post-rewrite", "pre-applypatch", "pre-merge-commit"),
    *("pre-rebase", "prepare-commit-msg"),
}
"""Hooks of what may merge, rebase or check out, as a pull does."""
_SHELL: Final = re.compile(r"#!\s*(?:/usr)?/bin/(?:env )?(?:ba|da|z|k)?sh(?: -[eu]+)?\s*\n")
_OWN: Final = frozenset(
    {"[", ":", "basename", "break", "cat", "continue", "cut", "date", "dirname", "echo", "egrep"}
    | {"exit", "false", "grep", "head", "printf", "read", "return", "tail", "test"}
    | {"tr", "true", "uniq", "wc"}
)
"""What in a hook runs nothing else."""
_OF_GIT: Final = frozenset(
    {"branch", "cat-file", "diff", "diff-tree", "for-each-ref", "lfs", "log", "ls-files"}
    | {"merge-base", "name-rev", "rev-list", "rev-parse", "show", "show-ref", "status"}
    | {"symbolic-ref"}
)
_CHANGES_PROGRAMS: Final = re.compile(r"(?:PATH|ENV|BASH_ENV|IFS|LD_\w+|GIT_\w+)\+?=.*", re.DOTALL)
_PASSES_ON: Final = re.compile(r"\. \"(?:\$\(dirname (?:-- )?\"\$0\"\)|\$\{0%/\*\})/h\"")
"""The whole of what husky puts there for each hook, to run the one of that name if there is one."""


def lent_to_hooks(parts: Iterable[Part], known: Container[str] = ()) -> tuple[str, str]:
    """Return what would have the network too that parts of a command line need. Blocking.

    Hooks of git, and what of the workspace is run by what installs.

    Args:
        parts: Those that need it.
        known: By what such things are known that may have it.

    Returns:
        Why that is to be asked about, and by what it is the same the next time; empty for nothing.
    """
    for part in parts:
        runs = [] if part.command is None else programs_of(part.command)
        for run, here in product(runs, part.folders):
            lent = _of_git(run, here.folder) if run.program == "git" else run_by_install(run, here)
            if found := sorted(lent):
                texts = (f"{place}\0{text}\0" for place, _, text in found)
                key = sha256("".join(texts).encode("utf-8", "surrogatepass")).hexdigest()
                if key not in known:
                    called = list(dict.fromkeys(said for _, said, _ in found))
                    return _why(part, called), key
    return "", ""


def _of_git(run: ProgramRun, folder: Path) -> Iterator[Ran]:
    options, name, words = git_words(run.arguments)
    names = _OF_COMMAND.get(name, _OF_OTHERS)
    if name == "push" and "--no-verify" in words:
        names -= {"pre-push"}
    if names:
        for hook, text in _hooks(folder.joinpath(*git_folders(options)), names):
            yield hook, _called(hook, names), text


def _why(part: Part, names: list[str]) -> str:
    if len(names) > _MOST_NAMED:
        names = [*names[:_MOST_NAMED], f"{len(names) - _MOST_NAMED} more"]
    return (
        f"the network that `{part.text[:80]}` needs would be there for {' and '.join(names)} too, "
        "and so for "
        "files of the workspace that they may run"
    )


def _called(runs: Path, names: frozenset[str]) -> str:
    hook = f"the hook {runs.name}"
    return hook if runs.name in names else f"{runs.name}, which git's settings have it run,"


def _hooks(folder: Path, names: frozenset[str]) -> Iterator[tuple[Path, str]]:
    """Yield the hooks with which git runs more than itself in a folder, and what is in them."""
    around = (each for each in (folder, *folder.parents) if os.path.lexists(each / ".git"))
    checkout = next(around, folder)
    for program in programs_named_by_settings(checkout):
        yield program, _text(program) or ""
    for place in places_of_hooks(checkout) or _usual(folder):
        # Where other files lie beside the hooks, these are named.
        found = [place] if place.name in names else [place / name for name in names]
        for hook in found:
            if hook.is_file() and os.access(hook, os.X_OK):
                text = _text(hook)
                if text is None or not _is_harmless(hook, text):
                    yield hook, text or ""


def _usual(folder: Path) -> tuple[Path, ...]:
    told = git_output_now(folder, "rev-parse", "--git-common-dir")
    return (folder / told.removesuffix("\n") / "hooks",) if told else ()


def _text(hook: Path) -> str | None:
    try:
        return read_regular(hook.resolve(), _MOST_BYTES).decode()
    except (OSError, ValueError, RuntimeError):
        return None


def _is_harmless(hook: Path, text: str) -> bool:
    shell = _SHELL.match(text)
    if shell is None:
        return False
    rest = text[shell.end() :]
    if hook.parent.name == "_" and _PASSES_ON.fullmatch(rest.strip()):
        return not os.path.lexists(hook.parent.parent / hook.name)
    line = read_shell_line(rest)
    return line.complete and all(map(_runs_nothing, line.commands))


def _runs_nothing(command: ShellCommand) -> bool:
    """Whether a command of a hook runs no file that it finds by a path or by the workspace."""
    if any(map(_CHANGES_PROGRAMS.match, command.assignments)):
        return False
    words = command.words
    if not words:
        return True
    if not command.known[0]:
        return False
    if words[0] == "git":
        return len(words) > 1 and command.known[1] and words[1] in _OF_GIT
    return words[0] in _OWN or words[:2] == ("command", "-v")
