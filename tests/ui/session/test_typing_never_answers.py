"""No typing decides anything: the rules on a clock of their own, and the screen on the same one."""

from collections.abc import Callable
from random import Random
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from textual import events

from amplifier_tui.host.client import Decision
from amplifier_tui.host.events import ApprovalRequested
from amplifier_tui.ui.dialogs.approval import ApprovalDialog
from amplifier_tui.ui.dialogs.parts import guarded
from amplifier_tui.ui.session import keyboard
from amplifier_tui.ui.session.approvals import ApprovalDialogs, DialogQueue
from amplifier_tui.ui.state.answer_keys import AnswerKeys, Heard, KeyRole, OpeningRule
from amplifier_tui.ui.state.waiting import DialogAnswer, QueuePlace
from tests.ui.driving import Driver, running
from tests.ui.requests import ask, resolved
from tests.ui.session.schedules import Step, schedule

DECIDES = {"a": True, "d": False}
READING = 0.6
"""Seconds a user looks before an answer, and after it."""


class Clock:
    """Time that moves when the test says so."""

    def __init__(self) -> None:
        self.now = 1_000.0
        self._timers: list[tuple[float, Callable[[], object]]] = []

    def after(self, seconds: float, call: Callable[[], object]) -> None:
        self._timers.append((self.now + seconds, call))

    def next_due(self, end: float) -> Callable[[], object] | None:
        """Move to the next timer up to `end` and return it; to `end` when there is none."""
        due = min((t for t in self._timers if t[0] <= end), key=lambda t: t[0], default=None)
        if due is None:
            self.now = end
            return None
        self._timers.remove(due)
        self.now = max(self.now, due[0])
        return due[1]


class Desk:
    """A prompt and its questions without a screen."""

    def __init__(self) -> None:
        self.clock = Clock()
        self.draft = self.written = ""
        self.shown = ""
        self.decided: list[tuple[str, bool]] = []
        self.meant: list[tuple[str, bool]] = []
        self.pending: list[ApprovalRequested] = []
        self.queue = DialogQueue(self)
        self._rule = OpeningRule()
        self._asked = 0

    # --- what the queue asks of dialogs ------------------------------------------------------

    def opens_in(self) -> float:
        return self._rule.wait(self.clock.now, bool(self.draft))

    def open(self, request: ApprovalRequested, place: QueuePlace, asked_for: bool) -> None:
        self.shown = request.request_id
        self._keys = AnswerKeys(self.clock.now, attended=asked_for)

    def close(self, request_id: str) -> None:
        self.shown = ""

    def show_place(self, place: QueuePlace) -> None: ...

    def show_waiting(self, request: ApprovalRequested | None, count: int) -> None: ...

    def decide(self, request_id: str, decision: Decision) -> None:
        self.decided.append((request_id, decision.allow))
        self.pending = [r for r in self.pending if r.request_id != request_id]

    def owner(self, request: ApprovalRequested) -> None: ...

    def is_seen(self, request: ApprovalRequested) -> bool:
        return True

    def after(self, seconds: float, call: Callable[[], object]) -> None:
        self.clock.after(seconds, call)

    # --- the user ----------------------------------------------------------------------------

    def wait(self, seconds: float) -> None:
        end = self.clock.now + seconds
        while (call := self.clock.next_due(end)) is not None:
            call()
        self.queue.sync(self.pending)

    def press(self, key: str) -> None:
        self._rule.pressed(self.clock.now)
        if key == "f8":
            self.queue.show()
        elif not self.shown:
            self._prompt(key)
        else:
            letter = key if len(key) == 1 else ""
            role: KeyRole = "text" if letter else "moves"
            if key in "adA":
                role = "decides"
            elif key == "f":
                role = "writes"
            elif key in "jk rz?[]":
                role = "acts"
            self._hear(role, letter, own=role in ("acts", "moves"))

    def paste(self, text: str) -> None:
        self._rule.pressed(self.clock.now)
        if self.shown:
            self._hear("text", text)
        else:
            self.draft += text

    def _prompt(self, key: str) -> None:
        if len(key) == 1:
            self.draft += key
        elif key in ("enter", "ctrl+u"):
            self.written, self.draft = self.written + self.draft, ""

    def _hear(self, role: KeyRole, text: str, own: bool = False) -> None:
        heard = self._keys.press(self.clock.now, role, text, text, own=own)
        if heard is Heard.BACK:
            self.draft += self._keys.text
            shown, self.shown = self.shown, ""
            self.queue.answered(DialogAnswer(shown, typing=True))
        elif heard is Heard.KEPT:
            keys = self._keys
            self.clock.after(keys.due - self.clock.now, lambda: self._settle(keys))

    def _settle(self, keys: AnswerKeys) -> None:
        action = keys.settle(self.clock.now)
        if action and self.shown:
            allow = DECIDES.get(action)
            if allow is None:
                # It opens a field, in which what is typed goes on: one place for both here.
                self.draft += action
            shown, self.shown = self.shown, ""
            self.queue.answered(
                DialogAnswer(shown, Decision(allow=allow) if allow is not None else None)
            )

    def do(self, step: Step) -> None:
        """Do one step; only `answer` means to decide."""
        if step.kind == "wait":
            self.wait(step.seconds)
        elif step.kind == "key":
            self.press(step.text)
        elif step.kind == "paste":
            self.paste(step.text)
        elif step.kind == "ask":
            self._asked += 1
            self.pending.append(ask(f"r{self._asked}", payload=str(self._asked)))
            self.queue.sync(self.pending)
        elif step.kind == "resolve" and self.pending:
            self.pending.pop(0)
            self.queue.sync(self.pending)
        elif step.kind == "answer" and self.pending:
            if not self.shown:
                self.press("f8")
            self.wait(READING)
            self.meant.append((self.shown, DECIDES[step.text]))
            self.press(step.text)
            self.wait(READING)


