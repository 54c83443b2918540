import sqlite3
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from amplifier_tui.host.events import Notice, TurnEnded
from amplifier_tui.paths import amplifier_home
from tests.host.asking import CONTEXT, chat, seen
from tests.host.driving import Driver, Project
from tests.servers import LoopbackServer

Make = Callable[..., Driver]


def memory_file() -> Path:
    return amplifier_home() / "memory.sqlite3"


def with_memory(project: Project, **more: Any) -> str:
    return project.bundle(context=CONTEXT, context_config={"providers": ["memory"]}, **more)


def warning(driver: Driver) -> str:
    return driver.wait(Notice, lambda event: event.level == "warning").text


def test_what_the_user_wants_remembered_comes_back_in_another_session(
    project: Project, drive: Make, server: LoopbackServer
) -> None:
    server.script.add("Four spaces.")
    first = drive()
    opened = first.open(with_memory(project, providers=[chat(server)]))
    first.client.remember("Indent with four spaces")
    assert "for this project" in first.wait(Notice).text
    first.close()
    again = drive()
    again.open("test")
    (card,) = again.client.memories().result(5)
    assert (card.text, card.everywhere) == ("Indent with four spaces", False)
    assert card.session_id == opened.session_id
    assert abs(card.created - time.time()) < 3_600
    again.turn("How do I indent?")
    assert "Indent with four spaces" in "\n".join(seen(server, 0))


def test_a_memory_holds_in_its_project_or_everywhere(
    project: Project, drive: Make, tmp_path: Path
) -> None:
    here = drive()
    here.open(with_memory(project))
    here.client.remember("Only here")
    here.wait(Notice, lambda event: "this project" in event.text)
    here.client.remember("Anywhere", everywhere=True)
    here.wait(Notice, lambda event: "every project" in event.text)
    assert [card.text for card in here.client.memories().result(5)] == ["Anywhere", "Only here"]
    here.close()
    other = Project(tmp_path / "other")
    there = Driver(other.folder)
    there.open(with_memory(other))
    (card,) = there.client.memories().result(5)
    there.close()
    assert (card.text, card.everywhere) == ("Anywhere", True)


def test_a_memory_can_be_forgotten_once(project: Project, driver: Driver) -> None:
    driver.open(with_memory(project))
    driver.client.remember("A mistake")
    driver.wait(Notice)
    (card,) = driver.client.memories().result(5)
    driver.client.forget(card.memory_id)
    assert "Forgot" in driver.wait(Notice).text
    assert driver.client.memories().result(5) == ()
    driver.client.forget(card.memory_id)
    assert "There is no memory" in warning(driver)


@pytest.mark.parametrize("text", ["", "   ", "x" * 100_000])
def test_what_is_no_memory_is_refused_with_the_reason(
    project: Project, driver: Driver, text: str
) -> None:
    driver.open(with_memory(project))
    driver.client.remember(text)
    assert warning(driver).startswith("Not remembered:")
    assert driver.client.memories().result(5) == ()


def test_a_key_of_the_user_is_not_remembered(
    project: Project, driver: Driver, server: LoopbackServer
) -> None:
    driver.open(with_memory(project, providers=[chat(server)]))
    driver.client.remember("The key is sk-test-0000000000000001")
    driver.wait(Notice)
    assert "sk-test-0000000000000001" not in driver.client.memories().result(5)[0].text


def test_a_session_without_a_memory_says_what_would_give_it_one(
    project: Project, driver: Driver
) -> None:
    driver.open(project.bundle())
    driver.client.remember("anything")
    assert "behaviors/memory.yaml" in warning(driver)
    driver.client.forget(1)
    assert "behaviors/memory.yaml" in warning(driver)
    with pytest.raises(RuntimeError, match=r"behaviors/memory\.yaml"):
        driver.client.memories().result(5)


def test_the_behavior_that_is_named_does_give_a_memory(project: Project, driver: Driver) -> None:
    path = project.bundles / "remembering.md"
    path.write_text(
        "---\nbundle:\n  name: remembering\nincludes:\n"
        "  - bundle: demo\n  - bundle: demo:behaviors/memory.yaml\n---\nHi.\n"
    )
    driver.open("remembering")
    driver.client.remember("anything")
    driver.wait(Notice, lambda event: "Remembered" in event.text)


