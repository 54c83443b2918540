"""What a call gives, read as leniently as is safe, and what can go wrong with it."""

import errno
import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any, ClassVar

from amplifier_tui.kernel.models import ToolResult
from amplifier_tui.modules._shared.tool_problem import ToolProblem
from amplifier_tui.modules.tool_filesystem.workspace import ToolWorkspace

_REASONS = {
    errno.EACCES: "permission denied",
    errno.EPERM: "the system does not permit it",
    errno.EROFS: "the file system is read-only",
    errno.ENOSPC: "no space is left on the device",
    errno.EDQUOT: "the disk quota is used up",
    errno.ENAMETOOLONG: "the name is too long",
    errno.ELOOP: "it is a symbolic link, or too many of them",
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


Input = Mapping[str, Any]


class FileTool:
    """A tool for files: whatever goes wrong with one is an answer, not an error.

    Args:
        workspace: What may be touched.
    """

    name: str
    description: str
    verb: str
    """What it does to a file, for messages."""
    parameters: ClassVar[Mapping[str, Any]] = {}
    """JSON schema of each argument but the file's path."""
    required: tuple[str, ...] = ()

    def __init__(self, workspace: ToolWorkspace) -> None:
        self._workspace = workspace

    @property
    def input_schema(self) -> dict[str, Any]:
        """JSON schema of the input."""
        path = "Path of the file: relative to the workspace, or absolute inside it."
        return {
            "type": "object",
            "properties": {
                "file_path": {"type": "string", "description": path},
                **self.parameters,
            },
            "required": ["file_path", *self.required],
        }

    async def execute(self, input: dict[str, Any]) -> ToolResult:
        """Do what the call asks for; see `input_schema`."""
        try:
            return await self._execute(input)
        except ToolProblem as problem:
            return problem.result()
        except OSError as error:
            return from_os_error(error, self.verb, Path(str(file_path(input)))).result()

    async def _execute(self, given: Input) -> ToolResult:
        raise NotImplementedError


def file_path(given: Input) -> Any:
    """Return the path; some models call it ``path``."""
    return given.get("file_path") or given.get("path")


def text(given: Input, name: str) -> str:
    """Return a text.

    Raises:
        ToolProblem: It is missing, or something else.
    """
    value = given.get(name)
    if not isinstance(value, str):
        what = "missing" if value is None else f"a {type(value).__name__}"
        raise ToolProblem(f"`{name}` must be a text, and is {what}.", "invalid_arguments")
    return value


def number(given: Input, name: str, default: int) -> int:
    """Return a whole number from 1 up.

    Raises:
        ToolProblem: It is something else.
    """
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


def flag(given: Input, name: str, default: bool) -> bool:
    """Return a yes or no.

    Raises:
        ToolProblem: It is something else.
    """
    value = given.get(name)
    if value is None:
        return default
    if isinstance(value, str) and value.strip().lower() in ("true", "false"):
        return value.strip().lower() == "true"
    if not isinstance(value, bool):
        raise ToolProblem(f"`{name}` must be true or false, not {value!r}.", "invalid_arguments")
    return value
