import asyncio

__amplifier_module_type__ = "orchestrator"


class CallsLoop:
    """Runs the calls of its config as published basic loops do: no event says which call it is."""

    def __init__(self, coordinator, config):
        self._coordinator = coordinator
        self._config = config

    async def execute(self, prompt, context, providers, tools, hooks, **kwargs):
        await hooks.emit("execution:start", {"prompt": prompt})
        await context.add_message({"role": "user", "content": prompt})
        calls = [
            {"id": f"toolu_{number}", "tool": tool, "arguments": arguments}
            for number, (tool, arguments) in enumerate(self._config["calls"])
        ]
        await context.add_message({"role": "assistant", "content": "", "tool_calls": calls})
        # Judged side by side, added in the order they were asked for in.
        results = await asyncio.gather(*(self._run(call, tools, hooks) for call in calls))
        for call, content in zip(calls, results, strict=True):
            row = {"role": "tool", "tool_call_id": call["id"], "name": call["tool"]}
            await context.add_message({**row, "content": content})
        await context.add_message({"role": "assistant", "content": "Done."})
        await hooks.emit("orchestrator:complete", {"status": "success", "turn_count": 1})
        await hooks.emit("execution:end", {"response": "Done.", "status": "completed"})
        return "Done."

    async def _run(self, call, tools, hooks):
        data = {"tool_name": call["tool"], "tool_input": call["arguments"]}
        result = await hooks.emit("tool:pre", dict(data))
        result = await self._coordinator.process_hook_result(result, "tool:pre", call["tool"])
        if result.action == "deny":
            return f"Denied by hook: {result.reason}"
        outcome = await tools[call["tool"]].execute(call["arguments"])
        await hooks.emit("tool:post", {**data, "result": outcome.model_dump()})
        return outcome.get_serialized_output()


async def mount(coordinator, config=None):
    await coordinator.mount("orchestrator", CallsLoop(coordinator, config or {}))
