"""What a program that is run with `amplifier_core` being ours may fetch, install and run."""

import os
import shlex
from collections.abc import Sequence
from pathlib import Path
from typing import Final

from amplifier_tui.foundation.paths import get_amplifier_home, is_within, parse_uri
from amplifier_tui.foundation.trust.gate import (
    TrustCallback,
    TrustRequest,
    answer_by_default,
    shipped_only,
    trust_everything,
)

_PROJECT_MARKS: Final = (".git", "pyproject.toml")


def answer_trust(arguments: Sequence[str], *, everything: bool) -> None:
    """Answer for a program whatever nobody else answers.

    Whoever runs a program of a project runs the project's code, so modules in its folder count,
    unless that is the home folder. What is fetched, installed or elsewhere counts
    only with `--trust`.

    Args:
        arguments: The program and its arguments, as on the command line.
        everything: Whether `--trust` was given.
    """
    if everything:
        answer_by_default(trust_everything)
        return
    line = shlex.join(["python", "-m", "amplifier_tui.compat", "--trust", *arguments])
    remedy = f"To fetch, install and run what the program names, run: {line}"
    answer_by_default(_own_project(_project_of(arguments[0])), remedy)


def _project_of(program: str) -> Path | None:
    """Return the folder of the project a program is of; its own where there is no project.

    None for a program straight in the home folder: what lies below that is no project.
    """
    folder = Path(program).resolve().parent if os.path.exists(program) else Path.cwd().resolve()
    if Path.home().resolve().is_relative_to(folder):
        return None
    for candidate in (folder, *folder.parents):
        # Who keeps the home folder itself under version control does not mean all of it.
        if Path.home().resolve().is_relative_to(candidate):
            break
        if any((candidate / mark).exists() for mark in _PROJECT_MARKS):
            return candidate
    return folder


def _own_project(project: Path | None) -> TrustCallback:
    shipped = shipped_only()

    def decide(request: TrustRequest) -> bool:
        own = (
            project is not None
            and request.action == "execute"
            and request.path is not None
            and parse_uri(request.uri).is_file
            and is_within(request.path, project)
            and not is_within(request.path, get_amplifier_home())
        )
        return own or bool(shipped(request))

    return decide
