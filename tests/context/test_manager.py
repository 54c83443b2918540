import asyncio
from collections.abc import Mapping
from typing import Any

import pytest

from amplifier_tui.context.adr.strategies import SlidingWindowStrategy
from amplifier_tui.context.compaction.as_plan import StrategyPlanner
from amplifier_tui.context.compaction.outline import MARKER
from amplifier_tui.context.manager import SessionContextManager
from amplifier_tui.context.request.budget import BudgetPolicy
from amplifier_tui.kernel.interfaces import ContextManager
from amplifier_tui.kernel.llm_errors import ContextLengthError
from tests.context.support import (
    Recorder,
    Row,
    ScriptedProvider,
    assistant,
    calling,
    hooked,
    long_session,
    result,
    system,
    unpaired,
    user,
)


async def filled(rows: list[Row], **policy: float) -> tuple[SessionContextManager, Recorder]:
    recorder = Recorder()
    manager = SessionContextManager(BudgetPolicy(**policy), recorder)
    for row in rows:
        await manager.add_message(row)
    recorder.events.clear()
    return manager, recorder


def test_it_is_a_context_manager_and_shows_little_more_than_that() -> None:
    manager = SessionContextManager()
    assert isinstance(manager, ContextManager)
    methods = {n for n in dir(manager) if not n.startswith("_") and callable(getattr(manager, n))}
    assert methods == {
        "add_message",
        "get_messages_for_request",
        "get_messages",
        "set_messages",
        "clear",
        "set_system_prompt_factory",
        "watch_messages",
    }


async def test_the_contracts_own_example() -> None:
    context = SessionContextManager(BudgetPolicy(max_tokens=100, threshold=0.5))
    await context.add_message(user("Read file.txt"))
    call = {"id": "call_123", "type": "function", "function": {"name": "read", "arguments": "{}"}}
    await context.add_message({"role": "assistant", "content": None, "tool_calls": [call]})
    await context.add_message({"role": "tool", "tool_call_id": "call_123", "content": "File"})
    for number in range(50):
        await context.add_message(user(f"Message {number}"))
    messages = await context.get_messages_for_request()
    assert unpaired(messages) == (set(), set())
    assert messages[0]["content"] == "Read file.txt"
    assert messages[-1]["content"] == "Message 49"
    assert len(await context.get_messages()) == 53
    await context.clear()
    assert await context.get_messages() == []


async def test_a_message_without_a_role_is_refused() -> None:
    with pytest.raises(ValueError, match="Message must have 'role' field"):
        await SessionContextManager().add_message({"content": "x"})


async def test_what_fits_goes_out_whole_and_quietly() -> None:
    rows = long_session(3)
    manager, recorder = await filled(rows)
    assert await manager.get_messages_for_request(provider=ScriptedProvider()) == rows
    assert [event for event, _ in recorder.events] == ["context:budget"]


async def test_a_compaction_is_told_once_and_kept() -> None:
    manager, recorder = await filled(long_session(20), max_tokens=10_000)
    first = await manager.get_messages_for_request()
    second = await manager.get_messages_for_request()
    assert first == second
    assert [event for event, _ in recorder.events] == [
        "context:budget",
        "context:pre_compact",
        "context:post_compact",
        "context:compaction",
    ]
    (told,) = recorder.of("context:compaction")
    assert told["before_tokens"] > 8_500 >= 5_000 >= told["after_tokens"]
    assert told["messages_truncated"] + told["messages_removed"] > 0
    assert (told["budget"], told["target_tokens"], told["reason"]) == (10_000, 5_000, "trigger")
    assert recorder.of("context:pre_compact")[0]["token_count"] == told["before_tokens"]
    assert recorder.of("context:post_compact")[0]["message_count"] == len(second)


async def test_the_beginning_of_a_request_stays_while_the_conversation_grows() -> None:
    manager, _ = await filled(long_session(20), max_tokens=10_000)
    before = await manager.get_messages_for_request()
    await manager.add_message(calling("new"))
    await manager.add_message(result("new"))
    after = await manager.get_messages_for_request()
    assert after[: len(before)] == before


