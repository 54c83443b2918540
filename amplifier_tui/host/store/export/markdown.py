"""A conversation as Markdown."""

import re
from collections.abc import Mapping
from typing import Final

from amplifier_tui.host.store.export.headings import closes, lowered
from amplifier_tui.host.store.export.parts import ExportPart

_HEADINGS: Final = 2
"""Levels of the export's own headings: the title, and who speaks."""
_TICKS: Final = re.compile(r"`{3,}")


class MarkdownForm:
    """Writes a conversation as Markdown; calls and results are blocks of code."""

    def __init__(self) -> None:
        self._answering = False
        """Whether what comes next stands below the assistant's heading."""

    def begin(self, title: str, facts: Mapping[str, str]) -> str:
        """Return the head: a title of one line, and what is said of the session, by name."""
        listed = "".join(f"- {name}: {value}\n" for name, value in facts.items())
        return f"# {title}\n\n{listed}"

    def part(self, part: ExportPart) -> str:
        """Return one part, below the heading of who it is of."""
        heading = ""
        if part.kind in ("prompt", "command"):
            heading, self._answering = "\n## You\n", False
        elif part.kind in ("answer", "thinking", "call") and not self._answering:
            heading, self._answering = "\n## Assistant\n", True
        return f"{heading}\n{_body(part)}\n"

    def end(self) -> str:
        """Return what comes last."""
        return ""


def _body(part: ExportPart) -> str:
    match part.kind:
        case "prompt" | "answer":
            # One that broke off in a block of code would take all that follows into it.
            return lowered(part.text, _HEADINGS) if closes(part.text) else _fenced(part.text)
        case "thinking":
            return "> " + part.text.replace("\n", "\n> ")
        case "call":
            word = ", denied" if part.denied else ""
            return f"Calls `{_name(part)}`{word}:\n\n{_fenced(part.text, 'json')}"
        case "note":
            return f"Note:\n\n{_fenced(part.text)}"
        case "notice":
            return f"---\n\n{_fenced(part.text)}\n\n---"
        case "command":
            return _fenced(part.text, "console")
        case "result":
            of = f" of `{_name(part)}`" if part.tool else ""
            return f"Result{of}:\n\n{_fenced(part.text)}"


def _name(part: ExportPart) -> str:
    return part.tool.replace("`", "'")


def _fenced(text: str, language: str = "") -> str:
    """Return text as a block of code, whatever is in it."""
    fence = "`" * (1 + max((len(found) for found in _TICKS.findall(text)), default=2))
    return f"{fence}{language}\n{text}\n{fence}"
