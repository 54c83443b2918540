"""Where things live on disk.

`AMPLIFIER_HOME` is shared with the Amplifier CLI; what is only ours lives under the
platform's own config, state and log directories.
"""

from pathlib import Path

from amplifier_tui.base import homes
from amplifier_tui.base.homes import amplifier_home as amplifier_home

_APP = "amplifier-tui"


def project_slug(cwd: Path) -> str:
    """Return the folder name under `projects/` for a working directory.

    It is the absolute path with separators as `-`, drive colons removed, and a leading `-`.
    """
    text = str(cwd.resolve()).replace("/", "-").replace("\\", "-").replace(":", "")
    return text if text.startswith("-") else f"-{text}"


def sessions_dir(cwd: Path) -> Path:
    """Return the folder that holds the sessions of the project at `cwd`."""
    return amplifier_home() / "projects" / project_slug(cwd) / "sessions"


def _shipped(name: str) -> Path:
    here = Path(__file__).resolve().parent
    installed = here / "_shipped" / name
    return installed if installed.is_dir() else here.parent / name


def shipped_bundles_dir() -> Path:
    """Return the folder of the bundles that come with the program."""
    return _shipped("bundles")


def shipped_themes_dir() -> Path:
    """Return the folder of the themes that come with the program."""
    return _shipped("themes")


def user_config_dir() -> Path:
    """Return our own config directory (preferences, keymap, user themes); may not exist yet."""
    return homes.home("config", lambda: _platform("config"))


def user_state_dir() -> Path:
    """Return our own state directory (prompt history, approval rules); may not exist yet."""
    return homes.home("state", lambda: _platform("state"))


def user_log_dir() -> Path:
    """Return our own log directory; may not exist yet."""
    return homes.home("log", lambda: _platform("log"))


def keep_homes() -> None:
    """Have all these folders stay what they are, whatever modules do to the environment."""
    homes.keep_homes(user_config_dir, user_state_dir, user_log_dir)


def _platform(name: str) -> Path:
    import platformdirs

    find = getattr(platformdirs, f"user_{name}_path")
    return Path(find(_APP, appauthor=False))
