"""Which files the tools may touch, and what a call gives, read as leniently as is safe.

The workspace is a rule for a well-meaning model, not a sandbox: what it may do beside the file
tools, such as running commands, is decided elsewhere. Whatever is refused is a `ToolProblem`.
"""

import asyncio
import difflib
import errno
import os
from abc import abstractmethod
from collections.abc import Mapping
from pathlib import Path
from typing import Any, ClassVar, Final, Literal
from weakref import WeakKeyDictionary, WeakValueDictionary

from amplifier_tui.base.capabilities.client_files import CAPABILITY as CLIENT_FILES
from amplifier_tui.base.capabilities.client_files import ClientFiles
from amplifier_tui.base.config import ModuleSettings, Paths, PathText
from amplifier_tui.base.opened.folders import listed_folder
from amplifier_tui.kernel.correlation import current_tool_call_id
from amplifier_tui.kernel.models import ToolResult
from amplifier_tui.kernel.session.grant import current_grant
from amplifier_tui.modules._shared.places import (
    check_place,
    place_problem,
    require_judged,
    resolved,
    shown_path,
)
from amplifier_tui.modules._shared.session_paths import working_dir
from amplifier_tui.modules._shared.tool import ModuleTool, ToolProblem, argument

Access = Literal["read", "write"]


class WorkspaceSettings(ModuleSettings):
    """Which files a module's tools may touch beside the workspace; the settings of such modules."""

    allowed_read_paths: Paths = ()
    allowed_write_paths: Paths = ()
    denied_read_paths: Paths = ()
    denied_write_paths: Paths = ()
    working_dir: PathText | None = None


class _FileLocks:
    """The locks of files that are being changed; those of one event loop know each other."""

    def __init__(self) -> None:
        self._loops: WeakKeyDictionary[
            asyncio.AbstractEventLoop, WeakValueDictionary[Path, asyncio.Lock]
        ] = WeakKeyDictionary()

    def get(self, path: Path) -> asyncio.Lock:
        locks = self._loops.setdefault(asyncio.get_running_loop(), WeakValueDictionary())
        return locks.setdefault(path, asyncio.Lock())


_LOCKS: Final = _FileLocks()
"""For all modules: a file may be changed by tools of several."""


class ToolWorkspace:
    """Turns the paths of calls into files, or refuses them."""

    def __init__(self, settings: WorkspaceSettings, coordinator: Any) -> None:
        self._settings = settings
        self._coordinator = coordinator

    @property
    def root(self) -> Path:
        """The workspace, without links."""
        return resolved(working_dir(self._coordinator, self._settings.working_dir), Path())

    @property
    def client_files(self) -> ClientFiles | None:
        """The text files of the session's client, where it offers them."""
        files: ClientFiles | None = self._coordinator.get_capability(CLIENT_FILES)
        return files

    def resolve(self, given: Any, access: Access) -> Path:
        """Return the file a call means, with every link followed; relative to the workspace."""
        grant, root = current_grant(), self.root
        path = _absolute(given, root)
        if access == "read":
            allowed = (*self._settings.allowed_read_paths, *self._settings.allowed_write_paths)
            denied = self._settings.denied_read_paths
        else:
            allowed = self._settings.allowed_write_paths
            denied = self._settings.denied_write_paths
        check_place(
            path,
            root,
            access=access,
            denied=denied,
            allowed=allowed,
            module=self._settings.module,
            instead="Leave it as it is",
            approved=grant.places if grant is not None else (),
        )
        require_judged(path)
        return path

    def shown(self, path: Path) -> str:
        """Return a path the short way: relative inside the workspace."""
        return shown_path(path, self.root)

    def lock(self, path: Path) -> asyncio.Lock:
        """Return the lock of a file: its changes come one after the other."""
        return _LOCKS.get(path)

    async def emit(self, event: str, path: Path, tool: str, facts: dict[str, Any]) -> None:
        """Tell the hooks that a tool read or wrote a file."""
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
    return resolved(str(given), root)