def typed(steps: list[Step]) -> str:
    """Return all text of a schedule."""
    texts = [s.text for s in steps if s.kind == "paste" or (s.kind == "key" and len(s.text) == 1)]
    return "".join(texts)


@settings(max_examples=1_000)
@given(st.integers(0, 2**32))
def test_no_schedule_of_typing_decides_what_was_not_meant(seed: int) -> None:
    steps = schedule(Random(seed))
    desk = Desk()
    for step in steps:
        desk.do(step)
    desk.wait(5)
    assert desk.decided == desk.meant
    assert desk.written + desk.draft == typed(steps)


class Hands:
    """The same user at the real screen, on a clock that the test moves."""

    def __init__(self, drive: Driver, clock: Clock) -> None:
        self.drive = drive
        self.clock = clock
        self.meant: list[tuple[str, bool]] = []
        self.cleared = ""
        self._asked = 0
        self._resolved: set[str] = set()

    @property
    def decided(self) -> list[tuple[str, bool]]:
        return [(name, made.allow) for name, made in self.drive.client.named("decide")]

    @property
    def written(self) -> str:
        return "".join(text for (text,) in self.drive.client.named("submit"))

    async def send(self, event: events.Key | events.Paste) -> None:
        event.time = self.clock.now
        self.drive.app.post_message(event)

    async def press(self, key: str) -> None:
        letter = key if len(key) == 1 else None
        await self.send(events.Key("space" if key == " " else key, letter))

    async def wait(self, seconds: float) -> None:
        await self.drive.settle()
        end = self.clock.now + seconds
        while (call := self.clock.next_due(end)) is not None:
            call()
            await self.drive.settle()

    async def do(self, step: Step) -> None:
        """Do one step; only `answer` means to decide."""
        drive = self.drive
        assert drive.app.tabs is not None
        waiting = [r.request_id for r in drive.app.tabs.approvals.queue.waiting]
        if step.kind == "wait":
            await self.wait(step.seconds)
        elif step.kind == "key" and step.text == "ctrl+u":
            await drive.settle()
            self.cleared += drive.draft if drive.app.screen is drive.app.main else ""
            if drive.app.screen is drive.app.main:
                drive.app.main.prompt.input.clear_draft()
        elif step.kind == "key":
            await self.press(step.text)
        elif step.kind == "paste":
            await self.send(events.Paste(step.text))
        elif step.kind == "ask":
            self._asked += 1
            await drive.push(ask(f"r{self._asked}", payload=str(self._asked), segments=()))
        elif step.kind == "resolve" and waiting:
            await drive.push(resolved(waiting[0], outcome="timed_out", by="timeout"))
        elif step.kind == "resize":
            await drive.pilot.resize_terminal(*((80, 24) if self._asked % 2 else (120, 36)))
        elif step.kind == "blur":
            drive.app.post_message(events.AppBlur())
            drive.app.post_message(events.AppFocus())
        elif step.kind == "answer" and waiting:
            await drive.settle()
            if not isinstance(drive.app.screen, ApprovalDialog):
                await self.press("f8")
            await self.wait(READING)
            self.meant.append((drive.app.screen.request.request_id, DECIDES[step.text]))
            await self.press(step.text)
            await self.wait(READING)


@pytest.mark.hypothesis
@pytest.mark.parametrize("seed", range(settings.default.max_examples // 2))
async def test_on_the_screen_no_typing_decides_and_no_letter_is_lost(
    seed: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    clock = Clock()
    monkeypatch.setattr(guarded, "key_time", lambda: clock.now)
    monkeypatch.setattr(keyboard, "key_time", lambda: clock.now)
    monkeypatch.setattr(ApprovalDialogs, "after", lambda self, *wanted: clock.after(*wanted))

    def set_timer(self: Any, seconds: float, call: Callable[[], object]) -> None:
        clock.after(seconds, call)

    monkeypatch.setattr(ApprovalDialog, "set_timer", set_timer)
    steps = schedule(Random(seed))
    async with running() as drive:
        hands = Hands(drive, clock)
        for step in steps:
            await hands.do(step)
        await hands.wait(5)
        assert hands.decided == hands.meant
        letters = hands.written + hands.cleared + drive.draft
        assert sorted(letters) == sorted(typed(steps))
