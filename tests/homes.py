"""Where the program keeps what is the user's, for programs that must not touch the real one's."""

import os
import pwd
from pathlib import Path


def home_variables(home: Path) -> dict[str, str]:
    """Return the environment variables with which `home` is the user's home folder."""
    folders = {
        "HOME": "",
        "AMPLIFIER_HOME": ".amplifier",
        "XDG_CONFIG_HOME": ".config",
        "XDG_STATE_HOME": ".local/state",
        "XDG_DATA_HOME": ".local/share",
        "XDG_CACHE_HOME": ".cache",
    }
    return {name: str(home / folder) for name, folder in folders.items()}


def real_home() -> Path:
    """Return the home folder of whoever runs this, whatever `HOME` says."""
    return Path(pwd.getpwuid(os.getuid()).pw_dir)
