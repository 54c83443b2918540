from amplifier_tui.host.events import (
    HostEvent,
    JobChanged,
    Notice,
    SessionClosed,
    ShellEnded,
    ShellProgress,
    ShellStarted,
    ShellWaiting,
)
from amplifier_tui.ui.state.conversation.entries import NoteEntry, ShellEntry
from amplifier_tui.ui.state.session import SessionState
from tests.ui.state.make import make, new_state, turn, turn_ended


def begin(command: str = "ls", number: int = 1, **fields: object) -> HostEvent:
    return make(ShellStarted, command_id=f"c{number}", command=command, at=5.0, **fields)


def end(number: int = 1, **fields: object) -> HostEvent:
    return make(ShellEnded, **{"command_id": f"c{number}", "command": "ls", **fields})


def commands(state: SessionState) -> list[ShellEntry]:
    return [entry for entry in state.entries if isinstance(entry, ShellEntry)]


def test_a_command_is_one_entry_from_its_start_to_its_end() -> None:
    state = new_state(begin(), make(ShellProgress, command_id="c1", text="a\n"))
    (entry,) = commands(state)
    assert (entry.state, entry.output, entry.started) == ("running", "a\n", 5.0)
    assert state.activity.phase is not None and state.activity.phase.word == "command"
    state.apply([end(output="a\nb\n", exit_code=2, duration_ms=10.0)])
    assert commands(state) == [entry] and state.activity.phase is None
    assert (entry.state, entry.output, entry.summary) == ("failed", "a\nb\n", "exit code 2")


def test_output_whose_colours_were_taken_out_is_whole() -> None:
    state = new_state(begin(), end(output="red\n", output_size=13))
    (entry,) = commands(state)
    assert (entry.output, entry.output_size) == ("red\n", 4)


def test_a_turn_that_ends_does_not_end_a_command() -> None:
    state = new_state(turn(), begin(), turn_ended(status="cancelled"))
    assert [entry.state for entry in commands(state)] == ["running"]
    state.apply([make(SessionClosed)])
    assert [entry.state for entry in commands(state)] == ["interrupted"]
    assert not state.activity.commands


def test_what_waits_for_the_next_prompt_says_so_until_it_is_sent() -> None:
    state = new_state(end(1), end(2, told=False))
    state.apply([make(ShellWaiting, command_ids=("c1",))])
    assert [(entry.tool, entry.waits) for entry in commands(state)] == [("!", True), ("!!", False)]
    state.apply([make(ShellWaiting)])
    assert not any(entry.waits for entry in commands(state))


def test_a_stored_command_whose_end_is_not_known_was_stopped() -> None:
    state = new_state(begin(replayed=True))
    assert [entry.state for entry in commands(state)] == ["interrupted"]


def test_signals_and_what_is_left_running_are_said() -> None:
    state = new_state(end(1, exit_code=-9), end(2, left_running=True), end(3, in_terminal=True))
    state.apply([end(4, error="It can't be started: no shell\x1b[2J")])
    said = [entry.summary or entry.error for entry in commands(state)]
    background, terminal = "goes on in the background", "in the terminal"
    assert said == [
        "ended by signal 9 (SIGKILL)",
        background,
        terminal,
        "It can't be started: no shell",
    ]


def test_a_job_whose_start_is_told_after_its_end_does_not_run() -> None:
    ended = make(JobChanged, job_id="job-1", command="true", running=False, state="exit code 0")
    started = make(JobChanged, job_id="job-1", command="true", running=True, state="running")
    state = new_state(ended, started)
    assert state.jobs.running == [] and state.jobs.by_id["job-1"].state == "exit code 0"


def test_a_job_whose_end_was_told_is_not_warned_of_again() -> None:
    ended = make(
        Notice, level="info", text="job-1 ended after 20 s: ls", source="jobs", replayed=True
    )
    found = [
        make(JobChanged, job_id=f"job-{n}", command="ls", state="is over", earlier=True)
        for n in (1, 2)
    ]
    state = new_state(ended, *found)
    said = [entry.text for entry in state.entries if isinstance(entry, NoteEntry)]
    assert said == ["job-1 ended after 20 s: ls", "job-2 is over: ls"]
