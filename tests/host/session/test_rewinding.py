import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from amplifier_tui.host.events import (
    BudgetChanged,
    Compacted,
    HostEvent,
    Notice,
    RewindScope,
    Rewound,
    SessionOpened,
    ShellEnded,
    ShellWaiting,
    TurnEnded,
    TurnStarted,
    UsageChanged,
)
from amplifier_tui.host.store.session_file import SessionFile
from amplifier_tui.ui.state.session import SessionState
from tests.host.asking import CONTEXT, chat, seen
from tests.host.cassettes.test_rules_meanwhile import agents
from tests.host.driving import Driver, Project
from tests.servers import Gate, LoopbackServer, Reply, ToolUse, reply

Make = Callable[..., Driver]
CHECKPOINTS = (("hooks-checkpoint", {}),)
LONG = "word " * 400


@pytest.fixture
def opened(project: Project, driver: Driver, server: LoopbackServer) -> SessionOpened:
    name = project.bundle(
        context=CONTEXT,
        context_config={"providers": []},
        providers=[chat(server)],
        tools=("tool-filesystem", "tool-bash"),
        hooks=CHECKPOINTS,
    )
    return driver.open(name)


def turn(driver: Driver, server: LoopbackServer, prompt: str, **files: str) -> TurnEnded:
    """Run a turn in which the model writes files."""
    if files:
        calls = [
            ToolUse("write_file", {"file_path": f"{name}.txt", "content": text})
            for name, text in files.items()
        ]
        server.script.add(reply(*calls))
    server.script.add(f"Answer to {prompt}")
    return driver.turn(prompt)


def rewind(
    driver: Driver, number: int, scope: RewindScope = "both", overwrite: tuple[str, ...] = ()
) -> Rewound:
    driver.drain()
    driver.client.rewind(number, scope, overwrite)
    return went(driver)


def went(driver: Driver) -> Rewound:
    event = driver.wait(Rewound)
    driver.client.rewind_points().result(5)
    driver.drain()
    return event


def undo(driver: Driver) -> Rewound:
    driver.drain()
    driver.client.undo_rewind()
    return went(driver)


def said(driver: Driver) -> str:
    return driver.wait(Notice, lambda notice: notice.source == "rewind").text


def screen(events: list[HostEvent]) -> list[Any]:
    """What a front end shows of a session's events."""
    state = SessionState()
    state.apply(events)
    return [
        (type(entry).__name__, getattr(entry, "text", ""), getattr(entry, "tool", ""))
        for entry in state.entries
        if type(entry).__name__ != "NoteEntry"
    ]


def resumed(project: Project, session: str) -> list[Any]:
    """What a front end shows that opens the stored session anew."""
    again = Driver(project.folder)
    again.open(resume=session)
    shown = screen(again.drain())
    again.close()
    return shown


def test_the_conversation_goes_back_and_goes_another_way(
    project: Project, driver: Driver, server: LoopbackServer, opened: SessionOpened
) -> None:
    for number in (1, 2, 3):
        turn(driver, server, f"prompt {number}")
    rows = project.rows(opened.session_id)
    done = rewind(driver, 2)
    assert (done.turn, done.scope, done.turns, done.prompt) == (2, "both", 2, "prompt 2")
    assert project.rows(opened.session_id) == rows[:2], "another program goes on from there"
    assert turn(driver, server, "another 2").turn == 2
    assert seen(server, 3) == [
        "user: prompt 1",
        "assistant: Answer to prompt 1",
        "user: another 2",
    ]
    kept = json.loads((project.folder_of(opened.session_id) / "rewinds.jsonl").read_text())
    assert [json.loads(line) for line in kept["lines"]] == rows[2:], "nothing is lost"
    now = screen(driver.drain())
    driver.close()
    assert now == resumed(project, opened.session_id)
    assert ("UserEntry", "another 2", "") in now and ("UserEntry", "prompt 3", "") not in now


def test_it_is_undone_as_long_as_nothing_else_was_said(
    project: Project, driver: Driver, server: LoopbackServer, opened: SessionOpened
) -> None:
    for number in (1, 2, 3):
        turn(driver, server, f"prompt {number}", a=str(number))
    rows, shown = project.rows(opened.session_id), screen(driver.drain())
    rewind(driver, 3)
    rewind(driver, 1)
    assert project.rows(opened.session_id) == []
    assert not (project.folder / "a.txt").exists()
    assert [entry[0] for entry in screen(driver.drain())] == ["WelcomeEntry"]
    back = undo(driver)
    assert (back.undone, back.turn, back.turns) == (True, 1, 2)
    assert (project.folder / "a.txt").read_text() == "2"
    undo(driver)
    assert (project.folder / "a.txt").read_text() == "3"
    assert project.rows(opened.session_id) == rows
    assert screen(driver.drain()) == shown
    driver.client.undo_rewind()
    assert "nothing to bring back" in said(driver)
    rewind(driver, 2)
    turn(driver, server, "another 2")
    driver.client.undo_rewind()
    kept = project.folder_of(opened.session_id) / "rewinds.jsonl"
    assert said(driver).endswith(f" is kept in ~/{kept.relative_to(Path.home())}")
    assert len(project.rows(opened.session_id)) == 4 + 2


