import json
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from amplifier_tui.host.client import OpenRequest
from amplifier_tui.host.events import (
    Failed,
    LaneClosed,
    LaneOpened,
    ModuleMounted,
    Notice,
    SessionOpened,
    TurnStarted,
)
from tests.host.driving import MODULES, Driver, Project, calling, saying

FULL = """
import resource, sys
from pathlib import Path
from amplifier_tui.host.events import Notice
from tests.host.driving import Driver
driver = Driver(Path(sys.argv[1]))
opened = driver.open("test")
hard = resource.getrlimit(resource.RLIMIT_FSIZE)[1]
resource.setrlimit(resource.RLIMIT_FSIZE, (200, hard))
assert driver.turn("first prompt").status == "success"
assert driver.turn("second prompt").status == "success"
told = [e.text for e in driver.of(Notice) if e.source == "store"]
# Once of the conversation, once of what its context remembers.
assert len(set(told)) == len(told) <= 2, told
assert all("can't be saved" in text for text in told), told
resource.setrlimit(resource.RLIMIT_FSIZE, (hard, hard))
assert driver.turn("third prompt").status == "success"
assert any("saved again" in e.text for e in driver.of(Notice)), driver.of(Notice)
driver.close()
print(opened.session_id)
"""


def test_a_full_disk_does_not_stop_the_session_and_nothing_is_lost(project: Project) -> None:
    project.bundle(script=saying("An answer of some length, so that the limit is reached."))
    child = subprocess.run(
        [sys.executable, "-B", "-c", FULL, str(project.folder)],
        capture_output=True,
        text=True,
        cwd=Path(__file__).parents[3],
        check=False,
        timeout=50,
    )
    assert child.returncode == 0, child.stderr
    rows = project.rows(child.stdout.strip())
    prompts = [row["content"] for row in rows if row["role"] == "user"]
    assert prompts == ["first prompt", "second prompt", "third prompt"]
    assert [row["role"] for row in rows] == ["user", "assistant"] * 3


def test_a_home_that_cannot_be_written_still_gives_a_session(
    project: Project, driver: Driver, own_home: Path
) -> None:
    (own_home / ".amplifier").write_text("a file where the folder should be")
    name = project.bundle()
    driver.open(name)
    assert driver.turn("hello").status == "success"
    assert any("can't be saved" in e.text for e in driver.of(Notice))


def test_a_sub_agent_is_a_lane_of_its_own(project: Project, driver: Driver) -> None:
    script = {
        "scenarios": [
            {"name": "child", "when": {"prompt": "^child"}, **_steps(saying("Child here."))},
            calling({"delegate": {"text": "child work"}}, then="Parent done."),
        ]
    }
    name = project.bundle()
    (project.folder / ".test.script.json").write_text(json.dumps(script))
    opened = driver.open(name)
    assert driver.turn("go").status == "success"
    (lane,) = driver.of(LaneOpened)
    (closed,) = driver.of(LaneClosed)
    assert (lane.name, lane.parent, lane.instruction) == ("self", "main", "child work")
    assert closed.lane == lane.lane and closed.status == "success"
    of_child = [e for e in driver.events if e.agent == lane.lane]
    assert {e.session_id for e in of_child} == {opened.session_id}
    assert "Child here." in driver.answers() and "Parent done." in driver.answers()
    assert len(driver.of(TurnStarted)) == 1
    rows = project.rows(opened.session_id)
    assert "Child here." in rows[2]["content"], "the tool's result"
    assert len(rows) == 4, "the child's rows are not the parent's"


@pytest.mark.parametrize("text", ["bundle: [oops\n", "- a list\n", "\xff"])
def test_with_settings_that_cannot_be_read_no_session_opens_until_they_are_corrected(
    project: Project, driver: Driver, own_home: Path, text: str
) -> None:
    """They may say which server gets the conversation and the key."""
    (own_home / ".amplifier").mkdir()
    path = own_home / ".amplifier" / "settings.yaml"
    path.write_text(text, encoding="latin-1")
    name = project.bundle()
    driver.client.open(OpenRequest(cwd=project.folder, bundle=name))
    failed = driver.wait(Failed)
    assert (
        failed.kind == "settings"
        and str(path) in failed.message
        and "Correct the file" in failed.remedy
    )
    path.write_text("")
    driver.client.open(OpenRequest(cwd=project.folder, bundle=name))
    driver.wait(SessionOpened)


def test_the_configured_bundle_is_opened_and_a_vanished_one_is_told(
    project: Project, drive: Callable[..., Driver]
) -> None:
    settings = project.folder / ".amplifier" / "settings.yaml"
    project.bundle("mine")
    settings.write_text("bundle:\n  active: mine\n")
    assert drive().open().bundle == "mine"
    settings.write_text("bundle:\n  active: vanished\n")
    other = drive()
    assert other.open().bundle == "coding"
    assert any("vanished" in e.text for e in other.of(Notice))


def test_modules_of_the_tests_come_from_their_folder(project: Project, driver: Driver) -> None:
    driver.open(project.bundle())
    (mounted,) = [e for e in driver.of(ModuleMounted) if e.module_id == "tool-test"]
    assert mounted.source == "installed package" and MODULES.is_dir()


def _steps(script: dict[str, object]) -> dict[str, object]:
    return {"steps": script["steps"]}
