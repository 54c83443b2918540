"""Processes that a killed run of the program left behind are found at the next start."""

import os
import subprocess
from collections.abc import Callable, Iterator

import pytest

from amplifier_tui.base.watcher import RUN_VARIABLE, run_mark
from amplifier_tui.base.watcher.process import has_proc
from amplifier_tui.host.client import Decision
from amplifier_tui.host.events import ApprovalRequested
from amplifier_tui.host.session.cleanup import leftovers
from amplifier_tui.host.session.opening import opening
from tests.host.driving import Driver, Project

pytestmark = pytest.mark.skipif(not has_proc(), reason="processes can't be looked at here")

Make = Callable[..., Driver]


@pytest.fixture(autouse=True)
def at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(opening, "AFTERWARDS", 0.0)


@pytest.fixture
def left() -> Iterator[subprocess.Popen[bytes]]:
    """A process of a run that is no more."""
    marked = {**os.environ, RUN_VARIABLE: "1.0"}
    process = subprocess.Popen(["sleep", "811"], env=marked)
    yield process
    process.kill()
    process.wait()
    leftovers._asked.clear()


def asked(driver: Driver) -> ApprovalRequested:
    return driver.wait(ApprovalRequested, lambda event: "earlier session" in event.prompt)


def test_the_user_is_asked_and_yes_ends_them(
    project: Project, drive: Make, left: subprocess.Popen[bytes]
) -> None:
    driver = drive()
    driver.open(project.bundle())
    question = asked(driver)
    assert f"{left.pid}  sleep 811" in question.prompt
    driver.client.decide(question.request_id, Decision(allow=True))
    assert left.wait(10) == -9


def test_no_leaves_them_and_is_not_asked_again(
    project: Project, drive: Make, left: subprocess.Popen[bytes]
) -> None:
    driver = drive()
    driver.open(project.bundle())
    question = asked(driver)
    driver.client.decide(question.request_id, Decision(allow=False))
    driver.open(project.bundle(), resume="")
    driver.turn("hello")
    assert left.poll() is None
    assert [e.prompt for e in driver.of(ApprovalRequested)] == [question.prompt]


def test_processes_of_this_run_are_none_of_them(project: Project, drive: Make) -> None:
    process = subprocess.Popen(["sleep", "812"], env={**os.environ, RUN_VARIABLE: run_mark()})
    try:
        driver = drive()
        driver.open(project.bundle())
        driver.turn("hello")
        assert not driver.of(ApprovalRequested)
    finally:
        process.kill()
        process.wait()
