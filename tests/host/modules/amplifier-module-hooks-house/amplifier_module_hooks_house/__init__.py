from amplifier_tui.kernel.models import HookResult

__amplifier_module_type__ = "hook"


async def mount(coordinator, config=None):
    config = config or {}

    async def judge(event, data):
        if data["tool_name"] != "write_file":
            return HookResult(action="continue")
        if "deny" in config:
            return HookResult(action="deny", reason=config["deny"])
        if "content" in config:
            given = {**data["tool_input"], "content": config["content"]}
            return HookResult(action="modify", data={**data, "tool_input": given})
        return HookResult(action="continue")

    async def say(event, data):
        if "say" not in config:
            return HookResult(action="continue")
        return HookResult(
            action="inject_context",
            context_injection=config["say"],
            context_injection_role="user",
            ephemeral=True,
        )

    async def filtered(event, data):
        if data["tool_name"] != "read_file" or "withhold" in config:
            action = "deny" if data["tool_name"] == "read_file" else "continue"
            return HookResult(action=action, reason=config.get("withhold"))
        if "filter" not in config:
            return HookResult(action="continue")
        given = {**data[config["filter"]], "output": config.get("words", "[filtered]")}
        return HookResult(action="modify", data={**data, config["filter"]: given})

    async def remind(event, data):
        action = "inject_context" if "remind" in config else "continue"
        return HookResult(action=action, context_injection=config.get("remind"), ephemeral=True)

    coordinator.hooks.register("tool:post", filtered, name="house-filter")
    coordinator.hooks.register("tool:post", remind, name="house-reminder")
    coordinator.hooks.register("tool:pre", judge, name="house-rules")
    coordinator.hooks.register("provider:request", say, name="house-words")
