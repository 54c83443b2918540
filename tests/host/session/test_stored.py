"""Stored sessions through the client: what is listed, changed, copied, and what is refused."""

import asyncio
import errno
import json
import shutil
from collections.abc import Callable
from concurrent.futures import Future
from pathlib import Path

import pytest

from amplifier_tui.foundation.trust.gate import trust_everything
from amplifier_tui.host.client import OpenRequest
from amplifier_tui.host.door import stored
from amplifier_tui.host.door.local_client import LocalClient
from amplifier_tui.host.door.opener import SessionOpener
from amplifier_tui.host.events import (
    Failed,
    Notice,
    SessionClosed,
    SessionHeld,
    SessionOpened,
    ShellEnded,
    TitleChanged,
    TurnEnded,
)
from amplifier_tui.host.session.carrying import Carried
from amplifier_tui.host.store.search.finding import find
from amplifier_tui.paths import sessions_dir
from tests.host.asking import chat
from tests.host.driving import Driver, Project, saying
from tests.servers import LoopbackServer


def bundle(project: Project, server: LoopbackServer) -> str:
    return project.bundle(providers=[chat(server)])


def problem(asked: "Future[str]") -> str:
    return asked.result(10)


def test_the_open_session_is_named_and_tagged_from_the_list_and_cannot_be_deleted(
    project: Project, driver: Driver, server: LoopbackServer
) -> None:
    (project.folder / ".git").mkdir()
    (project.folder / ".git/HEAD").write_text("ref: refs/heads/topic\n")
    driver.open(bundle(project, server))
    server.script.add("Answer.")
    driver.turn("prompt 1")
    (card,) = driver.client.sessions().result(10).cards
    assert (card.turns, card.cwd, card.branch) == (1, str(project.folder), "topic")
    assert problem(driver.client.title_session(card.key, " A  name ")) == ""
    assert problem(driver.client.tag_session(card.key, add=("bug",))) == ""
    driver.wait(TitleChanged, lambda event: event.tags == ("bug",))
    found = driver.client.session_details(card.key).result(10)
    assert (found.prompt, found.answer, found.card.title) == ("prompt 1", "Answer.", "A name")
    assert "is open" in problem(driver.client.delete_session(card.key))
    assert problem(driver.client.pin_session(card.key, on=True)) == ""
    assert driver.client.sessions().result(10).cards[0].pinned
    assert "names no session" in problem(driver.client.title_session("../../x", "x"))
    assert "not there any more" in problem(driver.client.title_session("-x/y", "x"))
    with pytest.raises(RuntimeError, match="not there any more"):
        driver.client.session_details("-x/y").result(10)


def test_a_session_goes_on_as_a_copy_in_another_folder_and_is_deleted_and_restored(
    project: Project, driver: Driver, server: LoopbackServer, tmp_path: Path
) -> None:
    first = driver.open(bundle(project, server), mode="auto")
    server.script.add("Answer.")
    driver.turn("prompt 1")
    rows = project.rows(first.session_id)
    (card,) = driver.client.sessions().result(10).cards
    other = tmp_path / "other"
    # What a project brings counts in it alone, so that the other has the bundle, too.
    shutil.copytree(project.bundles, other / ".amplifier" / "bundles")
    driver.drain()
    driver.client.copy_session(card.key, other)
    copied = driver.wait(SessionOpened)
    assert copied.cwd == str(other) and copied.session_id != first.session_id
    folder = sessions_dir(other) / copied.session_id
    assert (folder / "transcript.jsonl").is_file() and project.rows(first.session_id) == rows
    assert '"auto"' not in (folder / "metadata.json").read_text()
    assert problem(driver.client.delete_session(card.key)) == ""
    assert not project.folder_of(first.session_id).exists()
    assert problem(driver.client.restore_session(card.key)) == ""
    assert project.rows(first.session_id) == rows
    driver.client.copy_session("-x/y")
    assert "can't be copied" in driver.wait(Failed).message


