"""The question of trust on the screen: when its dialog opens, and what becomes of the answer."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from amplifier_tui.host.client import SessionClient, TrustDecision
    from amplifier_tui.host.events import TrustAsked
    from amplifier_tui.ui.app.main_screen import MainScreen
    from amplifier_tui.ui.dialogs.trust.dialog import TrustDialog
    from amplifier_tui.ui.dialogs.trust.picks import TrustPicks
    from amplifier_tui.ui.session.keyboard import Keyboard


class TrustDialogs:
    """Opens the dialog while the user does not type, and closes it when nobody waits any more."""

    def __init__(self, screen: MainScreen, client: SessionClient, keyboard: Keyboard) -> None:
        self._screen = screen
        self._client = client
        self._keyboard = keyboard
        self._asked: TrustAsked | None = None
        self._waits = False
        self._ticking = False
        self._dialog: TrustDialog | None = None
        self._picks: TrustPicks | None = None

    def sync(self, asked: TrustAsked | None) -> None:
        """Take the question that waits, if any."""
        if asked is not self._asked:
            self._asked, self._waits, self._picks = asked, asked is not None, None
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
        """Open the dialog now, or show above the prompt that it waits, and look again."""
        if self._asked is None or self._dialog is not None or not self._waits:
            self._show_waiting(None)
        elif wait := self._keyboard.question_wait():
            self._show_waiting(self._asked)
            if not self._ticking:
                self._ticking = True
                self._screen.app.set_timer(wait, self._tick)
        else:
            self._open(self._asked)

    def _tick(self) -> None:
        self._ticking = False
        self._consider()

    def _show_waiting(self, asked: TrustAsked | None) -> None:
        from amplifier_tui.ui.dialogs.trust.rows import strip

        if self._screen.strip is not None:
            key = self._screen.keymap.way_to("approval.show")
            draw = partial(strip, asked, key) if asked is not None else None
            self._screen.strip.show("trust", draw, "medium")

    def _open(self, asked: TrustAsked) -> None:
        from amplifier_tui.ui.dialogs.trust.dialog import TrustDialog
        from amplifier_tui.ui.dialogs.trust.picks import TrustPicks

        if self._picks is None:
            self._picks = TrustPicks(asked)
        self._show_waiting(None)
        self._dialog = TrustDialog(
            asked,
            self._picks,
            keymap=self._screen.keymap,
            is_first_click=self._keyboard.is_first_click,
            cover=self._screen.cover,
        )
        self._screen.app.push_screen(self._dialog, partial(self._closed, asked.request_id))

    def _closed(self, request_id: str, decision: TrustDecision | None) -> None:
        if decision is not None:
            self._dialog, self._waits = None, False
            self._client.answer_trust(request_id, decision)
        elif self._asked is not None and self._asked.request_id == request_id:
            # The user types: it opens again when the prompt is empty.
            self._dialog = None
            self._consider()
