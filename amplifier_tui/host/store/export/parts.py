"""The rows of a conversation as what a person reads."""

import json
from collections.abc import Iterator, Mapping
from typing import Any, Final, Literal

from amplifier_tui.base.jsonl import Row
from amplifier_tui.base.lazy.dataclass import dataclass
from amplifier_tui.base.sub_sessions import for_people
from amplifier_tui.base.tool_calls import answers_of, calls_of
from amplifier_tui.host.messages import (
    is_from_hook,
    is_import_note,
    text_of,
    thinking_of,
    typed_prompt,
)
from amplifier_tui.host.requests import ExportRequest
from amplifier_tui.host.store.export.masking import Masking

PartKind = Literal["prompt", "answer", "thinking", "call", "result", "note"]

_LONGEST_NAME: Final = 80


@dataclass(frozen=True, slots=True)
class ExportPart:
    """Something that was said, called, given back or noted; `tool` names what was called."""

    kind: PartKind
    text: str
    tool: str = ""


def thinks(block: Any) -> bool:
    """Whether a block of a message's content is reasoning."""
    return isinstance(block, Mapping) and block.get("type") in ("thinking", "reasoning")


class PartReader:
    """Reads rows in their order, without secrets."""

    def __init__(self, request: ExportRequest, masking: Masking) -> None:
        self._request = request
        self._masking = masking
        self._waiting: dict[str, str] = {}
        """Names of the tools whose results are still to come, by call id."""

    def parts(self, row: Row) -> Iterator[ExportPart]:
        """Yield what a row says."""
        for kind, text, tool in self._read(row):
            name = self._masking.line(tool, _LONGEST_NAME)
            yield ExportPart(kind, self._masking.text(text), name)

    def _read(self, row: Row) -> Iterator[tuple[PartKind, str, str]]:
        match row.get("role"):
            case "user" if not is_from_hook(row):
                yield "prompt", typed_prompt(row), ""
            case "user" if is_import_note(row):
                yield "note", text_of(row.get("content")), ""
            case "assistant":
                yield from self._answer(row)
            case "tool":
                names = [self._waiting.pop(each, "") for each in answers_of(row)]
                if self._request.tools:
                    yield "result", for_people(text_of(row.get("content"))), "".join(names)
            case _:
                pass

    def _answer(self, row: Row) -> Iterator[tuple[PartKind, str, str]]:
        content = row.get("content")
        listed = content if isinstance(content, list) else []
        blocks = [block for block in listed if isinstance(block, Mapping)]
        if self._request.thinking:
            thoughts = [thinking_of(each) for each in blocks]
            for text in (*thoughts, str(row.get("thinking_text") or "")):
                if text:
                    yield "thinking", text, ""
        said = text_of([block for block in blocks if not thinks(block)] if blocks else content)
        if said.strip():
            yield "answer", said, ""
        for call in calls_of(row):
            self._waiting[call.call_id] = call.name
            given = self._masking.values(call.arguments)
            yield "call", json.dumps(given, ensure_ascii=False, indent=2), call.name
