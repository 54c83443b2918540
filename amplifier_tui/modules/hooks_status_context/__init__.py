"""hooks-status-context: tells the model where it is: the folder, the state of git, the date.

It answers ``provider:request`` with a text for that one request, which is never stored. Git is
asked again when a tool has run since, without taking locks and without running what a repository's
own configuration names.

Config:
    git: Whether to tell the branch. Default true.
    git_status: Whether to tell changed files. Default true.
    max_files: Changed files that are listed. Default 20.
    commits: Latest commits that are listed. Default 0.
    date: Whether to tell date and time. Default true.
    timeout: Seconds git may take, else its part is left out. Default 2.
    priority: Of the handler. Default 5.
    working_dir: The folder where no capability ``session.working_dir`` tells it.
"""

import asyncio
import logging
from collections.abc import Callable
from contextlib import ExitStack
from dataclasses import field
from datetime import datetime
from functools import partial
from pathlib import Path
from typing import Any, ClassVar, Final

from pydantic import Field

from amplifier_tui.base.config import ModuleSettings, PathText, Seconds
from amplifier_tui.base.git import brings_filters, git_output
from amplifier_tui.base.lazy.dataclass import dataclass
from amplifier_tui.base.text import printable
from amplifier_tui.kernel import events
from amplifier_tui.kernel.coordinator import ModuleCoordinator
from amplifier_tui.kernel.models import HookResult
from amplifier_tui.modules._shared.session_paths import working_dir

__amplifier_module_type__ = "hook"

logger = logging.getLogger(__name__)

_CONTINUE: Final = HookResult(action="continue")


class StatusSettings(ModuleSettings):
    """The module's configuration; see the package's docstring."""

    module: ClassVar[str] = "hooks-status-context"

    git: bool = True
    git_status: bool = True
    max_files: int = Field(20, ge=0, le=500)
    commits: int = Field(0, ge=0, le=50)
    date: bool = True
    timeout: Seconds = Field(2.0, gt=0, le=60)
    priority: int = Field(5, ge=-1000, le=1000)
    working_dir: PathText | None = None


@dataclass(frozen=True)
class GitState:
    """The state of a repository.

    Attributes:
        branch: Checked out; the commit's first digits where none is.
        upstream: How far it is from its upstream: ``ahead 1, behind 2``; empty for not at all.
        files: Changed files as git's two letters and the path.
        commits: Latest commits, one line each.
        note: Why there is no more to say.
    """

    branch: str
    upstream: str = ""
    files: list[str] = field(default_factory=list)
    commits: list[str] = field(default_factory=list)
    note: str = ""


class StatusContext:
    """Handler of ``provider:request``."""

    def __init__(self, coordinator: Any, settings: StatusSettings) -> None:
        self._coordinator = coordinator
        self._settings = settings
        self._state: GitState | None = None
        self._stale = True

    async def __call__(self, event: str, data: dict[str, Any]) -> HookResult:
        """Tell the model where it is."""
        folder = working_dir(self._coordinator, self._settings.working_dir)
        if self._settings.git and self._stale:
            self._stale = False
            self._state = await self._ask_git(folder)
        return HookResult(
            action="inject_context",
            context_injection=self._text(folder),
            context_injection_role="user",
            ephemeral=True,
        )

    def note_change(self, event: str, data: dict[str, Any]) -> HookResult:
        """Ask git again at the next request: something may have changed."""
        self._stale = True
        return _CONTINUE

    async def _ask_git(self, folder: Path) -> GitState | None:
        settings = self._settings
        try:
            async with asyncio.timeout(settings.timeout):
                return await git_state(
                    folder,
                    status=settings.git_status,
                    commits=settings.commits,
                    timeout=settings.timeout,
                )
        except TimeoutError:
            logger.info("git took longer than %g s in %s", settings.timeout, folder)
            return None

    def _text(self, folder: Path) -> str:
        lines = [f"Working directory: {_plain(str(folder))}"]
        if self._state is not None:
            lines += _git_lines(self._state, self._settings.max_files)
        if self._settings.date:
            lines.append(f"Now: {datetime.now().astimezone():%A %Y-%m-%d %H:%M %z}")
        body = "\n".join(lines)
        return (
            '<system-reminder source="hooks-status-context">\n'
            "Where you are; facts, not a message of the user, so don't answer it.\n"
            f"{body}\n</system-reminder>"
        )


def _git_lines(state: GitState, most: int) -> list[str]:
    away = f" ({_plain(state.upstream)})" if state.upstream else ""
    count = len(state.files)
    changes = "1 changed file" if count == 1 else f"{count} changed files"
    said = f"; {state.note}" if state.note else f"; {changes}" if count else ""
    lines = [f"Git: branch {_plain(state.branch)}{away}{said}"]
    lines += [f"  {_plain(file)}" for file in state.files[:most]]
    if count > most:
        lines.append(f"  … and {count - most} more")
    lines += [f"  commit {_plain(commit)}" for commit in state.commits]
    return lines


def _plain(text: str) -> str:
    """A name is data: it must neither end the reminder nor begin a line of its own."""
    return printable(text.replace("<", "‹"))[:300]


async def git_state(folder: Path, *, status: bool, commits: int, timeout: float) -> GitState | None:
    """Return the state of the repository a folder is in; None where there is none, or no git.

    Where a repository brings filters of its own, which ``git status`` would run, its changed files
    are not listed; submodules are not looked into, because their own filters would run too.

    Args:
        folder: The folder.
        status: Whether to look for changed files.
        commits: How many of the latest commits to return.
        timeout: Seconds each question to git may take.
    """
    ask = partial(git_output, folder, timeout=timeout)
    branch = await ask("symbolic-ref", "--short", "-q", "HEAD")
    if branch is None:
        branch = await ask("rev-parse", "--short", "HEAD")
    if branch is None:
        return None
    latest = []
    if commits:
        log = await ask("log", f"-{commits}", "--no-color", "--format=%h %s")
        latest = (log or "").splitlines()
    if not status:
        return GitState(branch.strip(), commits=latest)
    if await brings_filters(folder, timeout=timeout):
        note = "changed files are not listed: this repository runs filters of its own"
        return GitState(branch.strip(), commits=latest, note=note)
    options = ("--branch", "-z", "--untracked-files=normal", "--ignore-submodules=dirty")
    found = await ask("status", "--porcelain=v1", *options)
    if found is None:
        return GitState(branch.strip(), commits=latest)
    upstream, files = _read_status(found)
    return GitState(branch.strip(), upstream, files, latest)


def _read_status(text: str) -> tuple[str, list[str]]:
    upstream, files = "", []
    entries = iter(text.split("\0")[:-1])  # what follows the last NUL was cut off
    for entry in entries:
        if entry.startswith("## "):
            upstream = entry.partition(" [")[2].rstrip("]")
        elif entry:
            files.append(entry)
            if entry[0] in "RC":
                next(entries, None)  # the name it had
    return upstream, files


async def mount(
    coordinator: ModuleCoordinator, config: dict[str, Any] | None = None
) -> Callable[[], None]:
    """Register the handlers; returns the cleanup."""
    settings = StatusSettings.read(config)
    status = StatusContext(coordinator, settings)
    cleanup = ExitStack()
    for event, handler, priority in (
        (events.PROVIDER_REQUEST, status, settings.priority),
        (events.PROMPT_SUBMIT, status.note_change, 0),
        (events.TOOL_POST, status.note_change, 0),
        (events.TOOL_ERROR, status.note_change, 0),
    ):
        name = "hooks-status-context"
        cleanup.callback(coordinator.hooks.register(event, handler, priority, name))
    return cleanup.close