def test_files_alone_go_back_and_what_the_user_wrote_stays(
    project: Project, driver: Driver, server: LoopbackServer, opened: SessionOpened
) -> None:
    turn(driver, server, "one", a="1", b="1", c="1")
    turn(driver, server, "two", a="2", b="2", c="2")
    (project.folder / "b.txt").write_text("by hand")
    rows = project.rows(opened.session_id)
    preview = driver.client.preview_rewind(2).result(5)
    assert {file.path: bool(file.conflict) for file in preview.files} == {
        "a.txt": False,
        "b.txt": True,
        "c.txt": False,
    }
    assert [(file.added, file.removed) for file in preview.files] == [(1, 1)] * 3
    assert (preview.turns, preview.problem, preview.unseen) == (1, "", ())
    assert "-2" in driver.client.rewind_diff(2, "a.txt").result(5)
    done = rewind(driver, 2, "files")
    assert (done.restored, done.kept) == (("a.txt", "c.txt"), ("b.txt",))
    assert [(project.folder / f"{n}.txt").read_text() for n in "abc"] == ["1", "by hand", "1"]
    assert project.rows(opened.session_id) == rows
    assert rewind(driver, 2, "files", ("b.txt",)).restored == ("b.txt",)
    assert (project.folder / "b.txt").read_text() == "1"
    undo(driver)
    assert (project.folder / "b.txt").read_text() == "by hand"
    undo(driver)
    assert (project.folder / "a.txt").read_text() == "2"


def test_a_command_of_the_agent_is_taken_back_too(
    project: Project, driver: Driver, server: LoopbackServer, opened: SessionOpened
) -> None:
    (project.folder / "mine.txt").write_text("mine")
    server.script.add(reply(ToolUse("bash", {"command": "echo theirs > mine.txt; touch made"})))
    turn(driver, server, "run it")
    assert (project.folder / "mine.txt").read_text() == "theirs\n"
    preview = driver.client.preview_rewind(1).result(5)
    assert {file.path: file.action for file in preview.files} == {
        "mine.txt": "restored",
        "made": "removed",
    }
    assert all(file.command.startswith("echo theirs") for file in preview.files)
    rewind(driver, 1)
    assert (project.folder / "mine.txt").read_text() == "mine"
    assert not (project.folder / "made").exists()


def test_a_file_is_by_one_of_the_commands_that_ran_together_where_none_names_it(
    project: Project, driver: Driver
) -> None:
    until = "until [ -e {} ]; do sleep 0.02; done"
    writes = f'touch a.on; {until.format("b.on")}; n=ma; echo x > "$n"de; touch a.off'
    waits = f"touch b.on; {until.format('a.off')}"
    steps = ({"run": {"call": [{"bash": {"command": each}}]}} for each in (writes, waits))
    driver.open(agents(project, *steps, agent="tester"), mode="auto")
    driver.turn("go")
    files = driver.client.preview_rewind(1).result(5).files
    assert [file.together for file in files if file.path == "made"] == [2]


def test_a_file_that_was_deleted_is_said_to_come_back(
    project: Project, driver: Driver, server: LoopbackServer, opened: SessionOpened
) -> None:
    for name in ("lost.txt", "kept.txt"):
        (project.folder / name).write_text("mine\n")
    server.script.add(reply(ToolUse("bash", {"command": "rm lost.txt; echo more >> kept.txt"})))
    turn(driver, server, "run it")
    preview = driver.client.preview_rewind(1).result(5)
    assert {file.path: (file.gone, file.added) for file in preview.files} == {
        "lost.txt": (True, 1),
        "kept.txt": (False, 0),
    }
    rewind(driver, 1)
    assert (project.folder / "lost.txt").read_text() == "mine\n"


