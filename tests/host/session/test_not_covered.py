"""Where nothing brings back what commands change, that is said where it stays."""

from collections.abc import Callable

import pytest

from amplifier_tui.host.events import Notice, TurnEnded
from tests.host.driving import Driver, Project
from tests.host.session.test_rewinding import CHECKPOINTS


def test_that_commands_cannot_be_undone_here_stays_in_the_conversation_also_after_a_resume(
    project: Project, drive: Callable[..., Driver], monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("_MOST_LISTED", "_MOST_WALKED"):
        monkeypatch.setattr(f"amplifier_tui.modules.hooks_checkpoint.commands.{name}", 0)
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
