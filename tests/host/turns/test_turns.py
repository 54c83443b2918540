import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from amplifier_tui.host.door import capture
from amplifier_tui.host.events import (
    BlockDelta,
    BlockEnded,
    BlockStarted,
    BudgetChanged,
    Failed,
    HookTraced,
    ModuleLoading,
    ModuleMounted,
    Notice,
    QueueChanged,
    SessionClosed,
    SessionOpened,
    SteerApplied,
    ToolEnded,
    ToolProgress,
    ToolStarted,
    TurnEnded,
    TurnStarted,
    UsageChanged,
)
from tests.host.driving import Driver, Project, calling, saying


def test_a_turn_goes_up_in_order(project: Project, driver: Driver) -> None:
    opened = driver.open(project.bundle(script=saying("One two three.")))
    ended = driver.turn("count")
    assert ended.status == "success" and ended.turn == 1
    kinds = [type(e).__name__ for e in driver.events if not isinstance(e, HookTraced)]
    order = ["ModuleLoading", "ModuleMounted", "SessionOpened", "TurnStarted", "BlockStarted"]
    assert [kinds.index(k) for k in order] == sorted(kinds.index(k) for k in order)
    assert kinds.index("BlockEnded") > kinds.index("BlockDelta") > kinds.index("BlockStarted")
    assert {e.session_id for e in driver.events} == {opened.session_id}
    assert driver.answers() == ["One two three."]
    assert "".join(e.text for e in driver.of(BlockDelta)) == "One two three."


def test_modules_are_announced_with_what_they_provide(project: Project, driver: Driver) -> None:
    driver.open(project.bundle(hooks=(("hooks-test", {"ask": True}),)))
    mounted = {e.module_id: e for e in driver.of(ModuleMounted)}
    assert mounted["tool-test"].provides[:2] == ("echo", "fail")
    assert mounted["provider-mock"].kind == "provider"
    assert mounted["provider-mock"].source == "built-in"
    assert mounted["hooks-test"].events == ("tool:pre",)
    assert mounted["loop-streaming"].origin == "test"
    assert [e.module_id for e in driver.of(ModuleLoading)] == [
        "loop-streaming",
        "context-simple",
        "provider-mock",
        "tool-test",
        "hooks-test",
    ]


def test_a_tool_call_has_a_start_and_an_end_and_names_its_module(
    project: Project, driver: Driver
) -> None:
    driver.open(project.bundle(script=calling({"echo": {"text": "hello\nworld"}})))
    driver.turn("go")
    (started,) = driver.of(ToolStarted)
    (ended,) = driver.of(ToolEnded)
    assert (started.tool, started.arguments) == ("echo", {"text": "hello\nworld"})
    assert started.module_id == "tool-test"
    assert (ended.call_id, ended.ok, ended.output) == (started.call_id, True, "hello\nworld")
    assert ended.summary == "2 lines"


def test_a_tool_that_fails_says_why(project: Project, driver: Driver) -> None:
    driver.open(project.bundle(script=calling({"fail": {"text": "no luck"}})))
    assert driver.turn("go").status == "success"
    (ended,) = driver.of(ToolEnded)
    assert not ended.ok and "no luck" in ended.error and not ended.denied


def test_a_tool_nobody_mounted_fails_and_the_turn_goes_on(project: Project, driver: Driver) -> None:
    driver.open(project.bundle(script=calling({"nothing": {}})))
    assert driver.turn("go").status == "success"
    (ended,) = driver.of(ToolEnded)
    assert not ended.ok and "no tool named" in ended.error
    assert driver.of(ToolStarted)[0].tool == "nothing"


def test_a_tool_that_calls_exit_ends_itself_only(project: Project, driver: Driver) -> None:
    driver.open(project.bundle(script=calling({"leave": {}})))
    driver.turn("go")
    assert not driver.of(ToolEnded)[0].ok
    assert driver.turn("still here?").turn == 2


def test_a_denial_the_loop_keeps_to_itself_is_shown(project: Project, driver: Driver) -> None:
    hook = ("hooks-test", {"message": "no way"})
    name = project.bundle(loop="loop-test", loop_config={"quiet_denial": True}, hooks=(hook,))
    driver.open(name)
    driver.turn("go")
    (ended,) = driver.of(ToolEnded)
    assert ended.denied and ended.error == "no" and ended.output == "Denied: no"


