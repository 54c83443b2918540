"""A program that is spoken to, from its start to its end."""

import asyncio
import os
from pathlib import Path

from amplifier_tui.base.commands.piped import PipedProcess
from tests.modules.tool_bash.support import gone

STUBBORN = "trap '' TERM; sleep 1000 & echo $!; while :; do sleep 1000; done"


async def test_cancelling_its_end_at_once_still_ends_it_and_what_it_started(tmp_path: Path) -> None:
    process = await PipedProcess.start(["sh", "-c", STUBBORN], tmp_path, dict(os.environ), 1_000)
    child = int(await process.read_line())
    ending = asyncio.create_task(process.end())
    await asyncio.sleep(0)
    ending.cancel()
    await asyncio.wait([ending])
    assert ending.cancelled()
    await asyncio.wait_for(gone(child, process.pid), 10)
