"""The files `@` completes: what git knows or would add, else a bounded walk."""

import os
import time
from pathlib import Path

from amplifier_tui.base.git import git_output_now

LIMIT = 50_000
"""Files listed at most."""
SECONDS = 5.0
"""Time a listing may take."""
_PATH_BYTES = 200
"""What a path takes of the listing at most, on average."""

_SKIPPED = frozenset(
    (
        "__pycache__", "node_modules", "venv", "env", "target", "build", "dist", "site-packages",
        "vendor", "coverage",
    )
)  # fmt: skip


def list_files(root: Path) -> list[str]:
    """Return paths under `root`, relative, `/` separated, shallow ones first.

    Takes up to `SECONDS`: call it from a thread. Names with control characters are left out,
    and so are files that git ignores or, without git, hidden and generated folders.
    """
    found = _from_git(root)
    if found is None:
        found = _walk(root)
    clean = [path for path in found if path and path.isprintable()]
    clean.sort(key=lambda path: (path.count("/"), path))
    return clean[:LIMIT]


def _from_git(root: Path) -> list[str] | None:
    options = ("-z", "--cached", "--others", "--exclude-standard", "--deduplicate")
    listed = git_output_now(
        root, "ls-files", *options, timeout=SECONDS, most_bytes=LIMIT * _PATH_BYTES
    )
    # What follows the last NUL was cut off.
    return None if listed is None else listed.split("\0")[:-1]


def _walk(root: Path) -> list[str]:
    end = time.monotonic() + SECONDS
    found: list[str] = []
    for folder, folders, files in os.walk(root, followlinks=False):
        folders[:] = [f for f in folders if not f.startswith(".") and f not in _SKIPPED]
        base = Path(folder).relative_to(root)
        found += [(base / name).as_posix() for name in files if not name.startswith(".")]
        if len(found) >= LIMIT or time.monotonic() > end:
            break
    return found
