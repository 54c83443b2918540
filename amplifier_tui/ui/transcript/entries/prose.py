"""What was said: prompts, thinking, and quiet lines between turns."""

from amplifier_tui.base.text import one_line
from amplifier_tui.ui.state.conversation.entries import NoteEntry, ThinkingEntry, UserEntry
from amplifier_tui.ui.transcript.entries.scene import (
    Scene,
    counted,
    data_row,
    duration,
    edged,
    elapsed,
    margined,
    size,
    text_lines,
)
from amplifier_tui.ui.transcript.lines import Span, StyledLine, indented

_FOLDED = 30
_ROOM = 12
_FOLDED_SIZE = 3000
_MOST = 100_000


def user_lines(entry: UserEntry, scene: Scene) -> list[StyledLine]:
    """Return the prompt; a long one shows its beginning unless expanded."""
    column = scene.column
    whole = entry.text.strip("\n")
    text = whole[:_MOST]
    if is_long(entry) and not scene.expanded:
        text = "\n".join(text[:_FOLDED_SIZE].split("\n")[:_FOLDED])
    lines = text_lines(text, "user", column.measure)
    if len(text) < len(whole):
        newlines = whole.count("\n", len(text))
        more = counted(newlines, "more line") if newlines else size(len(whole) - len(text))
        lines.append(StyledLine((Span(f"… {more}", "muted"),)))
    if entry.attachments:
        names = ", ".join(one_line(name, 200) for name in entry.attachments)
        lines += text_lines(f"with {names}", "muted", column.measure)
    if entry.steered:
        lines += text_lines("said while it worked", "muted", column.measure)
    return edged(lines, column, "edge")


def is_long(entry: UserEntry) -> bool:
    """Say whether the prompt has lines to fold away."""
    text = entry.text
    return len(text) > _FOLDED_SIZE or text.count("\n") > _FOLDED + _ROOM


PEEK = 400
"""How much of the text its line can show at most."""


def thinking_line(entry: ThinkingEntry, scene: Scene) -> StyledLine:
    """Return the line that stands for the block: its first words and how long it took."""
    words = one_line(entry.text[:PEEK].replace("*", "").replace("#", ""), PEEK)
    left = [Span("thinking", "thinking")]
    if words and not scene.expanded:
        left.append(Span(f" · {words}", "thinking"))
    return data_row(left, Span(_time(entry, scene), "muted"), scene, expandable=bool(words))


def _time(entry: ThinkingEntry, scene: Scene) -> str:
    if not entry.streaming:
        return duration(scene.took * 1000) if scene.took else ""
    seconds = scene.now - scene.since if scene.since else 0.0
    return elapsed(seconds) if seconds >= 1 else ""


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
