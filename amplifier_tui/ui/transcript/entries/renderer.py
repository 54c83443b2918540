"""Entries of every kind as lines, as an estimated height, and as text to copy."""

from collections.abc import Callable
from dataclasses import replace
from functools import partial
from typing import Any

from amplifier_tui.base.text import clean, one_line, printed
from amplifier_tui.host.events import MAIN_LANE
from amplifier_tui.ui.images.pictures import Pictures
from amplifier_tui.ui.state.conversation.entries import (
    ConversationEntry,
    ErrorEntry,
    LaneEntry,
    LimitEntry,
    NoteEntry,
    PlanEntry,
    ReportEntry,
    RetryEntry,
    ShellEntry,
    TextEntry,
    ThinkingEntry,
    ToolEntry,
    UserEntry,
    WelcomeEntry,
)
from amplifier_tui.ui.transcript.entries.agents import agent_line, task_lines
from amplifier_tui.ui.transcript.entries.answers import answers
from amplifier_tui.ui.transcript.entries.cards import (
    FOLDED,
    error_lines,
    is_long,
    limit_lines,
    note_lines,
    plan_lines,
    report_lines,
    retry_lines,
    thinking_line,
    user_lines,
    welcome_lines,
)
from amplifier_tui.ui.transcript.entries.colours import Colours
from amplifier_tui.ui.transcript.entries.images import image_rows
from amplifier_tui.ui.transcript.entries.scene import KEYS, Column, Scene, margined
from amplifier_tui.ui.transcript.entries.tool import (
    has_more,
    peek_rows,
    tool_line,
    tool_lines,
)
from amplifier_tui.ui.transcript.entries.tool_words import describe
from amplifier_tui.ui.transcript.layout.item import DrawnEntry, Piece
from amplifier_tui.ui.transcript.lines import BLANK, Span, StyledLine
from amplifier_tui.ui.transcript.markdown.render import markdown_lines, presentable

_LINES_OF: dict[type[ConversationEntry], Callable[[Any, Scene], list[StyledLine]]] = {
    UserEntry: user_lines,
    ToolEntry: tool_lines,
    ShellEntry: tool_lines,
    ErrorEntry: error_lines,
    NoteEntry: note_lines,
    LimitEntry: limit_lines,
    RetryEntry: retry_lines,
    PlanEntry: plan_lines,
    ReportEntry: report_lines,
    WelcomeEntry: welcome_lines,
}
_NAMES: dict[type[ConversationEntry], str] = {
    UserEntry: "prompt",
    TextEntry: "answer",
    ThinkingEntry: "thinking",
    ToolEntry: "tool call",
    ShellEntry: "command",
    ErrorEntry: "error",
    LaneEntry: "task",
    ReportEntry: "report",
}
_NESTING = 2
_FRAMES = "◐◓◑◒"
_MOST_ESTIMATED = 200


