"""The agent's commands in the background, seen and stopped by a front end."""

from collections.abc import Callable
from types import SimpleNamespace
from typing import Any

import pytest

from amplifier_tui.host.events import MAIN_LANE, JobChanged, Notice, ToolEnded, TurnStarted
from amplifier_tui.host.redaction import Redactor
from amplifier_tui.host.shell.jobs import job_changed, tell_job
from amplifier_tui.paths import amplifier_home
from tests.host.driving import Driver, Project, calling
from tests.sandbox import needs_sandbox

KEY = "ghp_0123456789abcdefghijABCDEFGHIJ012345"


def test_a_job_is_followed_read_and_stopped_from_the_front_end(
    project: Project, driver: Driver
) -> None:
    command = f"echo {KEY}; sleep 60"
    call = {"bash": {"command": command, "run_in_background": True}}
    driver.open(project.bundle(tools=("tool-bash",), script=calling(call)))
    assert driver.turn("serve").status == "success"
    (ended,) = driver.of(ToolEnded)
    assert "job-1 runs in the background" in ended.output
    began = driver.of(JobChanged)[0]
    assert (began.job_id, began.running) == ("job-1", True)
    assert KEY not in began.command
    driver.wait_until(
        lambda: "[REDACTED]" in driver.client.job_text("job-1").result(5), "it printed nothing"
    )
    left = driver.client.preview_rewind(1).result(5).running
    assert left == ("job-1 (echo [REDACTED]; sleep 60)",)
    driver.client.switch_bundle("test", carry=False)
    driver.wait(Notice, lambda event: "A command in the background is running" in event.text)
    driver.client.stop_job("job-1")
    over = driver.wait(JobChanged, lambda event: not event.running)
    assert over.state == "stopped"
    assert driver.client.preview_rewind(1).result(5).running == ()
    driver.client.stop_job("job-1")
    assert driver.wait(Notice, lambda event: "job-1" in event.text).text == "job-1 does not run"
    with pytest.raises(RuntimeError, match="No command runs in the background here"):
        driver.client.job_text("job-7").result(5)
    assert all(KEY not in str(event.to_json()) for event in driver.of(JobChanged))


@pytest.mark.parametrize("context", ["context-simple", "context-pipeline"])
def test_a_resumed_session_says_once_which_jobs_ended_with_it(
    project: Project, drive: Callable[..., Driver], context: str
) -> None:
    call = {"bash": {"command": "sleep 61", "run_in_background": True}}
    read = {"bash_job": {"action": "read", "job_id": "job-1"}}
    name = project.bundle(tools=("tool-bash",), context=context, script=calling(call, call))
    project.allow(["bash", "bash_job"])
    first = drive()
    opened = first.open(name)
    first.turn("serve")
    project.bundle(tools=("tool-bash",), context=context, script=calling(read))
    first.close()
    again = drive()
    again.open(resume=opened.session_id)
    told = [again.wait(JobChanged), again.wait(JobChanged)]
    assert [(job.job_id, job.running, job.earlier) for job in told] == [
        ("job-1", False, True),
        ("job-2", False, True),
    ]
    assert told[0].command == "sleep 61" and "ended with its session" in told[0].state
    again.turn("and now?")
    results = [e.output for e in again.of(ToolEnded) if not e.replayed]
    assert results[-1] == "[job-1: ended with its session or before]"
    notes = [r for r in project.rows(opened.session_id) if "job-1: ended" in str(r["content"])]
    assert "does not run any more" in notes[0]["content"]
    again.close()
    third = drive()
    third.open(resume=opened.session_id)
    assert third.turn("and now?").status == "success"
    assert not third.of(JobChanged)
    prompts = [event.prompt for event in third.of(TurnStarted)]
    assert prompts == ["serve", "and now?", "and now?"]


@pytest.mark.parametrize(
    ("command", "level", "said"),
    [("cat no.txt", "warning", " · exit code 1: cat no.txt"), ("true", "info", ": true")],
)
def test_how_a_job_ended_by_itself_is_said_and_stays_in_the_conversation(
    project: Project, drive: Callable[..., Driver], command: str, level: str, said: str
) -> None:
    def told(driver: Driver) -> list[Notice]:
        return [event for event in driver.of(Notice) if event.is_of_conversation]

    call = {"bash": {"command": command, "run_in_background": True}}
    project.allow(["bash"])
    first = drive()
    opened = first.open(project.bundle(tools=("tool-bash",), script=calling(call)))
    assert first.turn("serve").status == "success"
    first.wait_until(lambda: bool(told(first)), "nothing is said")
    (notice,) = told(first)
    assert notice.text.startswith("job-1 ended ") and notice.text.endswith(said)
    assert notice.level == level
    first.close()
    again = drive()
    again.open(resume=opened.session_id)
    again.wait_until(lambda: bool(told(again)), "nothing is said again")
    assert [(event.text, event.replayed) for event in told(again)] == [(notice.text, True)]


@pytest.mark.parametrize(
    ("more", "said"),
    [
        ({"seconds": 4.2, "state": "exit code 1"}, "j ended after 4 s · exit code 1: a b"),
        (
            {"seconds": 125, "state": "ended by signal 15"},
            "j ended after 2 min 5 s · by signal 15: a b",
        ),
        ({"seconds": float("nan"), "state": ""}, "j ended at once: a b"),
        ({"seconds": "long", "state": "exit\ncode 1"}, "j ended at once · exit code 1: a b"),
        (
            {"seconds": 4, "state": "could not be followed", "exit_code": None},
            "j ended after 4 s · could not be followed: a b",
        ),
        ({"seconds": 4, "state": "stopped"}, None),
    ],
)
def test_an_end_is_one_line_and_one_that_was_asked_for_is_none(
    more: dict[str, Any], said: str | None
) -> None:
    told: list[tuple[str, str]] = []
    stamp = {"session_id": "s", "agent": MAIN_LANE}
    sender: Any = SimpleNamespace(
        redactor=Redactor({}),
        stamp=lambda lane: stamp,
        send=lambda event: None,
        notice=lambda level, text, *rest: told.append((level, text)),
    )
    data = {"job_id": "j", "command": "a\nb", "ended": True, "exit_code": 1, **more}
    for event in ("job:started", "job:progress", "job:ended"):
        tell_job(sender, event, MAIN_LANE, data)
    assert told == ([("warning", said)] if said else [])


@needs_sandbox
@pytest.mark.parametrize("sandbox", ["auto", "off"])
def test_a_front_end_is_told_of_a_job_that_nobody_reaches(
    project: Project, driver: Driver, sandbox: str
) -> None:
    amplifier_home().mkdir(parents=True, exist_ok=True)
    (amplifier_home() / "settings.yaml").write_text(f"sandbox: {sandbox}\n")
    project.allow(["bash"])
    call = {"bash": {"command": "sleep 60", "run_in_background": True}}
    driver.open(project.bundle(tools=("tool-bash",), script=calling(call)))
    driver.turn("serve")
    assert driver.of(JobChanged)[0].no_network is (sandbox == "auto")


@pytest.mark.parametrize("started", [10**400, float("nan"), float("inf"), -5, "now", None])
def test_a_start_that_is_no_time_is_none(started: Any) -> None:
    stamp = {"session_id": "s", "agent": MAIN_LANE}
    sender: Any = SimpleNamespace(redactor=Redactor({}), stamp=lambda lane: stamp)
    assert job_changed(sender, MAIN_LANE, {"job_id": "j", "started": started}).started == 0.0
