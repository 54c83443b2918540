"""A thinking block: one italic line, the whole of it when expanded."""

from amplifier_tui.base.text import one_line
from amplifier_tui.ui.state.conversation.entries import ThinkingEntry
from amplifier_tui.ui.transcript.entries.scene import Scene, data_row, duration, elapsed
from amplifier_tui.ui.transcript.text.lines import Span, StyledLine

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
