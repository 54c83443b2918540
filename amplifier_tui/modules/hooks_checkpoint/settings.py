"""What a bundle may say about checkpoints."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from fnmatch import fnmatchcase
from typing import Any, Final

from amplifier_tui.modules.hooks_checkpoint.patches import patched_paths

DEFAULT_PRIORITY: Final = 95

_TOOLS: Final = (
    "write_file",
    "edit_file",
    "create_file",
    "delete_file",
    "multi_edit",
    "notebook_*",
)
_ARGUMENTS: Final = ("file_path", "path", "notebook_path", "filename")
_PATCHES: Final = ("apply_patch",)


@dataclass(frozen=True)
class Settings:
    """The module's configuration; see the package's docstring."""

    tools: Mapping[str, str] = field(default_factory=dict)
    max_file_bytes: int = 5_000_000
    max_binary_bytes: int = 1_000_000
    max_total_bytes: int = 200_000_000
    folder: str | None = None
    priority: int = DEFAULT_PRIORITY

    def paths(self, tool: str, given: Mapping[str, Any]) -> list[str]:
        """Return the files a call would change, as the model wrote them."""
        for pattern, argument in self.tools.items():
            if fnmatchcase(tool, pattern):
                return _texts(given.get(argument))
        if tool in _PATCHES:
            found = [text for text in given.values() if isinstance(text, str)]
            return list(dict.fromkeys(path for text in found for path in patched_paths(text)))
        if any(fnmatchcase(tool, pattern) for pattern in _TOOLS):
            return next((paths for name in _ARGUMENTS if (paths := _texts(given.get(name)))), [])
        return []


def read_settings(config: Mapping[str, Any]) -> Settings:
    """Check a module's config.

    Args:
        config: The ``config`` of the mount plan's entry. Unknown keys are left alone.

    Raises:
        ValueError: A value makes no sense.
    """
    tools = config.get("tools") or {}
    if not isinstance(tools, Mapping) or not all(
        isinstance(part, str) for pair in tools.items() for part in pair
    ):
        raise ValueError("`tools` of hooks-checkpoint must map names of tools to an argument each")
    folder = config.get("folder")
    if folder is not None and (not isinstance(folder, str) or not folder.strip()):
        raise ValueError(f"`folder` of hooks-checkpoint must be a path, not {folder!r}")
    priority = config.get("priority", DEFAULT_PRIORITY)
    if isinstance(priority, bool) or not isinstance(priority, int):
        raise ValueError("`priority` of hooks-checkpoint must be a whole number")
    return Settings(
        tools=dict(tools),
        max_file_bytes=_bytes(config, "max_file_bytes", Settings.max_file_bytes),
        max_binary_bytes=_bytes(config, "max_binary_bytes", Settings.max_binary_bytes),
        max_total_bytes=_bytes(config, "max_total_bytes", Settings.max_total_bytes),
        folder=folder,
        priority=priority,
    )


def _bytes(config: Mapping[str, Any], name: str, default: int) -> int:
    value = config.get(name, default)
    if isinstance(value, bool) or not isinstance(value, int) or value < 0:
        raise ValueError(f"`{name}` of hooks-checkpoint must be a number of bytes, not {value!r}")
    return value


def _texts(value: Any) -> list[str]:
    listed = [value] if isinstance(value, str) else value
    if not isinstance(listed, list):
        return []
    return [text for text in listed if isinstance(text, str) and text.strip()]
