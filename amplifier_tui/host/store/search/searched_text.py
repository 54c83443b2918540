"""What of a session can be found: its card, and what is said and called in its rows."""

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Final

from amplifier_tui.base.jsonl import Row, decode_row
from amplifier_tui.base.lazy.dataclass import dataclass
from amplifier_tui.base.messages.context_file import without_contents
from amplifier_tui.base.messages.sub_sessions import SUB_SESSION_ID, for_people
from amplifier_tui.base.messages.tool_calls import answers_of, calls_of
from amplifier_tui.base.text import encodable
from amplifier_tui.host.messages import (
    commands_of,
    is_from_hook,
    is_steering,
    text_of,
    typed_prompt,
)
from amplifier_tui.host.redaction import Redactor
from amplifier_tui.host.store.imported.origins import file_at, is_transcript
from amplifier_tui.host.store.imported.reading import imported_card
from amplifier_tui.host.store.metadata import Metadata, read_metadata
from amplifier_tui.host.store.sessions import prompt_at_head
from amplifier_tui.host.stored_cards import HitKind

LONGEST: Final = 32 * 1024
"""Characters of one text that can be found, from its beginning and from its end."""
LONGEST_RESULT: Final = 8 * 1024
"""The same of what a tool gave back: there is more of that than of all the rest."""

_LEFT_OUT: Final = "\n…\n"


@dataclass(frozen=True, slots=True)
class Said:
    """One text of a session, without secrets.

    Attributes:
        row: Where it is in the transcript, from 0; -1 for the card.
        turn: How many prompts there are up to it.
        call_id: Of a call or its result.
        lane: The sub-agent that a result is of; empty for none.
    """

    kind: HitKind
    text: str
    row: int = -1
    turn: int = 0
    call_id: str = ""
    lane: str = ""


class SessionReader:
    """Reads what is said, without secrets."""

    def __init__(self) -> None:
        self._redactor = Redactor()

    def card(self, folder: Path) -> Iterator[Said]:
        """Yield what a session is called."""
        metadata = self._metadata(folder)
        words = (metadata.name, metadata.description, *metadata.tags)
        if text := self._text("\n".join(word for word in words if word)):
            yield Said("title", text)

    def _metadata(self, folder: Path) -> Metadata:
        if not is_transcript(folder):
            return read_metadata(folder)
        card = imported_card(file_at(folder), self._redactor)
        return Metadata(
            session_id=card.key,
            name=card.title,
            first_prompt=card.first_prompt,
            project_dir=card.cwd,
        )

    def facts(self, folder: Path) -> Metadata:
        """Return what is known of a session."""
        metadata = self._metadata(folder)
        metadata.first_prompt = metadata.first_prompt or prompt_at_head(folder)
        for name in ("name", "description", "first_prompt", "bundle", "model", "branch"):
            setattr(metadata, name, self._text(getattr(metadata, name)))
        metadata.tags = [self._text(tag) for tag in metadata.tags]
        return metadata

    def row(self, line: bytes, row: int, turn: int) -> Iterator[Said]:
        """Yield what a row of the transcript says; a line that is no row says nothing.

        Args:
            turn: How many prompts came before it.
        """
        message = decode_row(line)
        if message is not None:
            yield from self.message(message, row, turn)

    def message(self, message: Row, row: int, turn: int) -> Iterator[Said]:
        """Yield what a row says; arguments as of `row`."""
        role = message.get("role")
        if role == "user" and not is_from_hook(message):
            turn += 1
            text = typed_prompt(message)
            if commands_of(message):
                # What the user's own commands printed went along.
                text = without_contents(text_of(message.get("content")))
            yield Said("prompt", self._text(text), row, turn)
        elif role == "user" and is_steering(message):
            yield Said("prompt", self._text(typed_prompt(message)), row, turn)
        elif role == "assistant":
            if text := self._text(text_of(message.get("content"))):
                yield Said("answer", text, row, turn)
            for call in calls_of(message):
                text = self._text(f"{call.name} {self._given(call.arguments)}")
                yield Said("call", text, row, turn, call.call_id)
        if answered := answers_of(message):
            text = text_of(message.get("content")) if role != "user" else ""
            yield from self._result(text or _blocks_text(message), row, turn, answered[0])

    def _result(self, text: str, row: int, turn: int, call_id: str) -> Iterator[Said]:
        lane = SUB_SESSION_ID.search(text[-LONGEST_RESULT:])
        said = self._text(for_people(text), LONGEST_RESULT)
        if said or lane:
            yield Said("result", said, row, turn, call_id, lane[0] if lane else "")

    def _given(self, arguments: Any) -> str:
        """Return the arguments of a call as JSON; empty where they are nested too deeply."""
        try:
            return json.dumps(self._redactor.fields(arguments), ensure_ascii=False)
        except RecursionError:
            return ""

    def _text(self, text: str, longest: int = LONGEST) -> str:
        if len(text) <= 2 * longest:
            return encodable(self._redactor.text(text))
        # Cut before as well, so that a text of any length takes a bounded time; what a cut makes of
        # a secret is in the half that is not kept.
        begin = self._redactor.text(text[: 2 * longest])[:-longest][:longest]
        end = self._redactor.text(text[-2 * longest :])[longest:][-longest:]
        return encodable(f"{begin}{_LEFT_OUT}{end}")


def _blocks_text(message: Row) -> str:
    """Return what is in the results that a message has as content blocks."""
    content = message.get("content")
    blocks = content if isinstance(content, list) else []
    found = (block.get("content") for block in blocks if isinstance(block, dict))
    return "\n".join(filter(None, map(text_of, found)))
