"""Where the log of a session lies."""

from __future__ import annotations

import os
import re
from pathlib import Path
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from amplifier_tui.kernel.coordinator import ModuleCoordinator

WORKING_DIR_CAPABILITY: Final = "session.working_dir"
EVENTS_PATH_CAPABILITY: Final = "session.events_path"
_DEFAULT: Final = "projects/{project}/sessions/{session_id}/events.jsonl"
_UNSAFE: Final = re.compile(r"[^A-Za-z0-9._-]")


def log_path(template: str | None, coordinator: ModuleCoordinator) -> Path:
    """Return the path of a session's log.

    Args:
        template: As configured; None for the session's folder in the Amplifier home.
        coordinator: Says which session, and where it works.
    """
    hosts = coordinator.get_capability(EVENTS_PATH_CAPABILITY)
    if template is None and hosts:
        # The session's folder is where the host keeps it, wherever the session works.
        return Path(str(hosts)).expanduser()
    folder = coordinator.get_capability(WORKING_DIR_CAPABILITY) or os.getcwd()
    if template is None:
        template = str(_home() / _DEFAULT)
    # Not str.format: a template may hold other braces.
    text = template.replace("{project}", _slug(Path(str(folder))))
    text = text.replace("{session_id}", _name(coordinator.session_id or "unnamed"))
    return Path(text).expanduser()


def _home() -> Path:
    value = os.environ.get("AMPLIFIER_HOME")
    return Path(value).expanduser() if value else Path.home() / ".amplifier"


def _slug(folder: Path) -> str:
    """The project's name in the Amplifier home: its path, with ``-`` between the folders."""
    text = str(folder.expanduser().resolve())
    text = text.replace("/", "-").replace("\\", "-").replace(":", "")
    return text if text.startswith("-") else f"-{text}"


def _name(session_id: str) -> str:
    """The session's id as the name of a folder; it must not lead anywhere else."""
    name = _UNSAFE.sub("_", session_id)[:200]
    return name if name.strip(".") else "unnamed"
