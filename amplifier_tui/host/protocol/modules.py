"""The modules of the open session."""

from concurrent.futures import Future
from typing import Protocol

from amplifier_tui.base.capabilities.mcp import ServerStatus
from amplifier_tui.host.cards import ModuleDetails


class ModuleClient(Protocol):
    """Mounts, changes and describes modules."""

    def mount(self, wanted: str) -> None:
        """Mount a module: a key or an id, or the folder of one.

        Leads to `ModuleMounted`, or to `ModuleFailed`. Like every change of a module it is made at
        the next safe point of a turn that runs; a `Notice` says when, and what came of it.
        """

    def unmount(self, key: str) -> None:
        """Take a module out of the session; leads to `ModuleUnmounted`.

        Args:
            key: Its id, with `#` and the instance where there are several.
        """

    def reload(self, key: str) -> None:
        """Run a module's source anew, or try one again that is not mounted.

        Leads to `ModuleMounted`; or to `ModuleFailed` with `kept`, and what was there goes on.
        """

    def switch_module(self, key: str, *, on: bool) -> None:
        """Switch a module off for this session, also when it is resumed; or on again."""

    def configure(self, key: str, setting: str, value: str) -> None:
        """Give a module another value of a setting for this session; it is mounted anew with it.

        Args:
            value: As JSON; what is no JSON is a text. Empty for the module's own default.
        """

    def stop_change(self) -> None:
        """Stop the change of a module that is being made, if one is; see `ModuleChanging`.

        One that was to be mounted is not, one that was to be mounted anew is as it was, and one
        that was to be taken out is out, with its cleanup cut short.
        """

    def setting_problem(self, key: str, setting: str, value: str) -> "Future[str]":
        """Return what is wrong with a value that `configure` would be given; empty for nothing."""

    def module_details(self, key: str) -> "Future[ModuleDetails]":
        """Describe a module of the session.

        The future raises `RuntimeError`, with one sentence, when there is no such module.
        """

    def mcp_servers(self) -> "Future[tuple[ServerStatus, ...]]":
        """List the MCP servers of the session, with what they wrote last.

        The future raises `RuntimeError`, with what to do, when there are none.
        """

    def restart_mcp_server(self, name: str) -> "Future[str]":
        """End an MCP server and start it again; returns what went wrong, empty for nothing."""
