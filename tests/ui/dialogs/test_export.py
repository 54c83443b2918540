"""Writing the session to a file: what is chosen, what is asked, and what is said."""

from typing import Any

import pytest

from amplifier_tui.host.client import ExportedFile, ExportRequest, RewindPoint
from amplifier_tui.host.events import TurnStarted
from amplifier_tui.ui.dialogs.export.options import ExportOptions, file_name
from amplifier_tui.ui.dialogs.export.sheet import ExportSheet
from amplifier_tui.ui.dialogs.questions import Confirm
from amplifier_tui.ui.state.exports import exported
from tests.ui.driving import Driver, running
from tests.ui.fake_client import SESSION, FakeClient
from tests.ui.panes.test_moments import STORY

POINTS = tuple(RewindPoint(turn=n, prompt=f"prompt {n}") for n in (5, 3, 1))


def asked(driver: Driver) -> list[ExportRequest]:
    return [call[1] for call in driver.client.calls if call[0] == "export"]


def options(**chosen: Any) -> ExportOptions:
    made = ExportOptions(ExportRequest(**{"path": "a.html", "form": "html", **chosen}))
    made.take_points(POINTS)
    return made


def test_the_name_of_the_file_and_the_form_follow_each_other() -> None:
    made = options()
    made.step("form", 1)
    assert (made.request.form, made.request.path) == ("json", "a.json")
    made.write("path", " notes.MD ")
    assert (made.request.form, made.request.path) == ("markdown", "notes.MD")
    made.write("path", "notes")
    made.step("form", -1)
    assert (made.request.form, made.request.path) == ("csv", "notes")
    made.write("path", "  ")
    assert made.request.path == "notes"
    assert made.names == ("form", "events", "path")


def test_one_steps_through_the_prompts_to_begin_with() -> None:
    made = options()
    seen = []
    for _ in range(4):
        seen.append((made.request.from_turn, made.value("from")))
        made.step("from", 1)
    assert seen[:3] == [(1, "the beginning"), (3, "turn 3: prompt 3"), (5, "turn 5: prompt 5")]
    assert seen[3] == seen[0]


def test_a_title_of_any_kind_makes_a_name_for_a_file() -> None:
    assert file_name("Fix: the/parser!", "1a2b3c4d-5e", "html") == "fix-the-parser-1a2b3c4d.html"
    assert file_name("../..\x1b[31m", "", "csv") == "session.csv"
    assert file_name("修复 解析器", "x", "json") == "修复-解析器-x.json"


def test_what_became_of_it_is_said_in_one_line() -> None:
    done = ExportedFile(path="/x\x1b[31m.md", count=1, secrets=2, unreadable=1)
    assert exported(done, "markdown") == (
        "1 message written, 2 secrets taken out, 1 unreadable row left out: /x.md"
    )


@pytest.mark.parametrize("size", [(80, 24), (120, 36), (40, 12)])
async def test_a_session_is_exported_by_keys_alone(size: tuple[int, int]) -> None:
    client = FakeClient(points=POINTS)
    async with running(client, size=size) as driver:
        await driver.write("/export")
        await driver.press("enter")
        await driver.dialog(ExportSheet)
        await driver.until(lambda: "HTML" in driver.text() and "Close" in driver.text())
        await driver.press("j", "space", "j", "l", "j", "right", "down", "e")
        await driver.press("ctrl+u")
        await driver.write("my notes.md")
        await driver.press("enter")
        assert "my notes.md" in driver.text()
        await driver.press("enter")
        await driver.closed()
        (request,) = asked(driver)
        assert request == ExportRequest(
            path="my notes.md", form="markdown", from_turn=3, tools=False, thinking=True
        )
        await driver.until(lambda: "3 messages written" in driver.text())


@pytest.mark.parametrize("leaving", ["escape", "enter"])
async def test_the_keys_say_what_enter_does_once_the_line_is_left(leaving: str) -> None:
    async with running(FakeClient(points=POINTS), size=(80, 24)) as driver:
        await driver.app.run_by_id("session.export")
        await driver.dialog(ExportSheet)
        await driver.settle()
        await driver.press("e")
        await driver.until(lambda: "enter  Keep" in driver.text())
        await driver.press(leaving)
        assert "enter  Write it" in driver.text() and "Keep" not in driver.text()


async def test_where_the_prompts_cannot_be_listed_the_session_is_exported_all_the_same() -> None:
    async with running(FakeClient(points=PermissionError("denied")), size=(80, 24)) as driver:
        await driver.app.run_by_id("session.export")
        await driver.dialog(ExportSheet)
        await driver.settle()
        await driver.press("enter")
        await driver.closed()
        assert asked(driver)


async def test_a_file_that_is_there_is_replaced_only_when_the_user_says_so() -> None:
    there = ExportedFile(path="/there/a.md", exists=True, problem="The file is there already")
    async with running(FakeClient(exported=there), size=(80, 24)) as driver:
        await driver.write("/export a.md")
        await driver.press("enter")
        await driver.dialog(Confirm)
        assert "Writing" not in driver.text(), "nothing is written while that is asked"
        await driver.press("escape")
        await driver.dialog(ExportSheet)
        await driver.press("enter")
        await driver.dialog(Confirm)
        driver.client.exported = ExportedFile(path="/there/a.md", count=1)
        await driver.press("y")
        await driver.closed()
        assert [request.replace for request in asked(driver)] == [False, False, True]
        await driver.until(lambda: "1 message written" in driver.text())


async def test_what_could_not_be_written_can_be_written_elsewhere() -> None:
    full = ExportedFile(path="/full/a.md", problem="Nothing was written: No space left on device")
    async with running(FakeClient(exported=full), size=(80, 24)) as driver:
        await driver.write("/export /full/a.md")
        await driver.press("enter")
        await driver.dialog(ExportSheet)
        await driver.until(lambda: "No space left on device" in driver.text())
        await driver.press("e", "escape", "escape")
        await driver.closed()
        assert len(asked(driver)) == 1


async def test_one_exports_from_the_message_under_the_cursor() -> None:
    async with running(FakeClient(points=POINTS), size=(80, 24)) as driver:
        await driver.push(*STORY)
        transcript = driver.app.main.transcript
        assert transcript is not None
        transcript.focus()
        await driver.settle()
        await driver.press("e")
        await driver.dialog(ExportSheet)
        await driver.press("enter")
        await driver.closed()
        assert asked(driver)[0].from_turn == 1


async def test_a_session_that_ends_meanwhile_is_said_and_no_more() -> None:
    ended = RuntimeError("The engine has ended")
    async with running(FakeClient(exported=ended), size=(80, 24)) as driver:
        await driver.write("/export a.md")
        await driver.press("enter")
        await driver.until(lambda: "Nothing was written: The engine has" in driver.text())


async def test_a_key_that_is_pressed_twice_in_one_go_opens_one_dialog() -> None:
    async with running() as drive:
        await drive.push(TurnStarted(session_id=SESSION, turn=1, prompt="go"))
        await drive.press("alt+up")
        await drive.press_at_once("e", "e", "e")
        await drive.dialog(ExportSheet)
        assert len(drive.app.screen_stack) == 2
