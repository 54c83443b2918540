"""The program's own commands, as a person types them here."""

import os
import shlex
import sys
from pathlib import Path
from typing import Final

NAME: Final = "amplifier-tui"


def as_typed(command: str) -> str:
    """Return a command, such as `amplifier-tui init`, in the words that started the program.

    It keeps its name where a shell finds the program by that, and where another one embeds it.
    """
    import shutil

    started = Path(sys.argv[0])
    if started.parts[-2:] == ("amplifier_tui", "__main__.py"):
        program = f"{_shown(sys.orig_argv[0])} -m amplifier_tui"
    elif started.name != NAME:
        return command
    else:
        # The shell stays where it is when the program changes its folder.
        typed = os.path.join(os.environ.get("PWD", ""), started)
        found = shutil.which(NAME)
        if found and os.path.realpath(found) == os.path.realpath(typed):
            return command
        program = _shown(sys.argv[0])
    return program + command.removeprefix(NAME)


def _shown(path: str) -> str:
    """Return a path for a shell, short where it is below the home directory."""
    home = os.path.expanduser("~/")
    if path.startswith(home):
        return f"~/{shlex.quote(path.removeprefix(home))}"
    return shlex.quote(path)
