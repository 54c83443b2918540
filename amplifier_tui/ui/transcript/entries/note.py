"""A quiet line between turns."""

from amplifier_tui.ui.state.conversation.entries import NoteEntry
from amplifier_tui.ui.transcript.entries.scene import Scene, margined, text_lines
from amplifier_tui.ui.transcript.text.lines import Span, StyledLine, indented

_GLYPHS = {"warning": Span("! ", "warning"), "error": Span("✗ ", "error")}


def note_lines(entry: NoteEntry, scene: Scene) -> list[StyledLine]:
    """Return a note; a warning or an error has its glyph."""
    glyph = _GLYPHS.get(entry.level)
    width = scene.column.measure - (2 if glyph else 0)
    lines = text_lines(entry.text, glyph.style if glyph else "muted", max(1, width))
    if glyph:
        first, *others = lines
        hanging = (Span("  ", glyph.style),)
        lines = [indented(first, (glyph,), copied=True)]
        lines += [indented(line, hanging) for line in others]
    return margined(lines, scene.column)