@pytest.mark.parametrize(
    ("hook", "reason"),
    [({"message": "no way"}, "no"), ({"ask": True}, "not today")],
    ids=["a hook denies", "the user denies"],
)
def test_a_denied_call_reads_denied_also_where_no_event_says_which_call_it_is(
    project: Project, drive: Callable[..., Driver], hook: dict[str, Any], reason: str
) -> None:
    calls = [["echo", {"text": "one"}], ["echo", {"text": "two"}], ["fail", {"text": "x"}]]
    hooks = (("hooks-test", hook),)
    driver = drive()
    config = {"calls": calls}
    opened = driver.open(project.bundle(loop="loop-calls", loop_config=config, hooks=hooks))
    driver.client.submit("go")
    for _ in calls if "ask" in hook else ():
        driver.deny_next(reason=reason)
    assert driver.wait(TurnEnded).status == "success"
    told = {e.call_id: (e.denied, e.interrupted, e.error) for e in driver.of(ToolEnded)}
    assert told == dict.fromkeys(("toolu_0", "toolu_1", "toolu_2"), (True, False, reason))
    assert all(reason in row["content"] for row in project.rows(opened.session_id)[2:5])
    driver.close()
    again = drive()
    again.open(resume=opened.session_id)
    shown = {e.call_id: (e.denied, e.interrupted, e.error) for e in again.of(ToolEnded)}
    assert shown == told


def test_a_written_file_comes_with_its_diff(project: Project, driver: Driver) -> None:
    (project.folder / "a.txt").write_text("one\ntwo\n")
    call = {"write": {"file_path": "a.txt", "content": "one\n2\n"}}
    driver.open(project.bundle(script=calling(call)))
    driver.turn("go")
    (ended,) = driver.of(ToolEnded)
    assert "-two" in ended.diff and "+2" in ended.diff
    assert (ended.path, ended.summary) == ("a.txt", ""), "the diff says it all"


def test_progress_of_a_tool_arrives_while_it_runs(
    project: Project, driver: Driver, tmp_path: Path
) -> None:
    started, until = tmp_path / "started", tmp_path / "until"
    calls = (
        {"progress": {"call_id": "p", "times": 3}},
        {"wait": {"started": str(started), "until": str(until)}},
    )
    driver.open(project.bundle(script=calling(*calls)))
    driver.client.submit("go")
    progress = driver.wait(ToolProgress)
    assert progress.call_id == "p" and progress.text.startswith("line 0")
    until.touch()
    driver.wait(TurnEnded)


def test_usage_is_counted_once_and_the_budget_follows(project: Project, driver: Driver) -> None:
    driver.open(project.bundle(script=saying("Hello there.")))
    first = driver.turn("hi")
    second = driver.turn("hi again")
    usage = driver.of(UsageChanged)[-1]
    assert usage.turn == second.usage
    assert usage.session.input_tokens == first.usage.input_tokens + second.usage.input_tokens
    budget = driver.of(BudgetChanged)[-1]
    assert budget.kind == "usage"
    assert sum(s.tokens for s in budget.sources) == budget.total
    assert {"bundle:test", "tools:tool-test", "user", "assistant"} <= {
        s.source for s in budget.sources
    }
    assert budget.window == 200_000 and 0 < budget.trigger < budget.window


def test_every_row_is_on_disk_when_the_turn_ends(project: Project, driver: Driver) -> None:
    opened = driver.open(project.bundle(script=calling({"echo": {"text": "x"}})))
    driver.turn("go")
    roles = [row["role"] for row in project.rows(opened.session_id)]
    assert roles == ["user", "assistant", "tool", "assistant"]
    assert all("timestamp" in row for row in project.rows(opened.session_id))


def test_every_emit_is_in_the_event_log_and_can_be_read_back(
    project: Project, driver: Driver
) -> None:
    opened = driver.open(project.bundle(script=calling({"echo": {"text": "x" * 100_000}})))
    driver.turn("go")
    driver.close()
    rows = project.log(opened.session_id)
    assert [row["seq"] for row in rows] == list(range(1, len(rows) + 1))
    traced = {e.seq: e for e in driver.of(HookTraced)}
    (post,) = [row for row in rows if row["event"] == "tool:post"]
    assert post["data"]["result"]["output"] == "x" * 100_000
    assert len(traced[post["seq"]].data) == 64 * 1024 < traced[post["seq"]].size
    assert sum(row.get("count", 1) for row in rows if row["event"] == "llm:stream_block_delta")


