import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from amplifier_tui.foundation.trust.gate import trust_everything
from amplifier_tui.host.client import OpenRequest
from amplifier_tui.host.events import (
    ApprovalRequested,
    BlockDelta,
    Compacted,
    Failed,
    HookTraced,
    LaneOpened,
    SessionClosed,
    SessionOpened,
    ShellEnded,
    ShellStarted,
    TurnEnded,
    TurnStarted,
    UsageChanged,
)
from amplifier_tui.host.session.carrying import Carried
from amplifier_tui.host.session.opening.opening import Opening
from amplifier_tui.host.store.metadata import Metadata, read_metadata
from amplifier_tui.host.store.session_file import SessionFile
from amplifier_tui.host.store.session_store import SessionStore
from tests.host.asking import CONTEXT, chat, seen
from tests.host.driving import Driver, Project, calling, saying
from tests.servers import Failure, Gate, LoopbackServer, Reply, reply

Make = Callable[..., Driver]


def bundle(project: Project, server: LoopbackServer, **config: Any) -> str:
    config = {"providers": [], **config}
    return project.bundle(context=CONTEXT, context_config=config, providers=[chat(server)])


def talk(driver: Driver, server: LoopbackServer, turns: int = 3) -> None:
    server.script.add(*[f"Answer {n}." for n in range(1, turns + 1)])
    for number in range(1, turns + 1):
        driver.turn(f"prompt {number}")
    driver.drain()


def fork(driver: Driver, before_turn: int | None = None) -> SessionOpened:
    driver.drain()
    driver.client.fork(before_turn)
    return driver.wait(SessionOpened)


def card_of(project: Project, session: str) -> dict[str, Any]:
    text = (project.folder_of(session) / "metadata.json").read_text()
    found: dict[str, Any] = json.loads(text)
    return found


def test_a_fork_has_what_came_before_the_turn_and_goes_another_way(
    project: Project, driver: Driver, server: LoopbackServer
) -> None:
    opened = driver.open(bundle(project, server))
    talk(driver, server)
    driver.client.rename("Prompts")
    rows = project.rows(opened.session_id)
    forked = fork(driver, 2)
    assert forked.session_id != opened.session_id
    assert (forked.bundle, forked.title) == ("test", "Prompts (fork)")
    assert project.rows(forked.session_id) == rows[:2]
    shown = [e for e in driver.of(TurnStarted) if e.session_id == forked.session_id]
    assert [(e.turn, e.prompt, e.replayed) for e in shown] == [(1, "prompt 1", True)]
    server.script.add("Another answer.")
    assert driver.turn("another way").turn == 2
    assert seen(server, 3) == ["user: prompt 1", "assistant: Answer 1.", "user: another way"]
    assert project.rows(opened.session_id) == rows


def test_a_fork_of_a_session_with_a_line_nobody_can_read_ends_where_it_was_asked_to(
    project: Project, driver: Driver, drive: Make, server: LoopbackServer
) -> None:
    opened = driver.open(bundle(project, server))
    talk(driver, server, 1)
    driver.close()
    transcript = project.folder_of(opened.session_id) / "transcript.jsonl"
    transcript.write_text('{"role": "us\n' + transcript.read_text())
    again = drive()
    again.open(resume=opened.session_id)
    server.script.add("Answer 2.")
    again.turn("prompt 2")
    again.drain()
    forked = fork(again, 2)
    assert [row["role"] for row in project.rows(forked.session_id)] == ["user", "assistant"]
    shown = [e for e in again.of(TurnStarted) if e.session_id == forked.session_id]
    assert [e.prompt for e in shown] == ["prompt 1"]


def test_a_fork_without_a_turn_has_everything(
    project: Project, driver: Driver, server: LoopbackServer
) -> None:
    opened = driver.open(bundle(project, server))
    talk(driver, server)
    forked = fork(driver)
    assert project.rows(forked.session_id) == project.rows(opened.session_id)
    assert len([e for e in driver.of(TurnStarted) if e.session_id == forked.session_id]) == 3


