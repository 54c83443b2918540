"""An entry on screen, and the pieces it is drawn in."""

from dataclasses import field

from textual.strip import Strip

from amplifier_tui.base.lazy.dataclass import dataclass
from amplifier_tui.ui.state.conversation.entries import (
    ConversationEntry,
    LaneEntry,
    RetryEntry,
    TextEntry,
    ThinkingEntry,
    ToolEntry,
)
from amplifier_tui.ui.transcript.lines import StyledLine
from amplifier_tui.ui.transcript.markdown.blocks import ROOT, Context, References


@dataclass(slots=True, eq=False)
class Piece:
    """A run of rows that is rendered at once; a long text is many, so that none costs much.

    `source` is clean Markdown, for prose; where it is `uncut`, it is all the rest of a text. Ask
    the document for the `index`. `epoch` is that of the document when the height was measured, -1
    for an estimate.
    """

    item: "DrawnEntry"
    source: str = ""
    context: Context = ROOT
    index: int = -1
    lines: list[StyledLine] | None = None
    strips: dict[int, Strip] = field(default_factory=dict)
    epoch: int = -1
    uncut: bool = False

    def forget(self) -> None:
        """Free the rendered rows; the height stays right."""
        self.lines = None
        self.strips.clear()

    @property
    def is_first(self) -> bool:
        """Whether it holds the entry's first row."""
        return self.item.pieces[0] is self

    @property
    def is_last(self) -> bool:
        """Whether it holds the entry's last row."""
        return self.item.pieces[-1] is self


@dataclass(slots=True, eq=False)
class DrawnEntry:
    """An entry on screen.

    `gap` blank rows and the name of a sub-agent (`lane`) precede it. Its text is cut into pieces
    (`split`) as far as it is looked at. `opened` is what the user chose about its details, `whole`
    whether those are all of a long output. It is `hidden` where its agent's line is folded. It
    began to stream at `since` on the view's clock (0: it came whole).
    """

    entry: ConversationEntry
    gap: int = 0
    lane: str = ""
    hidden: bool = False
    nested: bool = False
    pieces: list[Piece] = field(default_factory=list)
    split: bool = False
    opened: bool | None = None
    whole: bool = False
    references: References = field(default_factory=dict)
    since: float = 0.0

    @property
    def expanded(self) -> bool:
        """Whether its details are shown."""
        if self.opened is None:
            entry = self.entry
            return isinstance(entry, LaneEntry) or (isinstance(entry, ToolEntry) and entry.expanded)
        return self.opened

    @property
    def head(self) -> int:
        """How many rows precede its own first one."""
        return self.gap + (1 if self.lane else 0)

    @property
    def prose(self) -> str | None:
        """The Markdown it shows, or None when it shows none."""
        entry = self.entry
        if isinstance(entry, TextEntry) or (isinstance(entry, ThinkingEntry) and self.expanded):
            return entry.text
        return None

    @property
    def streaming(self) -> bool:
        """Whether more text is to come."""
        return isinstance(self.entry, TextEntry | ThinkingEntry) and self.entry.streaming

    @property
    def ticking(self) -> bool:
        """Whether its line shows a time that runs."""
        entry = self.entry
        if isinstance(entry, ToolEntry):
            return entry.state == "running"
        if isinstance(entry, RetryEntry):
            return True
        if isinstance(entry, LaneEntry):
            return entry.running
        return isinstance(entry, ThinkingEntry) and entry.streaming
