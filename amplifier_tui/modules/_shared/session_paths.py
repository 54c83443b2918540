"""Where a session works and where its files are, as the host tells by capabilities."""

import os
import re
from pathlib import Path
from typing import Any, Final

WORKING_DIR_CAPABILITY: Final = "session.working_dir"
EVENTS_PATH_CAPABILITY: Final = "session.events_path"
_UNSAFE: Final = re.compile(r"[^A-Za-z0-9._-]")


def working_dir(coordinator: Any, configured: str | None = None) -> Path:
    """Return the folder a session works in.

    Args:
        coordinator: The session's; its capability counts first.
        configured: The folder where there is no such capability; None for the process's own.
    """
    folder = coordinator.get_capability(WORKING_DIR_CAPABILITY)
    return Path(str(folder or configured or os.getcwd())).expanduser()


def session_folder(coordinator: Any) -> Path:
    """Return the folder of a session's files.

    It is where the host keeps the session's events, and without a host in the Amplifier home,
    ``projects/<slug of the working directory>/sessions/<id>``.
    """
    hosts = coordinator.get_capability(EVENTS_PATH_CAPABILITY)
    if hosts:
        return Path(str(hosts)).expanduser().parent
    home = Path(os.environ.get("AMPLIFIER_HOME") or "~/.amplifier").expanduser()
    name = session_name(coordinator)
    return home / "projects" / project_slug(working_dir(coordinator)) / "sessions" / name


def session_name(coordinator: Any) -> str:
    """Return the session's id as the name of a folder, which can't lead anywhere else."""
    name = _UNSAFE.sub("_", coordinator.session_id or "unnamed")[:200]
    return name if name.strip(".") else "unnamed"


def project_slug(folder: Path) -> str:
    """Return a project's name in the Amplifier home: its path, with ``-`` between the folders."""
    text = str(folder.resolve()).replace("/", "-").replace("\\", "-").replace(":", "")
    return text if text.startswith("-") else f"-{text}"
