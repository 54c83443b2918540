"""Textual's text area, mended: every text of more than one line is written in this one."""

import re
from typing import Final

from textual import events
from textual.document._document import Selection
from textual.geometry import Offset

from amplifier_tui.ui.fields.keys_in_order import act_in_order
from amplifier_tui.ui.terminal.textual_costs import without_tree_sitter

with without_tree_sitter():
    from textual.widgets import TextArea


WORD: Final = re.compile(r"[\w./~:@%+=#-]+|\S")
"""What a double click takes: a word, a path, an address, or a sign."""


class EditArea(TextArea):
    """A text area in which what made it scroll can be undone, and keys act in their order."""

    async def on_key(self, event: events.Key) -> None:
        """Act on a key that types nothing, before the next one comes."""
        await act_in_order(self, event)

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
