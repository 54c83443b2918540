"""What is not sent yet: the prompts that wait in `queue.json`, the draft in `draft.json`."""

import logging
from collections.abc import Callable, Collection, Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any, ClassVar, Final

from amplifier_tui.base.jsonl import read_object, write_object
from amplifier_tui.host.store.lanes import TRANSCRIPT

logger = logging.getLogger(__name__)

FILE_NAME: Final = "queue.json"
DRAFT: Final = "draft.json"


class _KeptFile:
    """A small file with one field; where that is empty there is no file.

    Args:
        on_trouble: Gets the error when the disk does not take it, and None when it does again.
    """

    FIELD: ClassVar[str]

    def __init__(self, path: Path, on_trouble: Callable[[Path, OSError | None], None]) -> None:
        self._path = path
        self._on_trouble = on_trouble

    def _save(self, value: str | list[Mapping[str, Any]]) -> None:
        try:
            if value:
                write_object(self._path, {self.FIELD: value}, mode=0o600)
            else:
                self._path.unlink(missing_ok=True)
        except OSError as error:
            self._on_trouble(self._path, error)
        else:
            self._on_trouble(self._path, None)

    def _load(self) -> Any:
        try:
            return read_object(self._path).get(self.FIELD)
        except (OSError, ValueError) as error:
            logger.warning("%s can't be read: %s", self._path, error)
            return None


class QueueFile(_KeptFile):
    """Holds what waits."""

    FIELD = "prompts"

    def save(self, prompts: Sequence[Mapping[str, Any]]) -> None:
        """Replace what is stored; with it the session can be found, as with rows."""
        transcript = self._path.with_name(TRANSCRIPT)
        if prompts and not transcript.exists():
            with suppress(OSError):  # Why the disk takes nothing is told right away.
                transcript.touch(0o600)
        self._save(list(prompts))

    def load(self) -> list[Mapping[str, Any]]:
        """Return what is stored; what can't be read is left out."""
        found = self._load()
        return [each for each in found if isinstance(each, dict)] if isinstance(found, list) else []

    def drop(self, prompt_ids: Collection[str]) -> None:
        """Take out prompts by their ids."""
        waiting = self.load() if prompt_ids else []
        left = [each for each in waiting if each.get("id") not in prompt_ids]
        if len(left) < len(waiting):
            self.save(left)


def first_waiting(folder: Path) -> str:
    """Return the first prompt that waits in a session's folder; empty where there is none."""
    waiting = QueueFile(folder / FILE_NAME, lambda path, error: None).load()
    texts = (each.get("typed") or each.get("text") for each in waiting)
    return next((text for text in texts if isinstance(text, str)), "")


class DraftFile(_KeptFile):
    """Holds what was written and not sent when the session was left."""

    FIELD = "text"
    _left = False

    def leave(self) -> None:
        """Keep what is stored from now on: whoever has the session open shows no draft."""
        self._left = True

    def save(self, text: str) -> None:
        """Replace what is stored."""
        if not self._left:
            self._save(text)

    def load(self) -> str:
        """Return what is stored; empty where there is nothing, or it can't be read."""
        found = self._load()
        return found if isinstance(found, str) else ""
