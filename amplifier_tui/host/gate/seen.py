"""What files hold now, and which of them somebody has changed since the agent looked at them."""

import asyncio
import logging
from pathlib import Path
from time import monotonic
from typing import Final

from amplifier_tui.base.capabilities.client_files import ClientFiles
from amplifier_tui.host.stream.diffs import Snapshot, snapshot, snapshot_of

logger = logging.getLogger(__name__)

_MOST_FILES: Final = 2_000
_LONG: Final = 5.0
"""Seconds after which a client that gives nothing did not only refuse."""
_LEFT_ALONE: Final = 30.0
"""Seconds for which such a client is not asked again."""


class SeenFiles:
    """What files are, and were when the agent last read or wrote them. For any thread.

    Args:
        client: Has texts that are not on disk yet, where the session's client edits files itself.
    """

    def __init__(self, client: ClientFiles | None = None) -> None:
        self._client = client
        self._asked_from = 0.0
        """When the client is asked again, on the monotonic clock."""
        self._stamps: dict[Path, tuple[int, int]] = {}

    def note(self, path: Path) -> None:
        """Take note of what a file is now."""
        found = file_stamp(path)
        self._stamps.pop(path, None)
        if found is not None:
            self._stamps[path] = found
            for oldest in list(self._stamps)[: max(0, len(self._stamps) - _MOST_FILES)]:
                self._stamps.pop(oldest, None)

    def now(self, path: Path) -> Snapshot:
        """Return what a file holds, unsaved text included; not for an event loop.

        Args:
            path: Its links are followed already.
        """
        disk, client = snapshot(path, resolved=True), self._client
        if client is None or not client.reads or disk.note or "\ufffd" in (disk.text or ""):
            return disk
        path = path.resolve()
        if not path.is_relative_to(client.root) or monotonic() < self._asked_from:
            return disk
        began = monotonic()
        try:
            text = asyncio.run(client.read(path))
        except OSError as error:
            # The tool is told why; a new file is one that the client does not have.
            if monotonic() - began > _LONG:
                # It would be waited for with each file of a patch.
                self._asked_from = monotonic() + _LEFT_ALONE
            logger.info("%s is described as it is on disk: %s", path, error)
            return disk
        saved, text = (disk.text or "").removeprefix("\ufeff"), text.removeprefix("\ufeff")
        if text.replace("\r\n", "\n") == saved.replace("\r\n", "\n"):
            return disk
        if "\r\n" in saved and "\r" not in text:
            text = text.replace("\n", "\r\n")
        return snapshot_of(text.encode("utf-8", "replace"))

    def changed(self, path: Path) -> bool:
        """Whether somebody else has changed a file since."""
        known = self._stamps.get(path)
        return known is not None and file_stamp(path) != known


def file_stamp(path: Path) -> tuple[int, int] | None:
    """Return what changes when a file does; None where there is none."""
    try:
        status = path.stat()
    except (OSError, ValueError):
        return None
    return status.st_mtime_ns, status.st_size
