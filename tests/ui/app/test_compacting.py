"""What the screen says and does while a model writes the summary of a compaction."""

import time
from dataclasses import replace

import pytest

from amplifier_tui.host.events import Compacted, HostEvent, Notice, QueueChanged
from amplifier_tui.ui.prompt.prompt import IDLE, SUMMARY
from tests.ui.driving import running
from tests.ui.fake_client import SESSION

BEGUN = Notice(
    session_id=SESSION,
    level="info",
    source="context",
    text="m-1 writes a summary of the earlier turns",
    until="compacted",
)
STOPPED = Notice(
    session_id=SESSION,
    level="info",
    source="context",
    text="Compacting was stopped; it is as it was",
)


DONE = Compacted(session_id=SESSION, before_tokens=9, after_tokens=3)


@pytest.mark.parametrize("end", [STOPPED, DONE])
async def test_a_summary_that_is_written_is_told_of_with_its_time_and_escape_stops_it(
    end: HostEvent,
) -> None:
    async with running(size=(80, 24)) as drive:
        await drive.push(replace(BEGUN, at=time.time() - 12))
        assert "summary 0:1" in drive.text()
        assert drive.app.main.prompt.input.placeholder == SUMMARY
        await drive.push(QueueChanged(session_id=SESSION, items=("hello",), ids=("p1",)))
        assert "summary 0:1" in drive.text() and "+1 queued" in drive.text()
        await drive.press("escape")
        assert drive.client.named("interrupt") == [(False, 0)]
        await drive.push(end)
        assert "summary 0:" not in drive.text()
        assert drive.app.main.prompt.input.placeholder == IDLE
        await drive.press("escape")
        assert len(drive.client.named("interrupt")) == 1
