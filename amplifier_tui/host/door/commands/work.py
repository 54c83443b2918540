"""Taking back what a session did, and keeping it apart in a git worktree."""

import asyncio
from pathlib import Path

from amplifier_tui.host.client import RewindPreview, WorktreeCard, WorktreeMerge
from amplifier_tui.host.door.commands.holder import SessionHolder
from amplifier_tui.host.door.commands.passing import asked, told
from amplifier_tui.host.session.places import merging, worktrees
from amplifier_tui.host.session.rewinding.rewinder import Rewinder
from amplifier_tui.host.store.turns.prompts import NoSuchTurnError


class WorkCommands(SessionHolder):
    """Passes on what concerns the work of the open session as a whole."""

    rewind_points = asked(Rewinder.points, lambda live: live.rewinder)
    rewind_diff = asked(Rewinder.diff, lambda live: live.rewinder)
    rewind = told(Rewinder.rewind, lambda live: live.rewinder)
    undo_rewind = told(Rewinder.undo, lambda live: live.rewinder)

    async def preview_rewind(self, turn: int) -> RewindPreview:
        """Describe what going back would do."""
        try:
            return await self._session.rewinder.preview(turn)
        except NoSuchTurnError as error:
            raise RuntimeError(str(error)) from error

    async def make_worktree(self, name: str) -> WorktreeCard:
        """Make a worktree of the session's repository."""
        return await asyncio.to_thread(worktrees.make_worktree, self._session.workspace, name)

    async def worktree(self) -> WorktreeCard:
        """Describe the worktree the session works in."""
        return await asyncio.to_thread(worktrees.find_worktree, self._session.workspace)

    async def worktree_diff(self) -> str:
        """Return what was changed in the worktree the session works in."""
        live = self._session
        diff = await asyncio.to_thread(merging.worktree_diff, live.workspace)
        return await asyncio.to_thread(live.sender.redactor.text, diff)

    async def merge_worktree(self) -> WorktreeMerge:
        """Merge the worktree the session works in."""
        return await asyncio.to_thread(merging.merge_worktree, self._quiet_workspace())

    async def remove_worktree(self) -> WorktreeCard:
        """Remove the worktree the session works in."""
        return await asyncio.to_thread(worktrees.remove_worktree, self._quiet_workspace())

    def _quiet_workspace(self) -> Path:
        """Return the folder that the session works in, where nothing of it runs just now."""
        live = self._session
        if live.work:
            raise RuntimeError(f"{live.work} is running in the worktree: stop it first")
        return live.workspace
