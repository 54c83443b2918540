"""A script beside a bundle: own tools, hooks, approvals and messages; it keeps the conversation."""

import asyncio
import json
import os
from pathlib import Path

from amplifier_core import HookResult, ToolResult
from amplifier_foundation import Bundle, load_bundle

ROOT = Path(__file__).parent.parent
KEPT = Path("conversation.json")


class Approvals:
    async def request_approval(self, prompt, options, timeout, default):
        print(f"? {prompt} {options}")
        return "Allow" if input("allow? ").strip() == "y" else "Deny"


class Display:
    def show_message(self, message, level, source="hook"):
        print(f"! {level} {source}: {message}")


class Adder:
    @property
    def name(self):
        return "add"

    @property
    def description(self):
        return "Adds two numbers."

    @property
    def input_schema(self):
        number = {"type": "number"}
        return {"type": "object", "properties": {"a": number, "b": number}}

    async def execute(self, input):
        return ToolResult(success=True, output={"sum": input["a"] + input["b"]})


log = []


async def note_event(event, data):
    log.append(event)
    return HookResult(action="continue")


async def guard(event, data):
    if data["tool_name"] == "add":
        return HookResult(action="ask_user", approval_prompt="Add these?")
    return HookResult(action="deny", reason="no notes today", user_message="Kept a note away")


async def open_session(earlier):
    provider = Bundle(
        name="provider",
        providers=[
            {
                "module": "provider-openai",
                "config": {"api_key": "k", "base_url": os.environ["SERVER"], "api": "chat"},
            }
        ],
    )
    bundle = (await load_bundle(str(ROOT / "bundle.md"))).compose(provider)
    prepared = await bundle.prepare()
    session = await prepared.create_session(
        session_id="talk", approval_system=Approvals(), display_system=Display()
    )
    await session.coordinator.mount("tools", Adder(), name="add")
    for event in ("prompt:submit", "tool:post", "execution:end"):
        session.coordinator.hooks.register(event, note_event, priority=100, name="log")
    session.coordinator.hooks.register("tool:pre", guard, name="guard")
    await session.coordinator.get("context").set_messages(earlier)
    return session


async def talk():
    """Talk until the user leaves; whether to come back."""
    earlier = json.loads(KEPT.read_text()) if KEPT.exists() else []
    session = await open_session(earlier)
    try:
        while (prompt := input("> ")) != "again":
            print(await session.execute(prompt))
        return True
    except EOFError:
        return False
    finally:
        messages = await session.coordinator.get("context").get_messages()
        KEPT.write_text(json.dumps(messages))
        Path("events.log").write_text("\n".join(log))
        print(len(earlier), "then", len(messages), sorted(session.coordinator.get("tools")))
        await session.cleanup()


async def main():
    while await talk():
        print("Welcome back.")


if __name__ == "__main__":
    asyncio.run(main())
