"""A unified diff as lines with numbers, counts and the places of its hunks."""

import re
from dataclasses import dataclass

from amplifier_tui.ui.dialogs.approval.payload import shown_marks, visible
from amplifier_tui.ui.widgets.scroll_lines import TextLine

_HUNK = re.compile(r"^@@ -(\d+)(?:,(\d+))? \+(\d+)(?:,(\d+))? @@(.*)$")

LEAD = 7
"""Cells of the number column."""


@dataclass(frozen=True, slots=True)
class DiffView:
    """A diff ready to be drawn.

    Attributes:
        lines: One per line of the diff, file headers joined to one.
        added: Lines that are added.
        removed: Lines that are removed.
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
