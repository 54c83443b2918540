"""`queue.json`: the prompts that wait, which neither a crash nor the end of the program takes."""

import logging
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any, Final

from amplifier_tui.base.jsonl import read_object, write_object

logger = logging.getLogger(__name__)

FILE_NAME: Final = "queue.json"


class QueueFile:
    """Holds what waits; without anything there is no file.

    Args:
        on_trouble: Gets the error when the disk does not take it, and None when it does again.
    """

    def __init__(self, path: Path, on_trouble: Callable[[Path, OSError | None], None]) -> None:
        self._path = path
        self._on_trouble = on_trouble

    def save(self, prompts: Sequence[Mapping[str, Any]]) -> None:
        """Replace what is stored."""
        try:
            if prompts:
                write_object(self._path, {"prompts": list(prompts)}, mode=0o600)
            else:
                self._path.unlink(missing_ok=True)
        except OSError as error:
            self._on_trouble(self._path, error)
        else:
            self._on_trouble(self._path, None)

    def load(self) -> list[Mapping[str, Any]]:
        """Return what is stored; what can't be read is left out."""
        try:
            found = read_object(self._path).get("prompts")
        except (OSError, ValueError) as error:
            logger.warning("%s can't be read: %s", self._path, error)
            return []
        return [each for each in found if isinstance(each, dict)] if isinstance(found, list) else []
