"""What a run without a screen says beside the answer."""

from concurrent.futures import Future
from dataclasses import replace
from pathlib import Path

import pytest

from amplifier_tui.cli.run import headless
from amplifier_tui.cli.run.headless import Headless, Limits
from amplifier_tui.host import events
from amplifier_tui.host.client import OpenRequest
from tests.cli.test_run import OPENED, STARTED, Client, S, Speaker, ended, follow, requested


@pytest.mark.parametrize("by", ["session", "user", ""])
def test_a_mode_that_nobody_gave_now_is_named_where_it_is_the_sessions(by: str) -> None:
    speaker = Speaker()
    changed = events.ModeChanged(session_id=S, mode="edits", by=by)
    follow(Client(changed, ended()), speaker)
    assert bool(speaker.said) == (by == "session")


def test_a_mode_is_named_once_where_no_copies_are_kept() -> None:
    speaker = Speaker()
    changed = events.ModeChanged(session_id=S, mode="edits", by="session")
    follow(Client(changed, replace(changed, uncopied="too many files"), ended()), speaker)
    assert len(speaker.said) == 1


@pytest.mark.parametrize("of_project", [True, False])
def test_a_bundle_of_the_project_that_hides_another_is_named(of_project: bool) -> None:
    speaker = Speaker()
    follow(Client(ended(), opened=replace(OPENED, of_project=of_project)), speaker)
    assert speaker.said == ["The bundle is mine, of this project"] * of_project


@pytest.mark.parametrize("silent", [True, False])
def test_an_answer_with_nothing_in_it_is_told_and_is_no_failure(silent: bool) -> None:
    speaker = Speaker()
    assert follow(Client(STARTED, replace(ended(), silent=silent)), speaker).exit_status == 0
    assert speaker.said == ["The model answered nothing"] * silent


def test_an_answer_that_the_model_declined_is_a_failure_that_says_what_to_do() -> None:
    speaker = Speaker()
    result = follow(Client(STARTED, replace(ended(), declined=True)), speaker)
    assert (result.exit_status, result.to_json()["status"]) == (1, "failed")
    assert result.message == "The model declined to answer"
    assert speaker.said == [f"{result.message}. Use other words, or another model (--model)."]


@pytest.mark.parametrize(
    ("by_key", "at_once", "did", "said"),
    [
        (True, False, ["soon"], [headless._STOPPING + headless._AGAIN]),
        (False, False, ["soon"], [headless._STOPPING]),
        (False, True, ["now"], []),
    ],
)
def test_a_stop_speaks_of_keys_to_who_pressed_one_and_waits_for_no_terminal_that_is_gone(
    by_key: bool, at_once: bool, did: list[str], said: list[str]
) -> None:
    client, speaker = Client(requested()), Speaker()
    run = Headless(client, OpenRequest(cwd=Path("/x")), "go", Limits(), speaker)

    def interrupt(event: events.HostEvent) -> None:
        if isinstance(event, events.HookTraced):
            run.interrupt(by_key=by_key, at_once=at_once)

    speaker.event = interrupt  # type: ignore[method-assign]
    assert run.run().exit_status == 130
    assert (client.did, speaker.said) == (did, [*said, "Interrupted"])


def test_the_place_where_a_module_failed_is_told_behind_a_long_message() -> None:
    error = f"failed while it judged a call: {'x ' * 150}(/home/me/{'folder/' * 20}mine.py:3)"
    failed = events.ModuleFailed(session_id=S, module_id="hooks-a", kind="hook", error=error)
    speaker = Speaker()
    follow(Client(STARTED, failed, ended()), speaker)
    assert speaker.said == [f"hooks-a: {error}"]


def test_a_hook_that_takes_long_is_named_once() -> None:
    held = events.HandlerHolds(session_id=S, event="tool:pre", handler="hooks-slow", tool="bash")
    speaker = Speaker()
    follow(Client(STARTED, held, replace(held, over=True), held, ended()), speaker)
    assert speaker.said == ["tool:pre waits for the hook hooks-slow"]


@pytest.mark.parametrize("opened", [False, True])
def test_what_fails_beside_an_opening_or_what_was_sent_is_said_and_ends_neither(
    opened: bool,
) -> None:
    beside = events.Notice(session_id=S, level="error", text="A task broke. So.")
    client, speaker = Client(ended()), Speaker()

    def put(*sent: events.HostEvent) -> None:
        client._waiting += [beside, *sent] if (STARTED in sent) == opened else sent
        client.wake()

    def drain() -> list[events.HostEvent]:
        # One at a time: after each the run may take itself to be over.
        taken, client._waiting = client._waiting[:1], client._waiting[1:]
        if client._waiting:
            client.wake()
        return taken

    client._put, client.drain = put, drain  # type: ignore[method-assign]
    assert follow(client, speaker).exit_status == 0
    assert speaker.said == ["error: A task broke. So."]


@pytest.mark.parametrize(
    ("level", "source", "said"),
    [
        ("info", "hook:labs", ["Seen. (labs)"]),
        ("warning", "hook:labs", ["warning: Seen. (labs)"]),
        ("info", "context", []),
    ],
)
def test_what_a_hook_tells_the_user_is_said_at_every_level(
    level: events.Level, source: str, said: list[str]
) -> None:
    speaker = Speaker()
    notice = events.Notice(session_id=S, level=level, text="Seen.", source=source)
    follow(Client(STARTED, notice, ended()), speaker)
    assert speaker.said == said


def test_what_goes_wrong_when_the_session_ends_is_said() -> None:
    client, speaker = Client(ended()), Speaker()
    close = client.close

    def fails() -> Future[None]:
        text = "hooks-a did not clean up: OSError: gone (/a.py:3)"
        client._waiting = [
            events.Notice(session_id=S, level="warning", text=text, source="hooks-a")
        ]
        return close()

    client.close = fails  # type: ignore[method-assign]
    follow(client, speaker)
    assert speaker.said == ["warning: hooks-a did not clean up: OSError: gone (/a.py:3) (hooks-a)"]


def test_a_command_in_the_background_that_ends_with_the_session_is_told() -> None:
    def job(number: int, running: bool) -> events.JobChanged:
        return events.JobChanged(
            session_id=S, job_id=f"job-{number}", command=f"serve {number}", running=running
        )

    speaker = Speaker()
    told = (job(1, True), job(2, True), job(2, False), job(2, True))
    assert follow(Client(STARTED, *told, ended()), speaker).exit_status == 0
    assert speaker.said == ["job-1 still ran in the background and ends with the session: serve 1"]
