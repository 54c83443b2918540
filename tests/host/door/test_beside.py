"""Several sessions of one window, each with a client and an engine thread of its own."""

import threading
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from amplifier_tui.base.shell.reader import read_shell_line
from amplifier_tui.foundation.trust.gate import trust_everything
from amplifier_tui.host.client import OpenRequest
from amplifier_tui.host.door.local_client import LocalClient
from amplifier_tui.host.door.open_sessions import OpenSessions
from amplifier_tui.host.events import Failed, Notice, TurnEnded
from tests.host.driving import Driver, Project, calling, saying


@pytest.fixture
def window(drive: Callable[..., Driver]) -> Iterator[Driver]:
    yield drive(LocalClient(trust_everything, window=True))


def test_a_module_that_blocks_one_session_does_not_hold_up_the_other(
    project: Project, window: Driver, drive: Callable[..., Driver], tmp_path: Path
) -> None:
    started, until = tmp_path / "started", tmp_path / "until"
    call = {"block": {"started": str(started), "until": str(until), "seconds": 20}}
    blocking = project.bundle("blocking", script=calling(call))
    other = project.bundle("other", script=saying("Here."))
    beside = drive(window.client.beside())
    window.open(blocking)
    beside.open(other)
    window.client.submit("go")
    window.wait_for_file(started)
    assert beside.turn("hello").status == "success"
    assert beside.answers() == ["Here."]
    assert not [event for event in window.drain() if isinstance(event, TurnEnded)]
    until.touch()
    window.wait(TurnEnded)


def test_what_a_module_prints_becomes_a_notice_of_its_own_session(
    project: Project, window: Driver, drive: Callable[..., Driver]
) -> None:
    beside = drive(window.client.beside())
    for driver, text in ((window, "of the first"), (beside, "of the second")):
        driver.open(project.bundle(text[-3:], script=calling({"noisy": {"text": text}})))
    for driver in (window, beside):
        driver.turn("go")
    said = [[n.text for n in d.of(Notice) if n.source == "stdout"] for d in (window, beside)]
    assert said == [["tool-test: of the first"], ["tool-test: of the second"]]
    window.close()
    beside.turn("again")
    assert [n.text for n in beside.of(Notice) if n.source == "stdout"][1:] == said[1]


def test_each_session_is_noted_as_open_until_it_is_closed(
    project: Project, window: Driver, drive: Callable[..., Driver]
) -> None:
    name = project.bundle()
    beside = drive(window.client.beside())
    for driver in (window, beside):
        driver.open(name)
        driver.turn("hello")
    records = OpenSessions()._folder
    window.wait_until(lambda: len(list(records.glob("*.json"))) == 2, "they were not noted")
    # Both are open in a window that lives.
    assert window.client.left_open().result(5) == ()
    beside.close()
    assert len(list(records.glob("*.json"))) == 1
    assert window.turn("still here").status == "success"


def test_no_session_opens_beside_where_the_working_directory_is_gone(
    project: Project, window: Driver, drive: Callable[..., Driver], tmp_path: Path
) -> None:
    name = project.bundle()
    window.open(name)
    beside = drive(window.client.beside())
    gone = tmp_path / "gone"
    gone.mkdir()
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(gone)
        gone.rmdir()
        beside.client.open(OpenRequest(cwd=beside.cwd, bundle=name))
        failed = beside.wait(Failed)
    assert failed.message == "The working directory is no longer there"
    assert "install" not in failed.remedy


def test_lines_of_shell_are_read_on_many_threads_at_once() -> None:
    line = "git add -A && rm -rf build/ | tee log; for f in *.py; do echo $f; done"
    expected = read_shell_line(line)
    found: list[bool] = []

    def work() -> None:
        found.extend(read_shell_line(line) == expected for _ in range(200))

    threads = [threading.Thread(target=work) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(found) == 800 and all(found)
