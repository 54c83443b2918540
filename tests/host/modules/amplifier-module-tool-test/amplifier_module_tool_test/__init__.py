import asyncio
import contextlib
import os
import subprocess
import sys
import time
from pathlib import Path

from amplifier_tui.kernel.models import ToolResult

__amplifier_module_type__ = "tool"


class _Tool:
    def __init__(self, name, run, coordinator):
        self.input_schema = {"type": "object", "properties": {"path": {"type": "string"}}}
        self.name = name
        self.description = f"Test tool {name}"
        self._run = run
        self._coordinator = coordinator

    async def execute(self, input):
        return await self._run(input, self._coordinator)


async def echo(input, coordinator):
    return ToolResult(output=input.get("text", "") * input.get("times", 1))


async def fail(input, coordinator):
    raise RuntimeError(input.get("text", "it failed"))


async def noisy(input, coordinator):
    print(input.get("text", "printed"))
    return ToolResult(output="done")


async def write(input, coordinator):
    path = Path(coordinator.get_capability("session.working_dir")) / input["file_path"]
    path.write_text(input["content"])
    return ToolResult(output="written")


async def wait(input, coordinator):
    Path(input["started"]).touch()
    while not Path(input["until"]).exists():
        await asyncio.sleep(0.01)
    return ToolResult(output="waited")


async def block(input, coordinator):
    Path(input["started"]).touch()
    end = time.monotonic() + float(input.get("seconds", 2))
    while time.monotonic() < end and not Path(input["until"]).exists():
        time.sleep(0.01)
    return ToolResult(output="unblocked")


async def stubborn(input, coordinator):
    Path(input["started"]).touch()
    if input.get("pid_file"):
        process = subprocess.Popen(["sleep", "1000"], start_new_session=True)
        Path(input["pid_file"]).write_text(str(process.pid))
    while not Path(input["until"]).exists():
        with contextlib.suppress(asyncio.CancelledError):
            await asyncio.sleep(0.01)
    await coordinator.hooks.emit("tool:progress", {"tool_call_id": "zombie", "text": "zombie"})
    return ToolResult(output="at last")


async def progress(input, coordinator):
    for number in range(int(input.get("times", 3))):
        await coordinator.hooks.emit(
            "tool:progress",
            {
                "tool_name": "progress",
                "tool_call_id": input["call_id"],
                "text": f"line {number}\n",
            },
        )
    return ToolResult(output="done")


async def leak(input, coordinator):
    return ToolResult(output=f"the key is {os.environ.get('TEST_API_KEY')}")


async def leave(input, coordinator):
    sys.exit(3)


async def cancel_all(input, coordinator):
    for task in asyncio.all_tasks():
        task.cancel()
    await asyncio.sleep(0)
    return ToolResult(output="cancelled")


async def delegate(input, coordinator):
    spawn = coordinator.get_capability("session.spawn")
    result = await spawn("self", input["text"], parent_session=coordinator.session)
    return ToolResult(output=result["output"])


_ALL = (
    echo,
    fail,
    noisy,
    write,
    wait,
    block,
    stubborn,
    progress,
    leak,
    leave,
    cancel_all,
    delegate,
)


async def mount(coordinator, config=None):
    for run in _ALL:
        await coordinator.mount("tools", _Tool(run.__name__, run, coordinator))
