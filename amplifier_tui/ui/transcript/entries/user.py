"""The user's words: bold, with the edge that says whose turn it is."""

from amplifier_tui.base.text import one_line
from amplifier_tui.ui.state.conversation.entries import UserEntry
from amplifier_tui.ui.transcript.entries.scene import (
    Scene,
    counted,
    edged,
    size,
    text_lines,
)
from amplifier_tui.ui.transcript.text.lines import Span, StyledLine

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
