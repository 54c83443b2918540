"""Running the searching process."""

import asyncio
import contextlib
import functools
import importlib.util
import json
import logging
import os
import sys
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final

from amplifier_tui.modules._shared.tool import ToolProblem

logger = logging.getLogger(__name__)

_ROOT: Final = str(Path(__file__).resolve().parents[3])
_START: Final = (
    "import sys; sys.path += sys.argv[1:]; "
    "from amplifier_tui.modules.tool_search.worker import main; main()"
)
_AT_ONCE: Final = 4
"""Searches at the same time; the model may ask for many."""
_LONGEST_LINE: Final = 1024 * 1024


@dataclass
class SearchFindings:
    """What a search found.

    Attributes:
        found: Findings, in order.
        end: What it says at its end; empty when it did not come to it.
        timed_out: Whether it took too long.
    """

    found: list[dict[str, Any]] = field(default_factory=list)
    end: dict[str, Any] = field(default_factory=dict)
    timed_out: bool = False


class Searcher:
    """Runs searches."""

    def __init__(self, timeout: float) -> None:
        self.timeout = timeout
        self._slots = asyncio.Semaphore(_AT_ONCE)

    async def run(self, request: Mapping[str, Any]) -> SearchFindings:
        """Carry out a request; see `worker`.

        Raises:
            ToolProblem: The process failed.
            asyncio.CancelledError: The call was cancelled; the process is gone.
        """
        async with self._slots:
            return await self._run(json.dumps(request).encode())

    async def _run(self, request: bytes) -> SearchFindings:
        # -I and -S: nothing of the environment's or the workspace's is imported, and it is faster.
        command = (sys.executable, "-I", "-S", "-X", "utf8", "-c", _START, _ROOT, _library())
        kept = {name: os.environ[name] for name in ("PATH", "SYSTEMROOT") if name in os.environ}
        try:
            process = await asyncio.create_subprocess_exec(
                *command,
                stdin=asyncio.subprocess.PIPE,
                stdout=asyncio.subprocess.PIPE,
                stderr=asyncio.subprocess.PIPE,
                env=kept,
                limit=_LONGEST_LINE,
            )
        except OSError as error:
            raise ToolProblem(f"The search can't be started: {error}.", "os_error") from error
        findings = SearchFindings()
        try:
            async with asyncio.timeout(self.timeout):
                trouble = await _follow(process, request, findings)
        except TimeoutError:
            findings.timed_out = True
            return findings
        finally:
            await _ended(process)
        if not findings.end:
            logger.error("The searching process failed: %s", trouble)
            last = trouble.strip().rpartition("\n")[2]
            raise ToolProblem(f"The search failed: {last or 'it was ended'}.", "search_failed")
        return findings


@functools.cache
def _library() -> str:
    """Where pathspec is installed, which the searching process imports."""
    found = importlib.util.find_spec("pathspec")
    assert found is not None and found.origin is not None
    return str(Path(found.origin).parents[1])


async def _follow(
    process: asyncio.subprocess.Process, request: bytes, findings: SearchFindings
) -> str:
    """Send the request and collect what comes; returns what the process complained about."""
    assert process.stdin is not None
    assert process.stdout is not None
    assert process.stderr is not None
    complaints = asyncio.create_task(process.stderr.read())
    try:
        with contextlib.suppress(BrokenPipeError, ConnectionResetError):
            process.stdin.write(request)
            await process.stdin.drain()
            process.stdin.close()
        async for line in process.stdout:
            finding = json.loads(line)
            if "end" in finding:
                findings.end = finding
            else:
                findings.found.append(finding)
        return (await complaints).decode("utf-8", "replace")
    finally:
        complaints.cancel()


async def _ended(process: asyncio.subprocess.Process) -> None:
    with contextlib.suppress(ProcessLookupError):
        process.kill()
    await process.wait()
