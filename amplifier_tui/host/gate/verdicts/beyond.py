"""Which command lines fail in the sandbox, or work by half there, for what git does in them.

What makes a repository count there is moved aside after the command, and the configuration of a
repository is read-only: git goes on all the same, and a later commit lands in another repository.
"""

import os
import re
import sys
from collections.abc import Iterator
from dataclasses import field
from pathlib import Path
from typing import Final

from amplifier_tui.base.commands.git_lines.alone import is_of_git_alone
from amplifier_tui.base.commands.git_lines.words import git_words
from amplifier_tui.base.git import git_output_now
from amplifier_tui.base.homes import user_home
from amplifier_tui.base.lazy.dataclass import dataclass
from amplifier_tui.base.protected import secret_homes
from amplifier_tui.base.repositories.places import written_outside
from amplifier_tui.base.shell import ProgramRun, ShellCommand, ShellLine, only_looks, programs_of
from amplifier_tui.base.shell.looks import git_folders
from amplifier_tui.base.text import printable
from amplifier_tui.host.gate.calls.git_writing import (
    CLONE_VALUES,
    INIT_VALUES,
    git_writes_from,
)
from amplifier_tui.host.gate.calls.option_words import option_names
from amplifier_tui.host.gate.calls.whereabouts import Whereabouts
from amplifier_tui.host.gate.places import resolved
from amplifier_tui.host.gate.risk import JudgedScript, judge_script
from amplifier_tui.host.gate.verdicts.git import given
from amplifier_tui.host.gate.verdicts.git_below import concerns_workspace
from amplifier_tui.host.gate.verdicts.pushing import pushed_to
from amplifier_tui.host.gate.verdicts.signing import signature
from amplifier_tui.host.gate.verdicts.sweeping import sweeps

_WITHOUT: Final = "a yes runs the command without the sandbox"
"""First of all: where there is little room, the end of a reason is cut."""
_OUTSIDE: Final = (
    f"{_WITHOUT}: git writes to {{}}, outside of the workspace: that fails in the sandbox"
)
_MAKES: Final = {
    "clone": "a repository",
    "init": "a repository",
    "init-db": "a repository",
    "worktree add": "a worktree",
    "submodule add": "a submodule",
}
_MOVES_WORKTREE: Final = frozenset(
    f"worktree {each}" for each in ("move", "prune", "remove", "repair")
)
_TWO_WORDS: Final = frozenset({"worktree", "submodule"})
_VALUES: Final = {"clone": CLONE_VALUES, "init": INIT_VALUES, "init-db": INIT_VALUES}
"""Commands that are given the folder of what they make, and their options with a value behind."""
_GIVEN: Final = 2
"""How many operands `git clone` has where the folder is one of them."""


def beyond_sandbox(text: str, workspace: Path, folder: Path) -> str:
    """Return why a command line would fail in the sandbox by what git does; else empty. Blocking.

    Args:
        text: As a shell reads it.
        workspace: Where the session works, absolute.
        folder: Where the line runs.
    """
    if is_of_git_alone(text) and (file := _hidden_and_tracked(workspace)):
        hidden = f"{file} is hidden in the sandbox, and git takes it for deleted"
        return f"{_WITHOUT}: {hidden}"
    script = judge_script(text, workspace, folder)
    own = _own(script, workspace.resolve()) if is_of_git_alone(text) else None
    temporary = _Temporary(script.line, workspace, _named_temporary(text))
    for command, heres in zip(script.line.commands, script.heres, strict=True):
        runs = [run for run in programs_of(command) if run.program == "git"]
        if reason := _outside(command, runs, heres, workspace, own):
            return reason
        for run in runs:
            if reason := _pushes(run.arguments, heres, workspace):
                return reason
            does = _fails(run.arguments)
            if does and not all(
                map(temporary.holds, _places(run, temporary.starts(heres, command)))
            ):
                return does
            folders = {here.folder for here in heres}
            if signature(run.arguments, folders) == "made":
                return f"{_WITHOUT}: git signs what it makes: that fails in the sandbox"
            if file := sweeps(run.arguments, folders):
                return (
                    f"{_WITHOUT}: git takes {printable(file)} away, which is read-only in the "
                    "sandbox: there it does so by half"
                )
        temporary.follow(command)
    return ""


