"""Files that are never put before a model, whoever asks for it."""

import os
from functools import cache
from pathlib import Path
from typing import Final

from amplifier_tui.base.homes import user_home
from amplifier_tui.base.protected import IN_AMPLIFIER_HOME, secret_homes
from amplifier_tui.foundation.paths import get_amplifier_home

NO_MODEL: Final = "keys and the program's own state are put before no model"
"""Why such a file is left out."""
_KEYS: Final = "keys.env"
_STATE: Final = (
    *(".local/state/amplifier-tui", ".config/amplifier-tui"),
    *("Library/Application Support/amplifier-tui", "AppData/Local/amplifier-tui"),
)
"""Where the program keeps what was answered, allowed and typed."""


def holds_users_secrets(path: Path) -> bool:
    """Whether a file or folder is, or leads to, the user's keys or the program's own state."""
    try:
        found = path.resolve()
    except (OSError, ValueError, RuntimeError):
        return False  # nothing that could be read
    if found.name.casefold() == _KEYS:
        return True
    places = _places(user_home(), get_amplifier_home(), *map(os.environ.get, _VARIABLES))
    return not places.isdisjoint((found, *found.parents))


_VARIABLES: Final = ("XDG_STATE_HOME", "XDG_CONFIG_HOME")


@cache
def _places(home: Path, amplifier: Path, *folders: str | None) -> frozenset[Path]:
    known = [*secret_homes(home), *(home / name for name in _STATE)]
    known += [amplifier / name for name in IN_AMPLIFIER_HOME]
    known += [Path(folder) / "amplifier-tui" for folder in folders if folder]
    return frozenset(each for place in known for each in (place, place.resolve()))
