"""Which files and folders the tools of a session may touch."""

import errno
import os
from collections.abc import Iterable
from pathlib import Path

from amplifier_tui.modules._shared.tool import ToolProblem


def resolved(path: str | Path, root: Path) -> Path:
    """Return a path without links, from `root` if relative; a `ToolProblem` if it is unusable."""
    try:
        # `Path` drops the `./` of `./~/x`, a file of the workspace to whoever judged the call.
        written = os.path.expanduser(path)
        if str(written).startswith("~"):
            raise RuntimeError("there is no such user")
        found = (root / written).resolve()
        if found.is_symlink():
            # From Python 3.13 on `resolve` leaves it in the path.
            raise OSError(errno.ELOOP, os.strerror(errno.ELOOP))
        return found
    except (ValueError, RuntimeError, OSError) as error:
        # NUL, characters the file system can't encode, an unknown user's home, circular links.
        raise ToolProblem(
            f"{str(path)!r} is not a usable path: {error}.", "invalid_path"
        ) from error


def shown_path(path: Path, root: Path) -> str:
    """Return a path relative to the workspace, or as it is where it is not in it."""
    return str(path.relative_to(root)) if path.is_relative_to(root) else str(path)


def check_place(
    path: Path,
    root: Path,
    *,
    access: str,
    denied: Iterable[str],
    allowed: Iterable[str],
    module: str,
    instead: str,
) -> None:
    """Check that a path may be touched: in the workspace or an allowed folder, and not denied.

    Args:
        path: Resolved.
        root: The workspace, resolved.
        access: "read" or "write", as the settings are named.
        denied: Files and folders, as configured.
        allowed: Folders beside the workspace, as configured.
        module: The tool's module, for the message.
        instead: What the model may do instead.

    Raises:
        ToolProblem: It may not.
    """
    for place in (resolved(each, root) for each in denied):
        if _is_under(path, place):
            raise ToolProblem(
                f"Denied: {path} is in {place}, which this session may not {access} "
                f"(`denied_{access}_paths`). {instead}, or ask the user.",
                "denied_path",
            )
    places = (root, *(resolved(each, root) for each in allowed))
    if not any(path.is_relative_to(place) for place in places):
        raise ToolProblem(
            f"Denied: {path} is outside of the workspace {root}. Use a path inside it, or ask "
            f"the user to add the folder to `allowed_{access}_paths` of {module}.",
            "outside_workspace",
        )


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