def test_the_session_that_was_forked_is_closed_and_can_be_resumed(
    project: Project, driver: Driver, server: LoopbackServer
) -> None:
    opened = driver.open(bundle(project, server))
    talk(driver, server)
    forked = fork(driver, 3)
    closed = driver.wait(SessionClosed)
    assert closed.session_id == opened.session_id and opened.session_id in closed.resume_command
    driver.client.resume(opened.session_id)
    back = driver.wait(SessionOpened)
    assert back.session_id == opened.session_id and back.resumed
    server.script.add("Answer 4.")
    assert driver.turn("prompt 4").turn == 4
    assert len(project.rows(forked.session_id)) == 4


def test_the_fork_says_where_it_comes_from(
    project: Project, driver: Driver, server: LoopbackServer
) -> None:
    opened = driver.open(bundle(project, server))
    talk(driver, server)
    forked = fork(driver, 3)
    card = card_of(project, forked.session_id)
    assert card["parent_id"] == opened.session_id
    assert card["forked_from_turn"] == 2 and card["forked_at"]
    assert (card["bundle"], card["turn_count"]) == ("test", 2)
    (told,) = [
        json.loads(event.data)
        for event in driver.of(HookTraced)
        if event.event == "session:fork" and event.session_id == forked.session_id
    ]
    assert (told["parent"], told["session_id"]) == (opened.session_id, forked.session_id)
    assert not driver.of(LaneOpened), "a fork is no sub-agent"
    assert {card.session_id for card in driver.client.sessions().result(5).cards} == {
        opened.session_id,
        forked.session_id,
    }
    driver.close()
    again = Driver(project.folder)
    again.open(resume=forked.session_id)
    again.close()
    assert not [e for e in again.of(HookTraced) if e.event == "session:fork" and not e.replayed]


def test_events_stay_with_the_session_they_happened_in(
    project: Project, driver: Driver, server: LoopbackServer
) -> None:
    driver.open(bundle(project, server))
    talk(driver, server)
    used = driver.of(UsageChanged)[-1].session.input_tokens
    forked = fork(driver)
    assert not [row for row in project.log(forked.session_id) if row["event"] == "prompt:submit"]
    server.script.add("More.")
    ended = driver.turn("more")
    now = driver.of(UsageChanged)[-1].session
    assert now.input_tokens == ended.usage.input_tokens < used


def test_turns_are_counted_as_the_screen_counts_them(
    project: Project, driver: Driver, server: LoopbackServer
) -> None:
    server.script.add("One.", Failure("overloaded"), "Two.", "Three.")
    driver.open(bundle(project, server))
    driver.turn("prompt 1")
    assert driver.turn("prompt 2").status == "error"
    driver.client.retry()
    driver.wait(TurnEnded)
    assert driver.turn("prompt 3").turn == 3
    forked = fork(driver, 3)
    said = [row["content"] for row in project.rows(forked.session_id) if row["role"] == "user"]
    assert said == ["prompt 1", "prompt 2"]
    again = fork(driver, 2)
    said = [row["content"] for row in project.rows(again.session_id) if row["role"] == "user"]
    assert said == ["prompt 1"]


def test_a_prompt_that_never_became_a_row_does_not_shift_the_turns(
    project: Project, driver: Driver, server: LoopbackServer
) -> None:
    server.script.add("One.", "Three.")
    hooks = (("hooks-test", {"deny_prompt": "no", "deny_only": "secret"}),)
    name = project.bundle(context=CONTEXT, providers=[chat(server)], hooks=hooks)
    driver.open(name)
    driver.turn("prompt 1")
    assert driver.turn("secret").status == "error"
    assert driver.turn("prompt 3").turn == 3
    forked = fork(driver, 3)
    rows = project.rows(forked.session_id)
    assert [row["role"] for row in rows] == ["user", "assistant"]


def test_a_resumed_session_is_forked_by_its_stored_turns(
    project: Project, drive: Make, server: LoopbackServer
) -> None:
    first = drive()
    opened = first.open(bundle(project, server))
    talk(first, server)
    first.close()
    again = drive()
    again.open(resume=opened.session_id)
    forked = fork(again, 2)
    assert len(project.rows(forked.session_id)) == 2


