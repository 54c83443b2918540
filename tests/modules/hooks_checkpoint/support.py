from collections.abc import Callable
from pathlib import Path
from types import SimpleNamespace
from typing import Any

from amplifier_tui.kernel.coordinator import ModuleCoordinator
from amplifier_tui.kernel.testing import MockContextManager
from amplifier_tui.modules import hooks_checkpoint, tool_filesystem


class Session:
    """A session whose file tools run between their events, as in a loop."""

    def __init__(self, root: Path, folder: Path, session_id: str = "s1") -> None:
        self.root = root
        root.mkdir(exist_ok=True)
        self.folder = folder
        session = SimpleNamespace(session_id=session_id, parent_id=None, config={})
        self.coordinator = ModuleCoordinator(session)
        self.coordinator.register_capability("session.working_dir", str(root))
        self.coordinator.register_capability("session.events_path", str(folder / "events.jsonl"))
        self.context = MockContextManager()
        self.coordinator.mount_points["context"] = self.context
        self.notices: list[str] = []
        self.coordinator.hooks.register(
            "user:notification", lambda event, data: self.notices.append(data["message"])
        )

    async def mount(self, **config: Any) -> "Session":
        await hooks_checkpoint.mount(self.coordinator, config)
        await tool_filesystem.mount(self.coordinator, {})
        return self

    async def turn(self, prompt: str, *calls: tuple[str, dict[str, Any]]) -> None:
        hooks = self.coordinator.hooks
        await hooks.emit("execution:start", {"prompt": prompt})
        await self.context.add_message({"role": "user", "content": prompt})
        for tool, given in calls:
            await self.call(tool, given)
        await hooks.emit("execution:end", {})

    async def call(self, tool: str, given: dict[str, Any], *, denied: bool = False) -> None:
        hooks = self.coordinator.hooks
        data = {"tool_name": tool, "tool_input": given}
        await hooks.emit("tool:pre", data)
        if denied:
            await hooks.emit("tool:error", {**data, "error": {"type": "denied"}})
            return
        mounted = self.coordinator.get("tools", tool)
        result = await mounted.execute(given) if mounted is not None else None
        await hooks.emit("tool:post", {**data, "result": result})

    async def command(self, command: str, does: Callable[[], object], **more: Any) -> None:
        """Have a command run, which is `does`."""
        given = {"command": command, **more}
        data = {"tool_name": "bash", "tool_input": given, "tool_call_id": command}
        await self.coordinator.hooks.emit("tool:pre", data)
        does()
        await self.coordinator.hooks.emit("tool:post", data)

    async def preview(self, id: str) -> dict[str, Any]:
        found: dict[str, Any] = await self.coordinator.get_capability("checkpoint.preview")(id)
        return found

    async def listed(self) -> list[dict[str, Any]]:
        found: list[dict[str, Any]] = await self.coordinator.get_capability("checkpoint.list")()
        return [turn for turn in found if turn["files"] or turn["unseen"]]

    async def restore(self, id: str, **more: Any) -> dict[str, Any]:
        outcome: dict[str, Any] = await self.coordinator.get_capability("checkpoint.restore")(
            id, **more
        )
        return outcome

    def read(self, path: str) -> str:
        return (self.root / path).read_text()


def write(path: str, content: str) -> tuple[str, dict[str, Any]]:
    return "write_file", {"file_path": path, "content": content}


def edit(path: str, old: str, new: str) -> tuple[str, dict[str, Any]]:
    return "edit_file", {"file_path": path, "old_string": old, "new_string": new}
