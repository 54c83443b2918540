"""Textual's text area, mended: every text of more than one line is written in this one."""

import re
from dataclasses import replace
from typing import Final

from rich.segment import Segment
from textual import events
from textual.document._document import EditResult, Location, Selection
from textual.document._edit import Edit
from textual.geometry import Offset
from textual.strip import Strip

from amplifier_tui.base.text import written
from amplifier_tui.ui.fields.keys_in_order import act_in_order
from amplifier_tui.ui.terminal.textual_costs import without_tree_sitter

with without_tree_sitter():
    from textual.widgets import TextArea

    from amplifier_tui.ui.fields.joiners import clusters, drawn, measure_what_is_drawn

measure_what_is_drawn()

WORD: Final = re.compile(r"[\w./~:@%+=#-]+|\S")
"""What a double click takes: a word, a path, an address, or a sign."""


class EditArea(TextArea):
    """A text area in which what made it scroll can be undone, and keys act in their order.

    What is not drawn, as the joiners in emoji, goes with the character before it.
    """

    async def on_key(self, event: events.Key) -> None:
        """Act on a key that types nothing, before the next one comes."""
        if not self.typed_unprinted(event):
            await act_in_order(self, event)

    def typed_unprinted(self, event: events.Key) -> bool:
        """Write a character that Python calls not printable: wide blanks, joiners.

        Returns:
            Whether the key was one of them.
        """
        character = event.character or ""
        if event.is_printable or character.isascii() or written(character) != character:
            return False
        event.stop()
        event.prevent_default()
        self.replace(character, *self.selection, maintain_selection_offset=False)
        return True

    def pieces(self, line: str) -> list[tuple[int, int]]:
        """Return the start and end of what in a line is one thing for the cursor and for keys."""
        return clusters(line)

    def validate_selection(self, selection: Selection) -> Selection:
        """Keep the cursor and the selection out of pieces: what comes to one passes it."""
        before = self.selection
        start, end = (self._passed(at, was) for at, was in zip(selection, before, strict=True))
        return Selection(start, end)

    def _passed(self, at: Location, before: Location) -> Location:
        """Return a place, or where one comes out of the piece it is in."""
        piece = self._piece_at(at)
        return at if piece is None else (at[0], piece[0] if before > at else piece[1])

    def _piece_at(self, at: Location) -> tuple[int, int] | None:
        """Return where the piece begins and ends that a place is within."""
        row, column = at
        if row >= self.document.line_count:
            return None
        spans = self.pieces(self.document.get_line(row))
        return next((span for span in spans if span[0] < column < span[1]), None)

    def edit(self, edit: Edit) -> EditResult:
        """Change the text; a piece goes as a whole, and takes nothing into it."""
        start, end = sorted((edit.from_location, edit.to_location))
        first, last = self._piece_at(start), self._piece_at(end)
        if first is not None:
            start = (start[0], first[1] if start == end else first[0])
        if last is not None:
            end = (end[0], last[1])
        if first or last:
            edit = replace(edit, from_location=start, to_location=end)
        return super().edit(edit)

    def _render_line(self, y: int) -> Strip:
        """Draw a row without what takes no room, as wide as the area is."""
        strip = super()._render_line(y)
        if drawn(strip.text) == strip.text:
            return strip
        segments = [Segment(drawn(text), style, control) for text, style, control in strip]
        width = self.scrollable_content_region.width
        return Strip(segments).adjust_cell_length(width, self.rich_style)

    def on_click(self, event: events.Click) -> None:
        """Select the word that is clicked twice, or the line that is clicked three times."""
        if event.chain < 2:
            return
        # Textual would select all that stands around the field.
        event.prevent_default()
        row, column = self.get_target_document_location(event)
        if event.chain > 2:
            self.select_line(row)
            return
        words = WORD.finditer(self.document.get_line(row))
        found = next((word for word in words if word.start() <= column < word.end()), None)
        if found is not None:
            self.selection = Selection((row, found.start()), (row, found.end()))

    def scroll_cursor_visible(self, center: bool = False, animate: bool = False) -> Offset:
        """Show the cursor.

        An undo takes the text back before it moves the cursor. Where its scrollbar goes with the
        text, it is asked for a cursor in lines that are gone.
        """
        if self.cursor_location[0] >= self.document.line_count:
            return Offset(0, 0)
        return super().scroll_cursor_visible(center, animate)