def test_modes_and_links_are_taken_back_too_and_a_link_is_shown_as_where_it_leads(
    project: Project, driver: Driver, server: LoopbackServer, opened: SessionOpened
) -> None:
    (project.folder / "run.sh").write_text("#!/bin/sh\n")
    (project.folder / "run.sh").chmod(0o755)
    (project.folder / "link").symlink_to("run.sh")
    command = "chmod 644 run.sh; ln -sf other link; echo words > other"
    server.script.add(reply(ToolUse("bash", {"command": command})))
    turn(driver, server, "run it")
    assert driver.client.rewind_points().result(5)[0].files == 3
    preview = driver.client.preview_rewind(1).result(5)
    assert {file.path: (file.note, file.added, file.removed) for file in preview.files} == {
        "run.sh": ("mode 755", 0, 0),
        "link": ("link to run.sh", 1, 1),
        "other": ("", 0, 1),
    }
    assert "+run.sh" in driver.client.rewind_diff(1, "link").result(5)
    assert "@@ mode 755 @@" in driver.client.rewind_diff(1, "run.sh").result(5)
    rewind(driver, 1)
    assert (project.folder / "run.sh").stat().st_mode & 0o777 == 0o755
    assert (project.folder / "link").readlink().name == "run.sh"
    undo(driver)
    assert (project.folder / "run.sh").stat().st_mode & 0o777 == 0o644
    assert (project.folder / "link").readlink().name == "other"


def test_the_points_are_the_prompts_with_what_changed_after_each(
    driver: Driver, server: LoopbackServer, opened: SessionOpened
) -> None:
    turn(driver, server, "one", a="1", b="1")
    turn(driver, server, "two")
    turn(driver, server, "three", a="3")
    points = driver.client.rewind_points().result(5)
    assert [(point.turn, point.prompt, point.files) for point in points] == [
        (3, "three", 1),
        (2, "two", 0),
        (1, "one", 2),
    ]


def test_a_resumed_session_goes_back_and_brings_back(
    project: Project, drive: Make, server: LoopbackServer, driver: Driver, opened: SessionOpened
) -> None:
    turn(driver, server, "one", a="1")
    turn(driver, server, "two", a="2")
    driver.close()
    again = drive()
    again.open(resume=opened.session_id)
    assert rewind(again, 2).restored == ("a.txt",)
    again.close()
    third = drive()
    third.open(resume=opened.session_id)
    assert undo(third).undone
    assert (project.folder / "a.txt").read_text() == "2"
    assert len(project.rows(opened.session_id)) == 8


def test_without_a_record_only_the_conversation_goes_back_and_that_is_said(
    project: Project, driver: Driver, server: LoopbackServer, opened: SessionOpened
) -> None:
    turn(driver, server, "one", a="1")
    (project.folder_of(opened.session_id) / "checkpoints" / "index.jsonl").write_text(
        "damage\n{}\n"
    )
    driver.close()
    again = Driver(project.folder)
    again.open(resume=opened.session_id)
    preview = again.client.preview_rewind(1).result(5)
    assert "a.txt" in preview.unseen[0] if preview.unseen else "damaged" in preview.problem
    assert rewind(again, 1).restored == ()
    assert (project.folder / "a.txt").read_text() == "1"
    assert project.rows(opened.session_id) == []
    again.close()
    assert project.folder_of(opened.session_id).is_dir(), "what was taken back is kept"


def test_while_a_turn_runs_it_is_refused(
    driver: Driver, server: LoopbackServer, opened: SessionOpened
) -> None:
    turn(driver, server, "one")
    gate = Gate()
    server.script.add(Reply(parts=(), before=gate))
    driver.client.submit("two")
    driver.wait(TurnStarted)
    driver.client.rewind(1)
    assert "stop it first" in said(driver)
    driver.client.interrupt(True)
    gate.open()
    driver.wait(TurnEnded)


def test_what_was_spent_stays_spent(
    project: Project, driver: Driver, server: LoopbackServer, opened: SessionOpened
) -> None:
    turn(driver, server, "one")
    turn(driver, server, "two")
    spent = driver.of(UsageChanged)[-1].session
    before = driver.of(BudgetChanged)[-1].total
    rewind(driver, 2)
    assert driver.of(BudgetChanged)[-1].total < before
    driver.close()
    again = Driver(project.folder)
    again.open(resume=opened.session_id)
    assert again.wait(UsageChanged).session == spent
    card = json.loads((project.folder_of(opened.session_id) / "metadata.json").read_text())
    assert card["turn_count"] == 1
    again.close()


def test_what_commands_of_the_user_printed_waits_for_the_next_prompt_again(
    driver: Driver, server: LoopbackServer, opened: SessionOpened
) -> None:
    driver.client.shell("echo printed", tell=True)
    command = driver.wait(ShellEnded).command_id
    turn(driver, server, "one")
    assert driver.of(ShellWaiting)[-1].command_ids == ()
    rewind(driver, 1)
    driver.wait_until(
        lambda: driver.of(ShellWaiting)[-1].command_ids == (command,), "nothing waits again"
    )
    turn(driver, server, "another one")
    assert "printed" in seen(server, 1)[0]


def test_a_turn_that_is_not_there_is_said(driver: Driver, opened: SessionOpened) -> None:
    driver.client.rewind(7)
    assert "no turn 7" in said(driver)
    with pytest.raises(RuntimeError, match="no turn 7"):
        driver.client.preview_rewind(7).result(5)