@pytest.mark.parametrize("turn", [0, -1, 4, 10**9])
def test_a_turn_that_is_not_there_leaves_the_session_open(
    project: Project, driver: Driver, server: LoopbackServer, turn: int
) -> None:
    opened = driver.open(bundle(project, server))
    talk(driver, server)
    driver.client.fork(turn)
    failed = driver.wait(Failed)
    assert failed.kind == "no_turn" and str(turn) in failed.message and failed.remedy
    server.script.add("Still here.")
    assert driver.turn("still there?").session_id == opened.session_id
    assert len(list(project.folder_of(opened.session_id).parent.iterdir())) == 1


def test_a_fork_that_can_not_be_opened_leaves_the_session_open_and_nothing_behind(
    project: Project, driver: Driver, server: LoopbackServer
) -> None:
    opened = driver.open(bundle(project, server))
    talk(driver, server)
    path = project.bundles / "test.md"
    whole = path.read_text()
    path.write_text("---\nbundle: [\n---\n")
    driver.client.fork(2)
    assert driver.wait(Failed).kind == "bundle"
    path.write_text(whole)
    server.script.add("Still here.")
    assert driver.turn("still there?").session_id == opened.session_id
    assert len(list(project.folder_of(opened.session_id).parent.iterdir())) == 1


def test_a_running_turn_is_not_forked_away(
    project: Project, driver: Driver, server: LoopbackServer
) -> None:
    gate = Gate()
    server.script.add(Reply([*reply("Well, ").parts, gate, *reply("yes.").parts]))
    opened = driver.open(bundle(project, server))
    driver.client.submit("hello")
    driver.wait(BlockDelta)
    driver.client.fork()
    assert driver.wait(Failed).kind == "busy"
    gate.open()
    ended = driver.wait(TurnEnded)
    assert (ended.session_id, ended.status) == (opened.session_id, "success")


def test_a_fork_beside_a_command_of_the_user_is_refused_as_a_failure(
    project: Project, driver: Driver, server: LoopbackServer
) -> None:
    """So that what waits for the fork takes no other session for it."""
    opened = driver.open(bundle(project, server))
    talk(driver, server, turns=1)
    driver.client.shell("sleep 61")
    driver.wait(ShellStarted)
    driver.client.fork()
    failed = driver.wait(Failed)
    assert (failed.kind, failed.message) == ("busy", "A command of yours is running")
    driver.client.stop_shell()
    ended = driver.wait(ShellEnded)
    assert ended.session_id == opened.session_id


def test_a_fork_before_the_first_turn_is_an_empty_session(
    project: Project, driver: Driver, server: LoopbackServer
) -> None:
    opened = driver.open(bundle(project, server))
    talk(driver, server, turns=1)
    forked = fork(driver, 1)
    server.script.add("Hi.")
    assert driver.turn("hi").turn == 1
    assert seen(server, 1) == ["user: hi"]
    assert len(project.rows(forked.session_id)) == 2 and project.rows(opened.session_id)


def test_without_a_session_there_is_nothing_to_fork(driver: Driver) -> None:
    driver.client.fork()
    assert driver.wait(Failed).kind == "no_session"


def test_what_was_compacted_later_is_whole_in_the_fork(project: Project, driver: Driver) -> None:
    script = calling({"echo": {"text": "x" * 20_000}})
    name = project.bundle(
        context=CONTEXT, context_config={"providers": [], "target": 0.1}, script=script
    )
    driver.open(name)
    for number in range(6):
        driver.turn(f"prompt {number}")
    driver.client.compact()
    driver.wait(Compacted)
    compacted = driver.client.compaction().result(5).before
    everything = fork(driver)
    assert driver.client.compaction().result(5).before == compacted
    assert [e.replayed for e in driver.of(Compacted) if e.session_id == everything.session_id] == [
        True
    ]
    early = fork(driver, 2)
    state = json.loads((project.folder_of(early.session_id) / "state.json").read_text())
    (decided,) = state["state"]["context"]["decisions"]["models"].values()
    assert len(project.rows(early.session_id)) == 4
    assert not decided["rows"]
    assert not [e for e in driver.of(Compacted) if e.session_id == early.session_id]


