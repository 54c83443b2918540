"""The folders of the user: what they are when the program starts, they stay.

The variables that name them are the whole process's, and a module may set one for a library or a
program that it starts. The rules, and where keys and passwords lie, must not move with that.
"""

import os
from collections.abc import Callable
from pathlib import Path

_kept: dict[str, Path] | None = None


def user_home() -> Path:
    """Return the user's home folder."""
    return home("home", Path.home)


def amplifier_home() -> Path:
    """Return the Amplifier home: `$AMPLIFIER_HOME`, else `~/.amplifier`."""
    return home("amplifier", _amplifier_home)


def home(name: str, find: Callable[[], Path]) -> Path:
    """Return a folder as it was when the homes were kept, or as it is found now.

    Args:
        name: What it is called among them.
    """
    return find() if _kept is None else _kept.setdefault(name, find())


def keep_homes(*others: Callable[[], Path]) -> None:
    """Have these folders stay what they are now; the first time counts.

    Args:
        others: Return more such folders, by `home`.
    """
    global _kept
    if _kept is None:
        _kept = {}
        for find in (user_home, amplifier_home, *others):
            find()


def _amplifier_home() -> Path:
    value = os.environ.get("AMPLIFIER_HOME")
    return Path(os.path.expanduser(value)).resolve() if value else Path.home() / ".amplifier"
