"""Has keys wait for what a key before them opens, so that a fast hand or a slow line loses none."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import TYPE_CHECKING, Any, Final

from textual import events

from amplifier_tui.ui.terminal.textual_costs import in_time

if TYPE_CHECKING:
    from textual.app import App
    from textual.widget import Widget

_PATIENCE: Final = 0.3
"""Seconds that keys wait for one before them which no widget hands on."""


class KeyOrder:
    """Holds keys and pastes back until the key before them has done what it does.

    Textual gives every key at once to what has the focus. A key of the whole screen is run when the
    widgets have handed it on, or before they have heard any: of keys that came in one piece some
    would go to the old place, others overtake. Before the first frame nothing has the focus.

    Args:
        hear: Takes a key or a paste that waited.
        opened: Returns what an action has put into a screen that takes the keys, if anything.
    """

    def __init__(
        self,
        app: App[Any],
        hear: Callable[[events.Event], Awaitable[None]],
        opened: Callable[[], Widget | None],
    ) -> None:
        self._app = app
        self._hear = hear
        self._opened = opened
        self._waiting: list[events.Event] | None = []
        """What waits; None while nothing has to."""
        self._key: events.Key | None = None
        """What it waits for; None for the first frame."""

    def waits(self, event: events.Event) -> bool:
        """Hold a key or a paste back; False when it may be heard."""
        if self._waiting is None or not isinstance(event, events.Key | events.Paste):
            return False
        if event.is_forwarded:
            return False
        if (key := self._key) is not None and not self._waiting:
            self._app.set_timer(_PATIENCE, lambda: self._app.call_later(self._over, key))
        self._waiting.append(event)
        return True

    def begins(self, event: events.Event) -> Widget | None:
        """Hold back what follows a key, but for what is typed on the main screen.

        Returns:
            The widget that it goes to first; None for any other event.
        """
        if not isinstance(event, events.Key) or event.is_forwarded:
            return None
        screen = self._app.screen
        if event.is_printable and len(self._app.screen_stack) == 1:
            # In one field letters keep their order.
            return None
        self._key, self._waiting = event, []
        return screen.focused or screen

    def went(self, event: events.Event, widget: Widget) -> None:
        """Wait for a key that is on its way, from a widget on."""
        widget.call_later(self._seen, event)

    async def heard(self, event: events.Event) -> None:
        """Let what waits for an event be heard, once what that opens is there."""
        if event is self._key:
            if (opened := self._opened()) is not None:
                await in_time(opened._mounted_event)
            # What has the keys from now on is set in a message of the app's.
            self._app.call_later(self._over, event)
        elif isinstance(event, events.Ready):
            await self._over(None)

    def _seen(self, event: events.Event) -> None:
        """The widget with the focus has seen a key; what it kept goes no further."""
        if event._stop_propagation:
            self._app.call_later(self._over, event)

    async def _over(self, key: events.Event | None) -> None:
        if key is not self._key or self._waiting is None:
            return
        waiting, self._key, self._waiting = self._waiting, None, None
        for event in waiting:
            await self._hear(event)
