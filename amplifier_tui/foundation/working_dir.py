"""The folder a session works in, as a capability that tools read."""

from pathlib import Path
from typing import Any

WORKING_DIR_CAPABILITY = "session.working_dir"
"""Name of the capability; its value is a text."""


def get_working_dir(coordinator: Any, fallback: Path | str | None = None) -> Path:
    """Return a session's folder.

    Args:
        coordinator: The session's.
        fallback: Used when the session has none; default the process's folder.
    """
    value = coordinator.get_capability(WORKING_DIR_CAPABILITY)
    return Path(value or fallback or Path.cwd())


def set_working_dir(coordinator: Any, path: Path | str) -> None:
    """Set a session's folder."""
    coordinator.register_capability(WORKING_DIR_CAPABILITY, str(path))
