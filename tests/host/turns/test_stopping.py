import time
from collections.abc import Callable
from pathlib import Path

import pytest

from amplifier_tui.base.messages.sub_sessions import INTERRUPTED
from amplifier_tui.host.events import (
    BlockDelta,
    BlockEnded,
    CancelRequested,
    Failed,
    HookTraced,
    Notice,
    QueueChanged,
    SessionClosed,
    ToolEnded,
    ToolProgress,
    TurnEnded,
    TurnStarted,
)
from tests.host.driving import Driver, Project, calling, saying

LONG = "word " * 2_000


def _is_running(pid: int) -> bool:
    try:
        state = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0]
    except OSError:
        return False
    return state != "Z"


def test_a_stop_is_acknowledged_and_ends_the_turn_after_its_step(
    project: Project, driver: Driver, tmp_path: Path
) -> None:
    started, until = tmp_path / "started", tmp_path / "until"
    call = {"wait": {"started": str(started), "until": str(until)}}
    driver.open(project.bundle(script=calling(call)))
    driver.client.submit("go")
    driver.wait_for_file(started)
    driver.client.interrupt()
    asked = driver.wait(CancelRequested)
    assert (asked.immediate, asked.running_tools) == (False, ("wait",))
    assert not driver.of(TurnEnded), "the tool may finish"
    until.touch()
    assert driver.wait(TurnEnded).status == "cancelled"
    assert driver.of(ToolEnded)[0].ok
    assert len(driver.of(CancelRequested)) == 1


def test_an_immediate_stop_keeps_the_partial_answer_and_the_next_turn_works(
    project: Project, driver: Driver
) -> None:
    opened = driver.open(project.bundle(script=saying(LONG), speed=200))
    driver.client.submit("talk")
    driver.wait(BlockDelta, lambda e: "word" in e.text)
    driver.client.interrupt()
    driver.client.interrupt(immediate=True)
    ended = driver.wait(TurnEnded)
    assert ended.status == "cancelled"
    assert driver.of(BlockEnded)[-1].interrupted
    row = project.rows(opened.session_id)[-1]
    assert row["role"] == "assistant" and row["metadata"]["interrupted"] is True
    kept = row["content"][0]["text"]
    assert kept.startswith("word") and len(kept) < len(LONG)
    driver.client.submit("again")
    driver.wait(BlockDelta)
    driver.client.interrupt(immediate=True)
    assert driver.wait(TurnEnded).turn == 2


def test_a_stop_is_for_the_turn_that_was_meant_and_not_for_the_one_after_it(
    project: Project, driver: Driver, tmp_path: Path
) -> None:
    started, until = tmp_path / "started", tmp_path / "until"
    call = {"wait": {"started": str(started), "until": str(until)}}
    driver.open(project.bundle(script=calling(call)))
    driver.client.submit("go")
    driver.client.queue("go on")
    driver.wait_for_file(started)
    until.touch()
    assert driver.wait(TurnEnded).turn == 1
    driver.client.interrupt(immediate=True, turn=1)
    ended = driver.wait(TurnEnded)
    assert (ended.turn, ended.status) == (2, "success")
    driver.client.interrupt(turn=2)
    started.unlink()
    until.unlink()
    driver.client.submit("again")
    driver.wait_for_file(started)
    assert not driver.of(CancelRequested)
    driver.client.interrupt(immediate=True, turn=3)
    assert driver.wait(TurnEnded).status == "cancelled"


def test_a_loop_that_keeps_nothing_has_its_words_kept_by_the_host(
    project: Project, driver: Driver, tmp_path: Path
) -> None:
    config = {
        "stream": "half an ans",
        "waits": str(tmp_path / "never"),
        "started": str(tmp_path / "started"),
        "dangling": True,
    }
    opened = driver.open(project.bundle(loop="loop-test", loop_config=config))
    driver.client.submit("go")
    driver.wait_for_file(tmp_path / "started")
    driver.client.interrupt(immediate=True)
    driver.wait(TurnEnded)
    rows = project.rows(opened.session_id)
    assert [row["role"] for row in rows] == ["user", "assistant", "tool"]
    assert rows[2]["tool_call_id"] == "c1" and rows[2]["metadata"]["interrupted"]


