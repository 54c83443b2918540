"""Which programs that need the network run from files of the workspace.

Agents write these without being asked. So no rule lends them the network, not even for as long as
the session lasts: with an environment of Python, nobody looks at all that its programs load.
"""

import os
import shutil
from collections.abc import Iterable, Iterator
from itertools import product
from pathlib import Path
from typing import Final

from amplifier_tui.base.files import open_regular, read_regular
from amplifier_tui.base.files.nearby import links_behind
from amplifier_tui.base.homes import user_home
from amplifier_tui.base.shell import RUNNERS, ProgramRun, programs_of
from amplifier_tui.base.text import one_line
from amplifier_tui.host.gate.calls.option_words import first_word
from amplifier_tui.host.gate.calls.whereabouts import Whereabouts
from amplifier_tui.host.gate.places import resolved
from amplifier_tui.host.gate.rules.matching import Part

ONLY_A_YES: Final = ", which the agent can change: that takes a yes each time"
_MOST_TEXT: Final = 80
_MOST_FILES: Final = 20
_MOST_BYTES: Final = 2_000_000
_MOST_LINE: Final = 500
_ELSEWHERE: Final = frozenset({"git", "conda", "mamba", "micromamba", "mise"})
"""Runners of programs that are no project's own."""
_BUNDLER: Final = frozenset({"bundle", "bundler"})
_PYTHONS: Final = ("python3", "python")
_CHOOSE_PYTHON: Final = {
    "uv": ("VIRTUAL_ENV", "CONDA_PREFIX", "UV_PROJECT_ENVIRONMENT", "UV_PYTHON"),
    "poetry": ("VIRTUAL_ENV", "CONDA_PREFIX"),
}
"""What starts an interpreter for what it installs, and the variables that say which."""
_NAME_PYTHON: Final = (".python-version", ".python-versions")


def run_from_workspace(parts: Iterable[Part]) -> str:
    """Return why no rule lends the network to parts of a command line; else empty. Blocking.

    Args:
        parts: Those that need it.
    """
    for part in parts:
        runs = () if part.command is None else programs_of(part.command)
        for run, here in product(runs, part.folders):
            if said := _said(run, here):
                return f"`{part.text[:_MOST_TEXT]}` would give the network to {said}{ONLY_A_YES}"
    return ""


def runs_own_program(parts: Iterable[Part]) -> str:
    """Return which file of the workspace runs as one of a command line's programs. Blocking.

    Whoever works on all of the home has its programs there: then it is none.
    """
    for part in parts:
        runs = () if part.command is None else programs_of(part.command)
        for run, here in product(runs, part.folders):
            root = here.workspace.resolve()
            names = (*run.wrappers, *run.command.words[:1])
            for file in (_file_of(name, here, root) for name in names):
                if file is not None and not resolved(user_home()).is_relative_to(root):
                    return _shown(file, root)
    return ""


def _said(run: ProgramRun, here: Whereabouts) -> str:
    """Say what of the workspace a program is, or runs; empty for nothing."""
    for wrapper in run.wrappers:
        if wrapper in RUNNERS and wrapper.split()[0] not in _ELSEWHERE:
            return f"programs of the workspace, as `{wrapper}` runs them"
    root = here.workspace.resolve()
    for name in (*run.wrappers, *run.command.words[:1]):
        if file := _file_of(name, here, root):
            return f"{_shown(file, root)}, a file of the workspace"
    if run.program in _BUNDLER or (run.program == "cargo" and _builds(run.arguments)):
        return "code of the workspace that it runs"
    for place in _interpreters(run.program, run.arguments, here):
        if file := _inside(place, root):
            return f"{_shown(file, root)}, with which `{run.program}` works"
    return ""


def _shown(file: Path, root: Path) -> str:
    return one_line(str(file.relative_to(root)), _MOST_TEXT)


def _builds(words: tuple[str, ...]) -> bool:
    return first_word(words) != "install" or any(word.startswith("--path") for word in words)


def _file_of(name: str, here: Whereabouts, root: Path) -> Path | None:
    """Return what of the workspace runs as a program, or has a part in it."""
    if not here.known and "/" in name and name[0] not in "/~":
        return root / os.path.basename(name)
    for place in _run(name, here.folder):
        if file := _inside(place, root):
            return file
    return None


def _run(name: str, folder: Path) -> Iterator[Path]:
    """Yield the file that a shell runs for a name, and the interpreter that its first line says.

    Of a script of Node that is Node, and of one of Python that of an environment.
    """
    left, count = [name], 0
    while left and count < _MOST_FILES:
        count += 1
        place = _found(left.pop(), folder)
        if place is None:
            continue
        yield place
        words = _first_line(place).split()
        if words and os.path.basename(words[0]) == "env":
            words = [word for word in words[1:] if word[:1] != "-" and "=" not in word]
        left += words[:1]


def _first_line(place: Path) -> str:
    """Return what a script says that it is to be run by; empty for none."""
    try:
        with open_regular(place) as file:
            line = file.readline(_MOST_LINE)
    except OSError:
        return ""
    return os.fsdecode(line[2:]) if line.startswith(b"#!") else ""


def _found(name: str, folder: Path) -> Path | None:
    """Return where a shell finds a program, the links not followed; None for nowhere."""
    if "/" in name:
        return folder / os.path.expanduser(name)
    for each in os.environ.get("PATH", os.defpath).split(os.pathsep):
        if found := shutil.which(folder / each / name):
            return Path(found)
    return None


def _inside(place: Path, root: Path) -> Path | None:
    """Return a place, or one that its links lead through, if it lies in the workspace."""
    passed = [resolved(place)]
    for at in (place, *place.parents):
        # A folder that is a link leads elsewhere as soon as somebody changes it.
        if at.is_symlink():
            link = resolved(at.parent) / at.name
            passed += (link, *links_behind(link))
    # What is found first is nearest to what was called.
    return next((each for each in reversed(passed) if each.is_relative_to(root)), None)


def _interpreters(program: str, words: tuple[str, ...], here: Whereabouts) -> Iterator[Path]:
    """Yield the interpreters that uv or poetry may start for what they install."""
    if program not in _CHOOSE_PYTHON:
        return
    for name in _CHOOSE_PYTHON[program]:
        # One that is a name and no path is none of the workspace.
        if value := os.environ.get(name, ""):
            yield from (place for place in [here.folder / value] if os.path.lexists(place))
    around = (at for at in (here.folder, *here.folder.parents) if at.is_relative_to(here.workspace))
    for at in around:
        if first_word(words) != "tool" and os.path.lexists(at / ".venv"):
            yield at / ".venv"
        yield from _named_in(at, program)
    for name in _PYTHONS:
        yield from _run(name, here.folder)


def _named_in(folder: Path, program: str) -> Iterator[Path]:
    """Yield the places of interpreters that files of a folder name, or those files."""
    if program == "poetry":
        settings = folder / "poetry.toml"
        yield from (settings for text in [_text(settings)] if "path" in text)
        return
    for name in _NAME_PYTHON:
        for line in map(str.strip, _text(folder / name).splitlines()):
            if line and os.path.lexists(folder / line):
                yield folder / line


def _text(file: Path) -> str:
    try:
        return read_regular(file, _MOST_BYTES).decode(errors="replace")
    except OSError:
        return ""
