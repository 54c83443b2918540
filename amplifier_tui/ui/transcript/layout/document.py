"""All pieces of the conversation in order, with their heights and the row each begins at."""

import time
from collections.abc import Iterator, Sequence

from amplifier_tui.base.text import clean
from amplifier_tui.host.events import MAIN_LANE
from amplifier_tui.ui.state.conversation.entries import (
    ConversationEntry,
    LaneEntry,
    NoteEntry,
    ShellEntry,
    ThinkingEntry,
    ToolEntry,
)
from amplifier_tui.ui.transcript.entries.renderer import Renderer
from amplifier_tui.ui.transcript.entries.scene import Column
from amplifier_tui.ui.transcript.layout.heights import Heights
from amplifier_tui.ui.transcript.layout.item import DrawnEntry, Piece
from amplifier_tui.ui.transcript.lines import StyledLine
from amplifier_tui.ui.transcript.markdown.blocks import ROOT, blocks_of

_KEEP = 200
NEAR = 60
"""How many pieces before and after the visible ones are worth keeping."""


class Document:
    """The pieces, their heights (real or estimated) and the entries they belong to, by key.

    Rows are rendered when they are looked at and kept for the last few hundred pieces; heights
    are kept for all. `home` is the lane whose conversation it is: what other lanes say is nested.
    """

    def __init__(self, home: str = MAIN_LANE) -> None:
        self.renderer = Renderer(Column.fit(80))
        self.renderer.home = self._home = home
        self._callers: dict[str, str] = {}
        self._folded: set[str] = set()
        self._names: dict[str, str] = {}
        self._newest: dict[str, DrawnEntry] = {}
        self.pieces: list[Piece] = []
        self.heights = Heights()
        self.items: dict[str, DrawnEntry] = {}
        self._epoch = 0
        self._numbered = 0
        self._rendered: dict[Piece, None] = {}
        self._sliced = False
        self._measured = 0
        self._around = self._before = self._after = 0

    @property
    def total(self) -> int:
        """How many rows there are: all heights, and a blank row at the end."""
        return self.heights.total + 1 if self.pieces else 0

    def index(self, piece: Piece) -> int:
        """Return the place of a piece among all, or -1 when it was taken out."""
        for number in range(self._numbered, len(self.pieces)):
            self.pieces[number].index = number
        self._numbered = len(self.pieces)
        return piece.index

    def top(self, item: DrawnEntry) -> int:
        """Return the row at which an item begins, its gap included."""
        return self.heights.offset(self.index(item.pieces[0]))

    def bottom(self, item: DrawnEntry) -> int:
        """Return the row behind an item's last one."""
        return self.heights.offset(self.index(item.pieces[-1]) + 1)

    def item_at(self, row: int) -> DrawnEntry | None:
        """Return the item that covers a row."""
        found = self.place_at(row)
        return found[0].item if found is not None else None

    def neighbour(self, item: DrawnEntry, step: int) -> DrawnEntry | None:
        """Return the item before (-1) or after (1) another."""
        edge = item.pieces[0] if step < 0 else item.pieces[-1]
        index = self.index(edge) + step
        return self.pieces[index].item if 0 <= index < len(self.pieces) else None

    def lines(self, piece: Piece) -> list[StyledLine]:
        """Return the rows of a piece, rendering them if need be."""
        if piece.lines is None:
            piece.lines = self.renderer.lines(piece)
            piece.strips.clear()
            self._rendered[piece] = None
        return piece.lines

    def place_at(self, row: int) -> tuple[Piece, int] | None:
        """Return the piece that covers a row, and which of its rows that is."""
        if not self.pieces or not 0 <= row < self.heights.total:
            return None
        index = self.heights.find(row)
        return self.pieces[index], row - self.heights.offset(index)

    def line_at(self, row: int) -> tuple[Piece, int, StyledLine] | None:
        """Return what `place_at` does, and the line itself."""
        found = self.place_at(row)
        if found is None:
            return None
        piece, number = found
        lines = self.lines(piece)
        return (piece, number, lines[number]) if number < len(lines) else None

    def is_measured(self, piece: Piece) -> bool:
        """Say whether a piece's height is its real one."""
        return piece.epoch == self._epoch and piece.item.split and not piece.uncut

    def measure(self, piece: Piece) -> None:
        """Make a piece's height its real one."""
        if not piece.item.split:
            self._split(piece.item)
        if piece.uncut:
            self._cut(piece)
        if not self.is_measured(piece):
            piece.epoch = self._epoch
            self.heights.set(self.index(piece), len(self.lines(piece)))

    def measure_slice(self, seconds: float, around: int) -> bool:
        """Measure for some seconds, outwards from the piece `around`; say whether any is left."""
        if not self._sliced:
            self._around, self._before, self._after = around, around - 1, around
        deadline = time.perf_counter() + seconds
        while self._before >= self._measured or self._after < len(self.pieces):
            if self._before >= self._measured:
                count = len(self.pieces)
                self._measure_and_free(self._before)
                # A text that was cut moved the pieces behind it, and its rest comes next.
                rest = len(self.pieces) - count
                self._after += rest
                self._before += rest or -1
            if self._after < len(self.pieces):
                self._measure_and_free(self._after)
                self._after += 1
            if time.perf_counter() > deadline:
                break
        self._sliced = True
        if self._before >= self._measured:
            return True
        # Nothing before them is left, so that the next slice does not look there again.
        self._measured = max(self._measured, self._after)
        return self._after < len(self.pieces)

    def _measure_and_free(self, index: int) -> None:
        piece = self.pieces[index]
        if not self.is_measured(piece):
            self.measure(piece)
            if abs(index - self._around) > NEAR:
                self.release(piece)

    def trim(self, first: int, last: int) -> None:
        """Free rendered rows far from the pieces `first` to `last` once there are many."""
        if len(self._rendered) <= _KEEP:
            return
        for piece in list(self._rendered):
            if not first - NEAR <= self.index(piece) <= last + NEAR:
                self.release(piece)

    def release(self, piece: Piece) -> None:
        """Free the rows of a piece."""
        piece.forget()
        self._rendered.pop(piece, None)

    def fit(self, column: Column) -> None:
        """Take another width: all rows are void, all heights estimates."""
        self._epoch += 1
        self._unmeasure(0)
        self.heights.scale(self.renderer.column.measure / column.measure)
        self.renderer.column = column
        for piece in self._rendered:
            piece.forget()
        self._rendered.clear()

    def repaint(self) -> None:
        """Forget what was painted; the rows stay."""
        for piece in self._rendered:
            piece.strips.clear()

    def fold(self, item: DrawnEntry) -> None:
        """Hide or show what an agent says and does, as its line is opened or not."""
        if not isinstance(item.entry, LaneEntry):
            return
        lane = item.entry.lane
        (self._folded.discard if item.expanded else self._folded.add)(lane)
        for each in self.items.values():
            if isinstance(each.entry, LaneEntry) and each.entry.lane == lane:
                each.opened = item.opened
            hidden = self._is_folded(each.entry)
            if each.hidden != hidden:
                each.hidden = hidden
                for piece in each.pieces:
                    self.invalidate(piece, estimate=True)

    def reveal(self, item: DrawnEntry) -> None:
        """Open the lines that hide an item."""
        for each in tuple(self.items.values()):
            entry = each.entry
            if item.hidden and isinstance(entry, LaneEntry) and not each.expanded:
                each.opened = True
                self.fold(each)

    def _is_folded(self, entry: ConversationEntry) -> bool:
        return any(lane in self._folded for lane in self._path_from(entry.agent))

    def _path_from(self, lane: str) -> Iterator[str]:
        """Yield a lane and those it was called from, each once: stored ones may go in a circle."""
        seen: set[str] = set()
        while lane and lane != self._home and lane not in seen:
            seen.add(lane)
            yield lane
            lane = self._callers.get(lane, "")

    def add(self, entry: ConversationEntry) -> DrawnEntry:
        """Append an entry; one whose key is there already is replaced in its place.

        What an agent says stays together, below its line.
        """
        if entry.key in self.items:
            item = self.items[entry.key]
            item.entry = entry
            self.refresh(item)
            return item
        item = self._new(entry)
        above = self._newest.get(entry.agent)
        place = len(self.pieces) if above is None else self.index(above.pieces[-1]) + 1
        self._insert(place, item.pieces)
        self._keep_newest(item)
        self._link(item)
        if (below := self.neighbour(item, 1)) is not None:
            self._link(below)
        return item

    def _keep_newest(self, item: DrawnEntry) -> None:
        """Note where an agent goes on, and those that called it."""
        lane = item.entry.lane if isinstance(item.entry, LaneEntry) else item.entry.agent
        self._newest.update(dict.fromkeys(self._path_from(lane), item))

    def prepend(self, entries: Sequence[ConversationEntry]) -> None:
        """Put entries, oldest first, in front of all others."""
        fresh = [self._new(entry) for entry in entries if entry.key not in self.items]
        old = self.pieces[0].item if self.pieces else None
        self._insert(0, [piece for item in fresh for piece in item.pieces])
        for item in fresh:
            self._link(item)
        if old is not None:
            self._link(old)

    def remove(self, item: DrawnEntry) -> None:
        """Take an item out."""
        following, previous = self.neighbour(item, 1), self.neighbour(item, -1)
        for lane in [lane for lane, newest in self._newest.items() if newest is item]:
            del self._newest[lane]
            if previous is not None and previous.entry.agent == lane:
                self._newest[lane] = previous
        self.items.pop(item.entry.key, None)
        self._take_out(self.index(item.pieces[0]), len(item.pieces))
        if following is not None:
            self._link(following)

    def clear(self) -> None:
        """Take everything out."""
        self.items.clear()
        self._callers.clear()
        self._folded.clear()
        self._names.clear()
        self._newest.clear()
        self._take_out(0, len(self.pieces))

    def refresh(self, item: DrawnEntry) -> None:
        """Render an item anew, from its entry."""
        first = item.pieces[0]
        if len(item.pieces) > 1:
            index = self.index(first)
            self._take_out(index + 1, len(item.pieces) - 1)
            del item.pieces[1:]
        item.split = False
        item.references.clear()
        first.source, first.context, first.uncut = "", ROOT, False
        self.invalidate(first, estimate=True)

    def redraw(self, item: DrawnEntry) -> None:
        """Render an item anew; its text is cut as it was."""
        for piece in item.pieces:
            self.invalidate(piece)

    def invalidate(self, piece: Piece, *, estimate: bool = False) -> None:
        """Render a piece anew; until then its height is what it was, or a fresh `estimate`."""
        piece.forget()
        piece.epoch = -1
        if estimate:
            self.heights.set(self.index(piece), self.renderer.estimate(piece))
        self._unmeasure(self.index(piece))

    def append_piece(self, item: DrawnEntry, piece: Piece) -> None:
        """Put a piece behind an item's last one."""
        index = self.index(item.pieces[-1]) + 1
        item.pieces.append(piece)
        self._insert(index, [piece])

    def _new(self, entry: ConversationEntry) -> DrawnEntry:
        item = DrawnEntry(entry)
        if isinstance(entry, LaneEntry):
            self._callers[entry.lane], self._names[entry.lane] = entry.agent, entry.name
            item.opened = False if entry.lane in self._folded else None
        item.hidden = self._is_folded(entry)
        item.pieces.append(Piece(item))
        self.items[entry.key] = item
        return item

    def _split(self, item: DrawnEntry) -> None:
        """Begin to cut an item's text into pieces."""
        item.split = True
        prose = item.prose
        if not prose:
            return
        first = item.pieces[0]
        first.source, first.uncut = clean(prose), True
        if "]:" in first.source:
            # Links may be defined at the end: the beginning can't be drawn without them.
            blocks_of(first.source, item.references)
        self.invalidate(first, estimate=True)

    def _cut(self, piece: Piece) -> None:
        """Leave in the rest of a text what is one piece of it, and put what remains behind it."""
        from amplifier_tui.ui.transcript.markdown.split import first_cut

        piece.uncut = False
        item, source = piece.item, piece.source
        cut = first_cut(source, piece.context, item.references, first=piece.is_first)
        if cut is not None:
            piece.source = source[: cut.at]
            rest = Piece(item, source[cut.at :], cut.context, uncut=True)
            self.append_piece(item, rest)
        self.invalidate(piece, estimate=True)

    def _link(self, item: DrawnEntry) -> None:
        """Find out what separates an item from the one before it."""
        entry = item.entry
        previous = self.neighbour(item, -1)
        above = previous.entry if previous is not None else None
        nested = entry.agent != self._home and getattr(entry, "lane", "") != self._home
        told = isinstance(above, LaneEntry) and above.lane == entry.agent
        changes_lane = nested and not told and (above is None or above.agent != entry.agent)
        lane = (self._names.get(entry.agent) or _name_in(entry.agent)) if changes_lane else ""
        gap = 0 if above is not None and _belong_together(above, entry) else 1
        if (item.gap, item.lane, item.nested) == (gap, lane, nested):
            return
        if item.nested != nested:
            self.redraw(item)
        item.gap, item.lane, item.nested = gap, lane, nested
        self.invalidate(item.pieces[0], estimate=True)

    def _unmeasure(self, index: int) -> None:
        """Note that the pieces from an index on may have no real height."""
        self._measured = min(self._measured, index)
        self._sliced = False

    def _insert(self, index: int, pieces: Sequence[Piece]) -> None:
        self.pieces[index:index] = pieces
        self.heights.insert(index, [self.renderer.estimate(piece) for piece in pieces])
        self._numbered = min(self._numbered, index)
        self._unmeasure(index)

    def _take_out(self, index: int, count: int) -> None:
        for piece in self.pieces[index : index + count]:
            piece.index = -1
            self._rendered.pop(piece, None)
        del self.pieces[index : index + count]
        self.heights.delete(index, count)
        self._numbered = min(self._numbered, index)
        self._unmeasure(index)


def _name_in(lane: str) -> str:
    """Return the agent in an id like `parentspan-childspan_agent-name`."""
    return lane.rsplit("_", 1)[-1]


def _belong_together(above: ConversationEntry, below: ConversationEntry) -> bool:
    """Say whether no blank row separates two entries."""
    kinds: tuple[type[ConversationEntry], ...] = (LaneEntry, ToolEntry, ThinkingEntry)
    if isinstance(above, ShellEntry) or isinstance(below, ShellEntry):
        return False
    if isinstance(above, NoteEntry):
        kinds = (NoteEntry,)
    return isinstance(above, kinds) and isinstance(below, kinds)
