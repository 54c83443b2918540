"""A history in files: one per session, one JSON object per line, appended."""

import asyncio
import hashlib
import logging
import re
from base64 import urlsafe_b64encode
from collections import defaultdict
from collections.abc import Sequence
from pathlib import Path
from typing import Any, ClassVar, Final, Unpack

from amplifier_tui.base.jsonl import append_rows, read_rows
from amplifier_tui.context.adr.history import HistoryFlags, HistoryProvider
from amplifier_tui.context.adr.message import Message
from amplifier_tui.context.adr.strategies.annotations import is_excluded

logger = logging.getLogger(__name__)


class FileHistoryProvider(HistoryProvider):
    """Appends the messages of each session to a file of its own.

    A torn last line, as a crash leaves it, is moved aside; other lines that can't be read are left
    out and logged.

    Args:
        storage_path: Folder of the files.
        source_id: Name under which everything it adds is known.
        skip_excluded: Leave out what a compaction has excluded.
        **flags: What to load and store; see `HistoryProvider`.
    """

    DEFAULT_SOURCE_ID: ClassVar[str] = "file_history"

    def __init__(
        self,
        storage_path: Path | str,
        *,
        source_id: str | None = None,
        skip_excluded: bool = False,
        **flags: Unpack[HistoryFlags],
    ) -> None:
        super().__init__(source_id or self.DEFAULT_SOURCE_ID, **flags)
        self.skip_excluded = skip_excluded
        self._folder = Path(storage_path)
        self._locks: defaultdict[str, asyncio.Lock] = defaultdict(asyncio.Lock)

    def path(self, session_id: str | None) -> Path:
        """Return the file of a session; it is always right in the folder."""
        return self._folder / f"{safe_name(session_id)}.jsonl"

    async def get_messages(
        self, session_id: str | None, *, state: dict[str, Any] | None = None, **kwargs: Any
    ) -> list[Message]:
        """Return the messages in the session's file; raises ``OSError``."""
        path = self.path(session_id)
        async with self._locks[path.name]:
            rows, _ = await asyncio.to_thread(read_rows, path)
        messages = [message for row in rows if (message := _message(row, path)) is not None]
        return [m for m in messages if not (self.skip_excluded and is_excluded(m))]

    async def save_messages(
        self,
        session_id: str | None,
        messages: Sequence[Message],
        *,
        state: dict[str, Any] | None = None,
        **kwargs: Any,
    ) -> None:
        """Append the messages to the session's file, all of them or none.

        Raises:
            OSError: It can't be written.
            TypeError: A message holds something that JSON has no form for.
        """
        path = self.path(session_id)
        rows = [message.to_dict() for message in messages]
        async with self._locks[path.name]:
            await asyncio.to_thread(append_rows, path, rows)


def _message(row: dict[str, Any], path: Path) -> Message | None:
    try:
        return Message.from_dict(row)
    except ValueError as error:
        logger.warning("A message in %s can't be read and is left out: %s", path, error)
        return None


_PLAIN: Final = re.compile(r"[A-Za-z0-9][A-Za-z0-9_-]{0,99}")
_RESERVED: Final = re.compile(r"(?:con|prn|aux|nul|com\d|lpt\d)", re.IGNORECASE)
_LONGEST: Final = 120


def safe_name(identity: str | None) -> str:
    """Return a file name for an id: the id itself where it is harmless on every system.

    It is no path and no device, and another one for every id; without an id it is "default".
    """
    if not identity:
        return "default"
    # "default" and names with the prefix are not plain: two ids never share a name.
    if _PLAIN.fullmatch(identity) and not _RESERVED.fullmatch(identity) and identity != "default":
        return identity
    data = identity.encode("utf-8", "surrogatepass")
    name = "~session-" + urlsafe_b64encode(data).decode().rstrip("=")
    if len(name) <= _LONGEST:
        return name
    return "~session-sha256-" + hashlib.sha256(data).hexdigest()
