"""Programs run for us: never on our terminal, never longer than allowed or than we run."""

import asyncio
import contextlib
import os
import re
import signal
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

from amplifier_tui.base.commands.programs import own_path
from amplifier_tui.base.lazy.dataclass import dataclass
from amplifier_tui.base.watcher import RUN_VARIABLE, run_mark, watcher

_KEPT_BYTES = 64_000
_LINE_END = re.compile(rb"[\r\n]")


@dataclass(frozen=True, slots=True)
class ProcessResult:
    """How a program ended, with the tail of what it wrote."""

    returncode: int
    stdout: str
    stderr: str


async def run_process(
    args: Sequence[str],
    *,
    timeout: float,
    cwd: Path | None = None,
    env: Mapping[str, str] | None = None,
    on_line: Callable[[str], None] | None = None,
) -> ProcessResult:
    """Run a program to its end, within `timeout` seconds.

    It gets no input and a session of its own, so it cannot ask on the user's terminal. When time is
    up, the caller is cancelled or this program is killed, it and its children are killed. `on_line`
    gets every line it writes to stderr; lines may end in a carriage return.

    Raises:
        TimeoutError: Time was up.
        FileNotFoundError: There is no such program.
    """
    # First, so that it knows of the program whenever this one may be killed.
    watcher().start()
    process = await asyncio.create_subprocess_exec(
        *args,
        stdin=asyncio.subprocess.DEVNULL,
        stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.PIPE,
        cwd=cwd,
        env={**(os.environ if env is None else env), "PATH": own_path(), RUN_VARIABLE: run_mark()},
        start_new_session=True,
    )
    watcher().watch_group(process.pid)
    assert process.stdout is not None and process.stderr is not None
    work = asyncio.gather(
        _drain(process.stdout, None), _drain(process.stderr, on_line), process.wait()
    )
    try:
        async with asyncio.timeout(timeout):
            stdout, stderr, returncode = await work
    except BaseException:
        _kill(process)
        await asyncio.shield(process.wait())
        raise
    finally:
        watcher().forget_group(process.pid)
    return ProcessResult(returncode, stdout, stderr)


async def _drain(stream: asyncio.StreamReader, on_line: Callable[[str], None] | None) -> str:
    kept, line = b"", b""
    while chunk := await stream.read(8192):
        kept = (kept + chunk)[-_KEPT_BYTES:]
        if on_line is not None:
            *complete, line = _LINE_END.split((line + chunk)[-_KEPT_BYTES:])
            for text in filter(None, complete):
                on_line(text.decode("utf-8", "replace"))
    return kept.decode("utf-8", "replace")


def _kill(process: asyncio.subprocess.Process) -> None:
    with contextlib.suppress(ProcessLookupError, PermissionError):
        if hasattr(os, "killpg"):
            os.killpg(process.pid, signal.SIGKILL)
        else:
            process.kill()
