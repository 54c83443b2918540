"""Where the file of a session is."""

from __future__ import annotations

import os
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from amplifier_tui.context.adr.file_history import safe_name

if TYPE_CHECKING:
    from amplifier_tui.kernel.coordinator import ModuleCoordinator

FILE_NAME: Final = "context-messages.jsonl"


def file_of(config: Mapping[str, Any], coordinator: ModuleCoordinator) -> Path:
    """Return the file of a session.

    Args:
        config: The module's config.
        coordinator: The session's coordinator.

    Raises:
        ValueError: ``path`` is no text.
    """
    name = safe_name(coordinator.session_id)
    configured = config.get("path")
    if configured is not None:
        if not isinstance(configured, str) or not configured:
            raise ValueError(f"`path` of context-persistent must be a text, not {configured!r}")
        return Path(configured.replace("{session_id}", name)).expanduser()
    folder = getattr(coordinator, "session_dir", None)
    if folder:
        return Path(folder) / FILE_NAME
    home = Path(os.environ.get("AMPLIFIER_HOME") or "~/.amplifier").expanduser()
    return home / "contexts" / name / FILE_NAME


def memory_files_of(config: Mapping[str, Any]) -> list[Path]:
    """Return the configured memory files.

    Raises:
        ValueError: They are no list of texts.
    """
    configured = config.get("memory_files") or []
    if not isinstance(configured, list) or not all(isinstance(x, str) for x in configured):
        raise ValueError(
            f"`memory_files` of context-persistent must be a list of paths, not {configured!r}"
        )
    return [Path(item).expanduser() for item in configured]