def test_the_words_of_a_turn_that_was_cut_are_kept_by_the_host(
    project: Project, driver: Driver, tmp_path: Path
) -> None:
    config = {
        "stream": "half an ans",
        "waits": str(tmp_path / "never"),
        "started": str(tmp_path / "started"),
    }
    opened = driver.open(project.bundle(loop="loop-test", loop_config=config))
    driver.client.submit("go")
    driver.wait_for_file(tmp_path / "started")
    driver.client.interrupt(immediate=True)
    driver.wait(TurnEnded)
    row = project.rows(opened.session_id)[-1]
    assert row["content"] == [{"type": "text", "text": "half an ans"}]
    assert row["metadata"]["interrupted"] is True
    assert driver.of(BlockEnded)[-1].text == "half an ans"


@pytest.mark.parametrize("context", ["context-simple", "context-pipeline"])
def test_a_prompt_that_is_stopped_before_the_model_is_asked_stays_in_the_conversation(
    project: Project, drive: Callable[..., Driver], tmp_path: Path, context: str
) -> None:
    (project.folder / "notes.txt").write_text("a note")
    asked = tmp_path / "asked"
    first = drive()
    hook = ("hooks-test", {"hang_at_prompt": str(asked)})
    name = project.bundle(context=context, hooks=(hook,))
    session = first.open(name).session_id
    first.client.submit("a thought of mine", ("notes.txt",))
    first.wait_for_file(asked)
    first.client.interrupt(immediate=True)
    assert first.wait(TurnEnded).status == "cancelled"
    assert [(row["role"], row["content"]) for row in project.rows(session)] == [
        ("user", "a thought of mine")
    ]
    first.close()
    again = drive()
    again.open(resume=session)
    (begun,) = again.of(TurnStarted)
    assert (begun.prompt, begun.attachments) == ("a thought of mine", ("notes.txt",))


def test_an_immediate_stop_ends_the_processes_of_a_command(
    project: Project, driver: Driver, tmp_path: Path
) -> None:
    pid_file = tmp_path / "pid"
    command = f"sleep 1000 & echo $! > {pid_file}; wait"
    name = project.bundle(script=calling({"bash": {"command": command}}), tools=("tool-bash",))
    project.allow([])
    driver.open(name)
    driver.client.submit("go")
    # What a person approves runs outside of the sandbox, so that the number is the real one.
    driver.allow_next()
    driver.wait_for_file(pid_file)
    while not pid_file.read_text().strip():
        time.sleep(0.01)
    pid = int(pid_file.read_text())
    driver.client.interrupt(immediate=True)
    assert driver.wait(TurnEnded, timeout=5).status == "cancelled"
    driver.wait_until(lambda: not _is_running(pid), f"process {pid} lives on")
    assert driver.of(ToolEnded)[-1].interrupted


def test_what_a_stopped_command_had_printed_stays_also_after_a_resume(
    project: Project, drive: Callable[..., Driver], monkeypatch: pytest.MonkeyPatch
) -> None:
    secret = "sk-ant-api03-" + "a1B2" * 20
    monkeypatch.setenv("PRINTED", secret)
    command = "seq 30; echo $PRINTED | tee printed; echo last; sleep 1000"
    name = project.bundle(
        script=calling({"bash": {"command": command}}),
        tools=("tool-bash",),
        hooks=(("hooks-redaction", {}),),
    )
    first = drive()
    session = first.open(name).session_id
    first.client.submit("go")
    first.wait(ToolProgress, lambda e: "last" in e.text)
    first.client.interrupt(immediate=True)
    ended = first.wait(ToolEnded)
    first.wait(TurnEnded)
    printed = "".join(f"{number}\n" for number in range(1, 31))
    assert ended.interrupted and not ended.ok and not ended.denied
    assert ended.output.startswith(printed) and ended.output.endswith(f"\nlast\n[{INTERRUPTED}]")
    row = project.rows(session)[-1]
    assert row["content"] == ended.output and secret not in row["content"]
    assert row["metadata"] == {"is_error": True, "interrupted": True}
    first.close()
    again = drive()
    again.open(resume=session)
    (told,) = again.of(ToolEnded)
    assert (told.interrupted, told.output, told.error) == (True, ended.output, ended.error)