def _hidden_and_tracked(workspace: Path) -> str:
    """Return what git tracks in a workspace and a command does not see there; empty for nothing."""
    workspace = workspace.resolve()
    # A link is hidden where it leads.
    for place in map(resolved, secret_homes(user_home())):
        if place.is_relative_to(workspace) and os.path.lexists(place):
            # From the folder it is in: that may be a repository of its own.
            asked = ("--literal-pathspecs", "ls-files", "-z", "--", place.name)
            if told := git_output_now(place.parent, *asked):
                return os.fspath(place.parent.relative_to(workspace) / told.partition("\0")[0])
    return ""


def _own(script: JudgedScript, workspace: Path) -> Path | None:
    """Return the repository outside of the workspace that git alone may write to in the sandbox."""
    kept = written_outside(workspace, workspace)
    if kept is None or os.path.lexists(workspace / ".git"):
        return kept
    return kept if concerns_workspace(script, workspace, kept) else None


def _outside(
    command: ShellCommand,
    runs: list[ProgramRun],
    heres: tuple[Whereabouts, ...],
    workspace: Path,
    own: Path | None,
) -> str:
    """Say that git writes outside of the workspace, but in its own repository."""
    calls = [run.arguments for run in runs]
    # `git bisect run` runs others, and writes itself.
    calls += [command.words[1:]] if command.words[:1] == ("git",) else []
    for arguments in calls:
        moves = git_writes_from(arguments)
        folders = () if moves is None else (each.folder.joinpath(*moves) for each in heres)
        kept = next(filter(None, (_written(each, workspace, own) for each in folders)), None)
        if kept is not None:
            return _OUTSIDE.format(kept)
    return ""


def _pushes(arguments: tuple[str, ...], heres: tuple[Whereabouts, ...], workspace: Path) -> str:
    """Say that git pushes to a repository on this machine, outside of the workspace."""
    _, name, rest = git_words(arguments)
    if name != "push" or given(option_names(rest), "n dry-run"):
        return ""
    for here in heres:
        place = pushed_to(arguments, here.folder)
        if place is not None and not place.is_relative_to(workspace.resolve()):
            return _OUTSIDE.format(place)
    return ""


def _written(folder: Path, workspace: Path, own: Path | None) -> Path | None:
    kept = written_outside(folder, workspace)
    inside = folder.resolve().is_relative_to(workspace.resolve())
    return None if inside and kept is not None and kept == own else kept


def _fails(arguments: tuple[str, ...]) -> str:
    """Say what git would do that it can't in the sandbox."""
    _, name, rest = git_words(arguments)
    if only_looks(("git", name, *rest)) or not {"-h", "--help"}.isdisjoint(rest):
        return ""
    first = next((word for word in rest if not word.startswith("-")), "")
    called = f"{name} {first}" if name in _TWO_WORDS else name
    if made := _MAKES.get(called, ""):
        return (
            f"{_WITHOUT}: git makes {made}, and in the sandbox what makes one of its folder is "
            "moved aside"
        )
    if called in _MOVES_WORKTREE:
        return f"{_WITHOUT}: git can't {first} worktrees in the sandbox but by half"
    if _sets(arguments, name, first, rest):
        return f"{_WITHOUT}: git writes its configuration: that fails in the sandbox"
    return ""


def _sets(arguments: tuple[str, ...], name: str, first: str, rest: tuple[str, ...]) -> bool:
    """Whether git surely writes its configuration; with other words it may as well."""
    options = rest[: rest.index("--")] if "--" in rest else rest
    flags = option_names(options)
    match name:
        case "config":
            return git_writes_from(arguments) is not None
        case "remote":
            return first in ("add", "rename", "remove", "rm", "set-url", "set-branches")
        case "submodule":
            # To update one writes `core.worktree`, wherever it is already.
            return first in ("init", "deinit", "sync", "update")
        case "sparse-checkout":
            return first in ("init", "set", "disable")
        case "push":
            return given(flags, "u set-upstream") and not given(flags, "n dry-run")
        case "branch":
            return given(
                flags, "m M move c C copy u set-upstream-to unset-upstream t track edit-description"
            )
        case "checkout" | "switch":
            # A name may follow `-b` in its own word.
            return "-t" in options or given({flag for flag in flags if len(flag) > 1}, "track")
    return False


