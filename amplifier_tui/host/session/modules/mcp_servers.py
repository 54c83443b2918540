"""The MCP servers of a session, for front ends: how it stands with each, and a new start."""

import asyncio
from dataclasses import replace

from amplifier_tui.base.capabilities.mcp import CAPABILITY, ServersControl, ServerStatus
from amplifier_tui.host.stream.sender import Sender
from amplifier_tui.kernel.coordinator import ModuleCoordinator

NO_SERVERS = (
    "This session has no MCP servers. They are named in .mcp.json of the project, or in mcp.json "
    "of your Amplifier home, and the bundle includes behaviors/mcp.yaml."
)


class McpServerList:
    """The servers of one session and its sub-agents."""

    def __init__(self, coordinator: ModuleCoordinator, sender: Sender) -> None:
        self._coordinator = coordinator
        self._sender = sender

    async def list(self) -> tuple[ServerStatus, ...]:
        """Return how it stands with each, without secrets.

        Raises:
            RuntimeError: There are none.
        """
        found = self._control().statuses()
        return tuple(
            await asyncio.gather(*(asyncio.to_thread(self._shown, each) for each in found))
        )

    async def restart(self, name: str) -> str:
        """End a server and start it again; returns what went wrong, empty for nothing.

        Raises:
            RuntimeError: There are none.
        """
        return self._sender.redactor.text(await self._control().restart(name))

    def _control(self) -> ServersControl:
        control: ServersControl | None = self._coordinator.get_capability(CAPABILITY)
        if control is None:
            raise RuntimeError(NO_SERVERS)
        return control

    def _shown(self, status: ServerStatus) -> ServerStatus:
        text = self._sender.redactor.text
        return replace(
            status,
            target=text(status.target),
            problems=tuple(map(text, status.problems)),
            log=tuple(map(text, status.log)),
        )