def test_a_summary_of_later_turns_does_not_go_along(
    project: Project, driver: Driver, server: LoopbackServer
) -> None:
    opened = driver.open(bundle(project, server))
    server.script.add(*[f"Answer {n}. {'word ' * 300}" for n in range(1, 5)], "A SUMMARY.")
    for number in range(1, 5):
        driver.turn(f"prompt {number}")
    driver.client.compact("")
    driver.wait(Compacted)
    assert opened
    fork(driver, 3)
    server.script.add("Fine.")
    driver.turn("another way")
    asked = "\n".join(seen(server, 5))
    assert "A SUMMARY" not in asked and "Answer 2" in asked and "Answer 3" not in asked


def test_a_fork_works_with_any_context(project: Project, driver: Driver) -> None:
    driver.open(project.bundle(context="context-slots", script=saying("Hello.")))
    driver.turn("one")
    driver.turn("two")
    forked = fork(driver, 2)
    assert [row["role"] for row in project.rows(forked.session_id)] == ["user", "assistant"]
    assert driver.turn("three").turn == 2


def test_the_scratch_workspace_of_a_copy_begins_as_that_of_its_origin_is(
    project: Project, driver: Driver
) -> None:
    opened = driver.open(demo=True)
    driver.client.submit("hello")
    driver.wait(ApprovalRequested)
    driver.client.interrupt(immediate=True)
    driver.wait(TurnEnded)
    (Path(opened.cwd) / "mine.txt").write_text("work")
    (card,) = driver.client.sessions().result(5).cards
    driver.open(project.bundle())
    driver.client.copy_session(card.key)
    copy = driver.wait(SessionOpened)
    assert copy.cwd != opened.cwd and (Path(copy.cwd) / "mine.txt").read_text() == "work"


def test_the_scratch_workspace_of_a_fork_begins_as_it_is_now(
    project: Project, driver: Driver
) -> None:
    driver.open(demo=True)
    first = Path(driver.of(SessionOpened)[-1].cwd)
    (first / "new.txt").write_text("made on the way")
    driver.client.submit("hello")
    driver.wait(TurnStarted)
    driver.client.interrupt(immediate=True)
    driver.wait(TurnEnded)
    second = Path(fork(driver).cwd)
    assert second != first and (second / "new.txt").read_text() == "made on the way"
    (second / "new.txt").write_text("changed")
    assert (first / "new.txt").read_text() == "made on the way"


async def test_a_conversation_comes_along_at_once_and_with_what_it_is_opened_by(
    project: Project, monkeypatch: pytest.MonkeyPatch
) -> None:
    written: list[tuple[str, int]] = []
    append = SessionFile.append

    def noted(file: SessionFile, line: bytes) -> int | None:
        written.append((file.path.name, line.count(b"\n")))
        return append(file, line)

    def killed(opening: Opening, workspace: object, store: SessionStore) -> None:
        metadata.append(read_metadata(store.folder))
        raise LookupError("as a kill does")

    metadata: list[Metadata] = []
    monkeypatch.setattr(SessionFile, "append", noted)
    monkeypatch.setattr(Opening, "_choose", killed)
    rows = tuple({"role": "user", "content": f"prompt {n}"} for n in range(3))
    event = TurnEnded(session_id="old", turn=1, status="success")
    carried = Carried("old", rows, "A title", outcomes=((1, event),))
    request = OpenRequest(cwd=project.folder, bundle=project.bundle())
    with pytest.raises(LookupError):
        await Opening(request, lambda event: None, trust_everything, carried).run()
    assert written == [("display.jsonl", 1), ("transcript.jsonl", 3)]
    (found,) = metadata
    assert (found.bundle, found.name, found.first_prompt) == ("test", "A title", "prompt 0")