def test_a_turn_that_swallows_the_cancellation_is_abandoned_in_public(
    project: Project, driver: Driver, tmp_path: Path
) -> None:
    grave = tmp_path / "grave"
    config = {"stubborn": str(grave), "started": str(tmp_path / "started")}
    opened = driver.open(project.bundle(loop="loop-test", loop_config=config))
    driver.client.submit("go")
    driver.wait_for_file(tmp_path / "started")
    driver.client.interrupt(immediate=True)
    failed = driver.wait(Failed)
    assert failed.kind == "stuck" and "TestLoop.execute" in failed.message
    assert driver.wait(TurnEnded).status == "cancelled"
    before = project.rows(opened.session_id)
    grave.touch()
    driver.client.submit("next")
    assert driver.wait(TurnEnded).status == "success"
    rows = project.rows(opened.session_id)
    assert "from the grave" not in str(rows[: len(before) + 1])
    assert [r["content"] for r in rows if r["role"] == "user"] == ["go", "next"]


def test_a_stubborn_tool_does_not_hold_the_stop_and_leaves_no_process(
    project: Project, driver: Driver, tmp_path: Path
) -> None:
    started, until, pid_file = tmp_path / "started", tmp_path / "until", tmp_path / "pid"
    call = {"stubborn": {"started": str(started), "until": str(until), "pid_file": str(pid_file)}}
    opened = driver.open(project.bundle(script=calling(call)))
    driver.client.submit("go")
    driver.wait_for_file(started)
    driver.wait_for_file(pid_file)
    driver.client.interrupt(immediate=True)
    assert driver.wait(TurnEnded, timeout=5).status == "cancelled"
    assert any("stubborn did not stop" in e.text for e in driver.of(Notice))
    pid = int(pid_file.read_text())
    driver.wait_until(lambda: not _is_running(pid), f"process {pid} lives on")
    until.touch()
    rows = project.rows(opened.session_id)
    assert rows[-1]["role"] == "tool" and "nterrupted" in rows[-1]["content"]
    driver.wait(HookTraced, lambda e: e.event == "tool:progress")
    assert not driver.of(ToolProgress), "what it says now no longer counts"


def test_a_module_that_blocks_the_engine_is_named_and_the_next_prompt_runs_after_it(
    project: Project, driver: Driver, tmp_path: Path
) -> None:
    started, until = tmp_path / "started", tmp_path / "until"
    call = {"block": {"started": str(started), "until": str(until), "seconds": 20}}
    driver.open(project.bundle(script=calling(call)))
    driver.client.submit("go")
    driver.wait_for_file(started)
    driver.client.interrupt()
    assert not driver.wait(CancelRequested).immediate
    driver.client.interrupt(immediate=True)
    assert driver.wait(CancelRequested).immediate
    failed = driver.wait(Failed)
    assert failed.kind == "blocked" and "block (" in failed.message
    assert driver.wait(TurnEnded).status == "cancelled"
    driver.client.submit("next")
    until.touch()
    assert driver.wait(TurnStarted).prompt == "next"
    driver.client.interrupt(immediate=True)
    assert driver.wait(TurnEnded).turn == 2
    assert [e.turn for e in driver.of(TurnEnded)] == [1, 2]


def test_after_a_stop_what_waited_stays_waiting_until_the_user_goes_on(
    project: Project, driver: Driver
) -> None:
    driver.open(project.bundle(script=saying(LONG), speed=200))
    driver.client.submit("one")
    driver.wait(BlockDelta)
    driver.client.queue("two")
    driver.client.interrupt(immediate=True)
    driver.wait(TurnEnded)
    with pytest.raises(AssertionError):
        driver.wait(TurnStarted, timeout=0.3)
    queued = [event for event in driver.events if isinstance(event, QueueChanged)]
    assert [event.held for event in queued] == [False, True]
    driver.client.submit("three")
    assert driver.wait(TurnStarted).prompt == "three"
    driver.client.interrupt(immediate=True)