async def test_another_model_starts_from_nothing() -> None:
    rows = long_session(20)
    manager, _ = await filled(rows)
    small = ScriptedProvider(window=9_000, output=1_000, model="small")
    large = ScriptedProvider(model="large")
    cut = await manager.get_messages_for_request(provider=small)
    assert sum(len(str(row)) for row in cut) < 30_000
    assert await manager.get_messages_for_request(provider=large) == rows
    assert await manager.get_messages_for_request(provider=small) == cut


async def test_a_request_without_a_provider_is_for_the_last_one() -> None:
    manager, recorder = await filled(long_session(2))
    await manager.get_messages_for_request(provider=ScriptedProvider())
    await manager.get_messages_for_request()
    assert len(recorder.of("context:budget")) == 1
    assert recorder.of("context:budget")[0]["provenance"] == "provider"


async def test_a_new_budget_is_told() -> None:
    manager, recorder = await filled(long_session(2))
    for budget in (50_000, 50_000, 40_000):
        await manager.get_messages_for_request(token_budget=budget)
    assert [data["limit"] for data in recorder.of("context:budget")] == [50_000, 40_000]


async def test_the_floor_is_told_once_and_does_not_start_a_storm() -> None:
    manager, recorder = await filled([system("s" * 30_000), user("go on")], max_tokens=10_000)
    for number in range(15):
        await manager.add_message(calling(f"c{number}"))
        await manager.add_message(result(f"c{number}", "out " * 60))
        await manager.get_messages_for_request()
    notices = recorder.of("user:notification")
    assert len(notices) == 1
    assert "'system'" in notices[0]["message"]
    # It goes on, and later there may be more to take.
    assert notices[0]["message"].startswith("For now the conversation can't be compacted below ")
    assert len(recorder.of("context:compaction")) <= 2


async def test_what_can_not_fit_is_an_error_that_names_the_largest_source() -> None:
    manager, _ = await filled([user("u" * 400_000)])
    with pytest.raises(ContextLengthError, match=r"'user' with about 100k") as error:
        await manager.get_messages_for_request(provider=ScriptedProvider(window=50_000))
    assert error.value.model == "scripted-1"
    assert str(error.value).endswith(error.value.remedy) and "larger window" in error.value.remedy
    assert len(await manager.get_messages()) == 1


@pytest.mark.parametrize("opened_again", [False, True])
@pytest.mark.parametrize("turns", [0, 3])
async def test_a_prompt_that_was_refused_is_left_out_once_another_one_is_sent(
    turns: int, opened_again: bool
) -> None:
    before = long_session(turns, output=400)
    manager, _ = await filled([*before, user("u" * 400_000)])
    provider = ScriptedProvider(window=50_000)
    for _ in range(2):
        with pytest.raises(ContextLengthError):
            await manager.get_messages_for_request(provider=provider)
    if opened_again:
        saved, rows = manager.view.to_dict(), await manager.get_messages()
        manager, _ = await filled(rows)
        manager.view.restore(saved)
    # The same prompt goes along where it fits.
    larger = ScriptedProvider(window=500_000)
    assert len(await manager.get_messages_for_request(provider=larger)) == len(before) + 1
    with pytest.raises(ContextLengthError):
        await manager.get_messages_for_request(provider=provider)
    await manager.add_message(user("then this"))
    request = await manager.get_messages_for_request(provider=provider)
    assert request[:-2] == before
    assert "left this out" in request[-2]["content"]
    assert request[-1] == user("then this")
    assert len((await manager.get_messages())[-2]["content"]) == 400_000


async def test_a_prompt_stays_that_is_not_why_the_request_was_refused() -> None:
    manager, _ = await filled([user("hi")])
    instructions = ["s" * 400_000, "be kind"]
    manager.set_system_prompt_factory(lambda: instructions[0])
    with pytest.raises(ContextLengthError):
        await manager.get_messages_for_request(provider=ScriptedProvider(window=50_000))
    manager.set_system_prompt_factory(lambda: instructions[1])
    await manager.add_message(user("again"))
    request = await manager.get_messages_for_request(provider=ScriptedProvider(window=50_000))
    assert [row["content"] for row in request] == ["be kind", "hi", "again"]


async def test_a_prompt_that_was_answered_stays_when_a_later_step_is_refused() -> None:
    manager, _ = await filled([user("u" * 100_000), calling("c"), result("c", "漢" * 100)])
    with pytest.raises(ContextLengthError):
        await manager.get_messages_for_request(provider=ScriptedProvider(window=20_000))
    await manager.add_message(user("again"))
    request = await manager.get_messages_for_request(provider=ScriptedProvider(window=200_000))
    assert len(request[0]["content"]) == 100_000


