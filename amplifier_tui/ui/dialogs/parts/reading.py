"""What a sheet with a text or a diff to read does with it."""

import asyncio
from typing import TypeVar

from textual import on

from amplifier_tui.base.text import one_line
from amplifier_tui.host.client import SessionClient
from amplifier_tui.ui.dialogs.approval_words import diff_rows
from amplifier_tui.ui.dialogs.parts.sheet import KeyChoice, KeyRow, Sheet
from amplifier_tui.ui.diffs.reader import Reader
from amplifier_tui.ui.keys.keymap import Keymap

T = TypeVar("T")

ROOMY = 100
"""Cells from which side by side is offered."""


class ReadingSheet(Sheet[T]):
    """Has a reader, and the actions `step`, `search`, `split` and `whole` about it."""

    def set_up_reading(
        self, diff: str, client: SessionClient, keymap: Keymap, *, made: bool
    ) -> None:
        """Take the diff of a change, `made` or not, and the keys to show; it may be empty."""
        self._diff = diff
        self._client = client
        self._made = made
        self._keymap = keymap
        self._whole = False

    @property
    def reader(self) -> Reader:
        """What is to be read."""
        return self.query_one(Reader)

    def reading_choices(self) -> list[KeyChoice]:
        """Return the keys that are about the text."""
        found = [self.choice("search", "Search")]
        if self.reader.changes > 1 or self.reader.finding:
            found.append(self.choice("next", "Next"))
            found.append(self.choice("previous", "Previous"))
        if self._diff:
            if self.reader.split or self.app.size.width >= ROOMY:
                words = "Unified" if self.reader.split else "Side by side"
                found.append(self.choice("split", words))
            found.append(self.choice("whole", "Changes only" if self._whole else "Whole file"))
        return found

    def search_choices(self, cancel: str) -> list[KeyChoice]:
        """Return the keys while it is typed what to search for, and none otherwise.

        Args:
            cancel: The action of `esc`.
        """
        if not self.reader.is_asking:
            return []
        return [KeyChoice("enter", "Search", "take_search"), KeyChoice("esc", "Cancel", cancel)]

    def action_step(self, direction: int) -> None:
        """Go to the next or previous place found, or change."""
        self.reader.step(direction)

    def action_search(self) -> None:
        """Search the text."""
        if not self.reader.is_empty:
            self.reader.open_search()

    def action_take_search(self) -> None:
        """Search for what was typed."""
        self.reader.take_search()

    def action_split(self) -> None:
        """Show a diff side by side, or unified."""
        self.reader.toggle_split()
        self._fit(self.room())

    def action_whole(self) -> None:
        """Show all lines of the files around the changes, or those near them again."""
        self.in_order(self._show_whole())

    async def _show_whole(self) -> None:
        diff = self._diff
        if not diff:
            return
        if not self._whole:
            try:
                diff = await self.answer_of(self._client.whole_diff(diff, made=self._made))
            except Exception as error:
                # Whatever the disk said, or that the files are others by now.
                self.reader.say(one_line(str(error), 300))
                return
        self._whole = not self._whole
        rows = await asyncio.to_thread(diff_rows, diff)
        self.reader.show_rows(rows)
        self._fit(self.room())


class FullReadingSheet(ReadingSheet[T]):
    """Has the whole screen, with its keys below what is read."""

    AUTO_FOCUS = "ScrollLines"
    DEFAULT_CSS = """
    FullReadingSheet > #sheet { height: 100%; padding: 0 2; border-left: thick $primary; }
    """

    def _foot(self) -> int:
        return 0

    def _choices(self) -> list[KeyChoice]:
        return self.search_choices("close") or [
            *self.reading_choices(),
            self.choice("close", "End search" if self.reader.finding else "Close"),
        ]

    def _fit(self, rows: int) -> None:
        keys = self.query_one(KeyRow)
        keys.set_choices(self._choices())
        taken = keys.get_content_height(self.size, self.size, self.app.size.width - 5)
        self.reader.fit(rows - 1 - taken, full=True)

    @on(Reader.Resized)
    def _reader_changed(self) -> None:
        self._fit(self.room())

    def action_close(self) -> None:
        """End a search, or close."""
        if not self.reader.close_search():
            self.finish()
