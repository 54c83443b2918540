import asyncio
import sys
import time
from pathlib import Path

from amplifier_tui.kernel.interfaces import ApprovalRequest
from amplifier_tui.kernel.models import HookResult

__amplifier_module_type__ = "hook"


async def mount(coordinator, config=None):
    config = config or {}
    name = config.get("name", "hooks-test")
    hooks = coordinator.hooks
    if config.get("raise_in_mount"):
        raise RuntimeError(config["raise_in_mount"])
    if config.get("exit_in_mount"):
        sys.exit(3)
    if config.get("print_in_mount"):
        print(config["print_in_mount"])
    if config.get("hang_in_mount"):
        Path(config["hang_in_mount"]).touch()
        await asyncio.Event().wait()

    async def ask(event, data):
        if config.get("only") and data.get("tool_name") != config["only"]:
            return None
        return HookResult(
            action="ask_user",
            reason=config.get("reason", "tests ask"),
            approval_prompt=config.get("prompt", "May it?"),
            approval_options=config.get("options"),
            approval_timeout=config.get("timeout", 300.0),
            approval_default=config.get("default", "deny"),
        )

    provider = {}

    async def ask_provider(event, data):
        response = await provider["it"].request_approval(
            ApprovalRequest(
                tool_name=data["tool_name"],
                action="Run it",
                details={"tool_input": data["tool_input"]},
                risk_level=config.get("risk", "high"),
                timeout=config.get("timeout"),
            )
        )
        if response.approved:
            return HookResult(action="continue")
        return HookResult(action="deny", reason=response.reason or "no")

    async def message(event, data):
        return HookResult(action="deny", reason="no", user_message=config["message"])

    async def deny_prompt(event, data):
        if config.get("deny_only", "") not in data["prompt"]:
            return None
        return HookResult(action="deny", reason=config["deny_prompt"])

    async def modify_prompt(event, data):
        return HookResult(action="modify", data={**data, "prompt": config["modify_prompt"]})

    async def hang(event, data):
        Path(config["hang_at_prompt"]).touch()
        await asyncio.Event().wait()

    if config.get("hang_at_prompt"):
        hooks.register(config.get("hang_at", "prompt:submit"), hang, name=name)
    if config.get("ask"):
        hooks.register(config.get("ask_at", "tool:pre"), ask, name=name)
    if config.get("ask_provider"):
        coordinator.register_capability(
            "approval.register_provider", lambda it: provider.update(it=it)
        )
        hooks.register("tool:pre", ask_provider, name=name)
    if config.get("message"):
        hooks.register("tool:pre", message, name=name)
    if config.get("deny_prompt"):
        hooks.register("prompt:submit", deny_prompt, name=name)
    if config.get("modify_prompt"):
        hooks.register("prompt:submit", modify_prompt, name=name)

    async def cleanup():
        if config.get("hang_in_cleanup"):
            await asyncio.Event().wait()
        if config.get("block_in_cleanup"):
            time.sleep(float(config["block_in_cleanup"]))

    return cleanup
