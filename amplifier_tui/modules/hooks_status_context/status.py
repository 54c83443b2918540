"""The text the model gets."""

from __future__ import annotations

import asyncio
import logging
import os
from datetime import datetime
from pathlib import Path
from typing import Any, Final

from amplifier_tui.kernel.models import HookResult
from amplifier_tui.modules.hooks_status_context.git import GitState, git_state
from amplifier_tui.modules.hooks_status_context.settings import StatusSettings

logger = logging.getLogger(__name__)

WORKING_DIR_CAPABILITY: Final = "session.working_dir"
_CONTINUE: Final = HookResult(action="continue")


class StatusContext:
    """Handler of ``provider:request``.

    Args:
        coordinator: Says where the workspace is.
        settings: What to tell.
    """

    def __init__(self, coordinator: Any, settings: StatusSettings) -> None:
        self._coordinator = coordinator
        self._settings = settings
        self._state: GitState | None = None
        self._stale = True

    async def __call__(self, event: str, data: dict[str, Any]) -> HookResult:
        """Tell the model where it is.

        Args:
            event: ``provider:request``.
            data: Not used.
        """
        folder = self._folder()
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

    def _folder(self) -> Path:
        folder = self._coordinator.get_capability(WORKING_DIR_CAPABILITY)
        return Path(str(folder or self._settings.working_dir or os.getcwd())).expanduser()

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
    text = text.replace("<", "‹")
    return "".join(character if character.isprintable() else "?" for character in text)[:300]
