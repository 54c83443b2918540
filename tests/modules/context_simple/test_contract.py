from types import SimpleNamespace
from typing import Any

import pytest

from amplifier_tui.kernel.coordinator import ModuleCoordinator
from amplifier_tui.kernel.hooks import HookRegistry
from amplifier_tui.kernel.interfaces import ContextManager
from amplifier_tui.kernel.loader import ModuleLoader
from amplifier_tui.modules import context_simple
from amplifier_tui.modules.context_simple import SimpleContextManager


def user(text: str) -> dict[str, Any]:
    return {"role": "user", "content": text}


def provider(window: Any, output: Any) -> Any:
    defaults = {"context_window": window, "max_output_tokens": output}
    return SimpleNamespace(get_info=lambda: SimpleNamespace(defaults=defaults))


async def test_it_is_found_by_its_id_and_mounted_as_the_context():
    coordinator = ModuleCoordinator()
    mount = await ModuleLoader(coordinator).load("context-simple", {})
    await mount(coordinator)
    assert isinstance(coordinator.get("context"), ContextManager)
    (announced,) = await coordinator.collect_contributions("observability.events")
    assert "context:pre_compact" in announced


@pytest.mark.parametrize(
    "config",
    [
        {"max_tokens": 0},
        {"max_tokens": "many"},
        {"compaction_threshold": 1.5},
        {"compaction_threshold": 0.4, "compaction_target": 0.6},
    ],
)
async def test_a_mistake_in_the_config_is_told(config: dict[str, Any]):
    with pytest.raises(ValueError, match="context-simple"):
        await context_simple.mount(ModuleCoordinator(), config)


async def test_messages_come_back_in_their_order():
    context = SimpleContextManager(max_tokens=1000)
    rows = [user("Hello"), {"role": "assistant", "content": "Hi there!"}]
    for row in rows:
        await context.add_message(row)
    assert await context.get_messages() == rows
    assert await context.get_messages_for_request() == rows


@pytest.mark.parametrize("message", [{}, {"content": "x"}, {"role": ""}, "text"])
async def test_a_message_without_a_role_is_refused(message: Any):
    context = SimpleContextManager()
    with pytest.raises(ValueError, match="role"):
        await context.add_message(message)
    await context.add_message(user("kept"))
    with pytest.raises(ValueError, match="role"):
        await context.set_messages([user("new"), message])
    assert await context.get_messages() == [user("kept")]


async def test_what_it_hands_out_can_be_changed_without_harm():
    context = SimpleContextManager()
    mine = user("Hello")
    await context.add_message(mine)
    mine["content"] = "changed"
    for given in (await context.get_messages(), await context.get_messages_for_request()):
        given[0]["content"] = "changed"
        given.clear()
    assert await context.get_messages() == [user("Hello")]


async def test_a_session_is_resumed_with_its_messages():
    context = SimpleContextManager()
    await context.add_message(user("old"))
    await context.set_messages([user("saved")])
    assert await context.get_messages() == [user("saved")]


async def test_clearing_forgets_everything():
    context = SimpleContextManager()
    await context.add_message(user("x"))
    await context.clear()
    assert await context.get_messages() == []
    assert await context.get_messages_for_request() == []


# --- system prompt ---------------------------------------------------------------------------


async def test_the_system_prompt_is_made_anew_for_every_request():
    context = SimpleContextManager()
    prompts = iter(["one", "two"])
    context.set_system_prompt_factory(lambda: next(prompts))
    await context.add_message(user("Hi"))
    for prompt in ("one", "two"):
        request = await context.get_messages_for_request()
        assert request == [{"role": "system", "content": prompt}, user("Hi")]
    assert await context.get_messages() == [user("Hi")]


async def test_an_async_factory_replaces_stored_prompts_but_not_what_hooks_said():
    context = SimpleContextManager()

    async def factory() -> str:
        return "new"

    hook = {"role": "system", "content": "from a hook", "metadata": {"source": "hook"}}
    await context.set_messages([{"role": "system", "content": "old"}, user("Hi"), hook])
    context.set_system_prompt_factory(factory)
    request = await context.get_messages_for_request()
    assert [row["content"] for row in request] == ["new", "Hi", "from a hook"]


async def test_a_factory_that_fails_later_leaves_the_last_prompt_in_place():
    context = SimpleContextManager()
    answers: list[Any] = ["good", OSError("file is gone")]

    def factory() -> str:
        answer = answers.pop(0)
        if isinstance(answer, Exception):
            raise answer
        return answer

    context.set_system_prompt_factory(factory)
    assert (await context.get_messages_for_request())[0]["content"] == "good"
    assert (await context.get_messages_for_request())[0]["content"] == "good"


async def test_a_factory_that_fails_at_once_is_not_hidden():
    context = SimpleContextManager()
    context.set_system_prompt_factory(lambda: 1 / 0)
    with pytest.raises(ZeroDivisionError):
        await context.get_messages_for_request()


async def test_an_empty_prompt_is_no_message():
    context = SimpleContextManager()
    context.set_system_prompt_factory(lambda: "")
    await context.add_message(user("Hi"))
    assert await context.get_messages_for_request() == [user("Hi")]


# --- budget ----------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("explicit", "window", "configured", "budget"),
    [
        (500, (200_000, 16_000), 9_000, 500),
        (None, (200_000, 16_000), None, 183_000),
        (None, (200_000, 16_000), 9_000, 9_000),
        (None, (8_000, 8_000), None, 2_000),
        (None, (None, None), 9_000, 9_000),
        (None, ("big", 1), None, 200_000),
        (-5, None, None, 0),
    ],
)
async def test_the_budget_is_explicit_then_the_providers_then_configured(
    explicit: int | None, window: Any, configured: int | None, budget: int
):
    hooks, told = HookRegistry(), []
    hooks.register("context:budget", lambda event, data: told.append(data["limit"]))
    context = SimpleContextManager(max_tokens=configured, hooks=hooks)
    asked = provider(*window) if window else None
    await context.get_messages_for_request(explicit, asked)
    assert told == [budget]


async def test_a_provider_that_cannot_tell_its_window_is_no_obstacle():
    broken = SimpleNamespace(get_info=lambda: 1 / 0)
    context = SimpleContextManager(max_tokens=1000)
    await context.add_message(user("Hi"))
    assert await context.get_messages_for_request(provider=broken) == [user("Hi")]
