"""The question of trust on the screen: when its dialog opens, and what becomes of the answer."""

from __future__ import annotations

import time
from collections.abc import Callable
from functools import partial
from typing import TYPE_CHECKING

from amplifier_tui.ui.session.approvals import LONGEST_WAIT, PAUSE

if TYPE_CHECKING:
    from amplifier_tui.host.client import SessionClient, TrustDecision
    from amplifier_tui.host.events import TrustAsked
    from amplifier_tui.ui.app.main_screen import MainScreen
    from amplifier_tui.ui.dialogs.trust.dialog import TrustDialog


class TrustDialogs:
    """Opens the dialog in a pause of the user's typing, and closes it when nobody waits any more.

    Args:
        is_first_click: True for the click that brought the terminal to the front.
    """

    def __init__(
        self, screen: MainScreen, client: SessionClient, is_first_click: Callable[[], bool]
    ) -> None:
        self._screen = screen
        self._client = client
        self._is_first_click = is_first_click
        self._asked: TrustAsked | None = None
        self._waits = False
        self._arrived = 0.0
        self._typed = float("-inf")
        self._dialog: TrustDialog | None = None

    def typed(self) -> None:
        """The user changed a text: the dialog may not open right now."""
        self._typed = time.monotonic()

    def sync(self, asked: TrustAsked | None) -> None:
        """Take the question that waits, if any."""
        if asked is not self._asked:
            self._asked, self._waits, self._arrived = asked, asked is not None, time.monotonic()
            if self._dialog is not None:
                self._dialog.withdraw()
                self._dialog = None
            self._consider()

    def show(self) -> bool:
        """Show the question now; False when there is none."""
        if self._waits and self._dialog is None and self._asked is not None:
            self._open(self._asked)
        return self._waits

    def _consider(self) -> None:
        """Open the dialog now, or look again when the user may have paused."""
        if self._asked is None or self._dialog is not None or not self._waits:
            return
        now = time.monotonic()
        wait = min(PAUSE - (now - self._typed), LONGEST_WAIT - (now - self._arrived))
        if wait <= 0:
            self._open(self._asked)
        else:
            self._screen.app.set_timer(wait + 0.01, self._consider)

    def _open(self, asked: TrustAsked) -> None:
        from amplifier_tui.ui.dialogs.trust.dialog import TrustDialog

        self._dialog = TrustDialog(
            asked,
            keymap=self._screen.keymap,
            is_first_click=self._is_first_click,
            cover=self._screen.cover,
        )
        self._screen.app.push_screen(self._dialog, partial(self._closed, asked.request_id))

    def _closed(self, request_id: str, decision: TrustDecision | None) -> None:
        if decision is not None:
            self._dialog, self._waits = None, False
            self._client.answer_trust(request_id, decision)
