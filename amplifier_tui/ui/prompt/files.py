"""The files `@` completes: what git knows or would add, else a bounded walk."""

import logging
import os
import subprocess
import time
from pathlib import Path

_log = logging.getLogger(__name__)

LIMIT = 50_000
"""Files listed at most."""
SECONDS = 5.0
"""Time a listing may take."""

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
    command = ["git", "-C", str(root), "ls-files", "-z", "--cached", "--others"]
    try:
        done = subprocess.run(
            [*command, "--exclude-standard", "--deduplicate"],
            stdin=subprocess.DEVNULL,
            capture_output=True,
            timeout=SECONDS,
            check=False,
        )
    except (OSError, subprocess.TimeoutExpired) as error:
        _log.info("git cannot list %s: %s", root, error)
        return None
    if done.returncode != 0:
        return None
    return done.stdout.decode("utf-8", errors="replace").split("\0")


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
