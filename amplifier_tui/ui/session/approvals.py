"""Opens and closes approval dialogs for the desk."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

from amplifier_tui.ui.session.approval_queue import Answer, Place

if TYPE_CHECKING:
    from collections.abc import Callable

    from amplifier_tui.host.client import Decision, SessionClient
    from amplifier_tui.host.events import ApprovalRequested
    from amplifier_tui.ui.app.session_app import AppActions
    from amplifier_tui.ui.dialogs.approval.dialog import ApprovalDialog
    from amplifier_tui.ui.state.session import SessionState


class ApprovalDialogs:
    """The desk's hands.

    Args:
        app: Where dialogs are pushed.
        client: Gets the decisions.
        state: Knows the lanes and what became of a request.
    """

    def __init__(self, app: AppActions, client: SessionClient, state: SessionState) -> None:
        self._app = app
        self._client = client
        self._state = state
        self._dialog: ApprovalDialog | None = None
        self._refocused = False

    # --- clicks ----------------------------------------------------------------------------

    def terminal_focused(self) -> None:
        """The terminal came to the front; the click that did it decides nothing."""
        self._refocused = True

    def user_is_here(self) -> None:
        """A key or a finished click: from here on clicks are meant."""
        self._refocused = False

    def _first_click(self) -> bool:
        first, self._refocused = self._refocused, False
        return first

    # --- what the desk asks for ------------------------------------------------------------

    def open_approval(self, request: ApprovalRequested, place: Place) -> None:
        """Show a request."""
        from amplifier_tui.ui.dialogs.approval.dialog import ApprovalDialog

        self._dialog = ApprovalDialog(
            request,
            lane=self._state.lanes.name_of(request.agent),
            place=place,
            hold=self._client.hold,
            keymap=self._app.keymap,
            is_first_click=self._first_click,
            cover=partial(self._cover, request.request_id),
        )
        self._app.push_screen(self._dialog, self._closed)

    def close_approval(self, request_id: str) -> None:
        """Take the dialog away and say what became of the request."""
        dialog, self._dialog = self._dialog, None
        if dialog is not None and dialog.request.request_id == request_id:
            from amplifier_tui.ui.dialogs.approval.words import outcome_words

            dialog.withdraw()
            answers = self._state.approvals.recent
            answer = next((a for a in reversed(answers) if a.request_id == request_id), None)
            self._app.say(*outcome_words(dialog.request, answer))

    def place_approval(self, place: Place) -> None:
        """Show how many wait."""
        if self._dialog is not None:
            self._dialog.set_place(place)

    def decide(self, request_id: str, decision: Decision) -> None:
        """Send an answer."""
        self._client.decide(request_id, decision)

    def after(self, seconds: float, call: Callable[[], None]) -> None:
        """Call back on the UI loop."""
        self._app.set_timer(seconds, call)

    def _cover(self, request_id: str, rows: int) -> None:
        """Keep the end of the conversation in view, for the dialog that is open now."""
        if self._dialog is None or self._dialog.request.request_id == request_id:
            self._app.main.cover(rows)

    def _closed(self, answer: Answer | None) -> None:
        self._dialog = None
        desk = self._app.desk
        if answer is not None and desk is not None:
            if answer.decision is None:
                self._app.say("It stays pending; F8 brings it back.")
            desk.answered(answer)
