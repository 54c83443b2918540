"""Which files of keys a command comes across that names none, and would show some of."""

import logging
import os
import subprocess
from collections.abc import Mapping
from glob import iglob
from itertools import chain, islice
from pathlib import Path
from typing import Final

from amplifier_tui.base.commands.programs import own_path
from amplifier_tui.base.files.nearby import secrets_nearby
from amplifier_tui.base.git import run_now
from amplifier_tui.base.shell import Search, ShellCommand, programs_of, search_of
from amplifier_tui.base.shell.looks import tells_names
from amplifier_tui.host.gate.calls.deleting import in_braces, with_loops
from amplifier_tui.host.gate.calls.whereabouts import Whereabouts
from amplifier_tui.host.gate.places import PathPlace, resolved

logger = logging.getLogger(__name__)

_MOST: Final = 20
"""Folders with such files in which the search is tried."""
_SECONDS: Final = 2.0
_NOTHING: Final = 1
"""The exit code of a search that finds nothing."""


_MOST_WORDS: Final = 200


def meant_secrets(
    command: ShellCommand, here: Whereabouts, loops: Mapping[str, str]
) -> list[PathPlace]:
    """Return the files of keys that patterns and braces among a command's words stand for.

    Args:
        here: Where it runs.
        loops: The variables of loops, with what they stand for.
    """
    words = [
        word
        for run in programs_of(command)
        if not tells_names(run.command)
        for word, known in zip(run.command.written[1:], run.command.known[1:], strict=True)
        if not known and word[:1] != "-" and "\n" not in word
    ]
    words += [each.written for each in command.redirections if each.operator == "<"]
    looped = (here.named(word) or word for word in with_loops(words, loops))
    meant = islice(chain.from_iterable(map(in_braces, looped)), _MOST_WORDS)
    return list(dict.fromkeys(place for each in meant for place in here.secrets(each)))


def met_secrets(command: ShellCommand, workspace: Path, folder: Path) -> list[Path]:
    """Return the files of keys that a search of folders finds something in, or may. Blocking.

    The program itself is asked, about these files alone: who searches for a function is not asked
    for each `.env` in the project.

    Args:
        folder: Where it runs.
    """
    search = search_of(command)
    if search is None:
        return []
    root, found = resolved(workspace), dict[Path, list[str]]()
    for place in search.places:
        start = resolved(folder / os.path.expanduser(place))
        if not start.exists():
            # A pattern.
            start = resolved(folder)
        # Elsewhere is asked about anyhow.
        if start.is_dir() and start.is_relative_to(root):
            for secret in secrets_nearby(start):
                names = secret.relative_to(start).parts
                seen = search.hidden or not any(name.startswith(".") for name in names)
                if seen:
                    found.setdefault(secret.parent, []).append(secret.name)
    tried = search.told and len(found) <= _MOST and not _stand_for_files(search, folder)
    return [
        parent / name
        for parent, names in found.items()
        for name in dict.fromkeys(names)
        if not tried or _finds(search, parent, name)
    ]


def _stand_for_files(search: Search, folder: Path) -> bool:
    """Whether a shell would put names of files in the place of some of the words."""
    return any(any(iglob(word, root_dir=folder, include_hidden=True)) for word in search.patterns)


def _finds(search: Search, folder: Path, name: str) -> bool:
    program, *words = search.words
    if program == "git":
        # Which has settings that run programs.
        end = run_now(folder, *words[:1], "-q", *words[1:], name, timeout=_SECONDS)
        return end.code != _NOTHING
    try:
        tried = subprocess.run(
            [program, "-q", *words, name],
            cwd=folder,
            env={**os.environ, "PATH": own_path()},
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            timeout=_SECONDS,
            check=False,
        )
    except (OSError, ValueError, subprocess.TimeoutExpired) as error:
        logger.info("%s could not be tried in %s: %s", program, folder, error)
        return True
    return tried.returncode != _NOTHING
