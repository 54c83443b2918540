"""What waits while a turn runs: listed, changed, sent, and there again after a kill."""

import asyncio
import json
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from amplifier_tui.host.events import QueueChanged, TurnEnded, TurnStarted
from amplifier_tui.host.redaction import Redactor
from amplifier_tui.host.store.session_store import SessionStore
from amplifier_tui.host.turns.prompts import Prompt
from tests.host.driving import Driver, Project, calling, saying
from tests.host.turns.test_control import Session
from tests.waiting import within

SECRET = "sk-ant-api03-" + "Ab3" * 30


def last(session: Session) -> QueueChanged:
    return [event for event in session.events if isinstance(event, QueueChanged)][-1]


async def waiting(folder: Path, *prompts: str) -> Session:
    """Return a session in which a turn runs and prompts wait."""
    session = Session(folder)
    for prompt in ("running", *prompts):
        session.control.submit(Prompt(prompt))
    await asyncio.sleep(0)
    return session


async def test_a_prompt_is_changed_moved_and_taken_back_by_its_id(tmp_path: Path) -> None:
    session = await waiting(tmp_path / "s", "a", "b", "c")
    first, second, third = last(session).ids
    session.control.queue.edit(second, "B")
    session.control.queue.move(third, 0)
    assert last(session).items == ("c", "a", "B") and last(session).ids == (third, first, second)
    session.control.queue.move(third, 99)
    session.control.queue.drop(first)
    assert last(session).items == ("B", "c")
    changes = len(session.events)
    for gone in (first, "", "nothing"):
        session.control.queue.drop(gone)
        session.control.queue.edit(gone, "x")
        session.control.queue.move(gone, 0)
    assert len(session.events) == changes
    session.control.queue.edit(second, "  ")
    assert last(session).items == ("c",)


async def test_a_prompt_sent_now_steers_the_turn_and_runs_where_none_does(tmp_path: Path) -> None:
    session = await waiting(tmp_path / "s", "a", "b")
    session.control.send_queued(last(session).ids[1])
    assert (last(session).items, last(session).steering) == (("a",), ("b",))
    with_file = Prompt("with a file", ("notes.txt",))
    session.control.submit(with_file)
    session.control.send_queued(with_file.prompt_id)
    assert last(session).items == ("with a file", "a")
    session.control.interrupt(immediate=True)
    async with within(20):
        while session.control.running:
            await asyncio.sleep(0)
    assert last(session).items == ("b", "with a file", "a")
    session.control.send_queued()
    assert session.started == ["running", "b"]
    assert last(session).items == ("with a file", "a")


async def test_what_waits_is_on_disk_without_secrets_and_gone_when_nothing_waits(
    tmp_path: Path,
) -> None:
    session = await waiting(tmp_path / "s", "a", f"use {SECRET}")
    session.control.steer("at the next step")
    file = tmp_path / "s" / "queue.json"
    stored = json.loads(file.read_text())["prompts"]
    assert [each["text"] for each in stored] == ["at the next step", "a", "use [REDACTED]"]
    assert file.stat().st_mode & 0o777 == 0o600
    again = Session(tmp_path / "s")
    again.control.restore_queue()
    assert last(again).items == ("at the next step", "a", "use [REDACTED]")
    assert again.started == []
    for prompt_id in last(again).ids:
        again.control.queue.drop(prompt_id)
    assert not file.exists()


async def test_what_waits_runs_by_nothing_but_the_users_next_prompt(tmp_path: Path) -> None:
    await waiting(tmp_path / "s", "a")
    again = Session(tmp_path / "s")
    again.control.restore_queue()
    with again.control.paused():
        pass  # Such as while modules change, or the conversation is compacted.
    assert again.started == []
    with again.control.paused():
        again.control.submit(Prompt("new"))
        assert last(again).items == ("new", "a")
    assert again.started == ["new"]
    again.let_go("new")
    again.let_go("a")
    async with within(20):
        while again.started != ["new", "a"]:
            await asyncio.sleep(0)


async def test_a_front_end_that_shows_no_queue_leaves_it_stored(tmp_path: Path) -> None:
    await waiting(tmp_path / "s", "a")
    again = Session(tmp_path / "s")
    again.control.queue.leave()
    for prompt in ("new", "next"):
        again.control.submit(Prompt(prompt))
    for prompt in ("new", "next"):
        again.let_go(prompt)
    async with within(20):
        while again.control.running:
            await asyncio.sleep(0)
    assert again.started == ["new", "next"]
    stored = json.loads((tmp_path / "s" / "queue.json").read_text())["prompts"]
    assert [each["text"] for each in stored] == ["a"]