def test_a_stop_without_a_turn_does_nothing(project: Project, driver: Driver) -> None:
    driver.open(project.bundle())
    driver.client.interrupt()
    driver.client.interrupt(immediate=True)
    assert driver.turn("hello").status == "success"
    assert not driver.of(CancelRequested)


def test_closing_in_mid_turn_keeps_what_was_said(
    project: Project, drive: Callable[..., Driver]
) -> None:
    driver = drive()
    opened = driver.open(project.bundle(script=saying(LONG), speed=200))
    driver.client.submit("talk")
    driver.wait(BlockDelta)
    driver.close()
    rows = project.rows(opened.session_id)
    assert [row["role"] for row in rows] == ["user", "assistant"]
    assert rows[1]["metadata"]["interrupted"]


def test_closing_does_not_wait_for_a_module_that_hangs_in_its_cleanup(
    project: Project, drive: Callable[..., Driver]
) -> None:
    driver = drive()
    opened = driver.open(project.bundle(hooks=(("hooks-test", {"hang_in_cleanup": True}),)))
    driver.turn("hello")
    driver.close(timeout=4)
    assert len(project.rows(opened.session_id)) == 2


def test_closing_while_a_module_blocks_the_engine_says_which(
    project: Project, drive: Callable[..., Driver], tmp_path: Path
) -> None:
    driver = drive()
    started, until = tmp_path / "started", tmp_path / "until"
    call = {"block": {"started": str(started), "until": str(until), "seconds": 30}}
    opened = driver.open(project.bundle(script=calling(call)))
    driver.client.submit("go")
    driver.wait_for_file(started)
    try:
        with pytest.raises(TimeoutError, match="block "):
            driver.client.close().result(6)
        assert [row["role"] for row in project.rows(opened.session_id)] == ["user", "assistant"]
    finally:
        until.touch()


def test_a_stop_that_comes_after_its_turn_does_not_hit_the_next_one(
    project: Project, driver: Driver, tmp_path: Path
) -> None:
    started, waits = tmp_path / "started", tmp_path / "waits"
    config = {"waits": str(waits), "started": str(started)}
    driver.open(project.bundle(loop="loop-test", loop_config=config))
    driver.client.submit("first")
    driver.wait_for_file(started)
    service = driver.client.service
    stale = service.handle
    assert stale is not None
    waits.touch()
    assert driver.wait(TurnEnded).status == "success"
    waits.unlink()
    started.unlink()
    driver.client.submit("second")
    driver.wait_for_file(started)
    driver.client._engine.ask(lambda: service.interrupt(True, stale)).result(5)
    waits.touch()
    assert driver.wait(TurnEnded).status == "success"
    assert not driver.of(CancelRequested)


def test_a_session_that_was_left_says_nothing_more(
    project: Project, driver: Driver, tmp_path: Path
) -> None:
    started, until = tmp_path / "started", tmp_path / "until"
    call = {"stubborn": {"started": str(started), "until": str(until)}}
    left = driver.open(project.bundle(script=calling(call)))
    driver.client.submit("go")
    driver.wait_for_file(started)
    driver.client.interrupt(immediate=True)
    driver.wait(TurnEnded)
    driver.open(project.bundle("other"))
    driver.wait(SessionClosed, lambda e: e.session_id == left.session_id)
    said = len([e for e in driver.drain() if e.session_id == left.session_id])
    until.touch()
    assert driver.turn("hello").status == "success"
    assert len([e for e in driver.drain() if e.session_id == left.session_id]) == said


def test_a_module_that_cancels_every_task_ends_its_turn_and_no_more(
    project: Project, driver: Driver
) -> None:
    driver.open(project.bundle(script=calling({"cancel_all": {}})))
    assert driver.turn("go").status == "error"
    assert driver.turn("again").turn == 2
