import asyncio
import os
from pathlib import Path

import pytest

from amplifier_tui.foundation.sources.process import run_process
from tests.waiting import within


async def test_a_program_returns_what_it_wrote() -> None:
    result = await run_process(
        ["sh", "-c", "echo out; echo err >&2; exit 3"], timeout=20, env={"PATH": os.environ["PATH"]}
    )
    assert (result.returncode, result.stdout, result.stderr) == (3, "out\n", "err\n")


async def test_lines_come_while_it_runs_and_may_end_in_a_carriage_return() -> None:
    lines: list[str] = []
    await run_process(["sh", "-c", r"printf 'a\rb\nc\r' >&2"], timeout=20, on_line=lines.append)
    assert lines == ["a", "b", "c"]


async def test_only_the_tail_of_much_output_is_kept() -> None:
    result = await run_process(["sh", "-c", "yes 12345678 | head -c 1000000"], timeout=20)
    assert len(result.stdout) <= 64_000


async def test_it_has_no_input_and_no_terminal() -> None:
    result = await run_process(["sh", "-c", "cat; tty || true; test -t 0 || echo none"], timeout=20)
    assert result.stdout.strip().endswith("none")


async def test_when_time_is_up_its_children_are_gone_too(tmp_path: Path) -> None:
    script = f"sleep 600 & echo $! > {tmp_path}/pid; wait"
    with pytest.raises(TimeoutError):
        await run_process(["sh", "-c", script], timeout=0.3)
    await _ended(int((tmp_path / "pid").read_text()))


async def test_when_cancelled_it_is_gone(tmp_path: Path) -> None:
    script = f"echo $$ > {tmp_path}/pid.tmp; mv {tmp_path}/pid.tmp {tmp_path}/pid; exec sleep 600"
    task = asyncio.create_task(run_process(["sh", "-c", script], timeout=20))
    while not (tmp_path / "pid").exists():
        await asyncio.sleep(0.01)
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    await _ended(int((tmp_path / "pid").read_text()))


async def test_a_program_that_does_not_exist_is_not_found() -> None:
    with pytest.raises(FileNotFoundError):
        await run_process(["/no/such/program"], timeout=1)


async def _ended(pid: int) -> None:
    def alive() -> bool:
        try:
            state = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0]
        except OSError:
            return False
        return state != "Z"

    async with within(20):
        while alive():
            await asyncio.sleep(0.01)
