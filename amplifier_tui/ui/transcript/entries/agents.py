"""A sub-agent as a line: its name, what it does, and what it has used."""

from collections.abc import Sequence

from amplifier_tui.base.text import one_line, short_count
from amplifier_tui.ui.state.conversation.entries import LaneEntry, LaneState, UserEntry
from amplifier_tui.ui.state.formats import plural
from amplifier_tui.ui.transcript.entries.cards import user_lines
from amplifier_tui.ui.transcript.entries.scene import (
    Scene,
    counted,
    data_row,
    elapsed,
    margined,
    text_lines,
)
from amplifier_tui.ui.transcript.entries.tool_words import describe
from amplifier_tui.ui.transcript.lines import Span, StyledLine
from amplifier_tui.ui.widgets.styled import Role

_ENDS: dict[LaneState, tuple[str, Role]] = {
    "waiting": ("waits for you", "warning"),
    "error": ("failed", "error"),
    "cancelled": ("stopped", "muted"),
    "incomplete": ("not finished", "warning"),
}
GLYPHS: dict[LaneState, tuple[str, Role]] = {
    "running": ("◐", "primary"),
    "waiting": ("!", "warning"),
    "success": ("●", "success"),
    "error": ("✗", "error"),
    "cancelled": ("○", "muted"),
    "incomplete": ("○", "warning"),
}


def agent_name(entry: LaneEntry) -> str:
    """Return the name of an agent on screen."""
    return one_line(entry.name or entry.lane, 40)


def agent_words(entry: LaneEntry) -> tuple[str, Role]:
    """Return what an agent does, or how it ended; its instruction while it has done nothing."""
    if entry.state == "success" and entry.result:
        # Late, as the list of agents is made before anything is read as Markdown.
        from amplifier_tui.ui.transcript.markdown.inline import inline_spans

        # Markdown: on a line of its own its marks would only be characters.
        spans = inline_spans(one_line(entry.result, 200), {}, "muted")
        return "".join(span.text for span in spans), "muted"
    if entry.stopping:
        at_once = entry.stopping == "at once"
        return "stopping now…" if at_once else "stopping… again stops it at once", "warning"
    if entry.state in _ENDS:
        return _ENDS[entry.state]
    if not entry.tool:
        return one_line(entry.instruction, 200), "muted"
    words = describe(entry.tool, entry.arguments)
    return " ".join([words.verb, "".join(span.text for span in words.parts)]), "muted"


def agent_data(entry: LaneEntry, now: float, *, short: bool = False) -> str:
    """Return calls, tokens and time of an agent; `now` is in Unix seconds."""
    # An agent of an older session has no times, and one that waits after a kill has no end.
    timed = entry.began and (entry.ended or entry.running)
    since = (entry.ended or now) - entry.began if timed else 0.0
    parts = [
        plural(entry.calls, "call") if entry.calls and not short else "",
        f"{short_count(entry.tokens)}{'' if short else ' tokens'}" if entry.tokens else "",
        elapsed(since) if since >= 1 else "",
    ]
    return " · ".join(part for part in parts if part)


def agent_line(entry: LaneEntry, scene: Scene) -> StyledLine:
    """Return the line of a sub-agent, below which what it says and does can be folded."""
    words, role = agent_words(entry)
    mark = f"{scene.spinner} " if scene.spinner and entry.running else ""
    left = [Span("└ ", "muted"), Span(f"{agent_name(entry)}  ", "strong"), Span(words, role)]
    narrow = scene.column.measure < 50
    data = Span(mark + agent_data(entry, scene.now, short=narrow), "muted")
    return data_row(left, data, scene, expandable=True)


def task_lines(entry: LaneEntry, scene: Scene) -> list[StyledLine]:
    """Return what an agent was asked, as the prompt of a conversation of its own."""
    lines = user_lines(UserEntry(key=entry.key, text=entry.instruction), scene)
    if entry.earlier:
        said = f"… {counted(entry.earlier, 'earlier row')}, in its transcript.jsonl"
        lines += margined(text_lines(said, "muted", scene.column.measure), scene.column)
    return lines


def path_words(path: Sequence[LaneEntry]) -> str:
    """Return whose conversation it is: the agents from the outermost on."""
    return " › ".join(["main", *map(agent_name, path)])
