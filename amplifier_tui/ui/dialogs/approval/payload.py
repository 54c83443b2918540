"""The exact thing a request would allow, line by line, with nothing hidden in it; and its diff."""

from __future__ import annotations

import json
import re
from dataclasses import dataclass
from typing import TYPE_CHECKING

from amplifier_tui.base.text import reveal
from amplifier_tui.ui.widgets.scroll_lines import TextLine

if TYPE_CHECKING:
    from amplifier_tui.host.events import ApprovalRequested

_PRETTY_LIMIT = 200_000

# Spaces that look like the usual one and are not: a shell takes them for letters.
_ODD_SPACES = re.compile("[\u00a0\u1680\u2000-\u200a\u202f\u205f\u2800\u3000]")
_SHOWN = re.compile("‹U\\+[0-9A-F]{4,6}›")

_HUNK = re.compile(r"^@@ -(\d+)(?:,(\d+))? \+(\d+)(?:,(\d+))? @@(.*)$")

LEAD = 7
"""Cells of the number column."""


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


@dataclass(frozen=True, slots=True)
class DiffView:
    """A diff ready to be drawn.

    Attributes:
        lines: One per line of the diff, file headers joined to one.
        hunks: Index in `lines` of each hunk's first line.
    """

    lines: tuple[TextLine, ...]
    added: int
    removed: int
    hunks: tuple[int, ...]


def diff_view(diff: str) -> DiffView:
    """Lay out a unified diff; text that is none is shown as it is, nothing is left out."""
    lines: list[TextLine] = []
    hunks: list[int] = []
    added = removed = 0
    old = new = old_left = new_left = 0
    for raw in diff.split("\n"):
        if old_left > 0 or new_left > 0:
            sign, text = raw[:1], raw[1:]
            if sign == "-":
                lines.append(_line(text, old, "−", "$text-error"))
                removed, old, old_left = removed + 1, old + 1, old_left - 1
                continue
            if sign == "+":
                lines.append(_line(text, new, "+", "$text-success"))
                added, new, new_left = added + 1, new + 1, new_left - 1
                continue
            if sign in (" ", ""):
                lines.append(_line(text, new, " ", ""))
                old, new = old + 1, new + 1
                old_left, new_left = old_left - 1, new_left - 1
                continue
        found = _HUNK.match(raw)
        if found:
            old, new = int(found[1]), int(found[3])
            old_left, new_left = int(found[2] or 1), int(found[4] or 1)
            if lines and hunks:
                lines.append(TextLine("⋯" + found[5], "$text-muted"))
            hunks.append(len(lines))
        elif raw:
            text, marks = visible(raw)
            lines.append(TextLine(text, "$text-muted", marks=marks))
            _join_header(lines)
    return DiffView(tuple(lines), added, removed, tuple(hunks))


def _line(text: str, number: int, sign: str, style: str) -> TextLine:
    text, marks = visible(text)
    return TextLine(text, style, lead=f"{number:>4} {sign}", marks=marks)


def _join_header(lines: list[TextLine]) -> None:
    """Make one line of the `---` and `+++` of a file: its name, or `old → new`."""
    if len(lines) < 2:
        return
    before, after = lines[-2].text, lines[-1].text
    if not before.startswith("--- ") or not after.startswith("+++ ") or lines[-2].lead:
        return
    old, new = (_name(text[4:]) for text in (before, after))
    words = new if old == new else f"new file {new}" if old == "/dev/null" else f"{old} → {new}"
    lines[-2:] = [TextLine(words, "$text-secondary bold", marks=shown_marks(words))]


def _name(path: str) -> str:
    return path.removeprefix("a/").removeprefix("b/").split("→   ")[0]