async def test_what_a_waiting_prompt_mentions_by_a_file_is_not_read_later_either(
    tmp_path: Path,
) -> None:
    session = await waiting(tmp_path / "s")
    session.control.submit(Prompt("see @a\n\nfrom a page: @b", typed="see @a"))
    (prompt,) = session.control.queue
    session.control.send_queued(prompt.prompt_id)
    assert (last(session).items, last(session).steering) == ((prompt.text,), ())
    again = Session(tmp_path / "s")
    again.control.restore_queue()
    (prompt,) = again.control.queue
    assert (prompt.mentioning, prompt.with_text("see @a @c").mentioning) == ("see @a", "see @a")
    assert prompt.with_text("look, @c").mentioning == ""


async def test_a_queue_file_that_is_none_is_passed_over(tmp_path: Path) -> None:
    store = SessionStore(tmp_path, Redactor({}), lambda _: None)
    contents: list[Any] = ["", "[]", '{"prompts": 3}', '{"prompts": [{"text": 5}, {"a": 1}, null]}']
    for content in contents:
        (tmp_path / "queue.json").write_text(content)
        session = Session(tmp_path)
        session.control.restore_queue()
        assert session.events == [], content
    assert store.queue.load() == [{"text": 5}, {"a": 1}]


def test_what_waits_is_there_when_the_session_is_resumed_or_its_bundle_switched(
    project: Project, driver: Driver, drive: Callable[[], Driver], tmp_path: Path
) -> None:
    signals = {name: str(tmp_path / name) for name in ("started", "until")}
    opened = driver.open(project.bundle(script=calling({"wait": signals})))
    driver.client.submit("go")
    driver.wait_for_file(tmp_path / "started")
    driver.client.queue("second")
    driver.client.queue("third")
    driver.wait(QueueChanged, lambda event: len(event.items) == 2)
    driver.close()
    again = drive()
    again.open(resume=opened.session_id)
    assert again.wait(QueueChanged).items == ("second", "third")
    other = project.bundle("other", script=saying("Done."))
    again.client.switch_bundle(other)
    waits = again.wait(QueueChanged, lambda event: event.session_id != opened.session_id)
    assert waits.items == ("second", "third")
    again.client.send_queued(waits.ids[0])
    again.wait(TurnEnded)
    again.wait(TurnEnded)
    assert [event.prompt for event in again.of(TurnStarted) if not event.replayed] == [
        "second",
        "third",
    ]


def test_a_prompt_that_began_when_the_program_was_killed_does_not_wait_again(
    project: Project,
    driver: Driver,
    drive: Callable[[], Driver],
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    signals = {name: str(tmp_path / name) for name in ("started", "until")}
    opened = driver.open(project.bundle(script=calling({"wait": signals})))
    folder, killed = project.folder_of(opened.session_id), tmp_path / "killed"
    begins = SessionStore.prompt_begins

    def copying(store: SessionStore, *prompt: str) -> None:
        begins(store, *prompt)
        if not killed.exists():
            Path(shutil.copytree(folder, tmp_path / "copy")).rename(killed)

    driver.client.submit("go")
    driver.wait_for_file(tmp_path / "started")
    for prompt in ("again", "again"):
        driver.client.queue(prompt)
    driver.wait(QueueChanged, lambda event: len(event.items) == 2)
    with monkeypatch.context() as patched:
        patched.setattr(SessionStore, "prompt_begins", copying)
        (tmp_path / "until").touch()
        driver.wait_until(killed.exists, "nothing began")
    driver.close()
    shutil.rmtree(folder)
    killed.rename(folder)
    again = drive()
    again.open(resume=opened.session_id)
    assert again.wait(QueueChanged).items == ("again",)
    prompts = [row["content"] for row in project.rows(opened.session_id) if row["role"] == "user"]
    assert prompts == ["go", "again"]


def test_what_was_not_sent_comes_back_without_its_secrets_until_the_next_turn(
    project: Project, drive: Callable[..., Driver]
) -> None:
    first = drive()
    name = project.bundle(script=saying("Hello."))
    session = first.open(name).session_id
    first.turn("one")
    first.client.keep_draft("a thought, and ghp_0123456789abcdefghijABCDEFGHIJ012345")
    first.close()
    kept = project.folder_of(session) / "draft.json"
    assert "ghp_" not in kept.read_text() and kept.stat().st_mode & 0o077 == 0
    script = drive()
    script.open(resume=session, restores_queue=False)
    script.turn("by a script")
    script.close()
    again = drive()
    assert again.open(resume=session).draft == "a thought, and [REDACTED]"
    again.turn("two")
    assert not kept.exists()
    again.client.keep_draft("")
    again.close()
    kept.write_text("[1")
    assert drive().open(resume=session).draft == ""
