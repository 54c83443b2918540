"""Fetches the rows of a resumed session that are only stored as yet."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING, Final

from amplifier_tui.base.text import one_line

if TYPE_CHECKING:
    from collections.abc import Callable

    from amplifier_tui.ui.session.tabs.tab import SessionTab

FARTHEST: Final = 5_000
"""Stored rows that are fetched at most in one go."""
_PAGE: Final = 200
"""Stored rows that are fetched and drawn at a time."""


class EarlierRows:
    """Puts stored rows in front of the conversation, the newest of them first."""

    def __init__(self, tab: SessionTab) -> None:
        self._tab = tab
        self._facts = tab.state.facts
        self._reading = asyncio.Lock()

    @property
    def left(self) -> int:
        """How many rows are not fetched yet."""
        return self._facts.earlier

    def scrolled(self, scroll_y: float) -> None:
        """Fetch what comes before the top of the conversation: a page with entries on it."""
        if scroll_y < 1 and self._facts.earlier > 0 and not self._reading.locked():
            entries = self._tab.state.entries
            shown = len(entries)
            self._tab.screen.run_worker(
                self.fetch(FARTHEST, lambda: len(entries) > shown), group="earlier"
            )

    async def fetch(self, rows: int, found: Callable[[], bool] | None = None) -> bool:
        """Fetch rows, a page after the other; what cannot be read is said to the user.

        Args:
            rows: How many at most; a page is fetched whole.
            found: Looks after each page whether what is wanted was on it, and ends it then.

        Returns:
            Whether it was found.
        """
        async with self._reading:
            session = self._facts.session_id
            while rows > 0 and (before := self._facts.earlier) > 0:
                try:
                    events = await asyncio.wrap_future(self._tab.client.history(before, _PAGE))
                except Exception as error:
                    said = f"The earlier part cannot be read: {one_line(str(error))}"
                    self._tab.say(said, "warning")
                    return False
                if (self._facts.session_id, self._facts.earlier) != (session, before):
                    return False
                self._facts.earlier = max(0, before - _PAGE)
                self._tab.show(self._tab.state.prepend(events))
                rows -= _PAGE
                # Drawn at once, so that there is something to look at, and keys are heard.
                await asyncio.sleep(0)
                if found is not None and found():
                    return True
        return False

    def want(
        self, found: Callable[[], bool] | None = None, then: Callable[[bool], None] | None = None
    ) -> None:
        """Fetch the part that is not here, until something is found in it or it gets too far.

        Args:
            found: Looks after each page whether what is wanted was on it.
            then: Called at the end with whether it was.
        """
        self._tab.screen.run_worker(self._want(found, then), group="earlier")

    async def _want(
        self, found: Callable[[], bool] | None, then: Callable[[bool], None] | None
    ) -> None:
        done = await self.fetch(FARTHEST, found)
        if then is not None:
            then(done)
        if self.left and not done:
            self._tab.say(f"{self.left:,} rows further up are not read yet: ask again for more.")
