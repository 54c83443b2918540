"""The MCP servers of a session, for front ends: how it stands with each, and a new start."""

import asyncio
from collections.abc import Callable
from dataclasses import replace
from typing import Final

from amplifier_tui.base.capabilities.mcp import CAPABILITY, ServersControl, ServerStatus
from amplifier_tui.base.text import one_line
from amplifier_tui.host.events import ModuleDegraded
from amplifier_tui.host.gate.calls.guarded import module_of_code
from amplifier_tui.host.session.modules.facts import ModuleFacts
from amplifier_tui.host.stream.sender import Sender
from amplifier_tui.kernel.coordinator import ModuleCoordinator

NO_SERVERS = (
    "This session has no MCP servers. They are named in .mcp.json of the project, or in mcp.json "
    "of your Amplifier home, and the bundle includes behaviors/mcp.yaml."
)
_LONGEST: Final = 300


class McpServerList:
    """The servers of one session and its sub-agents."""

    def __init__(self, coordinator: ModuleCoordinator, sender: Sender, facts: ModuleFacts) -> None:
        self._coordinator = coordinator
        self._sender = sender
        self._facts = facts
        self._followed: ServersControl | None = None
        self._unfollow: Callable[[], None] = lambda: None
        self._told: tuple[str, ...] = ()

    def follow(self) -> Callable[[], None]:
        """Say from here on which servers have failed; returns what ends that.

        To be called again when modules have changed: the servers may be others.
        """
        control: ServersControl | None = self._coordinator.get_capability(CAPABILITY)
        if control is not self._followed:
            self.stop()
            self._followed = control
            if control is not None:
                self._unfollow = control.follow(self._tell)
                self._tell()
        return self.stop

    def stop(self) -> None:
        """Say it no longer."""
        self._unfollow()
        self._unfollow, self._followed, self._told = lambda: None, None, ()

    def _tell(self) -> None:
        control = self._followed
        planned = self._facts.find(module_of_code(type(control).__module__))
        if control is None or planned is None:
            return
        servers = control.statuses()
        lost = [each for each in servers if each.state == "failed"]
        failed = tuple(
            self._sender.redactor.text(
                one_line(f"{each.name}: {(each.problems or ('it failed',))[-1]}", _LONGEST)
            )
            for each in lost
        )
        if failed == self._told:
            return
        self._told = failed
        self._sender.send(
            ModuleDegraded(
                **self._sender.stamp(),
                module_id=planned.module_id,
                kind=planned.kind,
                instance=planned.instance,
                failed=failed,
                of=len(servers),
            )
        )

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
