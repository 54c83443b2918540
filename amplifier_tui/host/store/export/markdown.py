"""A conversation as Markdown."""

import re
from collections.abc import Mapping
from typing import Final

from amplifier_tui.host.store.export.parts import ExportPart

_TICKS: Final = re.compile(r"`{3,}")


class MarkdownForm:
    """Writes a conversation as Markdown; calls and results are blocks of code."""

    def begin(self, title: str, facts: Mapping[str, str]) -> str:
        """Return the head: a title of one line, and what is said of the session, by name."""
        listed = "".join(f"- {name}: {value}\n" for name, value in facts.items())
        return f"# {title}\n\n{listed}"

    def part(self, part: ExportPart) -> str:
        """Return one part."""
        match part.kind:
            case "prompt":
                return f"\n## You\n\n{part.text}\n"
            case "answer":
                return f"\n## Assistant\n\n{part.text}\n"
            case "thinking":
                return "\n> " + part.text.replace("\n", "\n> ") + "\n"
            case "call":
                return f"\nCalls `{_name(part)}`:\n\n{_fenced(part.text, 'json')}\n"
            case "note":
                return f"\nNote:\n\n{_fenced(part.text)}\n"
            case "notice":
                return f"\n---\n\n{_fenced(part.text)}\n\n---\n"
            case "command":
                return f"\n## You\n\n{_fenced(part.text, 'console')}\n"
            case "result":
                of = f" of `{_name(part)}`" if part.tool else ""
                return f"\nResult{of}:\n\n{_fenced(part.text)}\n"

    def end(self) -> str:
        """Return what comes last."""
        return ""


def _name(part: ExportPart) -> str:
    return part.tool.replace("`", "'")


def _fenced(text: str, language: str = "") -> str:
    """Return text as a block of code, whatever is in it."""
    fence = "`" * (1 + max((len(found) for found in _TICKS.findall(text)), default=2))
    return f"{fence}{language}\n{text}\n{fence}"
