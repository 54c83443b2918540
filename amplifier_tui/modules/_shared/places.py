"""Which files and folders the tools of a session may touch."""

import errno
import os
from collections.abc import Callable, Collection, Iterable
from pathlib import Path
from typing import Final

from amplifier_tui.base.files.under import folder_is_gone, is_under
from amplifier_tui.kernel.session.grant import current_grant
from amplifier_tui.modules._shared.tool import ToolProblem

DENIED: Final = "denied_path"
OUTSIDE: Final = "outside_workspace"
NO_WORKSPACE: Final = "no_workspace"
MOVED: Final = "moved"
"""Kinds of problems with where a path leads."""


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


def require_folder(root: Path) -> None:
    """Check that the folder a session works in is still there: nothing makes it anew.

    What is written where a checkout was removed would be in no repository, and out of sight.

    Raises:
        ToolProblem: It is gone.
    """
    if folder_is_gone(root):
        raise ToolProblem(
            f"Nothing was done: the folder this session works in, {root}, is gone; stop, and ask "
            "the user to put it back or to open a session in another folder.",
            NO_WORKSPACE,
        )


def check_place(
    path: Path,
    root: Path,
    *,
    access: str,
    denied: Iterable[str],
    allowed: Iterable[str],
    module: str,
    instead: str,
    approved: Collection[Path] = (),
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
        approved: What the user allowed this very call to touch outside of the workspace, resolved;
            nothing below it.

    Raises:
        ToolProblem: It may not, or the workspace is gone.
    """
    require_folder(root)
    for place in (resolved(each, root) for each in denied):
        if is_under(path, place):
            raise ToolProblem(
                f"Denied: {path} is in {place}, which this session may not {access} "
                f"(`denied_{access}_paths`). {instead}, or ask the user.",
                DENIED,
            )
    places = (root, *(resolved(each, root) for each in allowed))
    if path not in approved and not any(path.is_relative_to(place) for place in places):
        raise ToolProblem(
            f"Denied: {path} is outside of the workspace {root}. Use a path inside it, or ask "
            f"the user to add the folder to `allowed_{access}_paths` of {module}.",
            OUTSIDE,
        )


def require_judged(path: Path, *, below: bool = False) -> None:
    """Check that a path leads where it led when the call was judged.

    Who judges a call follows its links, and so does the tool: a command that runs may turn one of
    them in between, to what it may not write itself.

    Args:
        path: Resolved.
        below: What was judged may be below it, as a pattern is that begins with it.

    Raises:
        ToolProblem: It leads elsewhere.
    """
    grant = current_grant()
    leads = grant.leads if grant is not None else frozenset()
    judged = path in leads or (below and any(path in each.parents for each in leads))
    if leads and not judged:
        raise ToolProblem(
            f"Nothing was done: a path of this call now leads to {path}, which is not where it led "
            "when the call was decided about. Look where it leads, then call anew.",
            MOVED,
        )


def place_problem(check: Callable[[], object]) -> str:
    """Return why a check refuses where a path leads; empty for another problem, or none.

    That the workspace is gone is such a reason: no answer of the user would change it.
    """
    try:
        check()
    except ToolProblem as problem:
        return str(problem) if problem.kind in (DENIED, OUTSIDE, NO_WORKSPACE) else ""
    return ""