def test_the_payload_of_an_event_row_is_given_in_full(project: Project, driver: Driver) -> None:
    driver.open(project.bundle(script=calling({"echo": {"text": "y" * 70_000}})))
    driver.turn("go")
    (post,) = [e for e in driver.of(HookTraced) if e.event == "tool:post"]
    payload = json.loads(driver.client.payload(post.seq).result(5))
    assert payload["tool_name"] == "echo" and payload["result"]["output"] == "y" * 70_000


def test_prompts_wait_for_the_running_turn_and_can_be_taken_back(
    project: Project, driver: Driver, tmp_path: Path
) -> None:
    started, until = tmp_path / "started", tmp_path / "until"
    call = {"wait": {"started": str(started), "until": str(until)}}
    script = {
        "scenarios": [
            {"name": "w", "when": {"prompt": "wait"}, **_steps(calling(call))},
            saying("Next."),
        ]
    }
    name = project.bundle()
    (project.folder / ".test.script.json").write_text(json.dumps(script))
    driver.open(name)
    driver.client.submit("wait")
    driver.wait_for_file(started)
    for text in ("second", "third", "fourth"):
        driver.client.queue(text)
    queued = driver.wait(QueueChanged, lambda e: len(e.items) == 3)
    assert queued.items[0] == "second"
    driver.client.unqueue(queued.ids[1])
    driver.client.unqueue("gone")
    assert driver.wait(QueueChanged).items == ("second", "fourth")
    until.touch()
    for _ in range(3):
        driver.wait(TurnEnded)
    assert [e.prompt for e in driver.of(TurnStarted)] == ["wait", "second", "fourth"]


def test_steering_reaches_the_model_at_the_next_step(
    project: Project, driver: Driver, tmp_path: Path
) -> None:
    started, until = tmp_path / "started", tmp_path / "until"
    call = {"wait": {"started": str(started), "until": str(until)}}
    opened = driver.open(project.bundle(script=calling(call)))
    driver.client.submit("go")
    driver.wait_for_file(started)
    driver.client.steer("rather do this")
    assert driver.wait(QueueChanged).steering == ("rather do this",)
    until.touch()
    assert driver.wait(SteerApplied).text == "rather do this"
    assert driver.wait(QueueChanged).steering == ()
    driver.wait(TurnEnded)
    rows = project.rows(opened.session_id)
    (steered,) = [row for row in rows if row["content"] == "rather do this"]
    assert steered["role"] == "user"
    assert rows.index(steered) == 3, "between the tool's result and the next answer"


def test_a_steering_message_that_came_too_late_becomes_the_next_prompt(
    project: Project, driver: Driver, tmp_path: Path
) -> None:
    started, waits = tmp_path / "started", tmp_path / "waits"
    config = {"waits": str(waits), "started": str(started)}
    driver.open(project.bundle(loop="loop-test", loop_config=config))
    driver.client.submit("first")
    driver.wait_for_file(started)
    driver.client.steer("too late")
    waits.touch()
    assert driver.wait(TurnStarted, lambda e: e.turn == 2).prompt == "too late"
    driver.wait(TurnEnded, lambda e: e.turn == 2)


def test_steering_without_a_turn_is_a_prompt(project: Project, driver: Driver) -> None:
    driver.open(project.bundle())
    driver.client.steer("hello")
    assert driver.wait(TurnStarted).prompt == "hello"
    driver.wait(TurnEnded)


def test_mentioned_and_attached_files_go_along_and_the_prompt_stays_what_was_typed(
    project: Project, driver: Driver
) -> None:
    (project.folder / "notes.txt").write_text("mentioned content")
    (project.folder / "more.txt").write_text("attached content")
    opened = driver.open(project.bundle())
    driver.turn("read @notes.txt", attachments=("more.txt", "missing.txt"))
    assert driver.of(TurnStarted)[0].prompt == "read @notes.txt"
    row = project.rows(opened.session_id)[0]
    assert "mentioned content" in row["content"] and "attached content" in row["content"]
    assert row["metadata"]["prompt"] == "read @notes.txt"
    assert any("missing.txt" in e.text for e in driver.of(Notice))


