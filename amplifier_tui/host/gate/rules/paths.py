"""Which paths a rule speaks of: what stands in its brackets, against where a call leads.

What a rule says is taken without `.`, `..`, and doubled slashes; a relative path starts in the
workspace, and may lead out of it: `../lib/**` is what lies beside it.
"""

import os
import posixpath
import re
from functools import lru_cache
from pathlib import Path
from typing import Final

from pathspec import GitIgnoreSpec
from pathspec.patterns.gitignore.spec import GitIgnoreSpecPattern

from amplifier_tui.host.gate.places import PathPlace, resolved

_MARKS: Final = re.compile(r"[*?\[]")
_UP_FROM_MANY: Final = re.compile(r"[*?\[][^/]*/(?:.*/)?\.\.(?:/|$)")


def is_pattern(inside: str) -> bool:
    """Whether what a rule says of paths speaks of more than one: `src/`, `src/**`, `[a-z].txt`."""
    return inside.endswith("/") or _MARKS.search(inside) is not None


def matches_nothing(inside: str, *, exact: bool) -> str:
    """Return why a path of a rule is that of no file; empty where it may be one.

    Args:
        inside: What the rule says.
        exact: The rule allows.
    """
    if _UP_FROM_MANY.search(inside):
        return "`..` behind a `*`, `?` or `[` leads nowhere"
    return "all that is below `/` is written `/**`" if exact and _plain(inside) == "/" else ""


def leads_to(inside: str, place: PathPlace, *, exact: bool) -> bool:
    """Return whether a call's path is one that a rule speaks of.

    Args:
        inside: What the rule says.
        place: Where the path leads.
        exact: The rule allows: a path that is no pattern is that file and nothing below it, and
            links count for where they lead. A rule that restricts means their names as well.
    """
    path, root = _plain(inside), Path("/")
    out = path.split("/")[0] == ".."
    if exact and place.outside and not (out or posixpath.isabs(path)):
        return False
    if exact and not is_pattern(inside):
        # One of git's patterns would take all that is below along.
        return Path(os.path.normpath(place.root / path)) == place.path
    if out:
        patterns = {_beside(path, place.root)}
    elif posixpath.isabs(path):
        path = path.removesuffix("/") or ("/" if exact else "/**")
        patterns = {path} if exact else {path, _without_links(path)}
    else:
        patterns, root = {"/**" if path in (".", "./") else f"/{path}"}, place.root
    paths = {place.path} if exact else {place.path, place.named}
    return any(
        _spec(pattern).match_file(each.relative_to(root))
        for pattern in patterns
        for each in paths
        if each.is_relative_to(root)
    )


def begins_at(inside: str, root: Path) -> Path:
    """Return the file or folder that a rule's path names before it begins to be a pattern."""
    path = _plain(inside)
    found = _MARKS.search(path)
    folder, slash, _ = path[: found.start()].rpartition("/") if found else (path, "", "")
    return resolved(root / f"{folder}{slash}")


def _plain(inside: str) -> str:
    """Return a path without what leads nowhere; a slash at its end stays."""
    # A user nobody knows: it leaves the name as it is.
    text = os.path.expanduser(inside)
    if _UP_FROM_MANY.search(text):
        return text
    path = posixpath.normpath(text)
    path = f"/{path.lstrip('/')}" if path.startswith("/") else path
    return f"{path}/" if text.endswith("/") and path != "/" else path


def _beside(path: str, root: Path) -> str:
    """Return the pattern of what a path leads to that begins with `..`, of `root` no patterns."""
    parts = path.split("/")
    count = next((at for at, part in enumerate(parts) if part != ".."), len(parts))
    above = os.path.normpath(root.joinpath(*parts[:count]))
    escaped = GitIgnoreSpecPattern.escape(above).rstrip("/")
    return "/".join((escaped, *parts[count:])).removesuffix("/") or "/**"


def _without_links(path: str) -> str:
    """Return a pattern with the links followed that lead to where it begins to be one."""
    found = _MARKS.search(path)
    if found is None:
        return str(resolved(Path(path)))
    folder = path[: found.start()].rpartition("/")[0]
    return f"{str(resolved(Path(folder or '/'))).rstrip('/')}{path[len(folder) :]}"


@lru_cache(maxsize=512)
def _spec(pattern: str) -> GitIgnoreSpec:
    return GitIgnoreSpec.from_lines([pattern])
