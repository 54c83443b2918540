"""What is typed while the conversation, a pane or a dialog has the keys changes nothing."""

from collections.abc import Callable

import pytest
from textual import events

from amplifier_tui.host.client import RewindFile, RewindPoint, RewindPreview, RuleCard
from amplifier_tui.host.events import BlockEnded, ModuleMounted, TurnEnded, TurnStarted
from amplifier_tui.ui.app.screens import letters
from amplifier_tui.ui.app.screens.letters import Letters
from amplifier_tui.ui.dialogs.parts import guarded
from amplifier_tui.ui.dialogs.parts.guarded import GuardedSheet
from amplifier_tui.ui.dialogs.permissions.rules import RuleList
from amplifier_tui.ui.dialogs.questions import Confirm
from amplifier_tui.ui.dialogs.rewind.sheet import RewindSheet
from amplifier_tui.ui.state.answer_keys import ALONE, GRACE
from tests.ui.conftest import NOT_ASKED
from tests.ui.driving import Driver, running
from tests.ui.fake_client import SESSION, FakeClient
from tests.ui.state.make import make

PREVIEW = RewindPreview(
    turn=1,
    prompt="first",
    turns=1,
    files=(RewindFile(path="mine.md", conflict="it was changed since by you"),),
)
PACE = 0.15
"""Seconds from key to key of someone who types."""
CHANGES = ("rewind", "fork", "submit", "remove_rule")


class Hand:
    """Presses keys with so many seconds between them, on a clock of its own."""

    def __init__(self, drive: Driver, monkeypatch: pytest.MonkeyPatch) -> None:
        self.drive = drive
        self.now = 1_000.0
        self._timers: list[tuple[float, Callable[[], object]]] = []
        for kind in NOT_ASKED:
            monkeypatch.setattr(kind, "grace", GRACE)
            monkeypatch.setattr(kind, "alone", ALONE)
        monkeypatch.setattr(Letters, "alone", ALONE)
        monkeypatch.setattr(guarded, "key_time", lambda: self.now)
        monkeypatch.setattr(letters, "key_time", lambda: self.now)
        monkeypatch.setattr(GuardedSheet, "set_timer", self._later, raising=False)
        monkeypatch.setattr(type(drive.app.main), "set_timer", self._later, raising=False)

    def _later(self, seconds: float, call: Callable[[], object]) -> None:
        self._timers.append((self.now + seconds, call))

    async def wait(self, seconds: float) -> None:
        """Let time go by, and what was to be done then be done."""
        await self.drive.settle()
        end = self.now + seconds
        while due := sorted((each for each in self._timers if each[0] <= end), key=lambda t: t[0]):
            self._timers.remove(due[0])
            self.now = max(self.now, due[0][0])
            due[0][1]()
            await self.drive.settle()
        self.now = end

    async def press(self, *keys: str, pause: float = 1.0) -> None:
        for key in keys:
            pressed = events.Key("space" if key == " " else key, key if len(key) == 1 else None)
            pressed.time = self.now
            self.drive.app.post_message(pressed)
            await self.wait(pause)

    async def type(self, text: str) -> None:
        await self.press(*text, pause=PACE)
        await self.wait(1)

    @property
    def changed(self) -> list[str]:
        return [name for name in CHANGES if self.drive.client.named(name)]


async def talked(drive: Driver, monkeypatch: pytest.MonkeyPatch) -> Hand:
    await drive.push(
        make(ModuleMounted, module_id="tool-b", kind="tool"),
        TurnStarted(session_id=SESSION, turn=1, prompt="first"),
        BlockEnded(session_id=SESSION, block_id="b1", kind="text", text="done"),
        TurnEnded(session_id=SESSION, turn=1, status="success"),
    )
    drive.client.calls.clear()
    return Hand(drive, monkeypatch)


def client() -> FakeClient:
    points = (RewindPoint(turn=1, prompt="first", files=1),)
    return FakeClient(points=points, rewound=PREVIEW)


SENTENCES = (
    "rework files",
    "rework core",
    "rof",
    "fix it now",
    "export it",
    "we go",
    "get it",
    "/pager",
)


@pytest.mark.parametrize("text", SENTENCES)
async def test_a_sentence_typed_in_the_conversation_is_written_in_the_prompt(
    text: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with running(client()) as drive:
        hand = await talked(drive, monkeypatch)
        await hand.press("alt+up")
        assert drive.app.focused is drive.app.main.transcript
        await hand.type(text)
        assert drive.app.screen is drive.app.main and drive.draft == text
        assert hand.changed == []


@pytest.mark.parametrize("pane", ["f2", "f4"])
@pytest.mark.parametrize("text", ["update it", "pick one", "drop that", "should it", "undo that"])
async def test_a_sentence_typed_in_a_pane_changes_nothing(
    pane: str, text: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with running(client()) as drive:
        hand = await talked(drive, monkeypatch)
        await hand.press(pane)
        drive.client.calls.clear()
        await hand.type(text)
        assert drive.app.screen is drive.app.main
        assert drive.draft == text
        assert {name for name, *_ in drive.client.calls} <= {"keep_draft"}


async def test_a_letter_of_the_conversation_acts_when_it_stays_alone_also_after_others_that_move(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    async with running(client()) as drive:
        hand = await talked(drive, monkeypatch)
        await hand.press("alt+up")
        await hand.press("j", "k", "r", pause=PACE)
        assert drive.app.screen is drive.app.main
        await hand.wait(ALONE)
        await drive.dialog(RewindSheet)


async def test_an_arrow_after_a_letter_of_a_pane_is_no_word(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    async with running(client()) as drive:
        hand = await talked(drive, monkeypatch)
        await hand.press("f2")
        await hand.press("d", "down", pause=PACE)
        assert drive.client.named("switch_module")


@pytest.mark.parametrize("text", ["of course", "ok", "f", "c", "\n"])
async def test_what_is_typed_on_takes_nothing_back(
    text: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A letter alone in the first moments decides nothing either."""
    async with running(client()) as drive:
        hand = await talked(drive, monkeypatch)
        await drive.app.run_by_id("session.rewind", "1")
        await drive.dialog(RewindSheet)
        keys = ["enter"] if text == "\n" else [*text]
        await hand.press(*keys, pause=PACE)
        await hand.wait(2)
        assert hand.changed == []
        if len(text) > 2:
            assert drive.app.screen is drive.app.main and drive.draft == text


async def test_an_answer_that_stays_alone_is_one(monkeypatch: pytest.MonkeyPatch) -> None:
    async with running(client()) as drive:
        hand = await talked(drive, monkeypatch)
        await drive.app.run_by_id("session.rewind", "1")
        await drive.dialog(RewindSheet)
        await hand.wait(1)
        await hand.press("o", "enter")
        await drive.dialog(Confirm)
        await hand.type("yes please")
        assert hand.changed == [] and drive.app.screen is not drive.app.main
        await hand.press("enter")
        await drive.dialog(Confirm)
        await hand.wait(1)
        await hand.press("y")
        await drive.closed()
        assert drive.client.named("rewind") == [(1, "both", ("mine.md",))]


async def test_words_typed_in_a_list_revoke_nothing_and_leave_it_open(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    async with running(client()) as drive:
        hand = await talked(drive, monkeypatch)
        drive.client.standing = (RuleCard(key="a", text="bash(ls *)", editable=True),)
        await drive.app.run_by_id("permissions.show")
        listed = await drive.dialog(RuleList)
        await hand.wait(1)
        await hand.type("do no")
        assert drive.app.screen is listed and hand.changed == []
        await hand.press("d")
        assert drive.client.named("remove_rule") == [("a",)]
