"""Where things live on disk.

`AMPLIFIER_HOME` is shared with the Amplifier CLI; what is only ours lives under the
platform's own config, state and log directories.
"""

import os
from pathlib import Path

_APP = "amplifier-tui"


def amplifier_home() -> Path:
    """Return the Amplifier home: `$AMPLIFIER_HOME`, else `~/.amplifier`."""
    value = os.environ.get("AMPLIFIER_HOME")
    return Path(os.path.expanduser(value)).resolve() if value else Path.home() / ".amplifier"


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
    import platformdirs

    return platformdirs.user_config_path(_APP, appauthor=False)


def user_state_dir() -> Path:
    """Return our own state directory (prompt history, approval rules); may not exist yet."""
    import platformdirs

    return platformdirs.user_state_path(_APP, appauthor=False)


def user_log_dir() -> Path:
    """Return our own log directory; may not exist yet."""
    import platformdirs

    return platformdirs.user_log_path(_APP, appauthor=False)