def test_a_mentioned_file_that_does_not_go_along_is_named_and_a_name_is_none(
    project: Project, driver: Driver
) -> None:
    (project.folder / "bytes.bin").write_bytes(b"\xff\xfe\x00")
    (project.folder / "notes.txt").write_text("mentioned content")
    opened = driver.open(project.bundle())
    driver.turn("@ada: see @types/node, @gone.txt, @bytes.bin and then @notes.txt.")
    said = [event.text for event in driver.of(Notice) if event.text.startswith("Not read")]
    assert said[0] == "Not read: @gone.txt: no such file"
    assert said[1].startswith("Not read: @bytes.bin: ") and "not UTF-8" in said[1]
    assert len(said) == 2
    assert "mentioned content" in project.rows(opened.session_id)[0]["content"]


def test_an_address_and_a_decorator_are_no_files_that_are_missing(
    project: Project, driver: Driver
) -> None:
    driver.open(project.bundle())
    driver.turn(
        "Mail me@example.com and me@my-host.example, ssh me@my-host.example:22, use @pytest.fixture"
        ' and @app.route. Then read 説明@gone.md, @"gone too.txt", @data/set.bin and @my-set.bin.'
    )
    said = [event.text for event in driver.of(Notice) if event.text.startswith("Not read")]
    names = ("@gone.md", "@gone too.txt", "@data/set.bin", "@my-set.bin.")
    assert said == [f"Not read: {name}: no such file" for name in names]


def test_a_prompt_a_hook_refuses_is_given_back(project: Project, driver: Driver) -> None:
    driver.open(project.bundle(hooks=(("hooks-test", {"deny_prompt": "not on Sundays"}),)))
    assert driver.turn("hello").status == "error"
    (failed,) = driver.of(Failed)
    assert (failed.kind, failed.prompt) == ("denied", "hello")
    assert "not on Sundays" in failed.message


def test_a_prompt_a_hook_changes_is_what_the_model_gets(project: Project, driver: Driver) -> None:
    opened = driver.open(project.bundle(hooks=(("hooks-test", {"modify_prompt": "changed"}),)))
    driver.turn("hello")
    assert project.rows(opened.session_id)[0]["content"] == "changed"
    assert project.rows(opened.session_id)[0]["metadata"]["prompt"] == "hello"


def test_a_loop_that_says_prompt_submit_itself_is_not_echoed_twice(
    project: Project, driver: Driver
) -> None:
    driver.open(project.bundle(loop="loop-test", loop_config={"submits": True}))
    driver.turn("one")
    driver.turn("two")
    submits = [e for e in driver.of(HookTraced) if e.event == "prompt:submit"]
    assert sum('"prompt": "two"' in e.data for e in submits) == 1


def test_what_a_module_prints_is_a_notice(project: Project, driver: Driver, capfd) -> None:
    driver.open(project.bundle(script=calling({"noisy": {"text": "hear me"}})))
    driver.turn("go")
    (notice,) = [e for e in driver.of(Notice) if e.source == "stdout"]
    assert notice.text == "tool-test: hear me"
    driver.close()
    assert "hear me" not in capfd.readouterr().out


TRACEBACK = """\
Traceback (most recent call last):
  File "a.py", line 1, in <module>
    open("x")
FileNotFoundError: x

During handling of the above exception, another exception occurred:

Traceback (most recent call last):
  File "a.py", line 3, in <module>
    1 / 0
    ~~^~~
ZeroDivisionError: division by zero
and on it goes"""


def test_a_traceback_a_module_prints_is_one_notice(project: Project, driver: Driver) -> None:
    driver.open(project.bundle(script=calling({"noisy": {"text": f"before\n{TRACEBACK}"}})))
    driver.turn("go")
    notices = [event.text for event in driver.of(Notice) if event.source == "stdout"]
    assert [text.splitlines()[0] for text in notices] == [
        "tool-test: before",
        "ZeroDivisionError: division by zero",
        "tool-test: and on it goes",
    ]
    lines = [line for line in TRACEBACK.splitlines()[:-1] if line]
    assert notices[1].splitlines()[1:] == lines


def test_what_a_thread_of_a_module_raised_is_a_warning_with_its_place(
    project: Project, driver: Driver
) -> None:
    printed = TRACEBACK.replace('"a.py", line 3', '"/mine/module.py", line 3')
    driver.open(project.bundle(script=calling({"noisy": {"text": f"Exception in\n{printed}"}})))
    driver.turn("go")
    notices = [event for event in driver.of(Notice) if event.source == "stdout"]
    assert [event.level for event in notices] == ["info", "warning", "info"]
    said = notices[1].text.splitlines()[0]
    assert said == "ZeroDivisionError: division by zero (/mine/module.py:3)"


