"""What a scripted session answers of modules and MCP servers."""

from concurrent.futures import Future
from dataclasses import dataclass, field
from typing import Any

from amplifier_tui.host.client import (
    ModuleDetails,
    ServerStatus,
)
from tests.ui.fake_imported import answer, done, failed


@dataclass
class FakeModules:
    """Implements `ModuleClient`.

    Attributes:
        calls: Every call with its arguments, in order.
        servers: What `mcp_servers` answers; an exception makes it fail.
        details: What `module_details` answers by key.
        problems: What `setting_problem` answers one after another; then nothing is wrong.
        restarted: What `restart_mcp_server` answers; an exception makes it fail.
    """

    calls: list[tuple[Any, ...]] = field(default_factory=list)
    servers: tuple[ServerStatus, ...] | Exception = ()
    details: dict[str, ModuleDetails] = field(default_factory=dict)
    restarted: str | Exception = ""
    problems: list[str] = field(default_factory=list)

    def mount(self, wanted: str) -> None:
        self.calls.append(("mount", wanted))

    def unmount(self, key: str) -> None:
        self.calls.append(("unmount", key))

    def stop_change(self) -> None:
        self.calls.append(("stop_change",))

    def reload(self, key: str) -> None:
        self.calls.append(("reload", key))

    def switch_module(self, key: str, *, on: bool) -> None:
        self.calls.append(("switch_module", key, on))

    def configure(self, key: str, setting: str, value: str) -> None:
        self.calls.append(("configure", key, setting, value))

    def setting_problem(self, key: str, setting: str, value: str) -> Future[str]:
        self.calls.append(("setting_problem", key, setting, value))
        return done(self.problems.pop(0) if self.problems else "")

    def module_details(self, key: str) -> Future[ModuleDetails]:
        self.calls.append(("module_details", key))
        if key not in self.details:
            return failed(RuntimeError(f"This session has no module {key}"))
        return done(self.details[key])

    def mcp_servers(self) -> Future[tuple[ServerStatus, ...]]:
        self.calls.append(("mcp_servers",))
        return answer(self.servers)

    def restart_mcp_server(self, name: str) -> Future[str]:
        self.calls.append(("restart_mcp_server", name))
        return answer(self.restarted)
