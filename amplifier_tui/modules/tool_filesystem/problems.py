"""What can go wrong with a file, said so that a model knows what to do next."""

from __future__ import annotations

import errno
import os
from pathlib import Path

from amplifier_tui.kernel.models import ToolResult


class FileProblem(Exception):
    """A call can't be carried out.

    Args:
        message: Why, and what to do.
        kind: The same in a word, for programs.
    """

    def __init__(self, message: str, kind: str) -> None:
        super().__init__(message)
        self.kind = kind


def failed(problem: FileProblem) -> ToolResult:
    """Return a problem as a tool's result."""
    message = str(problem)
    return ToolResult(
        success=False, output=message, error={"type": problem.kind, "message": message}
    )


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


def from_os_error(error: OSError, verb: str, path: Path) -> FileProblem:
    """Return what the system said as a problem.

    Args:
        error: What was raised.
        verb: What was tried, such as ``"read"``.
        path: On which file.
    """
    if error.errno == errno.ENOENT:
        return FileProblem(f"There is no file {path}.", "not_found")
    said = os.strerror(error.errno) if error.errno else str(error)
    reason = _REASONS.get(error.errno or 0, said)
    return FileProblem(f"Can't {verb} {path}: {reason}.", "os_error")