async def test_a_budget_that_nobody_must_keep_is_no_reason_to_stop() -> None:
    manager, _ = await filled([user("u" * 400_000)])
    assert len(await manager.get_messages_for_request(token_budget=10)) == 1


async def test_a_tool_result_of_ten_megabytes_does_not_end_the_session() -> None:
    rows = [*long_session(5), calling("big"), result("big", "x" * 10_000_000)]
    manager, _ = await filled(rows)
    view = await manager.get_messages_for_request(provider=ScriptedProvider())
    assert len(view[-1]["content"]) < 5_000
    assert len(view) == len(rows)


async def test_the_prompt_of_the_factory_takes_the_place_of_stored_ones_but_for_hooks() -> None:
    manager, _ = await filled([system("old"), hooked("rule", role="system"), user()])
    manager.set_system_prompt_factory(lambda: "new")
    view = await manager.get_messages_for_request()
    assert [row["content"] for row in view] == ["new", "rule", "hello"]
    assert len(await manager.get_messages()) == 3


async def test_an_empty_prompt_takes_no_place() -> None:
    manager, _ = await filled([system("old"), user()])
    manager.set_system_prompt_factory(lambda: "")
    view = await manager.get_messages_for_request()
    assert [row["content"] for row in view] == ["old", "hello"]


async def test_a_session_that_was_cut_off_is_put_right_in_the_view_only() -> None:
    rows = [user(), calling("a"), user("go on"), result("gone")]
    manager, _ = await filled(rows)
    assert unpaired(await manager.get_messages_for_request()) == (set(), set())
    assert await manager.get_messages() == rows


async def test_another_history_begins_anew() -> None:
    manager, _ = await filled(long_session(20), max_tokens=10_000)
    assert (await manager.get_messages_for_request())[1] != MARKER
    await manager.set_messages([user("new")])
    assert await manager.get_messages_for_request() == [user("new")]
    assert manager.view.decisions.to_dict()["summaries"] == []
    with pytest.raises(ValueError, match="role"):
        await manager.set_messages([{"content": "x"}])
    assert await manager.get_messages() == [user("new")]


async def test_many_at_once_lose_nothing() -> None:
    manager, _ = await filled(long_session(20), max_tokens=10_000)

    async def work(number: int) -> None:
        await manager.add_message(assistant(f"from {number}"))
        await manager.get_messages_for_request()

    await asyncio.gather(*(work(n) for n in range(20)))
    said = [row["content"][0]["text"] for row in (await manager.get_messages())[-20:]]
    assert sorted(said) == sorted(f"from {n}" for n in range(20))


async def test_a_strategy_can_take_the_place_of_the_plan() -> None:
    manager = SessionContextManager(
        BudgetPolicy(max_tokens=10_000), planner=StrategyPlanner(SlidingWindowStrategy(4))
    )
    rows = long_session(20)
    for row in rows:
        await manager.add_message(row)
    preview = await manager.view.preview()
    view = await manager.get_messages_for_request()
    assert unpaired(view) == (set(), set())
    assert view[:2] == rows[:2]
    assert view[-1] == rows[-1]
    assert {action.kind for action in preview.actions} == {"drop"}
    assert (await manager.view.report()).total == preview.after
    assert await manager.get_messages() == rows


async def test_a_watcher_sees_each_message_first_and_may_leave_it_out() -> None:
    context = SessionContextManager()
    seen: list[tuple[str, int]] = []

    def watch(message: Mapping[str, Any]) -> Mapping[str, Any] | None:
        seen.append((message["content"], len(context.ledger.entries)))
        if message["content"] == "stop":
            raise RuntimeError("stopped")
        return message if message["content"] != "again" else None

    context.watch_messages(watch)
    await context.add_message({"role": "user", "content": "one"})
    await context.add_message({"role": "user", "content": "again"})
    with pytest.raises(RuntimeError, match="stopped"):
        await context.add_message({"role": "user", "content": "stop"})
    with pytest.raises(ValueError, match="role"):
        await context.add_message({"content": "nobody"})
    assert [m["content"] for m in await context.get_messages()] == ["one"]
    assert seen == [("one", 0), ("again", 1), ("stop", 1)]
