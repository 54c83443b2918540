"""What is mounted read-only for a command in the sandbox."""

import contextlib
import os
import shlex
import shutil
import sys
import tempfile
from collections.abc import Iterable
from itertools import islice
from pathlib import Path
from typing import Final

from amplifier_tui.base.files.nearby import FolderListing, target_of
from amplifier_tui.base.opened.folders import files_below
from amplifier_tui.base.repositories.settings import HOOKS, places_of_hooks
from amplifier_tui.modules.tool_bash.sandbox.git_folders import is_link_of_git, places_of_git

_MOST_READ_ONLY: Final = 200
"""Bubblewrap takes a second for a few hundred; the rest is looked at afterwards."""
_MOST_KEPT: Final = 500
_OF_HUSKY: Final = "_"
"""What is in this folder runs what is beside it."""
_ONLY_IF_THERE: Final = frozenset(
    {"fsmonitor-watchman", "post-index-change", "proc-receive", "push-to-checkout"}
    | {"reference-transaction"}
)
"""Hooks that git runs all the time, or that change what it does by being there."""
_HOOK: Final = """\
#!/bin/sh
name=${{0##*/}}
kept={kept}
workspace={workspace}
temporary=$(CDPATH= cd -- "$TMPDIR" && pwd -P)
place=$(GIT_CONFIG_COUNT=$((GIT_CONFIG_COUNT - 1)) git rev-parse --git-path hooks) || exit 1
place=$(CDPATH= cd -- "$place" 2>/dev/null && pwd -P) || exit 0
hook=$place/$name
[ -x "$hook" ] || exit 0
case $place/ in
"$workspace"/.git/* | "$workspace"/*/.git/*) exec "$hook" "$@" ;;
"$workspace"/* | "$temporary"/*) ;;
*) exec "$hook" "$@" ;;
esac
if [ -x "$kept$hook" ]; then
    area=${{place%/_}}
    {alike} "$kept$area" "$area" >/dev/null 2>&1 && exec "$hook" "$@"
    exec "$kept$hook" "$@"
fi
echo "The hook $name was not run: it may have come with this command line." >&2
case $name in
pre-* | commit-msg)
    echo "Run what is left in a command line of its own." >&2
    exit 1
    ;;
esac
"""
"""What stands for each hook in a line that brings files."""


def obeyed_outside(repository: Path) -> tuple[Path, ...]:
    """Return what git obeys in a repository's folder outside of the workspace."""
    places = places_of_git(repository, FolderListing())
    found = (place for place in places if place != repository and not place.is_symlink())
    return tuple(islice(filter(Path.exists, found), _MOST_READ_ONLY))


def read_only_places(guarded: Iterable[Path], workspace: Path) -> dict[Path, tuple[Path, ...]]:
    """Return which of what configures programs is to be read-only, the nearest first.

    Returns:
        By its place, what is mounted for it: for a link it is that where it leads, and nothing
        where that is outside of the workspace. There nothing can be changed.
    """
    places = dict.fromkeys(place for place in guarded if not is_link_of_git(place))
    # What is mounted over a folder does not cover where links in it lead.
    outermost = [
        place for place in places if place.is_symlink() or places.keys().isdisjoint(place.parents)
    ]
    of_git = [place for place in outermost if ".git" in place.parts]
    others = [place for place in outermost if ".git" not in place.parts]
    found = {}
    for place in of_git[:_MOST_READ_ONLY] + others[:_MOST_READ_ONLY]:
        target = target_of(place)
        over = [place] if target is None or sys.platform == "darwin" else []
        if target is not None and workspace in target.parents:
            over.append(target)
        found[place] = tuple(over)
    return found


def keep_hooks(
    around: Iterable[Path], workspace: Path, scratch: Path, *, alike: bool
) -> Path | None:
    """Make a folder of hooks that run those of checkouts as they are now. Blocking.

    Git brings other hooks where a checkout holds them, and would run these in the same line. One
    that is as it was runs in its own place, as it may use what lies beside it; else its copy does.

    Args:
        around: The folders of repositories.
        workspace: Without links; hooks elsewhere run as ever.
        scratch: Where to make it.
        alike: Whether none can change between a look at it and its run.

    Returns:
        What git is to take its hooks from, beside the copies; None where no checkout holds any.

    Raises:
        OSError: It can't be made.
    """
    named = {Path(os.path.realpath(each)) for one in around for each in places_of_hooks(one)}
    inside = {each for each in named if workspace in each.parents and ".git" not in each.parts}
    if not inside:
        return None
    made = Path(tempfile.mkdtemp(dir=scratch))
    names = set(HOOKS) - _ONLY_IF_THERE
    for place in inside:
        area = place.parent if place.name == _OF_HUSKY else place
        files = (area,) if area.is_file() else files_below(area)
        for file in islice(files, _MOST_KEPT):
            names |= _ONLY_IF_THERE & {file.name}
            at = made.joinpath("kept", *file.parts[1:])
            at.parent.mkdir(parents=True, exist_ok=True)
            # What can't be read is none that runs.
            with contextlib.suppress(OSError):
                shutil.copy(file, at)
    text = _HOOK.format(
        kept=shlex.quote(str(made / "kept")),
        workspace=shlex.quote(str(workspace)),
        alike="diff -r" if alike else "false",
    )
    (made / "hooks").mkdir()
    for name in names:
        hook = made / "hooks" / name
        hook.write_text(text, "utf-8")
        hook.chmod(0o755)
    return made / "hooks"
