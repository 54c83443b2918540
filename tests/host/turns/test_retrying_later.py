"""A prompt whose turn failed is gone on with in a later life of its session, too."""

import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any
from uuid import uuid4

import pytest

from amplifier_tui.host.events import (
    BlockDelta,
    ModelChanged,
    Notice,
    Rewound,
    SessionOpened,
    TurnEnded,
    TurnStarted,
)
from tests.host.asking import CONTEXT, chat, seen
from tests.host.driving import Driver, Project
from tests.servers import Failure, Gate, LoopbackServer, Reply, ToolUse, reply

Make = Callable[..., Driver]
LIVES = ("resumed", "killed", "forked", "moved")
DOWN = Failure("overloaded")


def bundle(project: Project, server: LoopbackServer, context: str = CONTEXT) -> str:
    """A bundle that refuses prompts with `refuse`."""
    return project.bundle(
        context=context,
        context_config={"providers": []} if context == CONTEXT else {},
        providers=[chat(server)],
        hooks=(("hooks-test", {"deny_prompt": "No.", "deny_only": "refuse"}),),
    )


def begin(drive: Make, name: str, *prompts: str) -> Driver:
    """Open a session and have every prompt fail."""
    driver = drive()
    driver.open(name)
    for prompt in prompts:
        assert driver.turn(prompt).status == "error"
    return driver


def reopen(way: str, drive: Make, driver: Driver) -> tuple[Driver, SessionOpened]:
    """Begin the next life of a session."""
    session = driver.of(SessionOpened)[-1]
    driver.drain()
    if way == "forked":
        driver.client.fork(None)
        return driver, driver.wait(SessionOpened)
    if way == "moved":
        driver.client.switch_bundle(session.bundle)
        return driver, driver.wait(SessionOpened)
    found = Path(session.directory)
    if way == "killed":
        # As the files are now.
        found = Path(shutil.copytree(found, found.with_name(str(uuid4()))))
    else:
        driver.close()
    driver = drive()
    return driver, driver.open(resume=found.name)


def go_on(driver: Driver) -> TurnEnded:
    driver.client.retry()
    return driver.wait(TurnEnded)


def says_no(driver: Driver) -> bool:
    driver.client.retry()
    return bool(driver.wait(Notice, lambda event: "nothing to try again" in event.text))


@pytest.mark.parametrize("context", [CONTEXT, "context-simple"])
@pytest.mark.parametrize("way", LIVES)
def test_the_model_hears_the_prompt_once(
    way: str, context: str, project: Project, drive: Make, server: LoopbackServer
) -> None:
    server.script.add("One.", DOWN, "Hello.", "More.")
    driver = drive()
    driver.open(bundle(project, server, context))
    driver.turn("first")
    driver.turn("hello")
    driver, opened = reopen(way, drive, driver)
    assert opened.failed == "hello"
    assert go_on(driver).status == "success"
    assert (driver.of(TurnStarted)[-1].turn, driver.of(TurnStarted)[-1].prompt) == (2, "hello")
    assert seen(server, 2) == ["user: first", "assistant: One.", "user: hello"]
    rows = [(row["role"], row["content"]) for row in project.rows(opened.session_id)]
    assert [text for role, text in rows if role == "user"] == ["first", "hello"]
    assert driver.turn("more").turn == 3
    points = driver.client.rewind_points().result(5)
    assert [(point.turn, point.prompt) for point in points] == [
        (3, "more"),
        (2, "hello"),
        (1, "first"),
    ]
    driver.client.rewind(2, "conversation")
    driver.wait(Rewound)
    assert [row["role"] for row in project.rows(opened.session_id)] == ["user", "assistant"]


@pytest.mark.parametrize("way", LIVES)
def test_a_turn_that_fails_in_every_life_is_gone_on_with_in_each(
    way: str, project: Project, drive: Make, server: LoopbackServer
) -> None:
    server.script.add(DOWN, DOWN, reply(ToolUse("echo", {"text": "found"})), DOWN, "It is.")
    # The first one is a turn, and no row.
    driver = begin(drive, bundle(project, server), "refuse this", "look")
    for _ in range(2):
        driver, opened = reopen(way, drive, driver)
        assert opened.failed == "look"
        assert go_on(driver).status == "error"
    driver, opened = reopen(way, drive, driver)
    assert go_on(driver).status == "success"
    assert seen(server, 4) == ["user: look", "assistant: ", "tool: found"]
    driver, opened = reopen(way, drive, driver)
    assert opened.failed == "" and says_no(driver)


def test_a_kill_while_it_is_tried_again_leaves_it_to_be_gone_on_with(
    project: Project, drive: Make, server: LoopbackServer
) -> None:
    gate = Gate()
    server.script.add(DOWN, Reply([*reply("Half an ans").parts, gate]), "wer.")
    driver = begin(drive, bundle(project, server), "tell me")
    driver.client.retry()
    driver.wait(BlockDelta, lambda event: event.text.endswith("ans"))
    driver, opened = reopen("killed", drive, driver)
    gate.open()
    assert opened.failed == "tell me"
    assert go_on(driver).status == "success"
    assert seen(server, 2)[:2] == ["user: tell me", "assistant: Half an ans"]


