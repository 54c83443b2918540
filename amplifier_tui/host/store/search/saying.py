"""What of a session can be found: its card, and what is said and called in its rows."""

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Final, Literal

from amplifier_tui.base.jsonl import decode_row
from amplifier_tui.base.lazy.dataclass import dataclass
from amplifier_tui.base.text import encodable
from amplifier_tui.base.tool_calls import calls_of
from amplifier_tui.host.messages import is_from_hook, text_of, typed_prompt
from amplifier_tui.host.redaction import Redactor
from amplifier_tui.host.store.metadata import read_metadata

SaidKind = Literal["title", "prompt", "answer", "call"]

LONGEST: Final = 32 * 1024
"""Characters of one text that can be found; what follows them can't."""


@dataclass(frozen=True, slots=True)
class Said:
    """One text of a session, without secrets.

    Attributes:
        row: Where it is in the transcript, from 0; -1 for the card.
        turn: How many prompts there are up to it.
        call_id: Of a call.
    """

    kind: SaidKind
    text: str
    row: int = -1
    turn: int = 0
    call_id: str = ""


class SessionReader:
    """Reads what is said, without secrets."""

    def __init__(self) -> None:
        self._redactor = Redactor()

    def card(self, folder: Path) -> Iterator[Said]:
        """Yield what a session is called."""
        metadata = read_metadata(folder)
        words = (metadata.name, metadata.description, *metadata.tags)
        if text := self._text("\n".join(word for word in words if word)):
            yield Said("title", text)

    def row(self, line: bytes, row: int, turn: int) -> Iterator[Said]:
        """Yield what a row of the transcript says; a line that is no row says nothing.

        Args:
            turn: How many prompts came before it.
        """
        message = decode_row(line)
        if message is None:
            return
        role = message.get("role")
        if role == "user" and not is_from_hook(message):
            yield Said("prompt", self._text(typed_prompt(message)), row, turn + 1)
        elif role == "assistant":
            if text := self._text(text_of(message.get("content"))):
                yield Said("answer", text, row, turn)
            for call in calls_of(message):
                text = self._text(f"{call.name} {self._given(call.arguments)}")
                yield Said("call", text, row, turn, call.call_id)

    def _given(self, arguments: Any) -> str:
        """Return the arguments of a call as JSON; empty where they are nested too deeply."""
        try:
            return json.dumps(self._redactor.fields(arguments), ensure_ascii=False)
        except RecursionError:
            return ""

    def _text(self, text: str) -> str:
        # Cut before as well, so that a text of any length takes a bounded time.
        return encodable(self._redactor.text(text[: 2 * LONGEST])[:LONGEST])
