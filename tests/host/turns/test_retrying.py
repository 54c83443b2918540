import asyncio
import json
import threading
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from amplifier_tui.host.events import (
    BlockDelta,
    BlockEnded,
    CancelRequested,
    Failed,
    HookTraced,
    Notice,
    ProviderRetrying,
    QueueChanged,
    TurnEnded,
    TurnStarted,
)
from amplifier_tui.host.session.rewinding.rewinder import Rewinder
from tests.host.asking import CONTEXT, chat, claude, seen
from tests.host.driving import Driver, Project
from tests.servers import Cut, Failure, Gate, LoopbackServer, Reply, ToolUse, reply

CONTEXTS = ("context-pipeline", "context-simple")


@pytest.fixture(params=CONTEXTS)
def context(request: pytest.FixtureRequest) -> str:
    return str(request.param)


def config_of(context: str) -> dict[str, Any]:
    return {"providers": []} if context == CONTEXT else {}


def test_a_retried_prompt_is_in_the_conversation_once(
    project: Project, driver: Driver, server: LoopbackServer, context: str
) -> None:
    server.script.add(Failure("overloaded"), "Hello.")
    name = project.bundle(
        context=context, context_config=config_of(context), providers=[chat(server)]
    )
    opened = driver.open(name)
    assert driver.turn("hello").status == "error"
    # The conversation says it: the status bar need not any longer.
    (said,) = (each for each in driver.of(Notice) if each.level == "error")
    assert said.until == "answer"
    driver.client.retry()
    started = driver.wait(TurnStarted)
    assert (started.turn, started.prompt) == (1, "hello")
    assert driver.wait(TurnEnded).status == "success"
    assert seen(server, 1) == ["user: hello"]
    rows = project.rows(opened.session_id)
    assert [row["role"] for row in rows] == ["user", "assistant"]
    assert driver.turn("more").turn == 2


def test_a_turn_that_failed_after_its_tools_goes_on_behind_them(
    project: Project, driver: Driver, server: LoopbackServer, context: str
) -> None:
    server.script.add(
        reply(ToolUse("echo", {"text": "found"})), Failure("overloaded"), "It says: found."
    )
    name = project.bundle(
        context=context, context_config=config_of(context), providers=[chat(server)]
    )
    opened = driver.open(name)
    assert driver.turn("look").status == "error"
    driver.client.retry()
    assert driver.wait(TurnEnded).status == "success"
    assert seen(server, 2) == ["user: look", "assistant: ", "tool: found"]
    roles = [row["role"] for row in project.rows(opened.session_id)]
    assert roles == ["user", "assistant", "tool", "assistant"]


@pytest.mark.parametrize("make", [chat, claude])
def test_an_answer_whose_last_try_broke_off_stays_and_is_gone_on_with(
    project: Project, drive: Callable[..., Driver], server: LoopbackServer, make: Any
) -> None:
    driver = drive()
    broken = [Reply([*reply(text).parts, Cut()]) for text in ("A first half", "Half an ans")]
    server.script.add(*broken, "wer.")
    name = project.bundle(
        context=CONTEXT,
        context_config={"providers": []},
        providers=[make(server, max_retries=1, min_retry_delay=0.01, retry_delay=0.01)],
    )
    opened = driver.open(name)
    assert driver.turn("tell me").status == "error"
    (row,) = [row for row in project.rows(opened.session_id) if row["role"] == "assistant"]
    assert "Half an ans" in str(row) and "A first" not in str(row)
    assert row["metadata"]["interrupted"] is True
    first, last = {e.block_id: e for e in driver.of(BlockEnded)}.values()
    assert first.discarded and (last.text, last.interrupted) == ("Half an ans", True)
    driver.client.retry()
    assert driver.wait(TurnEnded).status == "success"
    assert seen(server, 2)[:2] == ["user: tell me", "assistant: Half an ans"]
    driver.close()
    again = drive()
    again.open(resume=opened.session_id)
    shown = [(e.text, e.interrupted) for e in again.of(BlockEnded)]
    assert shown == [("Half an ans", True), ("wer.", False)]


def test_that_an_answer_broke_off_holds_until_the_next_try_answers(
    project: Project, driver: Driver, server: LoopbackServer
) -> None:
    server.script.add(Reply([*reply("Half an ans").parts, Cut()]), "The whole answer.")
    quick = chat(server, max_retries=1, min_retry_delay=0.01)
    driver.open(project.bundle(providers=[quick]))
    assert driver.turn("tell me").status == "success"
    (said,) = (each for each in driver.of(Notice) if "broke off" in each.text)
    assert said.until == "answer"


