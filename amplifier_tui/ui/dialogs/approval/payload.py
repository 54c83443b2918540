"""The exact thing a request would allow, line by line, with nothing hidden in it."""

from __future__ import annotations

import json
import re
from typing import TYPE_CHECKING

from amplifier_tui.base.text import reveal
from amplifier_tui.ui.widgets.scroll_lines import TextLine

if TYPE_CHECKING:
    from amplifier_tui.host.events import ApprovalRequested

_PRETTY_LIMIT = 200_000

# Spaces that look like the usual one and are not: a shell takes them for letters.
_ODD_SPACES = re.compile("[\u00a0\u1680\u2000-\u200a\u202f\u205f\u2800\u3000]")
_SHOWN = re.compile("‹U\\+[0-9A-F]{4,6}›")


def visible(text: str) -> tuple[str, tuple[tuple[int, int], ...]]:
    """Return one line with control, invisible and odd characters written out, and where.

    Args:
        text: A line; a tab becomes an arrow and three spaces.

    Returns:
        The text to draw and the start and end of each character that was written out.
    """
    shown = _ODD_SPACES.sub(lambda m: f"‹U+{ord(m[0]):04X}›", reveal(text)).replace("\t", "→   ")
    return shown, shown_marks(shown)


def shown_marks(text: str) -> tuple[tuple[int, int], ...]:
    """Return where characters were written out in a text `visible` has made."""
    return tuple(found.span() for found in _SHOWN.finditer(text)) if "‹U+" in text else ()


def text_lines(text: str, style: str = "") -> list[TextLine]:
    """Return the lines of a text, made visible. A carriage return is a character, not a line."""
    lines: list[TextLine] = []
    for raw in text.split("\n"):
        shown, marks = visible(raw)
        lines.append(TextLine(shown, style, marks=marks))
    return lines


def payload_lines(request: ApprovalRequested) -> list[TextLine]:
    """Return the payload: the whole of it, and below it the parts of a compound command."""
    text = request.payload
    if not text:
        return []
    if request.payload_kind == "json":
        text = _pretty(text)
    lines = text_lines(text)
    if request.payload_kind != "command":
        return lines
    if len(request.segments) == 1:
        segment = request.segments[0]
        shown, marks = visible(segment.text)
        if lines == [TextLine(shown, marks=marks)]:
            return [_segment_line(shown, marks, "", segment.note, segment.allowed)]
    if len(request.segments) > 1:
        lines.append(TextLine(""))
    for number, segment in enumerate(request.segments, start=1):
        for at, part in enumerate(segment.text.split("\n")):
            shown, marks = visible(part)
            lead = f"{number:>2}  " if at == 0 else ""
            note = segment.note if at == 0 else ""
            lines.append(_segment_line(shown, marks, lead, note, segment.allowed))
    return lines


def _segment_line(
    text: str, marks: tuple[tuple[int, int], ...], lead: str, note: str, allowed: bool
) -> TextLine:
    style = "$text-success" if allowed else "$text-error"
    return TextLine(text, lead=lead, note=visible(note)[0], note_style=style, marks=marks)


def _pretty(text: str) -> str:
    """Return JSON indented, or the text itself when it is no JSON or very long."""
    if len(text) > _PRETTY_LIMIT:
        return text
    try:
        value = json.loads(text, object_pairs_hook=_plain_object)
        return json.dumps(value, indent=2, ensure_ascii=False)
    except (ValueError, RecursionError):
        return text


def _plain_object(pairs: list[tuple[str, object]]) -> dict[str, object]:
    found = dict(pairs)
    if len(found) != len(pairs):
        # Indenting would hide the value that comes first.
        raise ValueError("a key comes twice")
    return found
