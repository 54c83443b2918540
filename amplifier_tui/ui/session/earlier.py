"""Fetches the stored part of a resumed session when the user scrolls up to it."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING

from amplifier_tui.base.text import one_line

if TYPE_CHECKING:
    from amplifier_tui.host.client import SessionClient
    from amplifier_tui.ui.app.main_screen import MainScreen
    from amplifier_tui.ui.state.session import SessionState

PAGE = 200
"""Stored rows fetched at a time."""


class Earlier:
    """Watches the top of the transcript.

    Args:
        screen: Has the transcript; runs the fetch and says what went wrong.
        client: Has the rows.
        state: Takes them.
    """

    def __init__(self, screen: MainScreen, client: SessionClient, state: SessionState) -> None:
        self._screen = screen
        self._client = client
        self._state = state
        self._fetching = False

    def watch(self) -> None:
        """Begin; the transcript is mounted."""
        transcript = self._screen.transcript
        if transcript is not None:
            self._screen.watch(transcript, "scroll_y", self._scrolled, init=False)

    def _scrolled(self, scroll_y: float) -> None:
        if scroll_y < 1 and self._state.facts.earlier > 0 and not self._fetching:
            self._fetching = True
            self._screen.run_worker(self._fetch(), group="earlier")

    async def _fetch(self) -> None:
        facts = self._state.facts
        session, before = facts.session_id, facts.earlier
        try:
            events = await asyncio.wrap_future(self._client.history(before, PAGE))
        except Exception as error:
            self._screen.say(f"The earlier part cannot be read: {one_line(str(error))}", "warning")
            return
        finally:
            self._fetching = False
        if facts.session_id == session and facts.earlier == before:
            facts.earlier = max(0, before - PAGE)
            self._screen.show(self._state.prepend(events))
