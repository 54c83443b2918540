"""A stored session as one text for people or programs, without secrets."""

import json
import re
from collections.abc import Iterable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any, Final, Literal

from amplifier_tui.base.jsonl import Row, StoredRows
from amplifier_tui.base.lazy.dataclass import dataclass
from amplifier_tui.base.sub_sessions import for_people
from amplifier_tui.base.text import clean, encodable, one_line
from amplifier_tui.base.tool_calls import calls_of
from amplifier_tui.host.messages import is_from_hook, text_of, thinking_of, typed_prompt
from amplifier_tui.host.redaction import REDACTED, Redactor
from amplifier_tui.host.store.export.page import ExportPart, page
from amplifier_tui.host.store.lanes import TRANSCRIPT
from amplifier_tui.host.store.metadata import Metadata, read_metadata

ExportForm = Literal["markdown", "json", "html"]

_TICKS: Final = re.compile(r"`{3,}")


@dataclass(frozen=True, slots=True)
class Exported:
    """The text, and how many secrets were taken out of it."""

    text: str
    secrets: int


@dataclass(frozen=True, slots=True)
class ExportChoice:
    """What goes into an export.

    Attributes:
        form: The kind of text.
        first_turn: The turn it begins with; 1 for the whole.
        tools: Whether results of tools are in it; their calls always are.
        thinking: Whether the model's reasoning is.
    """

    form: ExportForm = "markdown"
    first_turn: int = 1
    tools: bool = True
    thinking: bool = False


def export_session(folder: Path, choice: ExportChoice) -> Exported:
    """Return the session in a folder as text.

    Raises:
        OSError: It can't be read.
    """
    card = read_metadata(folder)
    rows = _from_turn((row for _, row in StoredRows(folder / TRANSCRIPT).read()), choice.first_turn)
    redactor = Redactor()
    if choice.form == "json":
        data = {"session": card.to_json(), "messages": [_chosen(row, choice) for row in rows]}
        safe = redactor.fields(data["session"]), redactor.values(data["messages"])
        text = json.dumps(dict(zip(data, safe, strict=True)), ensure_ascii=False, indent=2)
        return Exported(f"{encodable(text)}\n", _taken_out(json.dumps(data), text))
    taken_out = 0
    parts: list[ExportPart] = []
    for part in _parts(rows, choice):
        text = redactor.text(part.text)
        taken_out += _taken_out(part.text, text)
        parts.append(replace(part, text=encodable(clean(text))))
    title, facts = redactor.text(_title(card)), _facts(card, redactor)
    if choice.form == "html":
        return Exported(page(title, facts, parts), taken_out)
    listed = (f"- {name}: {value}" for name, value in facts.items())
    return Exported("\n".join([f"# {title}\n", *listed, *map(_markdown, parts), ""]), taken_out)


def _taken_out(before: str, after: str) -> int:
    return after.count(REDACTED) - before.count(REDACTED)


def _title(card: Metadata) -> str:
    return one_line(card.name or card.first_prompt, 200) or card.session_id


def _facts(card: Metadata, redactor: Redactor) -> dict[str, str]:
    facts = {"Session": card.session_id, "Bundle": card.bundle_reference, "Model": card.model}
    facts |= {"Created": card.created, "About": card.description, "Tags": ", ".join(card.tags)}
    lines = {name: redactor.text(one_line(value, 500)) for name, value in facts.items()}
    return {name: line for name, line in lines.items() if line}


def _from_turn(rows: Iterable[Row], first: int) -> Iterator[Row]:
    turn = 0
    for row in rows:
        turn += row.get("role") == "user" and not is_from_hook(row)
        if turn >= first and row.get("role"):
            yield row


def _chosen(row: Row, choice: ExportChoice) -> Row:
    if row.get("role") == "tool" and not choice.tools:
        return {**row, "content": ""}
    content = row.get("content")
    if choice.thinking or row.get("role") != "assistant":
        return row
    kept = {key: value for key, value in row.items() if key not in ("thinking_text", "thinking")}
    if isinstance(content, list):
        kept["content"] = [block for block in content if not _thinks(block)]
    return kept


def _thinks(block: Any) -> bool:
    return isinstance(block, dict) and block.get("type") in ("thinking", "reasoning")


def _parts(rows: Iterable[Row], choice: ExportChoice) -> Iterator[ExportPart]:
    for row in rows:
        match row.get("role"):
            case "user" if not is_from_hook(row):
                yield ExportPart("prompt", typed_prompt(row))
            case "assistant":
                yield from _answer(row, choice)
            case "tool" if choice.tools:
                yield ExportPart("result", for_people(text_of(row.get("content"))))
            case _:
                pass


def _answer(row: Row, choice: ExportChoice) -> Iterator[ExportPart]:
    content = row.get("content")
    listed = content if isinstance(content, list) else []
    blocks = [block for block in listed if isinstance(block, dict)]
    if choice.thinking:
        thoughts = [thinking_of(block) for block in blocks] + [str(row.get("thinking_text") or "")]
        yield from (ExportPart("thinking", text) for text in thoughts if text)
    said = text_of([block for block in blocks if not _thinks(block)] if blocks else content)
    if said.strip():
        yield ExportPart("answer", said)
    for call in calls_of(row):
        given = json.dumps(call.arguments, ensure_ascii=False, indent=2)
        yield ExportPart("call", given, one_line(call.name, 80))


def _markdown(part: ExportPart) -> str:
    match part.kind:
        case "prompt":
            return f"\n## You\n\n{part.text}"
        case "answer":
            return f"\n## Assistant\n\n{part.text}"
        case "thinking":
            return "\n> " + part.text.replace("\n", "\n> ")
        case "call":
            return f"\nCalls `{part.tool}`:\n\n{_fenced(part.text, 'json')}"
        case "result":
            return f"\nResult:\n\n{_fenced(part.text)}"


def _fenced(text: str, language: str = "") -> str:
    """Return text as a block of code, whatever is in it."""
    fence = "`" * (1 + max((len(found) for found in _TICKS.findall(text)), default=2))
    return f"{fence}{language}\n{text}\n{fence}"
