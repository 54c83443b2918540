"""The question of trust on the screen."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

from amplifier_tui.ui.session.waiting import WaitingDialog
from amplifier_tui.ui.state.waiting import TRUST

if TYPE_CHECKING:
    from textual.content import Content

    from amplifier_tui.host.events import TrustAsked
    from amplifier_tui.ui.dialogs.trust.dialog import TrustDialog
    from amplifier_tui.ui.dialogs.trust.picks import TrustPicks


class TrustDialogs(WaitingDialog["TrustAsked"]):
    """The dialog about what a project or a stranger brings."""

    KIND = "trust"
    RISK = "medium"
    PLACE = TRUST
    _picks: TrustPicks | None = None

    def _forget(self) -> None:
        self._picks = None

    def _strip(self, asked: TrustAsked, key: str, count: int, width: int) -> Content:
        from amplifier_tui.ui.dialogs.trust.rows import strip

        return strip(self._named(asked), key, count, width)

    def _make(self, asked: TrustAsked) -> TrustDialog:
        from amplifier_tui.ui.dialogs.trust.dialog import TrustDialog
        from amplifier_tui.ui.dialogs.trust.picks import TrustPicks

        if self._picks is None:
            self._picks = TrustPicks(asked)
        return TrustDialog(
            self._named(asked),
            self._picks,
            keymap=self._screen.keymap,
            is_first_click=self._keyboard.is_first_click,
            cover=self._screen.cover,
        )

    def _named(self, asked: TrustAsked) -> TrustAsked:
        """Return the question with the session's name in it, unless that is shown."""
        return replace(asked, title=self._tab.named(asked.title))

    def _answer(self, asked: TrustAsked, answer: Any) -> None:
        self._client.answer_trust(asked.request_id, answer)