def _places(run: ProgramRun, starts: "list[_Place]") -> "Iterator[_Place]":
    """Yield the folders in which git makes or sets something, as far as they are known."""
    options, name, rest = git_words(run.command.written[1:])
    pairs = zip(("", *rest), rest, strict=False)
    values = _VALUES.get(name, frozenset[str]())
    named = [word for before, word in pairs if word[:1] != "-" and before not in values]
    moves = list(git_folders(options))
    if name == "clone" and len(named) < _GIVEN:
        named = []
    moves += named[-1:] if name in _VALUES else []
    for start in starts:
        for word in moves:
            start = start.to(word)
        yield start


# --- folders that are the sandbox's own --------------------------------------------------------

_OWN: Final = Path("/the sandbox's own")
"""Stands for a folder below `$TMPDIR`, whichever it is."""
_MAKES_FOLDER: Final = r"(?:\$\(|`)mktemp (?:-d|--directory)(?: -t [\w.-]+| /tmp/[\w.-]+)?(?:\)|`)"
_ASSIGNED: Final = re.compile(rf"(?:^|[\s;&|(])(\w+)=(\"?{_MAKES_FOLDER}\"?)?")
_BEGINNING: Final = re.compile(rf"(?:\$(?:(\w+)|\{{(\w+)\}})|{_MAKES_FOLDER})(?=/|$)")
_PLAIN: Final = re.compile(r"[\w./+@:,=-]+")
_MOVES: Final = frozenset({"cd", "pushd", "popd"})


def _named_temporary(text: str) -> frozenset[str]:
    """Return the variables that surely hold a folder below `$TMPDIR`, and that one itself."""
    assigned = [(found[1], bool(found[2])) for found in _ASSIGNED.finditer(text)]
    others = {name for name, made in assigned if not made}
    return frozenset({"TMPDIR", *(name for name, made in assigned if made)} - others)


@dataclass(frozen=True, slots=True)
class _Place:
    """A folder, or None for one that only running tells.

    `named` are the variables that hold folders of the sandbox's own.
    """

    folder: Path | None
    named: frozenset[str]

    def to(self, word: str) -> "_Place":
        """Return where a word of a command leads from here; `word` as it is written."""
        found = _BEGINNING.match(word)
        if found is not None:
            name = found[1] or found[2]
            base: Path | None = _OWN if name is None or name in self.named else None
            word = word[found.end() :].lstrip("/") or "."
        else:
            base = self.folder
        if not _PLAIN.fullmatch(word) or (base is None and word[:1] != "/"):
            return _Place(None, self.named)
        return _Place(Path(os.path.normpath((base or Path("/")) / word)), self.named)


@dataclass(slots=True)
class _Temporary:
    """Follows a line into folders that are the sandbox's own, where git may make anything.

    Attributes:
        line: The line.
        workspace: What lies in it is not the sandbox's own, wherever it is.
        named: Variables that hold such folders.
    """

    line: ShellLine
    workspace: Path
    named: frozenset[str]
    _at: _Place = field(default_factory=lambda: _Place(None, frozenset()))
    _scope: int = 0

    def holds(self, place: _Place) -> bool:
        """Whether a place is surely one of the sandbox's own."""
        folder = place.folder
        if folder is None or folder.is_relative_to(self.workspace):
            return False
        # Elsewhere only `$TMPDIR` is.
        return folder.is_relative_to(_OWN) or (
            sys.platform == "linux" and folder.is_relative_to("/tmp")
        )

    def starts(self, heres: tuple[Whereabouts, ...], command: ShellCommand) -> list[_Place]:
        """Return where a command may run."""
        if all(here.known for here in heres):
            return [_Place(here.folder, self.named) for here in heres]
        inside = self._scope in self._around(command.scope)
        return [self._at if inside else _Place(None, self.named)]

    def follow(self, command: ShellCommand) -> None:
        """Go where a command goes."""
        name, *words = command.written or ("",)
        if name not in _MOVES:
            return
        start = self._at if self._scope in self._around(command.scope) else _Place(None, self.named)
        operand = words[-1] if len(words) == 1 and name != "popd" else ""
        self._at = _Place(start.folder, self.named).to(operand)
        # What follows in the same shell runs there, too.
        self._scope = next(
            each for each in self._around(command.scope) if self.line.scopes[each].kind != "chain"
        )

    def _around(self, scope: int) -> list[int]:
        """Return a scope and those around it, the nearest first."""
        found = [scope]
        while found[-1]:
            found.append(self.line.scopes[found[-1]].parent)
        return found