class Renderer:
    """Turns pieces into lines for one column, one moment (`now`, in seconds) and one cursor.

    `home` is the lane whose conversation it is. `running` are the items whose line changes with
    time; the newest one has the spinner.
    """

    def __init__(self, column: Column) -> None:
        self.column = column
        self.home = MAIN_LANE
        self.now = 0.0
        self.running: dict[DrawnEntry, None] = {}
        self._frame = 0
        self.selected: DrawnEntry | None = None
        self.keys = KEYS
        self.colours = Colours()
        self.pictures = Pictures()

    def watch(self, item: DrawnEntry) -> None:
        """Take note of whether time runs for an item that came or changed."""
        if item.ticking:
            self.running[item] = None
        else:
            self.running.pop(item, None)

    def spin(self, *, still: bool) -> None:
        """Move the spinner on, or let it stand `still`."""
        self._frame = 0 if still else (self._frame + 1) % len(_FRAMES)

    def lines(self, piece: Piece) -> list[StyledLine]:
        """Return the rows of a piece, gap and lane included."""
        item = piece.item
        if item.hidden:
            return []
        body = self._body(piece, self._scene(item))
        if not body or not piece.is_first:
            return body
        head = [BLANK] * item.gap
        if item.lane:
            label = Span(f"└ {one_line(item.lane, 60)}", "muted")
            head += margined([StyledLine((label,))], self.column)
        return head + body

    def head_line(self, item: DrawnEntry) -> StyledLine | None:
        """Return the one row of an item that changes with time and cursor, or None."""
        if isinstance(item.entry, ToolEntry):
            return tool_line(item.entry, self._scene(item))
        if isinstance(item.entry, RetryEntry):
            return retry_lines(item.entry, self._scene(item))[0]
        if isinstance(item.entry, ThinkingEntry):
            return thinking_line(item.entry, self._scene(item))
        if isinstance(item.entry, LaneEntry) and item.entry.lane != self.home:
            return agent_line(item.entry, self._scene(item))
        return None

    def draws_image(self, entry: ConversationEntry) -> bool:
        """Whether an image of an entry is drawn, and not only said."""
        cards = entry.images if isinstance(entry, UserEntry | ToolEntry) else ()
        return any(self.pictures.picture_of(card, entry.agent, 1) for card in cards)

    def estimate(self, piece: Piece) -> int:
        """Return about how many rows a piece takes, without rendering it."""
        item = piece.item
        if item.hidden:
            return 0
        head = item.head if piece.is_first else 0
        entry = item.entry
        if isinstance(entry, UserEntry | ToolEntry) and entry.images:
            head += image_rows(entry.images, self._scene(item))
        if item.prose is not None:
            text = piece.source if item.split else item.prose
            thinking = piece.is_first and isinstance(entry, ThinkingEntry)
            return head + thinking + self._rows(text) if text or thinking else 0
        match entry:
            case UserEntry():
                rows = self._rows(entry.text)
                return head + (
                    min(rows, FOLDED + 2) if is_long(entry) and not item.expanded else rows
                )
            case ToolEntry() if item.expanded:
                text = entry.diff or entry.output
                rows = text.count("\n") + 1 if text else 0
                return head + 1 + (rows if item.whole else min(_MOST_ESTIMATED, rows))
            case ToolEntry():
                below = min(peek_rows(entry), entry.output.count("\n")) + len(answers(entry))
                return head + 1 + below
            case ErrorEntry():
                return head + self._rows(entry.message) + self._rows(entry.remedy)
            case NoteEntry():
                return head + self._rows(entry.text)
            case PlanEntry() | LimitEntry():
                return head + 2
            case WelcomeEntry():
                return head + 4 + len(entry.examples) + len(entry.missing)
            case _:
                return head + 1

    def _rows(self, text: str) -> int:
        return len(text) // self.column.measure + text.count("\n") + 1 if text else 0

    def _scene(self, item: DrawnEntry) -> Scene:
        return Scene(
            self.column.inset(_NESTING) if item.nested else self.column,
            self.now,
            _FRAMES[self._frame] if item is next(reversed(self.running), None) else "",
            item.expanded,
            item.whole,
            item is self.selected,
            item.since,
            self.keys,
            partial(self.colours.of, item),
            self.pictures,
        )

    def _body(self, piece: Piece, scene: Scene) -> list[StyledLine]:
        entry = piece.item.entry
        if isinstance(entry, TextEntry):
            lines = self._prose(piece, scene, "text")
            if entry.interrupted and piece.is_last and lines:
                cut = StyledLine((Span("… interrupted", "muted"),), aside=True)
                lines += margined([cut], scene.column)
            return lines
        if isinstance(entry, ThinkingEntry):
            line = [thinking_line(entry, scene)] if piece.is_first else []
            return line + (self._prose(piece, scene, "thinking") if scene.expanded else [])
        if isinstance(entry, LaneEntry):
            own = entry.lane == self.home
            return task_lines(entry, scene) if own else [agent_line(entry, scene)]
        return _LINES_OF[type(entry)](entry, scene)

    @staticmethod
    def _prose(piece: Piece, scene: Scene, base: str) -> list[StyledLine]:
        column = scene.column
        source = piece.source
        if piece.item.streaming and piece.is_last:
            source = presentable(source, piece.context)
        lines = markdown_lines(
            source,
            column.measure,
            context=piece.context,
            first=piece.is_first,
            references=piece.item.references,
            base=base,
        )
        return margined(lines, column)


def is_expandable(item: DrawnEntry) -> bool:
    """Say whether an item has details to show."""
    match item.entry:
        case ToolEntry() as entry:
            return has_more(entry)
        case ThinkingEntry() as entry:
            return bool(entry.text.strip())
        case UserEntry() as entry:
            return is_long(entry)
        case NoteEntry() as entry:
            return bool(entry.detail or entry.repeats)
        case ErrorEntry() as entry:
            return bool(entry.detail)
        case LaneEntry():
            return True
        case _:
            return False


def plain_text(entry: ConversationEntry) -> str:
    """Return what an entry says: Markdown as it was written, a tool's words and its result."""
    match entry:
        case UserEntry() | TextEntry() | ThinkingEntry():
            return clean(entry.text)
        case NoteEntry():
            parts = [clean(entry.text), clean(entry.detail), clean(entry.repeats)]
        case LaneEntry():
            return clean(entry.instruction)
        case ToolEntry():
            words = describe(entry.tool, entry.arguments)
            command = entry.arguments.get("command")
            said = "".join(span.text for span in words.parts)
            line = command if isinstance(command, str) else f"{words.verb} {said}"
            parts = [
                clean(line),
                clean(entry.error),
                clean(entry.diff) or clean(printed(entry.output)),
            ]
        case ErrorEntry():
            parts = [clean(entry.message), clean(entry.remedy), clean(entry.detail)]
        case ReportEntry():
            lines = (f"{item.what}: {item.why} {item.remedy}" for item in entry.items)
            parts = [clean(line) for line in lines]
        case _:
            return ""
    return "\n".join(part.rstrip("\n") for part in parts if part)


def searched_text(entry: ConversationEntry) -> str:
    """Return what an entry says and no other one does, to look for words in."""
    own = replace(entry, repeats="") if isinstance(entry, NoteEntry) else entry
    return plain_text(own)


def name_of(entry: ConversationEntry) -> str:
    """Return what an entry is, in a word or two."""
    return _NAMES.get(type(entry), "note")