def test_a_window_indexes_what_is_new_once_nothing_goes_on(
    project: Project, drive: Callable[..., Driver], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(stored, "_REST", 0.05)
    driver = drive(LocalClient(trust_everything, window=True))
    driver.open(project.bundle(script=saying("A marmot.")))
    driver.turn("prompt 1")
    driver.wait_until(lambda: find("marmot").hits != (), "nothing was indexed")


def test_nothing_is_copied_while_a_turn_runs(
    project: Project, driver: Driver, server: LoopbackServer
) -> None:
    opened = driver.open(project.bundle(script=saying("slow " * 200), speed=5))
    driver.client.submit("prompt 1")
    driver.wait_for_file(project.folder_of(opened.session_id) / "transcript.jsonl")
    (card,) = driver.client.sessions().result(10).cards
    driver.client.copy_session(card.key)
    driver.wait(Notice, lambda event: event.text == "A turn is running: stop it first")
    assert len(list(sessions_dir(project.folder).iterdir())) == 1
    driver.client.interrupt(immediate=True)


def test_what_can_not_be_copied_leaves_nothing_behind(
    project: Project, driver: Driver, monkeypatch: pytest.MonkeyPatch
) -> None:
    driver.open(project.bundle(script=saying("Answer.")))
    driver.turn("prompt 1")
    (card,) = driver.client.sessions().result(10).cards
    stored_ones = sorted(sessions_dir(project.folder).iterdir())

    def refused(why: str) -> None:
        driver.client.copy_session(card.key)
        assert why in driver.wait(Failed).message
        assert sorted(sessions_dir(project.folder).iterdir()) == stored_ones

    with monkeypatch.context() as full:
        full.setattr(Carried, "put_into", _full)
        refused("No space left")
    driver.open(project.bundle("other"))
    metadata = stored_ones[0] / "metadata.json"
    known = json.loads(metadata.read_text())
    metadata.write_text(json.dumps({**known, "project_dir": "", "working_dir": ""}))
    stored_ones = sorted(sessions_dir(project.folder).iterdir())
    refused("its folder is not known; choose one")


def _full(*_: object) -> None:
    raise OSError(errno.ENOSPC, "No space left on device")


def test_a_session_that_was_ready_before_it_was_given_up_keeps_what_was_sent_to_it(
    project: Project, driver: Driver, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def wait(opener: SessionOpener) -> None:
        if opener._opening_task is not None:
            await asyncio.wait({opener._opening_task})

    monkeypatch.setattr(SessionOpener, "_give_up_opening", wait)
    name = project.bundle(script=saying("slow " * 200), speed=5)
    driver.client.open(OpenRequest(cwd=project.folder, bundle=name))
    driver.client.submit("prompt 1")
    driver.client.open(OpenRequest(cwd=project.folder, bundle=name))
    driver.wait(Notice, lambda event: event.text == "A turn is running: stop it first")
    assert len(driver.of(SessionOpened)) == 1
    driver.client.interrupt(immediate=True)
    driver.wait(TurnEnded)


@pytest.mark.parametrize("wanted", ["last", "prefix"])
def test_a_session_that_is_open_here_is_not_opened_again_by_another_name(
    project: Project, driver: Driver, wanted: str
) -> None:
    session = driver.open(project.bundle(script=saying("Answer."))).session_id
    driver.turn("prompt 1")
    driver.client.resume(session[:9] if wanted == "prefix" else wanted)
    driver.client.submit("prompt 2")
    assert driver.wait(TurnEnded).turn == 2
    assert any("open already" in each.text for each in driver.of(Notice))
    assert not driver.of(SessionHeld) and len(driver.of(SessionOpened)) == 1


def cards(driver: Driver) -> dict[str, str]:
    """The stored sessions, each with the one it was taken from."""
    found = driver.client.sessions(here=False).result(10).cards
    return {card.session_id: card.parent_id for card in found}


def test_a_switch_there_and_back_leaves_no_copy_in_which_nothing_was_said(
    project: Project, driver: Driver
) -> None:
    one, two = project.bundle("one"), project.bundle("two")
    first = driver.open(one).session_id
    driver.turn("hello")
    driver.client.switch_bundle(two)
    between = driver.wait(SessionOpened).session_id
    driver.client.switch_bundle(one)
    last = driver.wait(SessionOpened).session_id
    closed = driver.wait(SessionClosed, lambda event: event.session_id == between)
    assert closed.resume_command == ""
    assert cards(driver) == {first: "", last: first}
    assert [row["role"] for row in project.rows(last)] == ["user", "assistant"]
    assert driver.turn("more").turn == 2


@pytest.mark.parametrize("own", ["a turn", "a pin", "a command"])
def test_a_session_that_a_switch_leaves_is_kept_where_anything_is_its_own(
    project: Project, driver: Driver, own: str
) -> None:
    one, two = project.bundle("one"), project.bundle("two")
    first = driver.open(one).session_id
    driver.turn("hello")
    driver.client.switch_bundle(two)
    between = driver.wait(SessionOpened).session_id
    match own:
        case "a turn":
            driver.turn("here")
        case "a command":
            driver.client.shell("true")
            driver.wait(ShellEnded)
        case _:
            (key,) = (
                card.key
                for card in driver.client.sessions(here=False).result(10).cards
                if card.session_id == between
            )
            assert problem(driver.client.pin_session(key, on=True)) == ""
    driver.client.switch_bundle(one)
    last = driver.wait(SessionOpened).session_id
    driver.wait(SessionClosed, lambda event: event.session_id == between)
    assert cards(driver) == {first: "", between: first, last: between}