def test_without_a_session_there_is_no_memory(driver: Driver) -> None:
    driver.client.remember("anything")
    assert driver.wait(Notice).level == "warning"
    with pytest.raises(RuntimeError, match="No session is open"):
        driver.client.memories().result(5)


def test_a_corrupt_database_is_moved_aside_and_said_and_the_turn_goes_on(
    project: Project, driver: Driver, server: LoopbackServer
) -> None:
    server.script.add("Hello.")
    path = memory_file()
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(b"SQLite format 3\0" + b"\xff" * 4_096)
    driver.open(with_memory(project, providers=[chat(server)]))
    assert driver.turn("hello").status == "success"
    assert list(path.parent.glob("memory.sqlite3.*-*")), "it is kept for whoever wants to look"
    told = [event.text for event in driver.of(Notice) if event.level == "warning"]
    assert any("memory" in text.lower() for text in told)
    driver.client.remember("a new beginning")
    driver.wait(Notice, lambda event: "Remembered" in event.text)


def test_a_database_of_another_program_is_left_alone_and_said_once(
    project: Project, driver: Driver, server: LoopbackServer
) -> None:
    server.script.add("Hello.", "Hello again.")
    path = memory_file()
    path.parent.mkdir(parents=True, exist_ok=True)
    database = sqlite3.connect(path)
    database.execute("CREATE TABLE memories (id INTEGER PRIMARY KEY, words TEXT)")
    database.execute("PRAGMA user_version = 9999")
    database.commit()
    database.close()
    before = path.read_bytes()
    driver.open(with_memory(project, providers=[chat(server)]))
    assert driver.turn("hello").status == "success"
    assert driver.turn("hello").status == "success"
    told = [event.text for event in driver.of(Notice) if event.level == "warning"]
    assert len(told) == 1 and "without memories" in told[0]
    driver.client.remember("anything")
    assert warning(driver).startswith("Not remembered:")
    with pytest.raises(RuntimeError):
        driver.client.memories().result(5)
    assert path.read_bytes() == before


def test_a_database_of_another_version_is_moved_aside_and_said(
    project: Project, drive: Make, server: LoopbackServer
) -> None:
    server.script.add("Hello.")
    first = drive()
    first.open(with_memory(project, providers=[chat(server)]))
    first.client.remember("Indent with four spaces")
    first.wait(Notice)
    first.close()
    database = sqlite3.connect(memory_file())
    database.execute("PRAGMA user_version = 9999")
    database.commit()
    database.close()
    driver = drive()
    driver.open("test")
    assert driver.turn("hello").status == "success"
    (aside,) = memory_file().parent.glob("memory.sqlite3.version-9999-*")
    assert any(aside.name in event.text for event in driver.of(Notice))
    assert driver.client.memories().result(5) == ()


def test_a_locked_database_is_said_and_the_turn_goes_on_without_it(
    project: Project, drive: Make, server: LoopbackServer
) -> None:
    server.script.add("Hello.")
    first = drive()
    first.open(with_memory(project, providers=[chat(server)]))
    first.client.remember("Indent with four spaces")
    first.wait(Notice)
    first.close()
    other = sqlite3.connect(memory_file(), isolation_level=None)
    other.execute("PRAGMA locking_mode = EXCLUSIVE")
    other.execute("BEGIN EXCLUSIVE")
    driver = drive()
    try:
        driver.open("test")
        driver.client.submit("hello")
        assert "locked" in driver.wait(Notice, lambda e: "without memories" in e.text, 30).text
        assert driver.wait(TurnEnded, timeout=30).status == "success"
        driver.client.remember("something else")
        assert "locked" in driver.wait(Notice, lambda e: e.text.startswith("Not"), 30).text
        with pytest.raises(RuntimeError, match="locked"):
            driver.client.memories().result(30)
    finally:
        other.execute("ROLLBACK")
        other.close()
    driver.client.remember("something else")
    driver.wait(Notice, lambda event: "Remembered" in event.text, 30)
    assert len(driver.client.memories().result(5)) == 2
