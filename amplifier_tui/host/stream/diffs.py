"""Unified diffs of files, bounded in time and size."""

from dataclasses import replace
from pathlib import Path
from typing import Final

from amplifier_tui.base.diffs import unified_diff
from amplifier_tui.base.files import FileTooLargeError, NotRegularFileError, read_regular
from amplifier_tui.base.lazy.dataclass import dataclass

SIZE_LIMIT: Final = 1024 * 1024
"""Bytes of a file that is compared; a larger one is only said to have changed."""
DIFF_LIMIT: Final = 64 * 1024
"""Characters of a diff; the rest is counted."""
_NO_FILE: Final = "/dev/null"


@dataclass(frozen=True, slots=True)
class Snapshot:
    """A file at one moment.

    Attributes:
        text: What it holds; None when it does not exist or cannot be compared.
        note: Why it cannot be compared, such as `binary` or `too large`; else empty.
        stamp: Changes when the file does: modification time in ns, and size.
    """

    text: str | None = None
    exists: bool = False
    note: str = ""
    stamp: tuple[int, int] = (0, 0)


def snapshot(path: Path, *, resolved: bool = False) -> Snapshot:
    """Read a file for a later comparison; never blocks on a pipe and never raises.

    Args:
        resolved: Its links are followed already, and nothing is read past one that came since.
    """
    try:
        status = path.stat()
    except (OSError, ValueError):
        return Snapshot()
    stamp = (status.st_mtime_ns, status.st_size)
    try:
        data = read_regular(path, SIZE_LIMIT, resolved=resolved)
    except (NotRegularFileError, IsADirectoryError):
        note = "not a file"
    except FileTooLargeError:
        note = "too large"
    except OSError:
        note = "unreadable"
    else:
        return replace(snapshot_of(data), stamp=stamp)
    return Snapshot(None, True, note, stamp)


def snapshot_of(data: bytes | None) -> Snapshot:
    """Return a snapshot of a content; None stands for a file that does not exist."""
    if data is None:
        return Snapshot()
    if len(data) > SIZE_LIMIT:
        return Snapshot(None, True, "too large", (0, len(data)))
    if b"\0" in data[:8192]:
        return Snapshot(None, True, "binary", (0, len(data)))
    return Snapshot(data.decode("utf-8", "replace"), True, "", (0, len(data)))


def changes(name: str, before: Snapshot, after: Snapshot) -> str:
    """Return the diff between two snapshots, empty when nothing changed."""
    if before == after:
        return ""
    if before.note or after.note:
        if before.stamp == after.stamp and before.exists == after.exists:
            return ""
        return f"--- {name}\n+++ {name}\n@@ {after.note or before.note}: changed @@\n"
    return unified(name, before.text, after.text)


def unified(name: str, before: str | None, after: str | None, limit: int = DIFF_LIMIT) -> str:
    r"""Return a unified diff, empty when the texts are equal.

    Args:
        before: The old text; None for a file that does not exist.
        after: The new text; None for a file that is gone.
        limit: Characters at most; what is cut is counted in a last line starting with `\`.
    """
    names = [_NO_FILE if text is None else name for text in (before, after)]
    found = unified_diff((names[0], names[1]), before or "", after or "").text(limit)
    # An empty file that is made or removed has no lines.
    return found or ("" if before == after else f"--- {names[0]}\n+++ {names[1]}\n")
