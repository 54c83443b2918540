"""Puts together rows of ours from the pieces that other programs store one by one."""

import json
import os
from collections.abc import Mapping
from typing import Any, Final

from amplifier_tui.base.jsonl import Row
from amplifier_tui.base.secrets import cut_before, secret_values
from amplifier_tui.base.text import clean, encodable
from amplifier_tui.host.messages import IMPORT_HOOK

_LONGEST_NOTE: Final = 2_000
_LONGEST_NAME: Final = 200
_DEEPEST: Final = 50


class RowBuilder:
    """Takes pieces in their order; `take` returns the rows that are complete.

    All text is cleaned of control sequences.
    """

    def __init__(self) -> None:
        self._done: list[Row] = []
        self._blocks: list[Row] = []
        self._calls: list[Row] = []
        self._open: set[str] = set()
        self._time = ""

    def at(self, timestamp: Any) -> None:
        """Note when the next pieces came, as ISO text."""
        self._time = timestamp[:40] if isinstance(timestamp, str) else ""

    def prompt(self, text: str) -> None:
        """Add what the user said."""
        if text.strip():
            self._add({"role": "user", "content": harmless(text)})

    def note(self, about: str, data: Any) -> None:
        """Add something that is neither said nor called, shortened, as text."""
        text = data if isinstance(data, str) else _json(data)
        text = _cut(harmless(f"[{about}] {text}"))
        source = {"source": "hook", "hook_name": IMPORT_HOOK}
        self._add({"role": "user", "content": text, "metadata": source})

    def thinking(self, text: str) -> None:
        """Add a piece of the model's reasoning."""
        self._block("thinking", text)

    def answer(self, text: str) -> None:
        """Add a piece of an answer."""
        self._block("text", text)

    def call(self, call_id: Any, name: Any, arguments: Any) -> None:
        """Add a call of a tool, or a note where it has no id or name."""
        if not (isinstance(call_id, str) and call_id and isinstance(name, str) and name):
            self.note("a call that can't be read", arguments)
            return
        if isinstance(arguments, str):
            arguments = _read(arguments)
        if not isinstance(arguments, Mapping):
            arguments = {"input": arguments}
        identity = harmless(call_id)[:_LONGEST_NAME]
        self._open.add(identity)
        given = {"id": identity, "tool": harmless(name)[:_LONGEST_NAME]}
        self._calls.append({**given, "arguments": _harmless_values(arguments)})

    def result(
        self, call_id: Any, text: str, *, failed: bool = False, refusals: tuple[str, ...] = ()
    ) -> None:
        """Add what a tool gave back; a note where nobody asked for it.

        Args:
            call_id: The call's id.
            text: The result.
            failed: The call failed, or was refused.
            refusals: How the text of a call begins that was refused.
        """
        identity = harmless(call_id)[:_LONGEST_NAME] if isinstance(call_id, str) else ""
        if identity not in self._open:
            self.note("a result of no call", text)
            return
        self._open.discard(identity)
        row: Row = {"role": "tool", "tool_call_id": identity, "content": harmless(text)}
        if failed:
            denied = {"denied": True} if text.lstrip().startswith(refusals) else {}
            row["metadata"] = {"is_error": True, **denied}
        self._add(row)

    def finish(self) -> None:
        """What comes next belongs to another message."""
        if self._blocks or self._calls:
            row: Row = {"role": "assistant", "content": self._blocks}
            if self._calls:
                row["tool_calls"] = self._calls
            self._blocks, self._calls = [], []
            self._done.append(self._stamped(row))

    def take(self) -> list[Row]:
        """Return the rows that are complete and have not been taken."""
        done, self._done = self._done, []
        return done

    def _block(self, kind: str, text: str) -> None:
        if self._calls:
            self.finish()
        if text.strip():
            self._blocks.append({"type": kind, kind: harmless(text)})

    def _add(self, row: Row) -> None:
        self.finish()
        self._done.append(self._stamped(row))

    def _stamped(self, row: Row) -> Row:
        return {**row, "timestamp": harmless(self._time)} if self._time else row


def text_in(content: Any) -> str:
    """Return the text in a content: text itself, or a list of blocks; what is no text is named."""
    if isinstance(content, str):
        return content
    if isinstance(content, Mapping):
        content = [content]
    if not isinstance(content, list):
        return "" if content is None else _json(content)
    return "\n\n".join(filter(None, map(_text_of_block, content)))


def _text_of_block(block: Any) -> str:
    if isinstance(block, str):
        return block
    if not isinstance(block, Mapping):
        return _json(block)
    text = block.get("text")
    if isinstance(text, str):
        return text
    kind = block.get("type")
    return f"[{kind[:_LONGEST_NAME]}]" if isinstance(kind, str) else _cut(_json(block))


def named(kind: Any) -> str:
    """Return what a row of an unknown kind is called."""
    known = isinstance(kind, str) and kind
    return kind[:_LONGEST_NAME] if known else "a row of an unknown kind"


def harmless(text: str) -> str:
    """Return a text without control sequences, and without what no API takes."""
    return encodable(clean(text))


def _cut(text: str) -> str:
    """Return a text of at most `_LONGEST_NOTE` characters, and a mark where it was cut."""
    if len(text) <= _LONGEST_NOTE:
        return text
    # Never within a secret: nobody would know half of one again.
    return f"{text[: cut_before(text, _LONGEST_NOTE, secret_values(os.environ))]}…"


def _harmless_values(data: Any, depth: int = 0) -> Any:
    """Return a copy of JSON data with its texts cleaned; what is nested too deeply is text."""
    if isinstance(data, str):
        return harmless(data)
    if depth == _DEEPEST and isinstance(data, Mapping | list):
        return harmless(_dump(data))
    if isinstance(data, Mapping):
        return {
            harmless(str(key)): _harmless_values(value, depth + 1) for key, value in data.items()
        }
    if isinstance(data, list):
        return [_harmless_values(item, depth + 1) for item in data]
    return data


def _read(text: str) -> Any:
    try:
        return json.loads(text)
    except (ValueError, RecursionError):
        return text


def _json(data: Any) -> str:
    return _dump(_harmless_values(data))


def _dump(data: Any) -> str:
    try:
        return json.dumps(data, ensure_ascii=False)
    except RecursionError:
        return "nested too deeply"
