"""A text or a diff to be read: scrolled, searched, gone through change by change."""

import asyncio
from collections.abc import Sequence

from textual import events, on
from textual.app import ComposeResult
from textual.containers import Vertical
from textual.content import Content
from textual.message import Message
from textual.widgets import Input, Static

from amplifier_tui.ui.diffs.lines import SPLIT_WIDTH, DiffLines
from amplifier_tui.ui.diffs.rows import DiffRows
from amplifier_tui.ui.diffs.syntax import diff_syntax
from amplifier_tui.ui.fields.text_field import TextField
from amplifier_tui.ui.state.formats import plural
from amplifier_tui.ui.transcript.layout.finder import pattern_of
from amplifier_tui.ui.widgets.folded_rows import FoldedRows
from amplifier_tui.ui.widgets.scroll_lines import Place, ScrollLines
from amplifier_tui.ui.widgets.text_lines import LinePair, Spans, TextLine

_MOST_FOUND = 9_999
_COLOUR_AFTER = 0.1
"""Seconds after it is drawn: a thread would only take time from what opens with it."""


class Reader(Vertical):
    """Shows a diff with text below it, or text alone.

    Args:
        rows: The diff.
        text: What stands below it.
        lead: Cells of the column before the text, where there is no diff.
        full: It has the screen, and says which change one is at.
    """

    DEFAULT_CSS = """
    Reader { height: auto; background: $background; }
    Reader > #reader-search { display: none; margin: 0; padding: 0; }
    Reader > #reader-place { display: none; height: 1; background: $panel; color: $text-muted; }
    Reader.-searching > #reader-search, Reader.-placed > #reader-place { display: block; }
    """

    class Resized(Message):
        """It needs another number of rows below its text."""

    def __init__(
        self,
        rows: DiffRows | None = None,
        text: Sequence[TextLine] = (),
        lead: int = 0,
        *,
        full: bool = False,
        id: str | None = None,
    ) -> None:
        super().__init__(id=id)
        self._rows = self._all_rows = DiffRows() if rows is None else rows
        self._text = text
        self._lead = lead
        self._split: bool | None = None
        self._full = full
        self._place = Content()
        self._said = ""
        self._changes: tuple[int, ...] = ()
        self._syntax: dict[int, Spans] = {}
        self._places: list[Place] = []
        self._at = 0
        self._query = ""
        self._began_at = 0

    def compose(self) -> ComposeResult:
        """Make the text, where in it one is, and the line to search with."""
        lines, lead = self._lay_out()
        body = ScrollLines(lines, lead)
        # As it will be, or else all of it would be styled and laid out a second time.
        self._place = self._words_of_place(body)
        self.set_class(bool(self._place), "-placed")
        yield body
        yield Static(self._place, id="reader-place")
        yield TextField(id="reader-search", placeholder="Search")

    def on_mount(self) -> None:
        """Colour the code, once it is on screen."""
        self.call_after_refresh(self._colour_soon)

    def _colour_soon(self) -> None:
        self.set_timer(_COLOUR_AFTER, self._begin_to_colour)

    def _begin_to_colour(self) -> None:
        self.run_worker(self._colour(), group="colour")

    @property
    def body(self) -> ScrollLines:
        """The text."""
        return self.query_one(ScrollLines)

    @property
    def is_empty(self) -> bool:
        """Whether there is nothing to read."""
        return not self._rows and not self._text

    @property
    def changes(self) -> int:
        """How many changes the diff has."""
        return len(self._changes)

    @property
    def finding(self) -> bool:
        """Whether something is searched for."""
        return bool(self._query) or self.is_asking

    @property
    def is_asking(self) -> bool:
        """Whether it is being typed what to search for."""
        return self.has_class("-searching")

    @property
    def split(self) -> bool:
        """Whether before and after stand side by side."""
        wide = self._full and self.app.size.width >= SPLIT_WIDTH
        return self._rows.is_diff and (wide if self._split is None else self._split)

    def fit(self, rows: int, *, full: bool, width: int = 0) -> None:
        """Take at most so many rows; with `full` it has the screen, and takes all of them.

        Where the first change would be below them, in `width` cells, what stands above it is left
        out: nobody allows a change unseen.
        """
        self._full = full
        self._show_place()
        below = self.is_asking + self.has_class("-placed")
        height = max(1, rows - below)
        self.body.styles.max_height = height
        self.body.styles.height = height if full else "auto"
        far = not full and not self.finding and self._is_far(height, width)
        rows_shown = self._all_rows.without_lead() if far else self._all_rows
        if len(rows_shown) != len(self._rows):
            self._put_rows(rows_shown)
        elif self._was_split != self.split:
            self._arrange()

    def _is_far(self, height: int, width: int) -> bool:
        """Say whether the first change, of two lines mostly, ends below so many rows."""
        lines = DiffLines(self._all_rows, split=self.split)
        above = lines[: lines.changes[0] + 2] if lines.changes else []
        return len(FoldedRows(above, width, lines.lead)) > height

    def show_rows(self, rows: DiffRows) -> None:
        """Show the same change with more or fewer lines around it."""
        self._all_rows = rows
        self._put_rows(rows)

    def _put_rows(self, rows: DiffRows) -> None:
        here = max(0, self._change_here())
        self._rows = rows
        self._syntax = {}
        self._arrange()
        if self._changes:
            self._go_to_change(here)
        self._colour_soon()

    def toggle_split(self) -> None:
        """Show before and after side by side, or one below the other."""
        if self._rows.is_diff:
            self._split = not self.split
            self._arrange()

    def step(self, direction: int) -> None:
        """Go to the next (1) or previous (-1) place found, or else change."""
        self._said = ""
        if self._places:
            self._at = (self._at + direction) % len(self._places)
            self._show_found()
        elif not self._query and self._changes:
            here = self._change_here()
            self._go_to_change(here + direction)

    def open_search(self) -> None:
        """Ask what to search for."""
        self._said = ""
        self._began_at = self.body.top_line
        self.add_class("-searching")
        search = self.query_one("#reader-search", Input)
        search.value = self._query
        search.focus()
        self.post_message(self.Resized())

    def close_search(self) -> bool:
        """End the search; False when there was none."""
        if not self.finding:
            return False
        self._query = ""
        self._places = []
        self.remove_class("-searching")
        self.body.show_found((), None)
        self.body.focus()
        self.post_message(self.Resized())
        return True

    @on(Input.Changed, "#reader-search")
    def _search_changed(self, event: Input.Changed) -> None:
        event.stop()
        if self.is_asking:
            self._query = event.value
            self._find(self._began_at)
            self._show_found()

    @on(Input.Submitted, "#reader-search")
    def _search_given(self, event: Input.Submitted) -> None:
        event.stop()
        self.take_search()

    def take_search(self) -> None:
        """Search for what was typed, with the keys going to the text again."""
        if not self._query:
            self.close_search()
            return
        self.remove_class("-searching")
        self.body.focus()
        self.post_message(self.Resized())

    @on(events.Resize)
    def _rearrange(self) -> None:
        if self._was_split != self.split:
            self._arrange()

    def say(self, words: str) -> None:
        """Say something about the text below it, until the next step."""
        self._said = words
        self._show_place()

    def _find(self, top: int) -> None:
        """Look for the words; what is in capitals is meant so."""
        self._places = []
        self._at = 0
        if not self._query:
            return
        wanted = pattern_of(self._query)
        for number, line in enumerate(self.body.lines):
            for side, part in enumerate((line,) if isinstance(line, TextLine) else line):
                if part is not None and len(self._places) < _MOST_FOUND:
                    found = wanted.finditer(part.text)
                    self._places += [Place(number, side, *each.span()) for each in found]
        ahead = (n for n, place in enumerate(self._places) if place.line >= top)
        self._at = next(ahead, 0)

    def _show_found(self) -> None:
        self.body.show_found(self._places, self._places[self._at] if self._places else None)
        self._show_place()

    def _show_place(self) -> None:
        words = self._words_of_place(self.body)
        if words != self._place:
            self._place = words
            self.query_one("#reader-place", Static).update(words)
        if bool(words) != self.has_class("-placed"):
            self.set_class(bool(words), "-placed")
            self.post_message(self.Resized())

    def _words_of_place(self, body: ScrollLines) -> Content:
        """Return what is said, or which of the places found, or of the changes, one is at."""
        if self._said:
            return Content.styled(self._said, "$text-warning")
        if self._query:
            more = "+" if len(self._places) >= _MOST_FOUND else ""
            count = f"{self._at + 1} of {len(self._places)}{more}"
            return Content.assemble(
                ("search ", "$text-muted"),
                (self._query, "bold"),
                f"   {count}" if self._places else ("   not found", "$text-warning"),
            )
        if self._full and self._changes:
            here, changes = self._change_at(body.top_line) + 1, len(self._changes)
            return Content(f"change {here} of {changes}" if here else plural(changes, "change"))
        return Content()

    def _change_here(self) -> int:
        """Return which change is the last one at or above the top of the screen, -1 above all."""
        return self._change_at(self.body.top_line)

    def _change_at(self, line: int) -> int:
        top = line + 1
        return sum(line <= top for line in self._changes) - 1

    def _go_to_change(self, number: int) -> None:
        number = max(0, min(number, len(self._changes) - 1))
        row = self.body.row_of(self._changes[number])
        self.body.scroll_to(y=max(0, row - 1), animate=False)
        self._show_place()

    def _lay_out(self) -> tuple[Sequence[TextLine | LinePair], int]:
        self._was_split = self.split
        if not self._rows:
            return self._text, self._lead
        lines = DiffLines(self._rows, self._text, split=self.split, syntax=self._syntax)
        self._changes = lines.changes
        return lines, lines.lead

    def _arrange(self) -> None:
        """Lay the diff out anew, at the same line, or of other rows at the same change."""
        self._said = ""
        here, before, at = self._change_here(), self.body.lines, self.body.top_line
        lines, lead = self._lay_out()
        if (
            isinstance(before, DiffLines)
            and isinstance(lines, DiffLines)
            and before.shows(self._rows)
        ):
            top = before.line_in(lines, at)
        else:
            # With all lines of a file, changes that stood apart may be one.
            here = min(here, len(self._changes) - 1)
            top = max(0, self._changes[here] - 1) if here >= 0 else 0
        self.body.rearrange(lines, lead, top)
        self._find(top)
        self._show_found()

    async def _colour(self) -> None:
        rows, split = self._rows, self.split
        syntax = await asyncio.to_thread(
            diff_syntax, rows, wanted=lambda: self.is_attached and rows is self._rows
        )
        # While it is closed, what it has in it goes first.
        if rows is not self._rows or not syntax or not self.query(ScrollLines):
            return
        self._syntax = syntax
        if split == self.split:
            self.body.recolour(DiffLines(rows, self._text, split=split, syntax=syntax))
        else:
            self._arrange()
