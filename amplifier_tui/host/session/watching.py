"""What is looked at beside the turns: metadata, folder and git branch, model servers here."""

import asyncio
from pathlib import Path
from typing import Final

from amplifier_tui.base.files.under import folder_is_gone
from amplifier_tui.host.events import BranchChanged, LocalServersFound, TitleChanged
from amplifier_tui.host.models.local_servers import find_local_servers, no_server
from amplifier_tui.host.session.places.workspaces import git_branch
from amplifier_tui.host.stream.sender import Sender

LOOK_PAUSE: Final = 2.0
"""Seconds between two looks at whether another program wrote the metadata or changed the branch."""
_GONE: Final = (
    "The folder of this session is gone: put it back, or open a session elsewhere; until then "
    "nothing is read, written or run in"
)


class SessionWatch:
    """Looks, and says what it sees, until it is stopped."""

    def __init__(self, sender: Sender, workspace: Path) -> None:
        self._sender = sender
        self._workspace = workspace
        self._tasks: list[asyncio.Task[None]] = []

    def title_changed(self) -> None:
        """Say what the session is called."""
        self._sender.send(TitleChanged(**self._sender.stamp(), **self._sender.store.called()))

    def follow_others(self, branch: str) -> None:
        """Show from here on what hooks and other programs call the session, and the branch.

        That its folder is gone is told once, until that is back.

        Args:
            branch: The one that is shown so far.
        """
        self._tasks.append(asyncio.get_running_loop().create_task(self._look_at_others(branch)))

    def look_for_servers(self) -> None:
        """Say which model servers there are, once they have answered, or why none was found."""
        self._tasks.append(asyncio.get_running_loop().create_task(self._look_for_servers()))

    def stop(self) -> None:
        """Look no more."""
        for task in self._tasks:
            task.cancel()

    async def _look_at_others(self, branch: str) -> None:
        gone = False
        while True:
            await asyncio.sleep(LOOK_PAUSE)
            self._sender.store.follow_metadata()
            # Somebody may have removed a worktree in another terminal, with the session in it.
            known, gone = gone, folder_is_gone(self._workspace)
            if gone and not known:
                self._sender.notice("error", f"{_GONE} {self._workspace}")
            # Not only after turns: the user switches in another terminal, or with a `!` command.
            shown, branch = branch, git_branch(self._workspace)
            if branch != shown:
                self._sender.send(BranchChanged(**self._sender.stamp(), branch=branch))

    async def _look_for_servers(self) -> None:
        servers = await find_local_servers()
        problem = "" if servers else no_server()
        self._sender.send(
            LocalServersFound(**self._sender.stamp(), servers=servers, problem=problem)
        )
