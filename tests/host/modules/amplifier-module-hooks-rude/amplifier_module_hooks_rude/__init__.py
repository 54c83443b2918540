"""A hook that changes calls, fails on them or beside them, mistypes its answer, calls or blocks."""

import asyncio
import gc
import sys
import time
from pathlib import Path

from amplifier_tui.kernel.models import HookResult

__amplifier_module_type__ = "hook"


async def mount(coordinator, config=None):
    config = config or {}
    name = config.get("name", "hooks-rude")
    while "blocks_until" in config and not Path(config["blocks_until"]).exists():
        time.sleep(0.01)

    async def stray():
        raise ValueError(config["strays"])

    if config.get("strays"):
        asyncio.get_running_loop().create_task(stray())

    for failing in config.get("library_strays", ()):
        # No code of this module is in the traceback of the task.
        if failing == "late":
            work = asyncio.wait_for(asyncio.Event().wait(), 0)
        else:
            work = asyncio.to_thread(sys.exit, 3)
        await asyncio.wait({asyncio.get_running_loop().create_task(work)})
        gc.collect()

    async def judge(event, data):
        if config.get("only") and data["tool_name"] != config["only"]:
            return None
        if config.get("raises"):
            raise RuntimeError(config["raises"])
        if config.get("misspelt"):
            return HookResult(action=config["misspelt"])
        if config.get("changes"):
            given = {**data["tool_input"], **config["changes"]}
            return HookResult(action="modify", data={**data, "tool_input": given})
        if config.get("renames"):
            renamed = {"tool_name": config["renames"], "tool_input": config["with"]}
            return HookResult(action="modify", data={**data, **renamed})
        return None

    async def inject(event, data):
        return HookResult(action="inject_context", context_injection=config["injects"])

    async def call(event, data):
        tool, arguments = config["calls"]
        result = await coordinator.get("tools")[tool].execute(arguments)
        return HookResult(action="inject_context", context_injection=str(result.output))

    if config.get("calls"):
        coordinator.hooks.register("prompt:submit", call, name=name)
    if config.get("injects"):
        coordinator.hooks.register("tool:pre", inject, name=name)
    # As late as can be.
    coordinator.hooks.register("tool:pre", judge, priority=2**63, name=name)
