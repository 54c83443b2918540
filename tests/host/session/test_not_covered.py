"""Where nothing brings back what commands change, that is said and asked about."""

from collections.abc import Callable

import pytest

from amplifier_tui.host.client import Decision
from amplifier_tui.host.events import ApprovalRequested, ModeChanged, Notice, TurnEnded
from tests.host.driving import Driver, Project, calling
from tests.host.session.test_rewinding import CHECKPOINTS
from tests.sandbox import needs_sandbox


def limit(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("_MOST_LISTED", "_MOST_WALKED"):
        monkeypatch.setattr(f"amplifier_tui.modules.hooks_checkpoint.commands.{name}", 0)


def test_that_commands_cannot_be_undone_here_stays_in_the_conversation_also_after_a_resume(
    project: Project, drive: Callable[..., Driver], monkeypatch: pytest.MonkeyPatch
) -> None:
    limit(monkeypatch)
    (project.folder / "mine.txt").write_text("mine")
    name = project.bundle(hooks=CHECKPOINTS)
    driver = drive()
    session = driver.open(name).session_id
    driver.client.submit("go")
    told = driver.wait(Notice, lambda event: event.source == "hooks-checkpoint")
    assert told.is_of_conversation and "can't be taken back" in told.text
    assert told.text.endswith("Commit what you want to keep.")
    driver.wait(TurnEnded)
    driver.close()
    driver = drive()
    driver.open(name, resume=session)
    assert [e.text for e in driver.of(Notice) if e.replayed] == [told.text]


def test_that_commands_cannot_be_undone_here_is_known_before_the_first_prompt(
    project: Project, drive: Callable[..., Driver], monkeypatch: pytest.MonkeyPatch
) -> None:
    limit(monkeypatch)
    (project.folder / "mine.txt").write_text("mine")
    driver = drive()
    driver.open(project.bundle(hooks=CHECKPOINTS))
    changed = driver.wait(ModeChanged, lambda event: event.uncopied != "")
    assert changed.uncopied.startswith("the folder is no git repository")
    driver.client.set_mode("auto")
    assert driver.wait(ModeChanged, lambda event: event.mode == "auto").uncopied == changed.uncopied


@needs_sandbox
def test_mode_auto_asks_before_a_command_deletes_what_nobody_has_a_copy_of(
    project: Project, drive: Callable[..., Driver], monkeypatch: pytest.MonkeyPatch
) -> None:
    limit(monkeypatch)
    (project.folder / "mine.txt").write_text("mine")
    script = calling({"bash": {"command": "rm mine.txt"}})
    driver = drive()
    name = project.bundle(script=script, tools=("tool-bash",), hooks=CHECKPOINTS)
    project.allow([])
    driver.open(name, mode="auto")
    driver.client.submit("go")
    asked = driver.wait(ApprovalRequested)
    assert "no copy is kept here: the folder is no git repository" in asked.why
    driver.client.decide(asked.request_id, Decision(allow=False))
    driver.wait(TurnEnded)
    assert (project.folder / "mine.txt").read_text() == "mine"
