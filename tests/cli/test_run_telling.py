"""What a run without a screen says beside the answer."""

import pytest

from amplifier_tui.host import events
from tests.cli.test_run import Client, S, Speaker, ended, follow


@pytest.mark.parametrize("by", ["session", "user", ""])
def test_a_mode_that_nobody_gave_now_is_named_where_it_is_the_sessions(by: str) -> None:
    speaker = Speaker()
    changed = events.ModeChanged(session_id=S, mode="edits", by=by)
    follow(Client(changed, ended()), speaker)
    assert bool(speaker.said) == (by == "session")
