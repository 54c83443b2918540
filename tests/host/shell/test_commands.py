"""Commands of the user's own, through the client, in real shells."""

import asyncio
import json
from collections.abc import Callable
from pathlib import Path

import pytest

from amplifier_tui.base.commands.beside import is_others
from amplifier_tui.base.watcher.process import command_line, group_members
from amplifier_tui.host.events import (
    ApprovalRequested,
    BlockDelta,
    BlockEnded,
    HostEvent,
    Notice,
    Rewound,
    SessionClosed,
    ShellEnded,
    ShellProgress,
    ShellStarted,
    ShellWaiting,
    SteerApplied,
    TerminalWanted,
    TurnEnded,
    TurnStarted,
)
from amplifier_tui.host.redaction import Redactor
from amplifier_tui.host.shell.commands import ShellCommands
from amplifier_tui.host.store.listing.listing import list_sessions
from amplifier_tui.host.store.session_store import SessionStore
from amplifier_tui.host.stream.sender import Sender
from tests.host.driving import Driver, Project, calling, saying

Drive = Callable[[], Driver]
SECRET = "sk-ant-api03-" + "Ab3" * 30


@pytest.fixture(autouse=True)
def plain_shell(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SHELL", "/bin/sh")


def run(driver: Driver, command: str, *, tell: bool = True) -> ShellEnded:
    driver.client.shell(command, tell=tell)
    return driver.wait(ShellEnded)


def runs(pid: int) -> bool:
    # A dead process that nobody collected has no command line.
    return bool(command_line(pid))


def user_rows(project: Project, session_id: str) -> list[dict[str, object]]:
    return [row for row in project.rows(session_id) if row["role"] == "user"]


def test_a_command_runs_in_the_session_folder_and_nobody_is_asked(
    project: Project, driver: Driver
) -> None:
    driver.open(project.bundle())
    ended = run(driver, "pwd; echo made > made.txt; exit 3")
    assert (ended.exit_code, ended.output.strip()) == (3, str(project.folder))
    assert ended.told and not ended.stopped and ended.duration_ms > 0
    assert (project.folder / "made.txt").read_text() == "made\n"
    assert not driver.of(ApprovalRequested)
    (started,) = driver.of(ShellStarted)
    assert started.command_id == ended.command_id


def test_what_it_printed_goes_along_with_the_next_prompt_and_no_other(
    project: Project, driver: Driver
) -> None:
    opened = driver.open(project.bundle(script=saying("Seen.")))
    ended = run(driver, "echo the-output")
    assert driver.wait(ShellWaiting).command_ids == (ended.command_id,)
    driver.turn("what was that?")
    assert driver.of(ShellWaiting)[-1].command_ids == ()
    driver.turn("and now?")
    first, second = user_rows(project, opened.session_id)
    assert "$ echo the-output\nthe-output\n[exit code 0]" in str(first["content"])
    assert str(first["content"]).endswith("\n\nwhat was that?")
    assert second["content"] == "and now?"
    assert [event.prompt for event in driver.of(TurnStarted)] == ["what was that?", "and now?"]


def test_a_quiet_command_is_shown_and_not_told(project: Project, driver: Driver) -> None:
    opened = driver.open(project.bundle())
    assert not run(driver, "echo between-us", tell=False).told
    driver.turn("hello")
    assert not driver.of(ShellWaiting)
    rows = json.dumps(project.rows(opened.session_id))
    assert "between-us" not in rows


def test_what_waits_can_be_kept_back(project: Project, driver: Driver) -> None:
    opened = driver.open(project.bundle())
    run(driver, "echo by-mistake")
    driver.client.withhold_shell()
    assert driver.wait(ShellWaiting, lambda event: not event.command_ids)
    driver.turn("hello")
    assert "by-mistake" not in json.dumps(project.rows(opened.session_id))
    driver.client.withhold_shell()
    assert "No output" in driver.wait(Notice, lambda event: "output" in event.text).text


def test_a_command_that_never_ends_is_stopped_and_what_it_started_ends_too(
    project: Project, driver: Driver
) -> None:
    driver.open(project.bundle())
    driver.client.shell("echo begun; sleep 1000 & echo $$; wait")
    group = int(driver.wait(ShellProgress, lambda e: "\n" in e.text.strip()).text.split()[-1])
    driver.client.stop_shell()
    ended = driver.wait(ShellEnded)
    assert ended.stopped and ended.output.startswith("begun\n")
    driver.wait_until(lambda: not group_members(group), "The command went on")


def test_a_command_that_reads_finds_nothing_and_one_that_wants_a_terminal_finds_none(
    project: Project, driver: Driver
) -> None:
    driver.open(project.bundle())
    assert run(driver, "cat; read line; echo read $?").output == "read 1\n"
    assert run(driver, "true < /dev/tty").exit_code != 0


def test_very_much_output_is_kept_in_bounded_space(project: Project, driver: Driver) -> None:
    driver.open(project.bundle())
    ended = run(driver, "echo first; yes 0123456789 | head -c 3000000; echo last")
    assert ended.output.startswith("first\n") and ended.output.endswith("last\n")
    assert ended.output_size == 3_000_011 and len(ended.output) < 31_000
    assert sum(len(event.text) for event in driver.of(ShellProgress)) < 500_000


def test_the_end_of_the_session_ends_what_runs_and_what_was_left_running(
    project: Project, drive: Drive
) -> None:
    driver = drive()
    driver.open(project.bundle())
    left = run(driver, "sleep 1000 & echo $!")
    assert left.left_running
    driver.client.shell("echo $$; sleep 1000")
    pid = int(driver.wait(ShellProgress).text)
    driver.close()
    assert not any(map(runs, (pid, int(left.output))))
    assert driver.of(ShellEnded)[-1].stopped


def test_a_secret_stays_out_of_screen_and_disk_also_where_it_comes_in_two_pieces(
    project: Project, driver: Driver
) -> None:
    opened = driver.open(project.bundle())
    half = len(SECRET) // 2
    (project.folder / "begin").write_text(f"key: {SECRET[:half]}")
    (project.folder / "end").write_text(f"{SECRET[half:]}\n")
    run(driver, f"cat begin; sleep 0.3; cat end # {SECRET}")
    driver.turn("hello")
    said = "".join(str(event) for event in driver.events)
    assert SECRET[half:] not in said and SECRET not in said
    folder = project.folder_of(opened.session_id)
    stored = "".join(path.read_text() for path in folder.iterdir() if path.is_file())
    assert SECRET[half:] not in stored and "[REDACTED]" in stored


def test_during_a_turn_a_command_runs_beside_it_and_goes_along_with_what_steers(
    project: Project, driver: Driver
) -> None:
    signals = {name: str(project.folder / name) for name in ("started", "until")}
    opened = driver.open(project.bundle(script=calling({"wait": signals}, then="Ok.")))
    driver.client.submit("go")
    driver.wait_for_file(project.folder / "started")
    run(driver, "echo meanwhile")
    driver.client.steer("look at that")
    (project.folder / "until").touch()
    assert driver.wait(SteerApplied).text == "look at that"
    assert driver.wait(TurnEnded).status == "success"
    steered = user_rows(project, opened.session_id)[-1]
    assert "meanwhile" in str(steered["content"])
    assert driver.of(ShellWaiting)[-1].command_ids == ()


def test_a_resumed_session_shows_commands_and_sends_along_what_was_not_sent(
    project: Project, driver: Driver, drive: Drive
) -> None:
    opened = driver.open(project.bundle(script=saying("Ok.")))
    before = run(driver, "echo before")
    driver.turn("hello")
    quiet = run(driver, "echo quiet", tell=False)
    after = run(driver, "echo after")
    driver.close()
    again = drive()
    again.open(resume=opened.session_id)
    replayed = [event for event in again.drain() if event.replayed]
    order = [_said(event) for event in replayed]
    assert [text for text in order if text] == ["before", "hello", "Ok.", "quiet", "after"]
    waiting = again.of(ShellWaiting)
    assert [event.command_ids for event in waiting] == [(after.command_id,)]
    assert before.command_id != after.command_id != quiet.command_id
    again.turn("more")
    rows = user_rows(project, opened.session_id)
    assert "after" in str(rows[-1]["content"]) and "before" not in str(rows[-1]["content"])


def test_a_command_beside_an_answer_stands_below_it_after_a_resume_as_well(
    project: Project, driver: Driver, drive: Drive
) -> None:
    words = " ".join(f"word{number}" for number in range(2_000))
    opened = driver.open(project.bundle(script=saying(words), speed=200))
    driver.client.submit("go")
    driver.wait(BlockDelta)
    run(driver, "echo meanwhile")
    driver.client.interrupt(immediate=True)
    driver.wait(TurnEnded)
    run(driver, "echo after")
    driver.close()
    again = drive()
    again.open(resume=opened.session_id)
    order = [_said(event).split()[0] for event in again.drain() if event.replayed and _said(event)]
    assert order == ["go", "word0", "meanwhile", "after"]


def _said(event: HostEvent) -> str:
    if isinstance(event, ShellEnded):
        return event.output.strip()
    if isinstance(event, BlockEnded):
        return event.text
    return event.prompt if isinstance(event, TurnStarted) else ""


def test_a_fork_takes_the_commands_along(project: Project, driver: Driver) -> None:
    driver.open(project.bundle(script=saying("Ok.")))
    driver.turn("hello")
    after = run(driver, "echo after")
    driver.client.fork()
    waiting = driver.wait(ShellWaiting, lambda e: e.session_id != after.session_id)
    assert waiting.command_ids == (after.command_id,)
    assert driver.of(ShellEnded)[-1].replayed


def test_another_session_is_not_opened_over_a_command_that_runs(
    project: Project, driver: Driver
) -> None:
    name = project.bundle()
    driver.open(name)
    driver.client.shell("sleep 1000")
    driver.wait(ShellStarted)
    driver.client.switch_bundle(name)
    assert (
        "A command of yours is running"
        in driver.wait(Notice, lambda event: "running" in event.text).text
    )


def test_what_ran_in_the_terminal_is_noted_and_told(project: Project, driver: Driver) -> None:
    opened = driver.open(project.bundle())
    driver.client.note_shell("vim notes", exit_code=0, seconds=2.5)
    ended = driver.wait(ShellEnded)
    assert ended.in_terminal and ended.duration_ms == 2500
    driver.turn("done")
    assert "its output was not recorded" in str(project.rows(opened.session_id))


def test_what_a_command_in_the_terminal_names_is_the_users_until_it_ends(
    project: Project, driver: Driver
) -> None:
    driver.open(project.bundle())
    place = project.folder / ".envrc"
    driver.client.shell("cp ../up .envrc", in_terminal=True)
    driver.wait(TerminalWanted)
    assert is_others(place) and not is_others(project.folder / ".vscode")
    driver.client.note_shell("cp ../up .envrc", exit_code=0, seconds=2.5)
    driver.wait(ShellEnded)
    assert not is_others(place)
    driver.client.shell("cp ../up .envrc", in_terminal=True)
    driver.wait(TerminalWanted)
    driver.close()
    assert not is_others(place), "the session that wanted it has ended"


def test_a_shell_that_is_not_there_is_said(
    project: Project, driver: Driver, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    driver.open(project.bundle())
    monkeypatch.setenv("PATH", str(tmp_path))
    monkeypatch.setenv("SHELL", "/no/shell")
    assert "there is no shell" in run(driver, "echo hi").error


def test_going_back_before_a_prompt_has_its_commands_wait_again(
    project: Project, driver: Driver
) -> None:
    driver.open(project.bundle(script=saying("Ok.")))
    driver.turn("hello")
    ended = run(driver, "echo again")
    driver.turn("look at that")
    assert driver.of(ShellWaiting)[-1].command_ids == ()
    driver.client.rewind(2, "conversation")
    driver.wait(Rewound)
    assert driver.wait(ShellWaiting).command_ids == (ended.command_id,)


async def test_no_command_begins_after_the_session_was_closed(tmp_path: Path) -> None:
    events: list[HostEvent] = []
    store = SessionStore(tmp_path / "s1", Redactor({}), lambda _: None)
    commands = ShellCommands(Sender(events.append, store), tmp_path)
    taken = asyncio.create_task(commands.take("touch made", tell=True))
    await asyncio.sleep(0)
    await commands.close()
    await taken
    assert not commands.running and events == []


def test_a_session_of_commands_alone_stays_with_its_draft_and_can_be_resumed(
    project: Project, drive: Drive
) -> None:
    first = drive()
    opened = first.open(project.bundle())
    run(first, "echo kept")
    run(first, "echo mine", tell=False)
    first.client.keep_draft("to be sent later")
    first.close()
    (closed,) = first.of(SessionClosed)
    assert opened.session_id in closed.resume_command
    (card,) = list_sessions("", project.folder).cards
    assert (card.session_id, card.first_prompt, card.turns) == (opened.session_id, "!echo kept", 0)
    second = drive()
    again = second.open(resume="last")
    assert (again.session_id, again.draft) == (opened.session_id, "to be sent later")
    assert [event.output.strip() for event in second.of(ShellEnded)] == ["kept", "mine"]
    (waiting,) = second.wait(ShellWaiting).command_ids
    assert waiting == second.of(ShellEnded)[0].command_id
    second.close()
    third = drive()
    assert third.open(resume=opened.session_id).session_id == opened.session_id
    third.turn("go")
    assert "kept" in str(user_rows(project, opened.session_id)[0]["content"])


def test_a_session_without_a_command_leaves_nothing(project: Project, driver: Driver) -> None:
    driver.open(project.bundle())
    driver.close()
    assert driver.of(SessionClosed)[0].resume_command == ""
    assert list_sessions("", project.folder).cards == ()