def test_a_first_try_that_broke_off_can_be_read_until_the_next_streams_and_after_a_stop(
    project: Project, driver: Driver, server: LoopbackServer
) -> None:
    server.script.add(Reply([*reply("Half an ans").parts, Cut()]), "Never.")
    slow = chat(server, max_retries=1, min_retry_delay=60, retry_delay=60)
    opened = driver.open(project.bundle(providers=[slow]))
    driver.client.submit("tell me")
    driver.wait(ProviderRetrying)
    assert not [event for event in driver.of(BlockEnded) if event.discarded]
    driver.client.interrupt()
    assert driver.wait(TurnEnded).status == "cancelled"
    (row,) = [row for row in project.rows(opened.session_id) if row["role"] == "assistant"]
    assert "Half an ans" in str(row) and row["metadata"]["interrupted"] is True


def test_an_answer_that_broke_off_is_gone_on_with_and_does_not_end_the_request(
    project: Project, driver: Driver, tmp_path: Path
) -> None:
    dump, raised = tmp_path / "dump.json", tmp_path / "raised"
    config = {"raises": "no luck", "raises_once": str(raised), "stream": "Half an ans"}
    config |= {"dump": str(dump)}
    opened = driver.open(project.bundle(loop="loop-test", loop_config=config))
    assert driver.turn("tell me").status == "error"
    driver.client.retry()
    assert driver.wait(TurnEnded).status == "success"
    asked = [m for m in json.loads(dump.read_text()) if m["role"] != "system"]
    assert [m["role"] for m in asked] == ["user", "assistant", "user"]
    assert "Half an ans" in str(asked[1]) and "broke off" in str(asked[2])
    driver.close()
    again = Driver(project.folder)
    again.open(resume=opened.session_id)
    shown = [event.prompt for event in again.of(TurnStarted)]
    again.close()
    assert shown == ["tell me"]


def test_a_loop_that_adds_every_prompt_itself_leaves_the_conversation_clean(
    project: Project, driver: Driver, tmp_path: Path
) -> None:
    dump = tmp_path / "dump.json"
    config = {"raises": "no luck", "raises_once": str(tmp_path / "raised"), "dump": str(dump)}
    opened = driver.open(project.bundle(loop="loop-test", loop_config=config))
    assert driver.turn("hello").status == "error"
    driver.client.retry()
    assert driver.wait(TurnEnded).status == "success"
    rows = [(row["role"], row["content"]) for row in project.rows(opened.session_id)]
    assert rows == [("user", "hello"), ("assistant", "You said hello")]
    assert dump.read_text().count('"hello"') == 1


def test_a_context_that_can_t_be_watched_gets_the_prompt_as_a_new_turn(
    project: Project, driver: Driver, tmp_path: Path
) -> None:
    config = {"raises": "no luck", "raises_once": str(tmp_path / "raised")}
    name = project.bundle(loop="loop-test", loop_config=config, context="context-slots")
    opened = driver.open(name)
    assert driver.turn("hello").status == "error"
    driver.client.retry()
    ended = driver.wait(TurnEnded)
    assert (ended.status, ended.turn) == ("success", 2)
    rows = [row["content"] for row in project.rows(opened.session_id)]
    assert rows == ["hello", "hello", "You said hello"]


def test_a_retry_takes_attachments_and_mentions_along_as_they_were(
    project: Project, driver: Driver, server: LoopbackServer
) -> None:
    server.script.add(Failure("overloaded"), "Hello.")
    (project.folder / "a.txt").write_text("first words")
    name = project.bundle(
        context=CONTEXT, context_config={"providers": []}, providers=[chat(server)]
    )
    driver.open(name)
    driver.turn("read it", attachments=("a.txt",))
    (project.folder / "a.txt").write_text("other words")
    driver.client.retry()
    assert driver.wait(TurnStarted).attachments == ("a.txt",)
    driver.wait(TurnEnded)
    assert seen(server, 0) == seen(server, 1)
    assert "first words" in seen(server, 1)[0]


def test_there_is_nothing_to_retry_where_nothing_failed(project: Project, driver: Driver) -> None:
    driver.open(project.bundle())
    driver.turn("hello")
    driver.client.retry()
    assert "nothing to try again" in driver.wait(Notice).text
    assert len(driver.of(TurnStarted)) == 1


