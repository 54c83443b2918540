"""A bundle built in Python: several providers, agents it spawns, modules it finds by itself."""

import asyncio
import os
from pathlib import Path

from amplifier_core import AmplifierSession
from amplifier_core.module_sources import ModuleNotFoundError
from amplifier_foundation import Bundle

HERE = Path(__file__).parent
NOTE = HERE.parent / "modules" / "tool-note"
OPENAI = {
    "module": "provider-openai",
    "config": {"api_key": "k", "base_url": os.environ["SERVER"], "api": "chat", "priority": 2},
}
CLAUDE = {
    "module": "provider-anthropic",
    "config": {"api_key": "k", "base_url": os.environ["SERVER"].removesuffix("/v1")},
}
BASE = Bundle(
    name="base",
    version="1.0.0",
    session={
        "orchestrator": {"module": "loop-streaming", "config": {"max_iterations": 5}},
        "context": {"module": "context-simple"},
    },
    instruction="You lead.",
)


class Source:
    def __init__(self, path):
        self.path = path

    def resolve(self):
        return self.path


class Resolver:
    def resolve(self, module_id, source_hint=None, profile_hint=None):
        if module_id != "tool-note":
            raise ModuleNotFoundError(module_id)
        return Source(NOTE)


async def several_providers():
    both = Bundle(
        name="both",
        providers=[OPENAI, {**CLAUDE, "config": {**CLAUDE["config"], "priority": 1}}],
        hooks=[{"module": "hooks-logging", "config": {"session_log_template": "events.jsonl"}}],
    )
    prepared = await BASE.compose(both).prepare()
    async with prepared.create_session() as session:
        print(sorted(session.coordinator.get("providers")), await session.execute("Who?"))
        child = Bundle(name="helper", instruction="You help.", session={}, providers=[OPENAI])
        result = await prepared.spawn(
            child_bundle=child, instruction="Help me.", parent_session=session, compose=True
        )
        print(result["output"], result["session_id"] != session.session_id)


async def delegating():
    prepared = await BASE.compose(Bundle(name="one", providers=[OPENAI])).prepare()

    async def spawn_capability(agent_name, instruction, parent_session, **options):
        child = Bundle(name=agent_name, instruction=f"You are {agent_name}.")
        return await prepared.spawn(child, instruction, parent_session=parent_session)

    async with prepared.create_session() as session:
        session.coordinator.register_capability("session.spawn", spawn_capability)
        spawn = session.coordinator.get_capability("session.spawn")
        results = await asyncio.gather(
            *(spawn(agent_name=name, instruction="Go.", parent_session=session) for name in "ab")
        )
        print([result["output"] for result in results])


async def own_resolver():
    plan = {
        "session": {"orchestrator": "loop-streaming", "context": "context-simple"},
        "providers": [OPENAI],
        "tools": [{"module": "tool-note", "config": {"mark": "-"}}],
    }
    session = AmplifierSession(config=plan)
    await session.coordinator.mount("module-source-resolver", Resolver())
    await session.initialize()
    print(await session.execute("Note it."))
    print([message["content"] for message in await messages(session) if message["role"] == "tool"])
    await session.cleanup()


async def own_source():
    tools = [{"module": "tool-note", "source": str(NOTE), "config": {"mark": "+"}}]
    bundle = BASE.compose(Bundle(name="tools", tools=tools, providers=[OPENAI]))
    async with await (await bundle.prepare()).create_session() as session:
        result = await session.coordinator.get("tools", "note").execute({"text": "here"})
        print(result.output)


async def messages(session):
    return await session.coordinator.get("context").get_messages()


async def main():
    await several_providers()
    await delegating()
    await own_resolver()
    await own_source()


asyncio.run(main())