def test_another_prompt_takes_the_place_of_the_retry(
    project: Project, drive: Make, server: LoopbackServer
) -> None:
    server.script.add(DOWN, "Fine.")
    driver, _ = reopen("resumed", drive, begin(drive, bundle(project, server), "hello"))
    assert driver.turn("something else").turn == 2
    assert seen(server, 1) == ["user: hello\n\nsomething else"]
    assert says_no(driver)
    driver, opened = reopen("resumed", drive, driver)
    assert opened.failed == ""


@pytest.mark.parametrize("way", LIVES)
def test_a_prompt_that_was_stopped_after_it_failed_is_over(
    way: str, project: Project, drive: Make, server: LoopbackServer
) -> None:
    gate = Gate()
    server.script.add(DOWN, Failure("overloaded", before=gate))
    driver = begin(drive, bundle(project, server), "hello")
    driver.client.retry()
    driver.wait(TurnStarted)
    server.request_blocking(1)
    driver.client.interrupt(True)
    assert driver.wait(TurnEnded).status == "cancelled"
    gate.open()
    driver, opened = reopen(way, drive, driver)
    assert opened.failed == "" and says_no(driver)


def test_a_prompt_that_failed_before_it_was_a_row_is_nothing_to_go_on_with(
    project: Project, drive: Make, server: LoopbackServer
) -> None:
    server.script.add(DOWN, "Fine.")
    driver = begin(drive, bundle(project, server), "hello", "refuse this")
    driver, opened = reopen("resumed", drive, driver)
    assert opened.failed == "" and says_no(driver)
    driver.turn("once more")
    assert seen(server, 1) == ["user: hello\n\nonce more"]


def test_a_prompt_goes_as_it_went_with_what_it_mentions(
    project: Project, drive: Make, server: LoopbackServer
) -> None:
    server.script.add(DOWN, "Hello.")
    (project.folder / "a.txt").write_text("first words")
    driver = drive()
    driver.open(bundle(project, server))
    driver.turn("read it and @a.txt", attachments=("a.txt",))
    (project.folder / "a.txt").write_text("other words")
    driver, opened = reopen("resumed", drive, driver)
    assert opened.failed == "read it and @a.txt"
    go_on(driver)
    assert driver.of(TurnStarted)[-1].attachments == ("a.txt",)
    assert seen(server, 0) == seen(server, 1)


def test_a_key_in_the_prompt_stays_hidden(
    project: Project, drive: Make, server: LoopbackServer
) -> None:
    server.script.add(DOWN, "Hello.")
    key = "sk-" + "ant-api03-0123456789abcdefABCDEF"
    driver = begin(drive, bundle(project, server), f"use {key} now")
    driver, opened = reopen("moved", drive, driver)
    assert opened.failed == "use [REDACTED] now"
    go_on(driver)
    assert seen(server, 1) == ["user: use [REDACTED] now"]


def test_what_was_taken_back_is_not_gone_on_with(
    project: Project, drive: Make, server: LoopbackServer
) -> None:
    server.script.add("One.", DOWN)
    driver = drive()
    driver.open(bundle(project, server))
    driver.turn("first")
    driver.turn("hello")
    driver.client.rewind(2, "conversation")
    driver.wait(Rewound)
    driver, opened = reopen("resumed", drive, driver)
    assert opened.failed == "" and says_no(driver)
    driver.client.undo_rewind()
    driver.wait(Rewound)
    _, opened = reopen("resumed", drive, driver)
    assert opened.failed == "hello"


def test_a_context_that_can_t_be_watched_gets_the_prompt_as_a_new_turn(
    project: Project, drive: Make, tmp_path: Path
) -> None:
    config: dict[str, Any] = {"raises": "no luck", "raises_once": str(tmp_path / "raised")}
    name = project.bundle(loop="loop-test", loop_config=config, context="context-slots")
    driver, opened = reopen("resumed", drive, begin(drive, name, "hello"))
    ended = go_on(driver)
    assert (ended.status, ended.turn) == ("success", 2)
    rows = [row["content"] for row in project.rows(opened.session_id)]
    assert rows == ["hello", "hello", "You said hello"]


def test_another_model_goes_on_with_it(
    project: Project, drive: Make, server: LoopbackServer
) -> None:
    server.script.add(DOWN, "Hello.")
    driver, _ = reopen("resumed", drive, begin(drive, bundle(project, server), "hello"))
    driver.client.switch_model("gpt-6-luna")
    driver.wait(ModelChanged, lambda event: event.chosen)
    assert go_on(driver).status == "success"
    assert seen(server, 1) == ["user: hello"]
    assert server.request_blocking(1).json["model"] == "gpt-6-luna"
