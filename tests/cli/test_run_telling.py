"""What a run without a screen says beside the answer."""

from dataclasses import replace

import pytest

from amplifier_tui.host import events
from tests.cli.test_run import STARTED, Client, S, Speaker, ended, follow


@pytest.mark.parametrize("by", ["session", "user", ""])
def test_a_mode_that_nobody_gave_now_is_named_where_it_is_the_sessions(by: str) -> None:
    speaker = Speaker()
    changed = events.ModeChanged(session_id=S, mode="edits", by=by)
    follow(Client(changed, ended()), speaker)
    assert bool(speaker.said) == (by == "session")


@pytest.mark.parametrize("silent", [True, False])
def test_an_answer_with_nothing_in_it_is_told_and_is_no_failure(silent: bool) -> None:
    speaker = Speaker()
    assert follow(Client(STARTED, replace(ended(), silent=silent)), speaker).exit_status == 0
    assert speaker.said == ["The model answered nothing"] * silent
