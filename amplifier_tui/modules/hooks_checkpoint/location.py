"""Where a session's copies are, and which files of the workspace they may be of."""

from __future__ import annotations

import os
import re
from pathlib import Path
from typing import Any, Final

WORKING_DIR_CAPABILITY: Final = "session.working_dir"
EVENTS_PATH_CAPABILITY: Final = "session.events_path"
_UNSAFE: Final = re.compile(r"[^A-Za-z0-9._-]")
_FOLDER: Final = "checkpoints"


def workspace(coordinator: Any) -> Path:
    """Return the workspace, without links."""
    folder = coordinator.get_capability(WORKING_DIR_CAPABILITY)
    return Path(str(folder or os.getcwd())).expanduser().resolve()


def checkpoint_folder(coordinator: Any, chosen: str | None) -> Path:
    """Return the folder of a session's copies.

    Args:
        coordinator: The session's.
        chosen: As configured; None for the session's own folder.
    """
    session = _name(coordinator.session_id or "unnamed")
    if chosen is not None:
        return Path(chosen).expanduser() / session
    hosts = coordinator.get_capability(EVENTS_PATH_CAPABILITY)
    if hosts:
        # The session's folder is where the host keeps it, wherever the session works.
        return Path(str(hosts)).expanduser().parent / _FOLDER
    slug = str(workspace(coordinator)).replace("/", "-").replace("\\", "-").replace(":", "")
    slug = slug if slug.startswith("-") else f"-{slug}"
    return _home() / "projects" / slug / "sessions" / session / _FOLDER


def inside(path: str, root: Path) -> Path | None:
    """Return the file a path means, every link followed; None where it is not in the workspace."""
    try:
        found = (root / Path(path).expanduser()).resolve()
    except (ValueError, RuntimeError, OSError):
        return None
    return found if found != root and found.is_relative_to(root) else None


def _home() -> Path:
    value = os.environ.get("AMPLIFIER_HOME")
    return Path(value).expanduser() if value else Path.home() / ".amplifier"


def _name(session_id: str) -> str:
    name = _UNSAFE.sub("_", session_id)[:200]
    return name if name.strip(".") else "unnamed"
