"""Which files the tools may touch.

This is a rule for a well-meaning model, not a sandbox: what it may do beside the file tools, such
as running commands, is decided elsewhere.
"""

from __future__ import annotations

import asyncio
import os
from collections.abc import Iterable
from pathlib import Path
from typing import Any, ClassVar, Final, Literal
from weakref import WeakValueDictionary

from pydantic import Field, field_validator

from amplifier_tui.base.config import ModuleSettings, Paths, PathText
from amplifier_tui.kernel.correlation import current_tool_call_id
from amplifier_tui.modules._shared.session_paths import working_dir
from amplifier_tui.modules._shared.tool_problem import ToolProblem

Access = Literal["read", "write"]


TOOLS: Final = ("read_file", "write_file", "edit_file")


class FilesystemSettings(ModuleSettings):
    """The module's configuration; see the package's docstring."""

    module: ClassVar[str] = "tool-filesystem"

    tools: tuple[str, ...] = TOOLS
    allowed_read_paths: Paths = ()
    allowed_write_paths: Paths = ()
    denied_read_paths: Paths = ()
    denied_write_paths: Paths = ()
    max_read_bytes: int = Field(256 * 1024, ge=1024, description="a number")
    line_numbers: bool = True
    images: bool = True
    working_dir: PathText | None = None

    @field_validator("tools", mode="before")
    @classmethod
    def _known(cls, tools: Any) -> tuple[str, ...]:
        if not isinstance(tools, list | tuple) or any(name not in TOOLS for name in tools):
            raise ValueError(f"must be a list of {', '.join(TOOLS)}, not {tools!r}")
        return tuple(tools)


class ToolWorkspace:
    """Turns the paths of calls into files, or refuses them.

    Args:
        settings: What is allowed and denied.
        coordinator: Says where the workspace is, and takes the events.
    """

    def __init__(self, settings: FilesystemSettings, coordinator: Any) -> None:
        self._settings = settings
        self._coordinator = coordinator
        self._locks: WeakValueDictionary[Path, asyncio.Lock] = WeakValueDictionary()

    @property
    def root(self) -> Path:
        """The workspace, without links."""
        return _resolved(working_dir(self._coordinator, self._settings.working_dir), Path())

    def resolve(self, given: Any, access: Access) -> Path:
        """Return the file a call means, with every link followed.

        Args:
            given: The path as the model wrote it; relative ones start in the workspace.
            access: What the call wants to do.

        Raises:
            ToolProblem: It is no path, or it may not be touched.
        """
        root = self.root
        path = _absolute(given, root)
        if access == "read":
            allowed = (*self._settings.allowed_read_paths, *self._settings.allowed_write_paths)
            denied = self._settings.denied_read_paths
        else:
            allowed = self._settings.allowed_write_paths
            denied = self._settings.denied_write_paths
        for place in _places(denied, root):
            if _is_under(path, place):
                raise ToolProblem(
                    f"Denied: {path} is in {place}, which this session may not {access} "
                    f"(`denied_{access}_paths`). Leave it as it is, or ask the user.",
                    "denied_path",
                )
        if not any(path.is_relative_to(place) for place in (root, *_places(allowed, root))):
            raise ToolProblem(
                f"Denied: {path} is outside of the workspace {root}. Use a path inside it, or ask "
                f"the user to add the folder to `allowed_{access}_paths` of tool-filesystem.",
                "outside_workspace",
            )
        return path

    def shown(self, path: Path) -> str:
        """Return a path the short way: relative inside the workspace."""
        root = self.root
        if path == root:
            return "."
        return str(path.relative_to(root)) if path.is_relative_to(root) else str(path)

    def lock(self, path: Path) -> asyncio.Lock:
        """Return the lock of a file: its changes come one after the other."""
        lock = self._locks.get(path)
        if lock is None:
            lock = self._locks[path] = asyncio.Lock()
        return lock

    async def emit(self, event: str, path: Path, tool: str, facts: dict[str, Any]) -> None:
        """Tell the hooks that a file was read or written.

        Args:
            event: ``artifact:read`` or ``artifact:write``.
            path: The file.
            tool: Name of the tool.
            facts: What else there is to say.
        """
        data = {
            "path": str(path),
            "relative_path": self.shown(path),
            "tool_name": tool,
            "tool_call_id": current_tool_call_id(),
            **facts,
        }
        await self._coordinator.hooks.emit(event, data)


def _absolute(given: Any, root: Path) -> Path:
    if not isinstance(given, str | os.PathLike) or not str(given).strip():
        raise ToolProblem("`file_path` is missing: give the path of a file.", "invalid_path")
    return _resolved(str(given), root)


def _resolved(path: str | Path, root: Path) -> Path:
    try:
        return (root / Path(path).expanduser()).resolve()
    except (ValueError, RuntimeError, OSError) as error:
        # NUL, characters the file system can't encode, an unknown user's home, circular links.
        raise ToolProblem(
            f"{str(path)!r} is not a usable path: {error}.", "invalid_path"
        ) from error


def _places(paths: Iterable[str], root: Path) -> list[Path]:
    return [_resolved(path, root) for path in paths]


def _is_under(path: Path, place: Path) -> bool:
    """Whether a denied place holds a path, also under another spelling of its name."""
    if path.is_relative_to(place):
        return True
    # File systems that ignore case give one folder many names.
    parts, wanted = path.parts, place.parts
    if len(parts) >= len(wanted) and all(
        part.casefold() == other.casefold() for part, other in zip(parts, wanted, strict=False)
    ):
        return True
    identity = _identity(place)
    return identity is not None and any(
        _identity(ancestor) == identity for ancestor in (path, *path.parents)
    )


def _identity(path: Path) -> tuple[int, int] | None:
    try:
        found = path.stat()
    except OSError:
        return None
    return found.st_dev, found.st_ino
