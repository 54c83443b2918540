"""The rows of a conversation as what a person reads."""

import json
from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace
from typing import Any, Final, Literal

from amplifier_tui.base.jsonl import Row
from amplifier_tui.base.lazy.dataclass import dataclass
from amplifier_tui.base.messages.sub_sessions import for_people
from amplifier_tui.base.messages.tool_calls import answers_of, calls_of
from amplifier_tui.host.messages import (
    is_from_hook,
    is_import_note,
    is_steering,
    text_of,
    thinking_of,
    typed_prompt,
)
from amplifier_tui.host.requests import ExportRequest
from amplifier_tui.host.store.export.masking import Masking
from amplifier_tui.host.store.turns.images import sources_in

PartKind = Literal["prompt", "answer", "thinking", "call", "result", "note", "notice", "command"]

_LONGEST_NAME: Final = 80
_LONGEST_ABOUT: Final = 120


@dataclass(frozen=True, slots=True)
class ExportPart:
    """Something that was said, called, given back or noted.

    A `notice` is of the program, such as a failure; a `command` is one of the user's own.
    `tool` names what was called, `about` is the first text it was given: one line of it. `images`
    are the type and the base64 of each. A call that was `denied` did not run.
    """

    kind: PartKind
    text: str
    tool: str = ""
    about: str = ""
    images: tuple[tuple[str, str], ...] = ()
    denied: bool = False


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

    def parts(
        self, row: Row, denied: Callable[[str], bool] = lambda _: False
    ) -> Iterator[ExportPart]:
        """Yield what a row says; `denied` tells of the ids of its calls."""
        for part in self._read(row, denied):
            yield self.masked(part)

    def masked(self, part: ExportPart) -> ExportPart:
        """Return a part without secrets."""
        name = self._masking.line(part.tool, _LONGEST_NAME)
        about = self._masking.line(part.about, _LONGEST_ABOUT)
        return replace(part, text=self._masking.text(part.text), tool=name, about=about)

    def _read(self, row: Row, denied: Callable[[str], bool]) -> Iterator[ExportPart]:
        match row.get("role"):
            case "user" if not is_from_hook(row) or is_steering(row):
                yield ExportPart("prompt", typed_prompt(row), images=tuple(sources_in(row)))
            case "user" if is_import_note(row):
                yield ExportPart("note", text_of(row.get("content")))
            case "assistant":
                yield from self._answer(row, denied)
            case "tool":
                names = [self._waiting.pop(each, "") for each in answers_of(row)]
                if self._request.tools:
                    given = for_people(text_of(row.get("content")))
                    images = tuple(sources_in(row))
                    yield ExportPart("result", given, "".join(names), images=images)
            case _:
                pass

    def _answer(self, row: Row, denied: Callable[[str], bool]) -> Iterator[ExportPart]:
        content = row.get("content")
        listed = content if isinstance(content, list) else []
        blocks = [block for block in listed if isinstance(block, Mapping)]
        if self._request.thinking:
            thoughts = [thinking_of(each) for each in blocks]
            for text in (*thoughts, str(row.get("thinking_text") or "")):
                if text:
                    yield ExportPart("thinking", text)
        said = text_of([block for block in blocks if not thinks(block)] if blocks else content)
        if said.strip():
            yield ExportPart("answer", said)
        for call in calls_of(row):
            self._waiting[call.call_id] = call.name
            given = self._masking.values(call.arguments)
            about = next((each for each in given.values() if isinstance(each, str)), "")
            text = json.dumps(given, ensure_ascii=False, indent=2)
            yield ExportPart("call", text, call.name, about, denied=denied(call.call_id))
