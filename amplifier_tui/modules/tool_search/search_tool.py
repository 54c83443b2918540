"""What both tools share: settings, arguments, the places that may be searched, the process."""

import asyncio
import contextlib
import functools
import importlib.util
import json
import logging
import os
from collections.abc import Iterable, Mapping
from dataclasses import field
from pathlib import Path
from typing import Any, ClassVar, Final, Self

from pydantic import ConfigDict, Field

from amplifier_tui.base.commands.programs import INTERPRETER
from amplifier_tui.base.config import (
    Bytes,
    ModuleSettings,
    Paths,
    PathText,
    Seconds,
    SettingsError,
)
from amplifier_tui.base.homes import user_home
from amplifier_tui.base.lazy.dataclass import dataclass
from amplifier_tui.base.protected import IN_AMPLIFIER_HOME, secret_homes
from amplifier_tui.base.text import printable
from amplifier_tui.modules._shared.places import (
    check_place,
    place_problem,
    require_judged,
    resolved,
    shown_path,
)
from amplifier_tui.modules._shared.session_paths import amplifier_home, working_dir
from amplifier_tui.modules._shared.tool import ModuleTool, ToolProblem

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
    """What a search found; `end` is what it says at its end, empty when it did not come to it."""

    found: list[dict[str, Any]] = field(default_factory=list)
    end: dict[str, Any] = field(default_factory=dict)
    timed_out: bool = False


class Searcher:
    """Runs searches."""

    def __init__(self, timeout: float) -> None:
        self.timeout = timeout
        self._slots = asyncio.Semaphore(_AT_ONCE)

    async def run(self, request: Mapping[str, Any]) -> SearchFindings:
        """Carry out a request of `worker`; when it is cancelled, the process is gone."""
        async with self._slots:
            return await self._run(json.dumps(request).encode())

    async def _run(self, request: bytes) -> SearchFindings:
        # -I and -S: nothing of the environment's or the workspace's is imported, and it is faster.
        command = (INTERPRETER, "-I", "-S", "-X", "utf8", "-c", _START, _ROOT, _library())
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


class SearchSettings(ModuleSettings):
    """The module's configuration; see the package's docstring."""

    module: ClassVar[str] = "tool-search"

    allowed_read_paths: Paths = ()
    denied_read_paths: Paths = ()
    timeout: Seconds = Field(20.0, ge=1, lt=1e12)
    max_results: int = Field(200, ge=1)
    max_file_bytes: Bytes = Field(5_000_000, ge=1)
    working_dir: PathText | None = None


def none_if_empty(value: Any) -> Any:
    """Models write an empty text for what they leave out."""
    return None if value == "" else value


class SearchArguments(ModuleSettings):
    """What both tools take, read as leniently as is safe."""

    # A number or a yes may come as text.
    model_config = ConfigDict(strict=False)

    pattern: str = Field(min_length=1, description="a text that says what to look for")
    path: Any = None
    include_ignored: bool = False

    @classmethod
    def of(cls, given: Mapping[str, Any]) -> Self:
        """Read the arguments of a call; a `ToolProblem` where they make no sense."""
        try:
            return cls.read_known(given)
        except SettingsError as error:
            raise ToolProblem(f"{error}.", "invalid_arguments") from error


class Places:
    """Turns the paths of calls into places that may be searched, or refuses them."""

    def __init__(self, settings: SearchSettings, coordinator: Any) -> None:
        self._settings = settings
        self._coordinator = coordinator

    @property
    def root(self) -> Path:
        """The workspace, without links."""
        folder = working_dir(self._coordinator, self._settings.working_dir)
        return resolved(str(folder), Path())

    def denied(self, start: Path) -> list[str]:
        """Return what is not searched from a place on, without links.

        Where keys are kept is searched only by a call that names it.
        """
        root, home = self.root, user_home()
        given = (resolved(path, root) for path in self._settings.denied_read_paths)
        own = (amplifier_home() / name for name in IN_AMPLIFIER_HOME)
        kept = (*secret_homes(home), *own)
        below = (path for path in (each.resolve() for each in kept) if start in path.parents)
        return [str(path) for path in (*given, *below)]

    def resolve(self, given: Any) -> Path:
        """Return the file or folder a call means, with every link followed.

        Relative paths start in the workspace, which an empty one stands for. What is not there, or
        may not be searched, is a `ToolProblem`.
        """
        root = self.root
        if given is None or given == "":
            given = None
        elif not isinstance(given, str):
            raise ToolProblem(f"`path` must be a text, not {given!r}.", "invalid_path")
        path = resolved(given or ".", root)
        check_place(
            path,
            root,
            access="read",
            denied=self._settings.denied_read_paths,
            allowed=self._settings.allowed_read_paths,
            module="tool-search",
            instead="Search elsewhere",
        )
        if given is not None:
            require_judged(path, below=True)
        if not path.exists():
            raise ToolProblem(f"There is no file or folder {given or root}.", "not_found")
        return path

    def shown(self, base: Path, path: str) -> str:
        """Return a found path, relative to the start, as a call may write it."""
        whole = base if base.is_file() else base / path
        text = shown_path(whole, self.root)
        text = f"{text}/" if path.endswith("/") else text
        # A name is data: it may hold line ends or characters that can't be encoded.
        text = text.encode("utf-8", "replace").decode()
        return printable(text)


class SearchTool(ModuleTool):
    """What both tools are made of."""

    required = ("pattern",)

    def __init__(self, places: Places, searcher: Searcher, settings: SearchSettings) -> None:
        self._places = places
        self._searcher = searcher
        self._settings = settings

    def refused_place(self, arguments: Mapping[str, Any]) -> str:
        """Return why the call's folder would be refused; see `kernel.session.grant`.

        Outside of the workspace that is every one: below a folder is more than was asked about.
        """
        return place_problem(lambda: self._places.resolve(self._folder(arguments)))

    def _folder(self, arguments: Mapping[str, Any]) -> Any:
        """Return where a call starts to search."""
        return arguments.get("path")

    async def _start(self, folder: Any) -> Path:
        return await asyncio.to_thread(self._places.resolve, folder)

    def _common(self, kind: str, given: SearchArguments, start: Path) -> dict[str, Any]:
        """What a request of either kind says."""
        return {
            "kind": kind,
            "start": str(start),
            "denied": self._places.denied(start),
            "everything": given.include_ignored,
        }


def with_notes(lines: Iterable[str], notes: Iterable[str]) -> str:
    """Return the findings and what is to be said of them as text."""
    return "\n".join([*lines, *(f"[{note}]" for note in notes)])
