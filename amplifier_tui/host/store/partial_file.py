"""What is on the screen and not yet a row: written before it is shown, needed only after a crash.

A prompt is shown before the orchestrator adds its row, an answer streams before its row exists,
a tool's result is shown before the calls next to it end. Each is noted here first. When the rows
have come the file is emptied; what is still in it when a session is opened was lost in a crash
and becomes rows, marked as interrupted.
"""

import logging
from collections.abc import Callable, Iterable, Iterator
from dataclasses import field
from pathlib import Path
from typing import Any, Final

from amplifier_tui.base.jsonl import Row, StoredRows, encode_row
from amplifier_tui.base.lazy.dataclass import dataclass
from amplifier_tui.base.messages.tool_calls import failed_result
from amplifier_tui.host.messages import INTERRUPTED, typed_prompt
from amplifier_tui.host.store.metadata import now
from amplifier_tui.host.store.session_file import OnTrouble, SessionFile

logger = logging.getLogger(__name__)

FILE_NAME: Final = "partial.jsonl"


class PartialFile:
    """Notes what is shown before it is a row.

    Args:
        saved: Whether all rows are on disk; before that nothing is taken out.
    """

    def __init__(
        self,
        path: Path,
        on_trouble: OnTrouble | None = None,
        saved: Callable[[], bool] = lambda: True,
    ) -> None:
        self._file = SessionFile(path, on_trouble)
        self._saved = saved
        self._rows = 0
        self._prompts: list[str] = []
        self._blocks: set[str] = set()
        self._calls: set[str] = set()
        self._dirty = False

    def prompt(self, text: str, prompt_id: str = "") -> None:
        """The user's prompt is about to be shown; the id names one that waited."""
        self._prompts.append(text)
        self._note({"k": "prompt", "text": text, "id": prompt_id})

    def delta(self, block_id: str, text: str) -> None:
        """A piece of the answer is about to be shown."""
        self._blocks.add(block_id)
        self._note({"k": "delta", "id": block_id, "text": text})

    def whole(self, block_id: str, text: str) -> None:
        """A block of the answer is about to be shown as a whole; it replaces what streamed."""
        self._blocks.add(block_id)
        self._note({"k": "whole", "id": block_id, "text": text})

    def void(self, block_id: str) -> None:
        """A block is taken back: the request is going to be repeated."""
        if block_id in self._blocks:
            self._blocks.discard(block_id)
            self._note({"k": "void", "id": block_id})
            self._settle()

    def result(self, call_id: str, tool: str, output: str, ok: bool) -> None:
        """A tool's result is about to be shown."""
        self._calls.add(call_id)
        self._note({"k": "result", "id": call_id, "name": tool, "output": output, "ok": ok})

    def row_added(self, count: int, row: Row) -> None:
        """A row is on disk."""
        self._rows = count
        match row.get("role"):
            case "user":
                typed = typed_prompt(row)
                if typed in self._prompts:
                    self._prompts.remove(typed)
            case "assistant":
                self._blocks.clear()
            case "tool":
                self._calls.discard(str(row.get("tool_call_id")))
        self._settle()

    @property
    def awaits_row(self) -> bool:
        """Whether what was shown last, a prompt or an answer, is still to become a row."""
        return bool(self._prompts or self._blocks)

    def rest(self) -> None:
        """The turn is over: everything that was worth a row has one."""
        self._prompts.clear()
        self._blocks.clear()
        self._calls.clear()
        self._settle()

    def start_at(self, count: int) -> None:
        """Say how many rows there are, before the first note."""
        self._rows = count

    def keep(self) -> None:
        """What is in the file already is still needed: it goes once all rows are on disk."""
        self._dirty = True

    def flush(self) -> None:
        """Write the notes that wait for the disk."""
        self._file.flush()
        self._settle()

    def close(self) -> None:
        """Close the file; one that holds nothing is removed."""
        self._settle()
        self._file.close()
        try:
            if self._file.path.stat().st_size == 0:
                self._file.path.unlink()
        except OSError as error:
            logger.debug("%s was not removed: %s", self._file.path, error)

    def _note(self, record: Row) -> None:
        self._dirty = True
        self._file.append(encode_row(record | {"row": self._rows}))

    def _settle(self) -> None:
        needed = self._prompts or self._blocks or self._calls
        if self._dirty and not needed and self._saved():
            self._file.clear()
            self._dirty = False


@dataclass(slots=True)
class _Left:
    """What such a file holds, in the order it was first noted, each with the rows there were."""

    prompts: list[tuple[int, str]] = field(default_factory=list)
    results: dict[str, tuple[int, Row]] = field(default_factory=dict)
    blocks: dict[str, tuple[int, list[str]]] = field(default_factory=dict)


def recovered_rows(path: Path, stored: StoredRows) -> list[Row]:
    """Return the rows a crash kept from being written, in order."""
    left = _read(path)
    rows: list[Row] = []
    for count, text in left.prompts:
        if not any(
            row.get("role") == "user" and typed_prompt(row) == text for _, row in stored.read(count)
        ):
            rows.append({"role": "user", "content": text, **_mark()})
    for call_id, (count, row) in left.results.items():
        if not any(
            old.get("role") == "tool" and old.get("tool_call_id") == call_id
            for _, old in stored.read(count)
        ):
            rows.append(row)
    texts = [
        "".join(pieces)
        for count, pieces in left.blocks.values()
        if not any(row.get("role") == "assistant" for _, row in stored.read(count))
    ]
    content = [{"type": "text", "text": text} for text in texts if text.strip()]
    if content:
        rows.append({"role": "assistant", "content": content, **_mark()})
    return rows


def begun_prompts(path: Path) -> set[str]:
    """Return the ids of the prompts that had begun when a crash came."""
    return {str(row.get("id") or "") for _, row in StoredRows(path).read()} - {""}


def noted_prompts(records: Iterable[Row]) -> Iterator[str]:
    """Yield the prompts among notes."""
    return (str(each.get("text") or "") for each in records if each.get("k") == "prompt")


def _read(path: Path) -> _Left:
    left = _Left()
    try:
        records = StoredRows(path).read()
    except OSError as error:
        logger.warning("%s can't be read: %s", path, error)
        return left
    for _, record in records:
        noted = record.get("row")
        count = noted if isinstance(noted, int) and noted > 0 else 0
        identity = str(record.get("id") or "")
        text = str(record.get("text") or "")
        match record.get("k"):
            case "prompt":
                left.prompts.append((count, text))
            case "delta":
                left.blocks.setdefault(identity, (count, []))[1].append(text)
            case "whole":
                left.blocks.setdefault(identity, (count, []))[1][:] = [text]
            case "void":
                left.blocks.pop(identity, None)
            case "result":
                left.results[identity] = (count, _tool_row(identity, record))
    return left


def _tool_row(call_id: str, record: Row) -> Row:
    row = failed_result(call_id, str(record.get("name") or ""), str(record.get("output") or ""))
    row |= _mark()
    if record.get("ok") is not True:
        row["metadata"]["is_error"] = True
    return row


def _mark() -> dict[str, Any]:
    return {"metadata": {INTERRUPTED: True, "recovered": True}, "timestamp": now()}
