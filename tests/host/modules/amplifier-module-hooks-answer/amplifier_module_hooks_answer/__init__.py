"""A hook that answers events with what its config says."""

from amplifier_tui.kernel.models import HookResult

__amplifier_module_type__ = "hook"


async def mount(coordinator, config=None):
    for event, answers in (config or {}).items():
        for place, answer in enumerate(answers):

            async def reply(event, data, answer=answer):
                return answer["raw"] if "raw" in answer else HookResult(**answer)

            name = answer.pop("name", "hooks-answer")
            coordinator.hooks.register(event, reply, priority=place, name=name)
