"""What a command deletes of a repository and going back leaves gone, so that it can be told of.

Branches, tags and stashes stay in the repository without a name for a while: what brings them back
is said with them. What git ignores is gone.
"""

import os
from collections.abc import Iterator
from pathlib import Path
from shlex import quote
from typing import Final, NamedTuple

from amplifier_tui.base.files.nearby import is_made_anew
from amplifier_tui.base.git import git_bytes_now, git_output_now
from amplifier_tui.base.text import one_line

_MOST_BYTES: Final = 1_000_000
_MOST_NAMED: Final = 3
_SHORT: Final = 10
_STASH: Final = "refs/stash"
_KINDS: Final = {"refs/heads/": "branch", "refs/tags/": "tag"}


class GitHoldings(NamedTuple):
    """What a repository has beside the files that going back covers.

    Attributes:
        names: Of branches and tags, each with what it stands for.
        stashes: The newest first.
        ignored: Files, and folders with nothing else in them, which end in a slash.
    """

    names: dict[str, str]
    stashes: tuple[str, ...]
    ignored: frozenset[str]


def kept_now(root: Path) -> GitHoldings:
    """Return what the repository of a folder has; nothing where there is none. Blocking."""
    listed = git_output_now(
        root,
        *("for-each-ref", "--format=%(refname) %(objectname)", *_KINDS, _STASH),
        most_bytes=_MOST_BYTES,
    )
    if listed is None or len(listed) >= _MOST_BYTES:
        return GitHoldings({}, (), frozenset())
    names = dict(row.rsplit(" ", 1) for row in listed.splitlines())
    told = git_output_now(root, "reflog", "show", "--format=%H", _STASH) if _STASH in names else ""
    names.pop(_STASH, None)
    ignored = git_bytes_now(
        root,
        *("ls-files", "-z", "--others", "--ignored", "--exclude-standard", "--directory"),
        most_bytes=_MOST_BYTES,
    )
    if ignored is None or len(ignored) >= _MOST_BYTES:
        ignored = b""
    files = frozenset(filter(None, os.fsdecode(ignored).split("\0")))
    return GitHoldings(names, tuple((told or "").split()), files)


def losses(root: Path, before: GitHoldings, after: GitHoldings, by: str) -> Iterator[str]:
    """Yield in words what a command took away. Call it in a thread.

    Args:
        by: The command, in words.
    """
    came = {what for name, what in after.names.items() if name not in before.names}
    for name, what in before.names.items():
        kind = next(kind for kind in _KINDS if name.startswith(kind))
        if name not in after.names and what not in came:
            said, short = _KINDS[kind], name.removeprefix(kind)
            back = f"`git {said} {quote(short)} {what[:_SHORT]}` brings it back"
            yield f"{by} deleted the {said} {one_line(short, 80)}: {back}"
    for stash in before.stashes:
        if stash not in after.stashes:
            back = f"`git stash store {stash[:_SHORT]}` brings it back"
            yield f"{by} dropped a stash: {back}"
    gone = sorted(
        name
        for name in before.ignored - after.ignored
        if not is_made_anew(name.rstrip("/").split("/")) and not os.path.lexists(root / name)
    )
    if gone:
        named = ", ".join(one_line(name, 80) for name in gone[:_MOST_NAMED])
        more = f" and {len(gone) - _MOST_NAMED} more" if len(gone) > _MOST_NAMED else ""
        yield f"{by} took {named}{more} away, which git ignores"
