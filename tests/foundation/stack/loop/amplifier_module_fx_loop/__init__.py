"""An orchestrator that answers with the prompt, and can be told to fail or wait."""

import asyncio
from typing import Any

__amplifier_module_type__ = "orchestrator"

STARTED: list[asyncio.Event] = []


class Loop:
    def __init__(self, config: dict[str, Any]) -> None:
        self.config = config

    async def execute(
        self, prompt: str, context: Any, providers: Any, tools: Any, hooks: Any, **more: Any
    ) -> str:
        await context.add_message({"role": "user", "content": prompt})
        if "fail" in prompt:
            raise RuntimeError("the loop failed")
        if "wait" in prompt:
            for event in STARTED:
                event.set()
            await asyncio.Event().wait()
        answer = f"{self.config.get('prefix', 'echo')}: {prompt}"
        await context.add_message({"role": "assistant", "content": answer})
        await hooks.emit(
            "orchestrator:complete",
            {"status": "success", "turn_count": 2, "metadata": {"tools": sorted(tools)}},
        )
        return answer


async def mount(coordinator: Any, config: dict[str, Any] | None = None) -> None:
    await coordinator.mount("orchestrator", Loop(config or {}))
