from collections.abc import Callable
from types import SimpleNamespace
from typing import Any, cast

from amplifier_tui.ui.session.waiting import WaitingDialog
from tests.ui.driving import running
from tests.ui.questions import questions
from tests.ui.requests import ask


class Dialog:
    written = ""

    def finish(self) -> None:
        pass


class Waiting(WaitingDialog[str]):
    KIND = "test"
    RISK = "low"
    PLACE = 0

    def __init__(self) -> None:
        self.closed: dict[str, Callable[[Any], None]] = {}
        self.answered: list[tuple[str, Any]] = []
        app = SimpleNamespace(push_screen=self._push)
        screen = SimpleNamespace(strip=None, app=app)
        keyboard = SimpleNamespace(question_wait=lambda: 0, cut_off=lambda tab, written: None)
        self.tab = SimpleNamespace(screen=screen, client=None, shown=True)
        super().__init__(cast("Any", self.tab), cast("Any", keyboard))

    def _push(self, dialog: Dialog, closed: Callable[[Any], None]) -> None:
        assert self._asked is not None
        assert self._asked not in self.closed, "it has a dialog already"
        self.closed[self._asked] = closed

    def _forget(self) -> None:
        pass

    def _strip(self, asked: str, key: str, count: int, width: int) -> Any:
        raise AssertionError

    def _make(self, asked: str) -> Any:
        return Dialog()

    def _answer(self, asked: str, answer: Any) -> None:
        self.answered.append((asked, answer))


def test_an_answer_that_comes_after_the_next_question_leaves_that_one_open() -> None:
    for late in ("later", "yes", None):
        waiting = Waiting()
        waiting.sync("one")
        waiting.sync("two")
        waiting.closed.pop("one")(late)
        assert waiting.answered == ([("one", "yes")] if late == "yes" else [])
        assert waiting.show(), "the next one still waits"
        waiting.closed["two"]("no")
        assert waiting.answered[-1] == ("two", "no")
        assert not waiting.show()


def test_the_question_of_a_session_that_is_not_shown_opens_when_the_user_wants_to_answer() -> None:
    for comes_back in (True, False):
        waiting = Waiting()
        waiting.tab.shown = False
        waiting.sync("one")
        assert not waiting.closed
        if comes_back:
            waiting.tab.shown = True
            waiting.shown()
        else:
            assert waiting.show()
        waiting.closed["one"]("yes")
        assert waiting.answered == [("one", "yes")]


async def test_a_question_that_waits_while_the_program_ends_asks_for_no_screen() -> None:
    async with running() as drive:
        await drive.write("half a thought")
        await drive.push(questions(), ask())
        app = drive.app
        await app._close_all()
        assert not app.screen_stack
        for timer in tuple(app._timers):
            await timer._tick(next_timer=0.0, count=1)
        await drive._messages()
        assert app._exception is None
