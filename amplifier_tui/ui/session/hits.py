"""Opens a session at the place that a search found."""

from __future__ import annotations

from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from amplifier_tui.host.client import OpenRequest
from amplifier_tui.host.events import Failed, SessionOpened
from amplifier_tui.ui.session.earlier import FARTHEST
from amplifier_tui.ui.state.conversation.entries import TextEntry

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable

    from amplifier_tui.host.client import SearchHit
    from amplifier_tui.host.events import HostEvent
    from amplifier_tui.ui.session.tabs.tab import SessionTab

_BEFORE = 20
"""Rows fetched before the place, so that it does not stand alone."""


class HitOpener:
    """Opens the session of a hit, unless it is open, and goes to the row.

    Args:
        fetch: Shows so many more of the stored rows.
    """

    def __init__(self, tab: SessionTab, fetch: Callable[[int], Awaitable[object]]) -> None:
        self._tab = tab
        self._screen = tab.screen
        self._client = tab.client
        self._state = tab.state
        self._fetch = fetch
        self._hit: SearchHit | None = None

    def open(self, hit: SearchHit) -> None:
        """Open a hit, whose folder is there."""
        card = hit.card
        if card.session_id == self._state.facts.session_id:
            self._show_soon(hit)
        else:
            self._hit = hit
            self._client.open(
                OpenRequest(cwd=Path(card.cwd), resume=card.session_id, shows_busy=True)
            )

    def take(self, event: HostEvent) -> None:
        """Take one live event: the session opens or fails to."""
        hit = self._hit
        if hit is None or not isinstance(event, SessionOpened | Failed):
            return
        self._hit = None
        if isinstance(event, SessionOpened) and event.session_id == hit.card.session_id:
            self._tab.when_shown(partial(self._show_soon, hit))

    def _show_soon(self, hit: SearchHit) -> None:
        self._screen.run_worker(self._show(hit), group="hit", exclusive=True)

    async def _show(self, hit: SearchHit) -> None:
        if hit.row < 0:
            return
        facts = self._state.facts
        missing = facts.earlier - hit.row
        if missing > FARTHEST:
            self._tab.say(f"It is {missing:,} rows further up: too far to go there at once.")
            return
        if missing > 0:
            await self._fetch(missing + _BEFORE)
        key = self._key(hit)
        # Said since it was opened, it is not known by its row: then its prompt is.
        places = (key, f"user:{hit.turn}")
        # What was found may be folded away.
        point_out = self._screen.point_out
        if facts.session_id == hit.card.session_id and not any(map(point_out, places)):
            self._tab.say("The place was taken back or is not shown.", "warning")

    def _key(self, hit: SearchHit) -> str:
        """Return the key of the entry that shows the row; empty where none does."""
        if hit.kind == "prompt":
            return f"user:{hit.turn}"
        if hit.agent or hit.kind in ("call", "result"):
            # A sub-agent's words are below the call that gave it the task.
            return f"tool:{hit.call_id}"
        begin = f"block:r{hit.row}."
        entries = self._state.entries
        keys = (entry.key for entry in entries if isinstance(entry, TextEntry))
        return next((key for key in keys if key.startswith(begin)), "")
