"""Runs the calls of its config, and cares about hooks as far as the config says."""

import asyncio

__amplifier_module_type__ = "orchestrator"


class RudeLoop:
    def __init__(self, coordinator, config):
        self._coordinator = coordinator
        self._config = config

    async def execute(self, prompt, context, providers, tools, hooks, **kwargs):
        await hooks.emit("execution:start", {"prompt": prompt})
        await context.add_message({"role": "user", "content": prompt})
        if self._config.get("child") and self._coordinator.parent_id is None:
            spawn = self._coordinator.get_capability("session.spawn")
            result = await spawn("self", prompt, parent_session=self._coordinator.session)
            answer = result["output"]
        else:
            outputs = []
            for number, (tool, arguments) in enumerate(self._config["calls"]):
                outputs.append(await self._call(f"c{number}", tool, arguments, tools, hooks))
            answer = "; ".join(outputs)
        await context.add_message({"role": "assistant", "content": answer})
        await hooks.emit("orchestrator:complete", {"status": "success", "turn_count": 1})
        await hooks.emit("execution:end", {"response": answer, "status": "completed"})
        return answer

    async def _call(self, call_id, name, arguments, tools, hooks):
        how = self._config["how"]
        data = {"tool_name": name, "tool_call_id": call_id, "tool_input": arguments}
        if how != "silent":
            result = await hooks.emit("tool:pre", data)
            if how == "polite":
                result = await self._coordinator.process_hook_result(result, "tool:pre", name)
                if result.action == "deny":
                    return f"denied: {result.reason}"
            elif how == "answers" and result.action == "deny":
                return "denied"
            elif how == "other arguments":
                result = await self._coordinator.process_hook_result(result, "tool:pre", name)
                arguments = {**arguments, "content": "other"}
        if how == "by task":
            ran = await asyncio.create_task(tools[name].execute(arguments))
        elif how == "by keyword":
            ran = await tools[name].execute(input=arguments)
        else:
            ran = await tools[name].execute(arguments)
        if how == "polite" and self._config.get("twice"):
            ran = await tools[name].execute(arguments)
        return str(ran.output)


async def mount(coordinator, config=None):
    await coordinator.mount("orchestrator", RudeLoop(coordinator, config or {}))
