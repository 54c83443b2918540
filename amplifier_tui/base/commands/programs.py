"""Finding the programs that this one runs for itself.

Where `PATH` leads into a project, as with an activated virtual environment, an agent may have put
programs there under any name. Those are for the project's commands, and never for this program's
own calls: these run outside of the sandbox.
"""

import os
import shutil
import sys
from functools import lru_cache
from pathlib import Path
from typing import Final

from amplifier_tui.base.homes import user_home

__all__ = [
    "INTERPRETER",
    "find_program",
    "folders_on_path",
    "is_own_code",
    "keep_out",
    "own_code",
    "own_path",
    "shadows",
]

INTERPRETER: Final = os.path.realpath(sys.executable)
"""The Python that this program runs on, its links followed when it began: without packages."""
_TYPED: Final = frozenset(
    [
        "git",
        "ssh",
        "scp",
        "gpg",
        "sudo",
        "su",
        "doas",
        "sh",
        "bash",
        "zsh",
        "fish",
        "dash",
        "env",
        "ls",
        "cat",
        "cp",
        "mv",
        "rm",
        "mkdir",
        "touch",
        "ln",
        "chmod",
        "grep",
        "sed",
        "awk",
        "find",
        "xargs",
        "sort",
        "head",
        "tail",
        "less",
        "vi",
        "vim",
        "nano",
        "tmux",
        "direnv",
        "bwrap",
        "ps",
        "id",
    ]
)
"""Programs that are called by their names alone all day, and come with no package of a project."""

_PACKAGES: Final = "site-packages"
_projects: Final[set[Path]] = set()


def keep_out(folder: Path) -> None:
    """Find no program in a folder, or below it, from now on: agents work there.

    The folder in which this program was started is left out from the beginning. Not where that is
    the home or above it: programs are installed there.
    """
    _projects.add(_resolved(folder))


def own_path() -> str:
    """Return `PATH` without what leads into projects, and without relative folders."""
    folders = os.environ.get("PATH", os.defpath).split(os.pathsep)
    out = _left_out()
    return os.pathsep.join(e for e in folders if os.path.isabs(e) and not _is_inside(e, out))


def find_program(name: str) -> str | None:
    """Return the path of a program; None where there is none, or only one in a project.

    Args:
        name: Its name, or an absolute path.
    """
    # The last of its links leads to what would be run.
    folders = [""] if os.path.isabs(name) else own_path().split(os.pathsep)
    found = (shutil.which(name, path=folder) for folder in folders)
    out = _left_out()
    return next((each for each in found if each and not _is_inside(each, out)), None)


def folders_on_path(project: Path) -> list[Path]:
    """Return the folders of a project in which a shell looks for programs.

    Args:
        project: Absolute, without links.
    """
    folders = map(Path, os.environ.get("PATH", "").split(os.pathsep))
    found = (_resolved(folder) for folder in folders if folder.is_absolute())
    return [each for each in dict.fromkeys(found) if each.is_relative_to(project)]


def shadows(place: Path, project: Path) -> bool:
    """Whether a file of a project is what a shell runs for a program of the system.

    Args:
        place: Absolute, without links.
        project: Its folder, absolute, without links.
    """
    return place.name in _TYPED and place.parent in folders_on_path(project)


def own_code(project: Path) -> tuple[Path, ...]:
    """Return what of a project this program runs from: its interpreter, and installed packages.

    Nothing where it is installed elsewhere, as it should be. Of a checkout that is worked on, its
    own files are the project's.

    Args:
        project: Absolute, without links.
    """
    if not _runs_from(project):
        return ()
    return _own_code(project, Path(sys.prefix), Path(sys.executable).parent.name, len(sys.modules))


def is_own_code(place: Path, project: Path) -> bool:
    """Whether a file of a project is what this program runs from.

    Args:
        place: Absolute, without links.
        project: Its folder, absolute, without links.
    """
    return _runs_from(project) and any(map(place.is_relative_to, own_code(project)))


def _runs_from(project: Path) -> bool:
    return _is_run_from(project, sys.prefix)


# Asked of each file that a command names, and some name thousands.
@lru_cache(maxsize=8)
def _is_run_from(project: Path, prefix: str) -> bool:
    # On the whole disk nobody works.
    return project != project.parent and any(
        Path(each).is_relative_to(project) for each in (prefix, INTERPRETER)
    )


@lru_cache(maxsize=4)
def _own_code(project: Path, prefix: Path, folder: str, _loaded: int) -> tuple[Path, ...]:
    found = [Path(INTERPRETER)] if Path(INTERPRETER).is_relative_to(project) else []
    if prefix.is_relative_to(project):
        found += [*(prefix / folder).glob("python*"), prefix / folder / "amplifier-tui"]
        files = (getattr(each, "__file__", None) for each in tuple(sys.modules.values()))
        for file in filter(None, files):
            parts = Path(file).parts
            if _PACKAGES in parts and Path(file).is_relative_to(prefix):
                found.append(Path(*parts[: parts.index(_PACKAGES) + 2]))
    return tuple(dict.fromkeys(found))


def _left_out() -> list[Path]:
    # Whoever works on all of the home, or the disk, has its programs there.
    home = _resolved(user_home())
    return [each for each in (*_projects, _resolved(Path())) if not home.is_relative_to(each)]


def _is_inside(place: str, projects: list[Path]) -> bool:
    return any(map(_resolved(Path(place)).is_relative_to, projects))


def _resolved(place: Path) -> Path:
    try:
        return place.resolve()
    except (OSError, RuntimeError):
        return Path(os.path.abspath(place))