def test_nothing_is_retried_while_a_turn_runs(
    project: Project, driver: Driver, server: LoopbackServer
) -> None:
    gate = Gate()
    server.script.add(Reply([*reply("Well, ").parts, gate, *reply("yes.").parts]))
    driver.open(project.bundle(providers=[chat(server)]))
    driver.client.submit("hello")
    driver.wait(BlockDelta)
    driver.client.retry()
    assert "A turn is running" in driver.wait(Notice).text
    gate.open()
    assert driver.wait(TurnEnded).turn == 1


def test_a_prompt_after_the_failure_takes_the_place_of_the_retry(
    project: Project, driver: Driver, server: LoopbackServer
) -> None:
    server.script.add(Failure("overloaded"), "Fine.")
    driver.open(project.bundle(providers=[chat(server)]))
    driver.turn("hello")
    driver.turn("something else")
    driver.client.retry()
    assert "nothing to try again" in driver.wait(Notice).text


def test_behind_a_turn_that_failed_what_waits_is_kept_until_the_user_goes_on(
    project: Project, driver: Driver, server: LoopbackServer
) -> None:
    gate = Gate()
    down = Failure("overloaded")
    server.script.add(Failure("overloaded", before=gate), down, "One.", "Two.", "Three.")
    driver.open(project.bundle(providers=[chat(server)]))
    driver.client.submit("first")
    driver.wait(TurnStarted)
    for prompt in ("second", "third"):
        driver.client.queue(prompt)
    driver.wait(QueueChanged, lambda event: len(event.items) == 2)
    gate.open()
    for _ in range(2):
        assert driver.wait(TurnEnded).status == "error"
        queued = driver.wait(QueueChanged)
        assert queued.held and queued.items == ("second", "third")
        assert [event.prompt for event in driver.of(TurnStarted)][1:] in ([], ["first"])
        driver.client.retry()
    for _ in range(3):
        assert driver.wait(TurnEnded).status == "success"
    assert driver.answers() == ["One.", "Two.", "Three."]
    assert not driver.of(QueueChanged)[-1].held


def test_where_no_queue_is_shown_a_turn_that_failed_holds_up_no_prompt(
    project: Project, driver: Driver, server: LoopbackServer
) -> None:
    gate = Gate()
    server.script.add(Failure("overloaded", before=gate), "Two.")
    driver.open(project.bundle(providers=[chat(server)]), restores_queue=False)
    driver.client.submit("first")
    driver.client.submit("second")
    driver.wait(TurnStarted)
    gate.open()
    assert [driver.wait(TurnEnded).status for _ in range(2)] == ["error", "success"]
    assert driver.answers() == ["Two."]


def test_a_turn_whose_prompt_never_arrived_is_run_from_its_beginning(
    project: Project, driver: Driver
) -> None:
    driver.open(project.bundle(providers=[]))
    driver.drain()
    assert driver.turn("hello").status == "error"
    assert driver.of(Failed)[-1].kind == "no_provider"
    driver.client.retry()
    assert driver.wait(TurnEnded).turn == 1
    assert driver.of(Failed)[-1].prompt == "hello"


def test_while_the_session_goes_back_that_is_said_and_nothing_is_retried(
    project: Project, driver: Driver, monkeypatch: pytest.MonkeyPatch
) -> None:
    done = threading.Event()

    async def slow(*_: object) -> None:
        await asyncio.to_thread(done.wait, 10)

    monkeypatch.setattr(Rewinder, "_rewind", slow)
    driver.open(project.bundle())
    driver.turn("one")
    driver.client.rewind(1, "conversation")
    driver.client.retry()
    driver.wait(Notice, lambda event: "is going back: try again after it" in event.text)
    done.set()


@pytest.mark.parametrize("before", [False, True], ids=["while it waits", "before it failed"])
def test_a_stop_ends_a_turn_whose_request_waits_to_be_sent_again(
    project: Project, driver: Driver, server: LoopbackServer, before: bool
) -> None:
    gate = Gate()
    server.script.add(Failure("overloaded", before=gate), "Too late.")
    waits = chat(server, max_retries=3, min_retry_delay=3_600.0, max_retry_delay=3_600.0)
    driver.open(project.bundle(providers=[waits]))
    driver.client.submit("hello")
    driver.wait(HookTraced, lambda trace: trace.event == "llm:request")
    if before:
        driver.client.interrupt()
        driver.wait(CancelRequested)
    gate.open()
    if not before:
        driver.wait(ProviderRetrying)
        driver.client.interrupt()
    assert driver.wait(TurnEnded).status == "cancelled"
    assert len(server.requests) == 1
