"""The prompts sent before: on disk as JSON lines, newest last."""

import contextlib
import logging
import os
from pathlib import Path

_log = logging.getLogger(__name__)

KEEP = 2_000
"""Prompts kept; the file is shortened to this when it has grown to twice as many."""
LONGEST = 65_536
"""Characters of one prompt that are remembered."""


class History:
    """Walks through earlier prompts and remembers new ones.

    Reading and writing touch the disk: call `load` and `store` from a thread.
    """

    def __init__(self, path: Path) -> None:
        self._path = path
        self._items: list[str] = []
        self._at: int | None = None
        self._draft = ""

    @property
    def items(self) -> tuple[str, ...]:
        """Earlier prompts, oldest first."""
        return tuple(self._items)

    def load(self) -> list[str]:
        """Read the file and return its prompts, oldest first; broken lines are skipped."""
        try:
            lines = self._path.read_text("utf-8", errors="replace").splitlines()
        except FileNotFoundError:
            return []
        except OSError as error:
            _log.warning("The prompt history %s cannot be read: %s", self._path, error)
            return []
        found = [text for line in lines if (text := _parse(line))]
        if len(found) > KEEP * 2:
            self._shorten(lines[-KEEP:])
        return found[-KEEP:]

    def merge(self, loaded: list[str]) -> None:
        """Put prompts read from disk before those of this run."""
        self._items = [*loaded, *self._items]

    def add(self, text: str) -> bool:
        """Remember a prompt and go back to the newest; False when it repeats the last one."""
        self._at = None
        text = text[:LONGEST]
        if not text.strip() or (self._items and self._items[-1] == text):
            return False
        self._items.append(text)
        return True

    def store(self, text: str, cwd: str) -> None:
        """Append a prompt to the file, for its owner's eyes only.

        Raises:
            OSError: The state directory cannot be written.
        """
        import json
        import time

        row = json.dumps(
            {"text": text[:LONGEST], "at": round(time.time(), 3), "cwd": cwd}, ensure_ascii=False
        )
        self._path.parent.mkdir(parents=True, exist_ok=True)
        handle = os.open(self._path, os.O_WRONLY | os.O_APPEND | os.O_CREAT, 0o600)
        try:
            # One write: programs that append at the same time do not cut each other's lines.
            os.write(handle, (row + "\n").encode("utf-8", errors="replace"))
        finally:
            os.close(handle)

    def previous(self, draft: str) -> str | None:
        """Step back and return that prompt; None at the oldest. The draft is kept."""
        at = len(self._items) if self._at is None else self._at
        if at == 0:
            return None
        if self._at is None:
            self._draft = draft
        self._at = at - 1
        return self._items[self._at]

    def next(self) -> str | None:
        """Step forward; past the newest prompt comes the draft. None when not stepping."""
        if self._at is None:
            return None
        self._at += 1
        if self._at >= len(self._items):
            self._at = None
            return self._draft
        return self._items[self._at]

    @property
    def walking(self) -> bool:
        """Whether an earlier prompt is shown in place of the draft."""
        return self._at is not None

    def leave(self) -> None:
        """Take what is shown as the draft: the next step back starts at the newest."""
        self._at = None

    def _shorten(self, lines: list[str]) -> None:
        temporary = self._path.with_suffix(f".{os.getpid()}.tmp")
        try:
            temporary.write_text("\n".join(lines) + "\n", "utf-8")
            temporary.chmod(0o600)
            temporary.replace(self._path)
        except OSError as error:
            _log.warning("The prompt history %s cannot be shortened: %s", self._path, error)
            with contextlib.suppress(OSError):
                temporary.unlink()


def _parse(line: str) -> str:
    import json

    try:
        row = json.loads(line)
    except ValueError:
        return ""
    text = row.get("text") if isinstance(row, dict) else None
    return text if isinstance(text, str) else ""