@pytest.mark.parametrize("context", ["context-simple", "context-persistent"])
def test_any_context_goes_back(
    project: Project, driver: Driver, server: LoopbackServer, context: str
) -> None:
    driver.open(project.bundle(context=context, providers=[chat(server)], hooks=CHECKPOINTS))
    turn(driver, server, "one")
    turn(driver, server, "two")
    session = driver.of(SessionOpened)[0].session_id
    rewind(driver, 2, "conversation")
    driver.close()
    again = Driver(project.folder)
    again.open(resume=session)
    again.drain()
    turn(again, server, "another two")
    assert seen(server, 2)[-3:] == ["user: one", "assistant: Answer to one", "user: another two"]
    again.close()


def test_what_is_asked_for_in_one_moment_happens_one_after_the_other(
    project: Project, driver: Driver, server: LoopbackServer, opened: SessionOpened
) -> None:
    for number in (1, 2, 3):
        turn(driver, server, f"prompt {number}", a=str(number))
    rows = project.rows(opened.session_id)
    driver.drain()
    for number in (3, 2):
        driver.client.rewind(number, "both", ())
    assert [driver.wait(Rewound).turns for _ in range(2)] == [1, 1]
    assert project.rows(opened.session_id) == rows[:4]
    for _ in range(3):
        driver.client.undo_rewind()
    assert [driver.wait(Rewound).turns for _ in range(2)] == [1, 1]
    assert "nothing to bring back" in said(driver)
    assert project.rows(opened.session_id) == rows
    assert (project.folder / "a.txt").read_text() == "3"


@pytest.mark.parametrize("scope", ["both", "files", "conversation"])
def test_where_it_cannot_be_noted_nothing_goes_back(
    project: Project,
    driver: Driver,
    server: LoopbackServer,
    opened: SessionOpened,
    scope: RewindScope,
) -> None:
    turn(driver, server, "one", a="1")
    turn(driver, server, "two", a="2")
    rows = project.rows(opened.session_id)
    (project.folder_of(opened.session_id) / "rewinds.jsonl").mkdir()
    driver.drain()
    driver.client.rewind(2, scope)
    assert said(driver).startswith("Nothing went back: ")
    assert driver.client.rewind_points().result(5)[0].turn == 2
    assert project.rows(opened.session_id) == rows
    assert (project.folder / "a.txt").read_text() == "2"
    assert not driver.of(Rewound)


def test_where_the_disk_does_not_take_the_rows_nothing_is_brought_back_until_it_does(
    project: Project,
    driver: Driver,
    server: LoopbackServer,
    opened: SessionOpened,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    def full(file: SessionFile, data: bytes) -> None:
        raise OSError(28, "No space left on device")

    turn(driver, server, "one", a="1")
    turn(driver, server, "two", a="2")
    rows = project.rows(opened.session_id)
    rewind(driver, 2)
    with monkeypatch.context() as patched:
        patched.setattr(SessionFile, "replace", full)
        driver.client.undo_rewind()
        assert said(driver) == "It can't be brought back: No space left on device"
        assert len(driver.client.rewind_points().result(5)) == 1
    assert (project.folder / "a.txt").read_text() == "1"
    assert undo(driver).restored == ("a.txt",)
    assert project.rows(opened.session_id) == rows
    assert (project.folder / "a.txt").read_text() == "2"


def test_while_the_session_goes_back_it_is_not_compacted(
    driver: Driver, server: LoopbackServer, opened: SessionOpened
) -> None:
    for number in (1, 2):
        turn(driver, server, f"prompt {number}")
    driver.drain()
    driver.client.rewind(2, "conversation")
    driver.client.compact()
    told = driver.wait(Notice, lambda notice: notice.source == "context").text
    assert told == "The session is going back: compact when it has"


def compact(driver: Driver) -> None:
    """Have a model write a summary."""
    driver.drain()
    driver.client.compact("")
    driver.wait(Compacted)


@pytest.mark.parametrize("again", [False, True], ids=["at once", "after a restart"])
def test_a_summary_stands_again_for_turns_that_are_brought_back(
    project: Project, driver: Driver, server: LoopbackServer, opened: SessionOpened, again: bool
) -> None:
    server.script.add(*(f"Answer {number}. {LONG}" for number in (1, 2, 3)), "The summary.")
    for number in (1, 2, 3):
        driver.turn(f"prompt {number}")
    compact(driver)
    turn(driver, server, "prompt 4")
    rewind(driver, 2)
    if again:
        driver.close()
        driver = Driver(project.folder)
        driver.open(resume=opened.session_id)
    undo(driver)
    turn(driver, server, "prompt 5")
    told = seen(server, -1)
    assert not [line for line in told if "Answer 1" in line]
    assert [line for line in told if "The summary." in line]
    driver.close()
