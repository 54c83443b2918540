import asyncio
from pathlib import Path

from amplifier_tui.context.adr.message import Message
from amplifier_tui.context.adr.provider import ContextProvider

__amplifier_module_type__ = "hook"


class Source(ContextProvider):
    """Adds to the context what its config says, or fails."""

    def __init__(self, config):
        super().__init__(config.get("id", "weather"))
        self._config = config

    async def before_run(self, agent, session, context, state):
        config = self._config
        state["asked"] = state.get("asked", 0) + 1
        if config.get("keeps"):
            state["kept"] = object()
        if config.get("circle"):
            state["circle"] = state
        if config.get("hangs"):
            Path(config["hangs"]).touch()
            await asyncio.Event().wait()
        if config.get("raises") and not Path(config.get("until", "/nowhere")).exists():
            raise RuntimeError(config["raises"])
        if config.get("says"):
            text = config["says"] * config.get("times", 1)
            context.extend_messages(self, [Message.user(text)])

    async def after_run(self, agent, session, context, state):
        state["heard"] = [message.text for message in context.response.messages]
        if self._config.get("raises_after"):
            raise RuntimeError(self._config["raises_after"])


async def mount(coordinator, config=None):
    pipeline = coordinator.get_capability("context.pipeline")
    for entry in (config or {}).get("sources", [config or {}]):
        pipeline.add(Source(entry))
