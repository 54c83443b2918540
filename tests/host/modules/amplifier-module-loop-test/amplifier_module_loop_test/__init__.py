import asyncio
import contextlib
import json
from pathlib import Path

__amplifier_module_type__ = "orchestrator"


class TestLoop:
    """Does what its config says, however rude."""

    def __init__(self, config):
        self._config = config

    async def execute(self, prompt, context, providers, tools, hooks, **kwargs):
        config = self._config
        await hooks.emit("execution:start", {"prompt": prompt})
        if config.get("submits"):
            await hooks.emit("prompt:submit", {"prompt": prompt})
        await context.add_message({"role": "user", "content": prompt})
        await hooks.emit("provider:request", {"provider": "test", "iteration": 1})
        if config.get("dump"):
            messages = await context.get_messages_for_request()
            Path(config["dump"]).write_text(json.dumps(messages))
        if config.get("stream"):
            place = {"request_id": prompt, "block_index": 0, "block_type": "text"}
            await hooks.emit("llm:stream_block_start", place)
            await hooks.emit("llm:stream_block_delta", {**place, "text": config["stream"]})
        if config.get("dangling"):
            await context.add_message(
                {
                    "role": "assistant",
                    "content": "",
                    "tool_calls": [{"id": "c1", "name": "echo", "arguments": {"text": "x"}}],
                }
            )
        if config.get("quiet_denial"):
            call = {"id": "c1", "name": "echo", "arguments": {}}
            await context.add_message({"role": "assistant", "content": "", "tool_calls": [call]})
            data = {"tool_name": "echo", "tool_call_id": "c1", "tool_input": {}}
            result = await hooks.emit("tool:pre", data)
            row = {"role": "tool", "tool_call_id": "c1", "content": f"Denied: {result.reason}"}
            await context.add_message(row)
        if config.get("stubborn"):
            Path(config["started"]).touch()
            while not Path(config["stubborn"]).exists():
                with contextlib.suppress(asyncio.CancelledError):
                    await asyncio.sleep(0.01)
            await context.add_message({"role": "assistant", "content": "from the grave"})
        if config.get("stubborn_once"):
            await context.get_messages_for_request()
            if not Path(config["started"]).exists():
                Path(config["started"]).touch()
                try:
                    while not Path(config["stubborn_once"]).exists():
                        with contextlib.suppress(asyncio.CancelledError):
                            await asyncio.sleep(0.01)
                    return ""
                finally:
                    Path(config["woke"]).touch()
            Path(config["waiting"]).touch()
            while not Path(config["waits_for"]).exists():
                await asyncio.sleep(0.01)
        if config.get("waits"):
            Path(config["started"]).touch()
            while not Path(config["waits"]).exists():
                await asyncio.sleep(0.01)
        if config.get("raises") and not _is_over(config.get("raises_once")):
            raise RuntimeError(config["raises"])
        answer = f"You said {prompt}"
        await context.add_message({"role": "assistant", "content": answer})
        await hooks.emit(
            "content_block:end",
            {
                "block_index": 0,
                "total_blocks": 1,
                "block": {"type": "text", "text": answer},
                "usage": {"input_tokens": 10, "output_tokens": 5},
            },
        )
        await hooks.emit("orchestrator:complete", {"status": "success", "turn_count": 1})
        await hooks.emit("execution:end", {"response": answer, "status": "completed"})
        return answer


def _is_over(path):
    """Whether this is not the first time, where the config wants something once."""
    if path is None:
        return False
    over = Path(path).exists()
    Path(path).touch()
    return over


async def mount(coordinator, config=None):
    await coordinator.mount("orchestrator", TestLoop(config or {}))
