import json
import time
from pathlib import Path

import pytest

from amplifier_tui.host.events import (
    EngineBlocked,
    QueueChanged,
    SessionOpened,
    TurnEnded,
    TurnStarted,
)
from amplifier_tui.host.store.sessions import card_of, find_session
from tests.host.driving import Driver, Project, calling


@pytest.fixture
def until(tmp_path: Path) -> Path:
    return tmp_path / "until"


def blocked(project: Project, driver: Driver, until: Path) -> SessionOpened:
    """Have a tool block the engine in a turn that counts as stopped."""
    started = until.with_name("started")
    call = {"block": {"started": str(started), "until": str(until), "seconds": 30}}
    opened = driver.open(project.bundle(script=calling(call)))
    driver.client.submit("go")
    driver.wait_for_file(started)
    driver.client.interrupt(immediate=True)
    driver.wait(TurnEnded)
    driver.wait_until(lambda: bool(driver.of(EngineBlocked)), "nobody said who blocks")
    assert [(each.module, each.over) for each in driver.of(EngineBlocked)] == [("tool-test", False)]
    return opened


def block_when_open(driver: Driver, until: Path) -> None:
    """Block the engine outside of a turn."""

    async def block() -> None:
        while not until.exists():
            time.sleep(0.01)

    # That it is open is told a moment before it takes prompts.
    driver.client.rules().result(10)
    driver.client._engine.post(block, "block")


def queued(project: Project, session_id: str) -> list[str]:
    path = project.folder_of(session_id) / "queue.json"
    return (
        [each["text"] for each in json.loads(path.read_text())["prompts"]] if path.exists() else []
    )


def test_a_prompt_that_a_blocked_engine_does_not_take_up_is_shown_and_on_disk(
    project: Project, driver: Driver, until: Path
) -> None:
    opened = blocked(project, driver, until)
    driver.client.submit("hello again", prompt_id="p1")
    waits = driver.wait(QueueChanged)
    assert (waits.items, waits.ids) == (("hello again",), ("p1",))
    assert queued(project, opened.session_id) == ["hello again"]
    driver.client.queue("and then this")
    assert driver.wait(QueueChanged).items == ("hello again", "and then this")
    until.touch()
    assert driver.wait(EngineBlocked).over
    begun = driver.wait(TurnStarted)
    assert (begun.prompt, begun.prompt_id) == ("hello again", "p1")
    assert driver.wait(TurnStarted).prompt == "and then this"
    driver.wait(TurnEnded)
    driver.wait_until(lambda: not driver.of(QueueChanged)[-1].items, "it still waits")
    assert queued(project, opened.session_id) == []
    users = [row["content"] for row in project.rows(opened.session_id) if row["role"] == "user"]
    assert users == ["go", "hello again", "and then this"]


def test_the_first_prompt_of_a_session_whose_engine_is_blocked_is_found_after_a_kill(
    project: Project, driver: Driver, until: Path
) -> None:
    opened = driver.open(project.bundle())
    block_when_open(driver, until)
    driver.client.submit("hello there")
    driver.wait(QueueChanged)
    folder = project.folder_of(opened.session_id)
    card = card_of(folder, 0.0)
    assert (card.first_prompt, card.turns, card.bundle) == ("hello there", 0, "test")
    assert find_session(project.folder, opened.session_id) == folder
    until.touch()
    driver.wait(TurnEnded)


def test_a_prompt_is_taken_back_or_changed_without_the_engine(
    project: Project, driver: Driver, until: Path
) -> None:
    opened = blocked(project, driver, until)
    driver.client.submit("not this", prompt_id="p1")
    driver.wait(QueueChanged)
    driver.client.submit("this", prompt_id="p2")
    assert driver.wait(QueueChanged).ids == ("p1", "p2")
    driver.client.unqueue("p1")
    assert driver.wait(QueueChanged).items == ("this",)
    driver.client.edit_queued("p2", "this instead")
    assert driver.wait(QueueChanged).items == ("this instead",)
    assert queued(project, opened.session_id) == ["this instead"]
    until.touch()
    assert driver.wait(TurnStarted).prompt == "this instead"
    driver.wait(TurnEnded)
    assert [event.prompt for event in driver.of(TurnStarted)] == ["go", "this instead"]


def test_a_message_for_a_turn_whose_tool_blocks_the_engine_is_shown(
    project: Project, driver: Driver, until: Path
) -> None:
    started = until.with_name("started")
    call = {"block": {"started": str(started), "until": str(until), "seconds": 30}}
    opened = driver.open(project.bundle(script=calling(call)))
    driver.client.submit("go")
    driver.wait_for_file(started)
    driver.client.steer("use the other file")
    assert driver.wait(QueueChanged).steering == ("use the other file",)
    assert queued(project, opened.session_id) == ["use the other file"]
    until.touch()
    assert driver.wait(TurnEnded).status == "success"
    driver.wait_until(lambda: not driver.of(QueueChanged)[-1].steering, "it still waits")
    users = [row["content"] for row in project.rows(opened.session_id) if row["role"] == "user"]
    assert users == ["go", "use the other file"]


def test_what_the_engine_takes_up_at_once_is_not_told_of(project: Project, driver: Driver) -> None:
    driver.open(project.bundle())
    assert driver.turn("hello").status == "success"
    assert driver.of(QueueChanged) == driver.of(EngineBlocked) == []


def test_a_module_that_blocks_outside_of_a_turn_is_named_when_a_stop_has_no_effect(
    project: Project, driver: Driver, until: Path
) -> None:
    driver.open(project.bundle())
    # The session is open for commands a moment after it says so.
    driver.turn("hello")

    async def block() -> None:
        while not until.exists():
            time.sleep(0.01)

    driver.client._engine.post(block, "block")
    driver.client.stop_change()
    assert not driver.wait(EngineBlocked).over
    until.touch()
    assert driver.wait(EngineBlocked).over
