import itertools
from typing import Any

import pytest

from amplifier_tui.kernel.coordinator import ModuleCoordinator
from amplifier_tui.kernel.hooks import HookMessage, HookRegistry, HookResult

ACTIONS: dict[str, dict[str, Any]] = {
    "continue": {},
    "modify": {"data": {"prompt": "changed"}},
    "inject_context": {"context_injection": "by the way"},
    "ask_user": {"approval_prompt": "May it?"},
    "deny": {"reason": "no"},
}


def answer(action: str, name: str) -> HookResult:
    return HookResult(
        action=action,
        user_message=f"{name} says",
        user_message_level="warning",
        **ACTIONS[action],
    )


class Screen:
    def __init__(self) -> None:
        self.shown: list[tuple[str, str, str]] = []

    def show_message(self, message: str, level: str, source: str) -> None:
        self.shown.append((message, level, source))

    async def request_approval(self, *question: Any) -> str:
        return "Allow"


@pytest.mark.parametrize("event", ["prompt:submit", "provider:request", "tool:pre", "tool:post"])
@pytest.mark.parametrize(("first", "second"), [*itertools.product(ACTIONS, repeat=2)])
async def test_every_message_is_shown_once_as_its_hooks_whatever_was_answered(
    event: str, first: str, second: str
) -> None:
    screen, messages = Screen(), list[HookMessage]()
    coordinator = ModuleCoordinator(None, screen, screen)
    coordinator.hooks.show_messages(messages.append)
    coordinator.hooks.register(event, lambda *_: answer(first, "a"), 1, "a")
    coordinator.hooks.register(event, lambda *_: answer(second, "b"), 2, "b")
    result = await coordinator.hooks.emit(event, {"prompt": "as typed"})
    await coordinator.process_hook_result(result, event, "the loop")
    ran = ["a"] if first == "deny" else ["a", "b"]
    assert messages == [HookMessage(f"{name} says", "warning", "", name, event) for name in ran]
    assert screen.shown == []
    strongest = max(first, second, key=(*ACTIONS,).index) if first != "deny" else "deny"
    assert result.action == ("continue" if strongest == "modify" else strongest)


async def test_what_concludes_an_event_finds_no_message_left_to_show() -> None:
    hooks, messages = HookRegistry(), list[HookMessage]()
    hooks.show_messages(messages.append)

    async def conclude(answers: Any) -> HookResult:
        assert answers.result.user_message is None
        return HookResult(action="deny", reason="the gate")

    hooks.conclude("tool:pre", conclude, "gate")
    hooks.register("tool:pre", lambda *_: answer("ask_user", "a"), name="a")
    await hooks.emit("tool:pre", {})
    assert [message.text for message in messages] == ["a says"]


async def test_a_hook_says_by_itself_who_speaks_and_speaks_when_it_is_asked_for_data() -> None:
    hooks, messages = HookRegistry(), list[HookMessage]()
    hooks.show_messages(messages.append)
    spoken = HookResult(user_message="12 problems", user_message_source="linter", data={"n": 12})
    hooks.register("lint", lambda *_: spoken, name="quality")
    assert await hooks.emit_and_collect("lint", {}) == [{"n": 12}]
    assert [(message.source, message.handler) for message in messages] == [("linter", "quality")]
    assert spoken.user_message == "12 problems"


async def test_a_message_that_can_not_be_shown_changes_nothing(caplog: Any) -> None:
    hooks = HookRegistry()

    def broken(message: HookMessage) -> None:
        raise OSError("no screen")

    hooks.show_messages(broken)
    hooks.register("x", lambda *_: answer("deny", "a"), name="a")
    assert (await hooks.emit("x", {})).action == "deny"
    assert "could not be shown" in caplog.text


async def test_without_a_host_the_result_carries_its_message_as_published() -> None:
    screen = Screen()
    coordinator = ModuleCoordinator(None, screen, screen)
    coordinator.hooks.register("x", lambda *_: answer("deny", "a"), name="a")
    result = await coordinator.hooks.emit("x", {})
    await coordinator.process_hook_result(result, "x", "the loop")
    assert screen.shown == [("a says", "warning", "hook:the loop")]