_REASONS = {
    errno.EACCES: "permission denied",
    errno.EPERM: "the system does not permit it",
    errno.EROFS: "the file system is read-only",
    errno.ENOSPC: "no space is left on the device",
    errno.EDQUOT: "the disk quota is used up",
    errno.ENAMETOOLONG: "the name is too long",
    errno.ELOOP: "a symbolic link is in its place or on the way to it",
    errno.ENOTDIR: "a part of the path is a file, not a folder",
    errno.EISDIR: "it is a folder",
}


def from_os_error(error: OSError, verb: str, path: Path) -> ToolProblem:
    """Return what the system said when a file was to be, say, `read`, as a problem."""
    if error.errno == errno.ENOENT:
        return ToolProblem(f"There is no file {path}.", "not_found")
    said = os.strerror(error.errno) if error.errno else str(error)
    reason = _REASONS.get(error.errno or 0, said)
    return ToolProblem(f"Can't {verb} {path}: {reason}.", "os_error")


def missing(path: Path, shown: str) -> ToolProblem:
    """Return the problem of a file that is not there, with names that are close."""
    close: list[str] = []
    try:
        with listed_folder(path.parent) as folder:
            names = os.listdir(folder)[:5_000]
    except OSError:
        names = []
    if names:
        close = difflib.get_close_matches(path.name, names, n=3, cutoff=0.6)
    hint = f" Did you mean {' or '.join(close)}?" if close else ""
    return ToolProblem(f"There is no file {shown}.{hint}", "not_found")


FILE_PATH: Final = argument(
    "string", "Path of the file: relative to the workspace, or absolute inside it."
)


class FileTool(ModuleTool):
    """A tool for files: what the system refuses is an answer, too."""

    verb: ClassVar[str]
    """What it does to a file, for messages."""
    access: ClassVar[Access]

    def __init__(self, workspace: ToolWorkspace) -> None:
        self._workspace = workspace

    async def run(self, given: Mapping[str, Any]) -> ToolResult:
        """Do what the call asks for."""
        try:
            return await self._run(given)
        except OSError as error:
            raise from_os_error(error, self.verb, Path(str(file_path(given)))) from error

    def refused_place(self, arguments: Mapping[str, Any]) -> str:
        """Return why the call's path would be refused; see `kernel.session.grant`."""
        return place_problem(lambda: self._workspace.resolve(file_path(arguments), self.access))

    @abstractmethod
    async def _run(self, given: Mapping[str, Any]) -> ToolResult: ...


def file_path(given: Mapping[str, Any]) -> Any:
    """Return the path; some models call it ``path``."""
    return given.get("file_path") or given.get("path")


def text(given: Mapping[str, Any], name: str) -> str:
    """Return a text, which the call must have."""
    value = given.get(name)
    if not isinstance(value, str):
        what = "missing" if value is None else f"a {type(value).__name__}"
        raise ToolProblem(f"`{name}` must be a text, and is {what}.", "invalid_arguments")
    return value


def number(given: Mapping[str, Any], name: str, default: int) -> int:
    """Return a whole number from 1 up."""
    value = given.get(name)
    if value is None:
        return default
    if isinstance(value, str) and value.strip().isdecimal():
        value = int(value)
    if isinstance(value, float) and value.is_integer():
        value = int(value)
    if isinstance(value, bool) or not isinstance(value, int) or value < 1:
        raise ToolProblem(
            f"`{name}` must be a whole number from 1 up, not {value!r}.", "invalid_arguments"
        )
    return value


def flag(given: Mapping[str, Any], name: str, default: bool) -> bool:
    """Return a yes or no."""
    value = given.get(name)
    if value is None:
        return default
    if isinstance(value, str) and value.strip().lower() in ("true", "false"):
        return value.strip().lower() == "true"
    if not isinstance(value, bool):
        raise ToolProblem(f"`{name}` must be true or false, not {value!r}.", "invalid_arguments")
    return value
