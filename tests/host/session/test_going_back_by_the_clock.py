"""Which files go back with a turn, where the clock was set between the turns."""

import json
from datetime import datetime, timedelta
from pathlib import Path

import pytest

from amplifier_tui.host.events import SessionOpened
from tests.host.driving import Driver, Project
from tests.host.session.test_rewinding import Make, opened, rewind, turn
from tests.servers import LoopbackServer

__all__ = ["opened"]


def set_ahead(folder: Path, hours: float) -> None:
    """Have all that happened so far happen later."""
    for name in ("transcript.jsonl", "checkpoints/index.jsonl"):
        rows = [json.loads(line) for line in (folder / name).read_text().splitlines()]
        for row in rows:
            for key in {"timestamp", "at"} & row.keys():
                row[key] = (datetime.fromisoformat(row[key]) + timedelta(hours=hours)).isoformat()
        (folder / name).write_text("".join(json.dumps(row) + "\n" for row in rows))


@pytest.fixture
def again(
    project: Project, driver: Driver, drive: Make, server: LoopbackServer, opened: SessionOpened
) -> Driver:
    """Return a session whose clock was set back by an hour after its first turn."""
    turn(driver, server, "one", a="1")
    driver.close()
    set_ahead(project.folder_of(opened.session_id), 1)
    again = drive()
    again.open(resume=opened.session_id)
    turn(again, server, "two", b="2")
    turn(again, server, "three", c="3")
    return again


def test_a_turn_after_the_clock_was_set_back_takes_no_earlier_file_along(
    project: Project, again: Driver
) -> None:
    preview = again.client.preview_rewind(3).result(5)
    assert [file.path for file in preview.files] == ["c.txt"]
    assert rewind(again, 3).removed == ("c.txt",)
    assert (project.folder / "a.txt").exists()


def test_where_it_is_not_known_which_turn_changed_a_file_only_the_conversation_goes_back(
    project: Project, again: Driver
) -> None:
    problem = "The clock was set back between these prompts: only the conversation can go back."
    assert again.client.preview_rewind(2).result(5).problem == problem
    assert rewind(again, 2).removed == ()
    assert all((project.folder / f"{name}.txt").exists() for name in "abc")


def test_a_turn_before_the_clock_was_set_back_takes_all_later_files_along(again: Driver) -> None:
    preview = again.client.preview_rewind(1).result(5)
    assert [file.path for file in preview.files] == ["a.txt", "b.txt", "c.txt"]