@pytest.mark.parametrize("file", ["/mine/module.py", capture.__file__])
def test_a_coroutine_that_nobody_awaits_is_one_warning_that_names_it_and_its_place(
    project: Project, driver: Driver, file: str
) -> None:
    printed = (
        f"{file}:9: RuntimeWarning: coroutine 'note' was never awaited\n"
        "  note(data)\n"
        "RuntimeWarning: Enable tracemalloc to get the object allocation traceback\n"
        "and on it goes"
    )
    driver.open(project.bundle(script=calling({"noisy": {"text": printed}})))
    driver.turn("go")
    notices = [event for event in driver.of(Notice) if event.source == "stdout"]
    place = "" if file == capture.__file__ else f" ({file}:9)"
    assert [(event.level, event.text) for event in notices] == [
        ("warning", f"RuntimeWarning: coroutine 'note' was never awaited{place}"),
        ("info", "tool-test: and on it goes"),
    ]


def test_a_traceback_just_before_the_end_is_told_all_the_same(
    project: Project, driver: Driver, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(capture, "GATHERED", 600)
    printed = TRACEBACK.removesuffix("and on it goes")
    driver.open(project.bundle(script=calling({"noisy": {"text": printed}})))
    driver.turn("go")
    driver.close()
    (notice,) = [event for event in driver.of(Notice) if event.source == "stdout"]
    assert notice.text.startswith("ZeroDivisionError: division by zero\n")


def test_closing_names_no_command_that_resumes_in_a_folder_that_is_gone(
    project: Project, driver: Driver
) -> None:
    driver.open(project.bundle())
    driver.turn("hi")
    project.folder.rename(project.folder.with_name("moved"))
    driver.close()
    assert driver.of(SessionClosed)[0].resume_command == ""


def test_closing_says_how_to_come_back_only_when_something_was_said(
    project: Project, driver: Driver, drive
) -> None:
    driver.open(project.bundle(script=saying("The last words.")))
    driver.turn("hi")
    driver.close()
    (closed,) = driver.of(SessionClosed)
    command = f"amplifier-tui --resume {closed.session_id}"
    assert closed.resume_command == f"{command} --cwd {project.folder}"
    assert closed.last_answer == "The last words."
    other = drive()
    opened = other.open("test")
    other.close()
    (closed,) = other.of(SessionClosed)
    assert (closed.resume_command, closed.last_answer) == ("", "")
    assert not Path(opened.directory).exists(), "nothing was said, nothing is left"


def test_a_context_that_cannot_be_wrapped_is_recorded_all_the_same(
    project: Project, driver: Driver
) -> None:
    name = project.bundle(context="context-slots", script=calling({"echo": {"text": "x"}}))
    opened = driver.open(name)
    driver.turn("go")
    driver.turn("again")
    roles = [row["role"] for row in project.rows(opened.session_id)]
    assert roles == ["user", "assistant", "tool", "assistant"] * 2


def test_secrets_of_the_environment_reach_neither_files_nor_events(
    project: Project, driver: Driver, monkeypatch
) -> None:
    secret = "very-secret-value-123"
    monkeypatch.setenv("TEST_API_KEY", secret)
    opened = driver.open(project.bundle(script=calling({"leak": {}}, then="It is {{output}}")))
    (project.folder / "notes.txt").write_text(f"the key: {secret}")
    driver.turn(f"my key is {secret}, see @notes.txt")
    driver.close()
    for path in project.folder_of(opened.session_id).iterdir():
        assert secret not in path.read_text(), path.name
    assert not [e for e in driver.events if secret in json.dumps(e.to_json())]
    assert "[REDACTED]" in driver.of(ToolEnded)[0].output


def test_the_first_events_name_the_session_that_opens(project: Project, driver: Driver) -> None:
    opened = driver.open(project.bundle(session={"examples": ["Try this.", "Or that."]}))
    assert isinstance(opened, SessionOpened)
    assert opened.examples == ("Try this.", "Or that.")
    assert (opened.provider, opened.model) == ("mock", "scripted")
    assert Path(opened.cwd) == project.folder
    assert driver.of(BlockStarted) == driver.of(BlockEnded) == []


def test_a_command_that_makes_no_sense_is_reported_and_harms_nothing(
    project: Project, driver: Driver
) -> None:
    driver.open(project.bundle())
    driver.client.open(None)
    failed = driver.wait(Failed)
    assert failed.kind == "internal" and failed.message.startswith("Could not open a session")
    assert driver.turn("still here").status == "success"


def _steps(script):
    return {"steps": script["steps"]}
