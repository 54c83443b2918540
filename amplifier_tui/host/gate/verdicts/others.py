"""What a command would run or show that is not the workspace's own, or that a repository names."""

from collections.abc import Sequence
from pathlib import Path
from typing import Final

from amplifier_tui.base.commands.git_lines.own import keeps_to_own, line_keeps_to_own
from amplifier_tui.base.git import names_programs
from amplifier_tui.base.repositories.places import shows_another
from amplifier_tui.base.shell import programs_of
from amplifier_tui.base.shell.looks import git_folders, named
from amplifier_tui.host.gate.rules.matching import Part
from amplifier_tui.host.gate.verdicts.lent.of_workspace import runs_own_program

_ANOTHER: Final = "git may show another repository, or run what one names"
_NAMES: Final = "git may run what `{}` of the repository names"
_OWN_PROGRAM: Final = "{}, a file of the workspace, is run outside of a sandbox"
_OF_OTHERS: Final = "git works with a repository that anybody may have made, and runs what it names"
_NOT_SURE: Final = "it is not sure in which folder git works"


def may_do_more(
    parts: Sequence[Part], cwd: str, workspace: Path, *, confines: bool, sandboxed: bool
) -> str:
    """Say whether git would show another repository than that of the workspace. Blocking.

    Or what else would run outside of a sandbox: a program of the workspace, or what a
    repository's configuration names. Empty for none.

    Args:
        parts: Of a command line that seems to only read.
        cwd: Where it begins.
        workspace: Where the session works.
        confines: The tool runs its commands in a sandbox, where there is one.
        sandboxed: There is one.
    """
    if not sandboxed and (own := runs_own_program(parts)):
        return _OWN_PROGRAM.format(own)
    commands = [part.command for part in parts if part.command is not None]
    called = [command for command in commands if command.words[:1] == ("git",)]
    words = [command.words for command in called]
    if not words:
        return ""
    heres = {here.folder for part in parts for here in part.folders}
    moves = {git_folders(each.written[: named(each)[1]]) for each in called}
    folders = {here.joinpath(*move) for here in heres for move in moves}
    if any(shows_another(folder, workspace) for folder in folders):
        return _ANOTHER
    if sandboxed:
        return ""
    moved = any(command.words[:1] in (("cd",), ("pushd",)) for command in commands)
    elsewhere = moved or any("-C" in each for each in words)
    if elsewhere:
        return _ANOTHER
    # Only a tool that confines runs what only reads in an environment for that.
    setting = names_programs(Path(cwd), reading=confines)
    return _NAMES.format(setting) if setting else ""


def works_for_others(
    line: str, parts: Sequence[Part], cwd: str, workspace: Path, *, bare: bool
) -> str:
    """Why no rule lets a command line through: what a repository has git run. Blocking.

    Args:
        line: The whole of it.
        parts: Its commands.
        cwd: Where it begins.
        workspace: Where the session works.
        bare: It would run without a sandbox, by a rule made for no repository in particular.
    """
    for part in parts:
        for run in () if part.command is None else programs_of(part.command):
            for here in part.folders if run.program == "git" else ():
                if not here.known:
                    return _NOT_SURE
                if not keeps_to_own(run.arguments, here.folder, workspace):
                    return _OF_OTHERS
                if bare and (setting := names_programs(here.folder)):
                    return _NAMES.format(setting)
    keeps = line_keeps_to_own(line, Path(cwd), workspace)
    return "" if keeps else _NOT_SURE if keeps is None else _OF_OTHERS
