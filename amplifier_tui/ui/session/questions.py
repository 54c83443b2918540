"""What agents ask the user, on the screen."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from amplifier_tui.host.events import MAIN_LANE
from amplifier_tui.ui.session.waiting import WaitingDialog
from amplifier_tui.ui.state.waiting import ASK

if TYPE_CHECKING:
    from textual.content import Content

    from amplifier_tui.host.events import QuestionsAsked
    from amplifier_tui.ui.dialogs.ask.dialog import AskDialog
    from amplifier_tui.ui.dialogs.ask.form import AskForm


class AskDialogs(WaitingDialog["QuestionsAsked"]):
    """The dialog of an agent's questions; those of one request after those of another."""

    KIND = "ask"
    RISK = "low"
    PLACE = ASK
    _form: AskForm | None = None

    def _forget(self) -> None:
        self._form = None

    def _answers(self, asked: QuestionsAsked) -> AskForm:
        """Return what is answered so far."""
        from amplifier_tui.ui.dialogs.ask.form import AskForm

        if self._form is None:
            self._form = AskForm(asked)
        return self._form

    def _who(self, asked: QuestionsAsked) -> str:
        from amplifier_tui.ui.dialogs.ask.form import asker

        main = asked.agent == MAIN_LANE
        return self._tab.named(asker("" if main else self._tab.state.lanes.name_of(asked.agent)))

    def _count(self) -> int:
        return len(self._tab.state.questions.pending)

    def _strip(self, asked: QuestionsAsked, key: str, count: int, width: int) -> Content:
        from amplifier_tui.ui.dialogs.ask.form import strip

        return strip(self._answers(asked), self._who(asked), key, count, width)

    def _make(self, asked: QuestionsAsked) -> AskDialog:
        from amplifier_tui.ui.dialogs.ask.dialog import AskDialog

        return AskDialog(
            self._answers(asked),
            self._who(asked),
            keymap=self._screen.keymap,
            is_first_click=self._keyboard.is_first_click,
            cover=self._screen.cover,
        )

    def _answer(self, asked: QuestionsAsked, answer: Any) -> None:
        self._client.answer_questions(asked.request_id, answer)
