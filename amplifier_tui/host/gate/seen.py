"""Which files somebody has changed since the agent looked at them."""

from pathlib import Path
from typing import Final

_MOST_FILES: Final = 2_000


class SeenFiles:
    """What files were when the agent last read or wrote them. For any thread."""

    def __init__(self) -> None:
        self._stamps: dict[Path, tuple[int, int]] = {}

    def note(self, path: Path) -> None:
        """Take note of what a file is now."""
        found = _stamp(path)
        self._stamps.pop(path, None)
        if found is not None:
            self._stamps[path] = found
            for oldest in list(self._stamps)[: max(0, len(self._stamps) - _MOST_FILES)]:
                self._stamps.pop(oldest, None)

    def changed(self, path: Path) -> bool:
        """Whether somebody else has changed a file since."""
        known = self._stamps.get(path)
        return known is not None and _stamp(path) != known


def _stamp(path: Path) -> tuple[int, int] | None:
    try:
        status = path.stat()
    except (OSError, ValueError):
        return None
    return status.st_mtime_ns, status.st_size
