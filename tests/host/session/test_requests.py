"""Requests that no session can be opened with."""

from pathlib import Path
from typing import Any

import pytest

from amplifier_tui.host.client import OpenRequest
from amplifier_tui.host.events import Failed, SessionOpened
from tests.host.driving import Driver, Project, saying


@pytest.mark.parametrize(
    ("asked", "problem", "remedy"),
    [
        ({"cwd": "."}, "cwd is a str: '.'", "Give a pathlib.Path."),
        ({"cwd": Path("/nowhere/at-all")}, "There is no folder /nowhere/at-all", "Create it"),
        ({"mode": "aks"}, "There is no mode 'aks'", "plan, ask, edits, auto"),
    ],
)
def test_what_can_t_be_is_said_and_leaves_the_open_session_alone(
    project: Project, driver: Driver, asked: dict[str, Any], problem: str, remedy: str
) -> None:
    name = project.bundle(script=saying("hello"))
    opened = driver.open(name)
    driver.client.open(OpenRequest(**{"cwd": project.folder, "bundle": name, **asked}))
    failed = driver.wait(Failed)
    assert (failed.kind, failed.message) == ("request", problem) and remedy in failed.remedy
    driver.client.switch_bundle(name)
    again = driver.wait(SessionOpened)
    assert (again.cwd, again.session_id != opened.session_id) == (opened.cwd, True)
