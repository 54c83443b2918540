"""What is looked at beside a session's turns: its metadata, and this machine's model servers."""

import asyncio
from typing import Final

from amplifier_tui.host.events import LocalServersFound, TitleChanged
from amplifier_tui.host.models.local_servers import find_local_servers
from amplifier_tui.host.stream.sender import Sender

METADATA_PAUSE: Final = 2.0
"""Seconds between two looks at whether another program wrote the session's metadata."""


class SessionWatch:
    """Looks, and says what it sees, until it is stopped."""

    def __init__(self, sender: Sender) -> None:
        self._sender = sender
        self._tasks: list[asyncio.Task[None]] = []

    def title_changed(self) -> None:
        """Say what the session is called."""
        self._sender.send(TitleChanged(**self._sender.stamp(), **self._sender.store.called()))

    def follow_metadata(self) -> None:
        """Show from here on what hooks and other programs call the session."""
        self._tasks.append(asyncio.get_running_loop().create_task(self._look_at_metadata()))

    def look_for_servers(self) -> None:
        """Say which model servers run on this machine, once they have answered."""
        self._tasks.append(asyncio.get_running_loop().create_task(self._look_for_servers()))

    def stop(self) -> None:
        """Look no more."""
        for task in self._tasks:
            task.cancel()

    async def _look_at_metadata(self) -> None:
        while True:
            await asyncio.sleep(METADATA_PAUSE)
            self._sender.store.follow_metadata()

    async def _look_for_servers(self) -> None:
        if servers := await find_local_servers():
            self._sender.send(LocalServersFound(**self._sender.stamp(), servers=servers))
