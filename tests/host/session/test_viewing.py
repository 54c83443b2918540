"""A session that another window has open is shown and followed, and taken over once it is free."""

import asyncio
import os
import shutil
from collections.abc import Callable
from pathlib import Path

import pytest

from amplifier_tui.base.files import FileLock
from amplifier_tui.host.client import ExportRequest, OpenRequest
from amplifier_tui.host.events import (
    BlockEnded,
    BranchChanged,
    Failed,
    HookTraced,
    HostEvent,
    Notice,
    Rewound,
    SessionClosed,
    SessionHeld,
    SessionOpened,
    TitleChanged,
    ToolEnded,
    TurnEnded,
    TurnStarted,
)
from amplifier_tui.host.redaction import Redactor
from amplifier_tui.host.session.opening.viewing import ViewedSession
from amplifier_tui.host.store.export.conversation import StoredSession, write_conversation
from amplifier_tui.host.store.export.masking import Masking
from tests.host.driving import Driver, Project, calling

Make = Callable[..., Driver]


@pytest.fixture(autouse=True)
def quick(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("amplifier_tui.host.session.opening.viewing.LOOK_SECONDS", 0.01)


def prompt(text: str) -> Callable[[TurnStarted], bool]:
    return lambda event: event.replayed and event.prompt == text


def test_it_is_read_and_followed_while_another_window_works(project: Project, drive: Make) -> None:
    name = project.bundle(script=calling({"echo": {"text": "x"}}, then="I said {{prompt}}."))
    owner, viewer = drive(), drive()
    session = owner.open(name).session_id
    owner.turn("hello")
    seen = viewer.open(resume=session, shows_busy=True)
    held = viewer.wait(SessionHeld)
    assert (seen.session_id, seen.resumed, seen.bundle) == (session, True, name)
    assert not held.free and held.owner.isdigit() and held.since > 0
    told = [type(e) for e in viewer.events if e.replayed and not isinstance(e, HookTraced)]
    assert told[0] is TurnStarted and told[-1] is TurnEnded and ToolEnded in told
    owner.turn("and again")
    viewer.wait(TurnStarted, prompt("and again"))
    assert viewer.wait(ToolEnded, lambda e: e.replayed).output == "x"
    assert viewer.wait(BlockEnded, lambda e: e.replayed).text == "I said and again."
    assert viewer.wait(TurnEnded, lambda e: e.replayed).turn == 2
    owner.client.rename("A name")
    assert viewer.wait(TitleChanged).title == "A name"
    viewer.client.rename("Another")
    owner.wait(TitleChanged, lambda e: e.title == "Another")
    traced = viewer.of(HookTraced)
    assert len({trace.seq for trace in traced}) == len(traced)
    assert "again" in viewer.client.payload(
        max(t.seq for t in traced if t.event == "prompt:submit")
    ).result(5)
    written = viewer.client.export(ExportRequest(path=str(project.folder / "out.md"))).result(10)
    assert not written.problem and "I said and again." in (project.folder / "out.md").read_text()
    assert len(viewer.client.history(2).result(5)) > 1
    with pytest.raises(RuntimeError, match="open in another window: here it can only be read"):
        viewer.client.rewind_points().result(5)
    viewer.client.fork()
    assert viewer.wait(SessionOpened).session_id != session
    assert viewer.turn("mine").turn == 3
    assert owner.turn("and mine").turn == 3


def test_it_shows_the_branch_that_is_checked_out_now(project: Project, drive: Make) -> None:
    head = project.folder / ".git" / "HEAD"
    head.parent.mkdir()
    head.write_text("ref: refs/heads/first\n")
    owner, viewer = drive(), drive()
    session = owner.open(project.bundle()).session_id
    owner.turn("one")
    head.write_text("ref: refs/heads/second\n")
    assert viewer.open(resume=session, shows_busy=True).branch == "second"
    head.write_text("ref: refs/heads/third\n")
    assert viewer.wait(BranchChanged).branch == "third"


def test_a_prompt_goes_back_while_it_is_held_and_takes_it_over_when_it_is_free(
    project: Project, drive: Make
) -> None:
    name = project.bundle()
    owner, viewer = drive(), drive()
    session = owner.open(name).session_id
    owner.turn("one")
    viewer.open(resume=session, shows_busy=True)
    viewer.wait(SessionHeld)
    viewer.client.submit("two")
    again = viewer.wait(SessionHeld)
    assert (again.prompt, again.free) == ("two", False)
    assert len(project.rows(session)) == 2, "nothing was written by who only reads"
    owner.close()
    assert viewer.wait(SessionHeld).free
    viewer.client.submit("two")
    assert viewer.wait(SessionClosed).reason == "taken over"
    viewer.wait(SessionOpened)
    assert viewer.wait(TurnEnded, lambda e: not e.replayed).turn == 2
    assert [row["role"] for row in project.rows(session)] == ["user", "assistant"] * 2
    assert not FileLock(project.folder_of(session) / "session.lock").is_free()


def test_what_is_sent_while_it_is_read_goes_back_too(
    project: Project, drive: Make, monkeypatch: pytest.MonkeyPatch
) -> None:
    owner, viewer = drive(), drive()
    session = owner.open(project.bundle()).session_id
    owner.turn("one")
    reads = ViewedSession.read

    async def read(viewed: ViewedSession, prompt: str = "") -> list[HostEvent]:
        found = await reads(viewed, prompt)
        await viewer.client.service.submit("meanwhile")
        return found

    monkeypatch.setattr(ViewedSession, "read", read)
    viewer.open(resume=session, shows_busy=True)
    assert viewer.wait(SessionHeld, lambda e: bool(e.prompt)).prompt == "meanwhile"


def test_who_hears_that_it_is_shown_may_ask_for_its_earlier_rows_at_once(
    project: Project, drive: Make, monkeypatch: pytest.MonkeyPatch
) -> None:
    name = project.bundle()
    owner, viewer = drive(), drive()
    session = owner.open(name).session_id
    owner.turn("of the other window")
    viewer.open(name)
    viewer.turn("of the session shown before")
    asked: list[asyncio.Task[tuple[HostEvent, ...]]] = []
    put = viewer.client.service._put

    def hear(event: HostEvent) -> None:
        put(event)
        if isinstance(event, SessionOpened):
            history = viewer.client.service.history(2)
            asked.append(asyncio.get_running_loop().create_task(history))

    monkeypatch.setattr(viewer.client.service, "_put", hear)
    viewer.open(resume=session, shows_busy=True)
    viewer.wait_until(lambda: bool(asked) and asked[0].done(), "the rows were not told")
    begun = [event for event in asked[0].result() if isinstance(event, TurnStarted)]
    assert [event.prompt for event in begun] == ["of the other window"]


def test_one_key_takes_over_what_was_killed_in_mid_call(project: Project, drive: Make) -> None:
    name = project.bundle(script=calling({"echo": {"text": "x"}}, then="Done."))
    owner, viewer = drive(), drive()
    session = owner.open(name).session_id
    owner.turn("hello")
    owner.close()
    rows = project.folder_of(session) / "transcript.jsonl"
    whole = rows.read_bytes().splitlines(keepends=True)
    rows.write_bytes(b"".join(whole[:2]) + whole[2][:10])  # the call, and half of its result
    lock = FileLock(project.folder_of(session) / "session.lock")
    lock.acquire()
    viewer.open(resume=session, shows_busy=True)
    viewer.wait(SessionHeld)
    assert not [e for e in viewer.events if isinstance(e, BlockEnded | ToolEnded)]
    rows.write_bytes(b"".join(whole))
    assert viewer.wait(ToolEnded).output == "x"
    lock.release()
    assert viewer.wait(SessionHeld).free
    viewer.client.take_over()
    viewer.wait(SessionOpened)
    viewer.client.take_over()
    assert "no other window" in viewer.wait(Notice, lambda e: "window" in e.text).text


def test_a_turn_that_is_taken_back_elsewhere_is_gone_here(project: Project, drive: Make) -> None:
    owner, viewer = drive(), drive()
    session = owner.open(project.bundle()).session_id
    owner.turn("one")
    owner.turn("two")
    viewer.open(resume=session, shows_busy=True)
    viewer.wait(SessionHeld)
    owner.client.rewind(2, "conversation")
    owner.wait(Rewound)
    viewer.wait(SessionClosed)
    at = len(viewer.events)
    viewer.wait(SessionOpened)
    told = [e.prompt for e in viewer.events[at - 1 :] if isinstance(e, TurnStarted)]
    assert "two" not in told


def test_what_can_not_be_opened_after_all_is_shown_again(project: Project, drive: Make) -> None:
    name = project.bundle()
    owner, viewer = drive(), drive()
    session = owner.open(name).session_id
    owner.turn("one")
    viewer.open(resume=session, shows_busy=True)
    viewer.wait(SessionHeld)
    owner.close()
    (project.bundles / f"{name}.md").write_text("---\n[\n---\n")
    viewer.client.submit("two")
    viewer.wait(SessionClosed)
    viewer.wait(SessionHeld)
    assert viewer.wait(Failed).prompt == "two"
    project.bundle()
    viewer.client.submit("three")
    viewer.wait(TurnEnded, lambda e: not e.replayed)
    assert viewer.answers()[-1] == "Hello."


def test_who_does_not_ask_for_it_is_refused(project: Project, drive: Make) -> None:
    owner, other = drive(), drive()
    session = owner.open(project.bundle()).session_id
    owner.turn("one")
    other.client.open(OpenRequest(cwd=project.folder, resume=session))
    failed = other.wait(Failed)
    assert failed.kind == "busy" and "open in another window" in failed.message
    words = f"{failed.message} {failed.remedy}".casefold()
    assert words.count("close it") == 1 and "start a new session" in words


def test_a_session_that_is_deleted_while_it_is_shown_ends_the_following(
    project: Project, drive: Make, tmp_path: Path
) -> None:
    owner, viewer = drive(), drive()
    session = owner.open(project.bundle()).session_id
    owner.turn("one")
    viewer.open(resume=session, shows_busy=True)
    viewer.wait(SessionHeld)
    owner.close()
    viewer.wait(SessionHeld, lambda e: e.free)
    shutil.rmtree(project.folder_of(session))
    viewer.wait(Notice, lambda e: "not there any more" in e.text)
    viewer.client.take_over()
    assert viewer.wait(Failed)


def test_what_can_not_be_read_while_it_is_followed_is_said(
    project: Project, drive: Make, monkeypatch: pytest.MonkeyPatch
) -> None:
    owner, viewer = drive(), drive()
    session = owner.open(project.bundle()).session_id
    owner.turn("one")
    viewer.open(resume=session, shows_busy=True)
    viewer.wait(SessionHeld)

    def fails(viewed: ViewedSession) -> None:
        raise ValueError("a row of another kind")

    monkeypatch.setattr(ViewedSession, "_look", fails)
    assert viewer.wait(Notice, lambda e: "row of another kind" in e.text).level == "warning"


def test_the_last_session_is_the_last_that_no_other_window_has_open(
    project: Project, drive: Make
) -> None:
    name = project.bundle()
    left, owner, viewer = drive(), drive(), drive()
    session = left.open(name).session_id
    left.turn("hello")
    left.close()
    newer = owner.open(name).session_id
    owner.turn("hello")
    assert viewer.open(resume="last", shows_busy=True).session_id == session
    told = [notice.text for notice in viewer.of(Notice)]
    assert told == ["A newer session of this folder is open in another window"]
    assert viewer.turn("mine").status == "success"
    third = drive()
    os.utime(project.folder_of(newer) / "transcript.jsonl")
    assert third.open(resume="last", shows_busy=True).session_id == newer, "none is free"
    assert third.wait(SessionHeld).owner.isdigit()


def test_what_a_crash_of_the_other_window_left_unwritten_is_shown_and_goes_along(
    project: Project, drive: Make, tmp_path: Path
) -> None:
    until = tmp_path / "go"
    waits = {"started": str(tmp_path / "started"), "until": str(until)}
    calls = ({"echo": {"text": "the output"}}, {"wait": waits})
    owner, viewer = drive(), drive()
    session = owner.open(project.bundle(script=calling(*calls, say="I look."))).session_id
    owner.client.submit("hello")
    owner.wait(ToolEnded)
    # As a kill leaves it, its lock given back.
    killed = project.folder_of("killed")
    shutil.copytree(project.folder_of(session), killed)
    before = (killed / "transcript.jsonl").read_bytes()
    lock = FileLock(killed / "session.lock")
    lock.acquire()
    viewer.open(resume="killed", shows_busy=True)
    assert viewer.of(ToolEnded) == [], "it may still be told otherwise"
    lock.release()
    assert viewer.wait(SessionHeld, lambda e: e.free)
    assert [e.output for e in viewer.of(ToolEnded) if e.tool == "echo"] == ["the output"]
    written: list[str] = []
    masking = Masking(Redactor())
    write_conversation(StoredSession(killed), ExportRequest(path=""), masking, written.append)
    assert "the output" in "".join(written)
    assert (killed / "transcript.jsonl").read_bytes() == before, "it was only looked at"
    until.touch()
