import pytest
from hypothesis import given
from hypothesis import strategies as st

from amplifier_tui.context.adr.groups import (
    CharacterEstimatorTokenizer,
    annotate_message_groups,
    included_messages,
    included_token_count,
)
from amplifier_tui.context.adr.message import Content, Message
from amplifier_tui.context.adr.strategies import (
    ContextWindowCompactionStrategy,
    SelectiveToolCallCompactionStrategy,
    SlidingWindowStrategy,
    TokenBudgetComposedStrategy,
    ToolResultCompactionStrategy,
    TruncationStrategy,
    apply_compaction,
)
from tests.context.support import ledgers


def conversation(turns: int = 3, output: str = "out") -> list[Message]:
    messages = [Message.system("rules")]
    for n in range(turns):
        call = Content.from_function_call(f"c{n}", "grep", arguments={"p": str(n)})
        messages += [
            Message.user(f"q{n}"),
            Message("assistant", [call], message_id=f"m{n}"),
            Message("tool", [Content.from_function_result(f"c{n}", result=f"{output}{n}")]),
            Message.assistant(f"a{n}"),
        ]
    return messages


def told(messages: list[Message]) -> list[str]:
    return [m.text or m.contents[0].call_id or "" for m in included_messages(messages)]


def test_every_message_is_marked_with_its_group() -> None:
    messages = conversation(1)
    messages.insert(2, Message("assistant", [Content.from_text_reasoning("hm")]))
    groups = annotate_message_groups(messages)
    assert [group.kind for group in groups] == ["system", "user", "tool_call", "assistant_text"]
    marks = [message.additional_properties["_group"] for message in messages]
    assert [mark["index"] for mark in marks] == [0, 1, 2, 2, 2, 3]
    assert len({mark["id"] for mark in marks}) == 4
    assert [mark["has_reasoning"] for mark in marks] == [False, False, True, True, True, False]
    assert groups[2].tokens == sum(mark["token_count"] for mark in marks[2:5])
    assert included_token_count(messages) == sum(mark["token_count"] for mark in marks)


def test_tokens_are_counted_once_per_tokenizer() -> None:
    class Counting:
        calls = 0

        def count_tokens(self, text: str) -> int:
            self.calls += 1
            return 7

    messages, counting = conversation(2), Counting()
    annotate_message_groups(messages, counting)
    annotate_message_groups(messages, counting)
    assert counting.calls == len(messages)
    assert included_token_count(messages) == 7 * len(messages)
    annotate_message_groups(messages)
    assert included_token_count(messages) != 7 * len(messages)


def test_groups_keep_their_names_when_something_is_put_between() -> None:
    messages = conversation(2)
    before = {id(m): m.additional_properties["_group"]["id"] for m in _annotated(messages)}
    messages.insert(3, Message.user("new"))
    after = {id(m): m.additional_properties["_group"]["id"] for m in _annotated(messages)}
    assert all(after[key] == name for key, name in before.items())
    assert len(set(after.values())) == len(set(before.values())) + 1


def _annotated(messages: list[Message]) -> list[Message]:
    annotate_message_groups(messages)
    return messages


def test_a_text_has_at_least_a_token() -> None:
    assert CharacterEstimatorTokenizer().count_tokens("") == 1
    assert CharacterEstimatorTokenizer().count_tokens("x" * 400) == 100


async def test_truncation_leaves_out_the_oldest_groups_and_never_the_last() -> None:
    messages = conversation(3)
    assert await TruncationStrategy(10, 5)(messages)
    assert told(messages) == ["rules", "q2", "c2", "c2", "a2"]
    assert all(m.additional_properties["_exclude_reason"] == "truncation" for m in messages[1:9])
    assert not await TruncationStrategy(10, 5)(messages)
    tiny = conversation(3)
    await TruncationStrategy(1, 0)(tiny)
    assert told(tiny) == ["rules", "a2"]
    bare = conversation(3)
    await TruncationStrategy(1, 0, preserve_system=False)(bare)
    assert told(bare) == ["a2"]


async def test_truncation_by_tokens() -> None:
    messages, tokenizer = conversation(3, "x" * 4_000), CharacterEstimatorTokenizer()
    assert await TruncationStrategy(2_500, 1_500, tokenizer=tokenizer)(messages)
    assert included_token_count(messages) <= 1_500
    assert told(messages)[-3:] == ["c2", "c2", "a2"]


async def test_the_window_slides_over_groups() -> None:
    messages = conversation(3)
    assert await SlidingWindowStrategy(2)(messages)
    assert told(messages) == ["rules", "c2", "c2", "a2"]
    assert not await SlidingWindowStrategy(2)(messages)


async def test_older_tool_calls_are_left_out() -> None:
    messages = conversation(3)
    assert await SelectiveToolCallCompactionStrategy(1)(messages)
    assert told(messages) == ["rules", "q0", "a0", "q1", "a1", "q2", "c2", "c2", "a2"]
    none = conversation(2)
    assert await SelectiveToolCallCompactionStrategy(0)(none)
    assert "c1" not in told(none)


async def test_one_line_stands_for_an_older_tool_call_and_both_know_of_each_other() -> None:
    messages = conversation(2, "found ")
    projected = await apply_compaction(messages, ToolResultCompactionStrategy(1))
    line = projected[2]
    assert (line.role, line.text) == ("assistant", "[Tool results: grep: found 0]")
    assert line.additional_properties["_summary_of_message_ids"] == ["m0"]
    replaced = [m for m in messages if "_summarized_by_summary_id" in m.additional_properties]
    assert len(replaced) == 2
    assert {m.additional_properties["_summarized_by_summary_id"] for m in replaced} == {
        line.message_id
    }
    assert not await ToolResultCompactionStrategy(1)(messages)


async def test_the_line_has_a_limit() -> None:
    messages = conversation(2, "y" * 100_000)
    projected = await apply_compaction(messages, ToolResultCompactionStrategy(1))
    assert len(projected[2].text) < 4_300


async def test_strategies_run_until_it_fits() -> None:
    messages, ran = conversation(4, "x" * 400), []

    def noting(name: str, strategy):
        async def run(given: list[Message]) -> bool:
            ran.append(name)
            return await strategy(given)

        return run

    tools, window = SelectiveToolCallCompactionStrategy(1), SlidingWindowStrategy(1)
    strategies = [noting("tools", tools), noting("window", window)]
    assert await TokenBudgetComposedStrategy(500, None, strategies)(messages)
    assert ran == ["tools"]
    assert included_token_count(messages) <= 500
    assert not await TokenBudgetComposedStrategy(500, None, strategies)(messages)
    again = conversation(4, "x" * 400)
    await TokenBudgetComposedStrategy(500, None, strategies, early_stop=False)(again)
    assert ran == ["tools", "tools", "window"]


async def test_what_strategies_do_not_manage_the_oldest_groups_pay_for() -> None:
    messages = conversation(4, "x" * 400)
    await TokenBudgetComposedStrategy(60)(messages)
    assert told(messages) == ["rules", "a3"]


async def test_the_window_has_two_stages() -> None:
    small = conversation(6, "x" * 40)
    assert not await ContextWindowCompactionStrategy(100_000, 1_000)(small)
    evicted = conversation(6, "x" * 2_000)
    strategy = ContextWindowCompactionStrategy(7_000, 1_000, keep_last_tool_call_groups=4)
    assert await strategy(evicted)
    assert sum("[Tool results" in m.text for m in included_messages(evicted)) == 2
    assert "q0" in told(evicted)
    truncated = conversation(6, "x" * 2_000)
    assert await ContextWindowCompactionStrategy(3_000, 1_000)(truncated)
    assert included_token_count(truncated) <= 1_000
    assert "rules" in told(truncated)


@pytest.mark.parametrize(
    "make",
    [
        lambda: TruncationStrategy(1, 2),
        lambda: TruncationStrategy(-1, -2),
        lambda: SlidingWindowStrategy(0),
        lambda: SelectiveToolCallCompactionStrategy(-1),
        lambda: ToolResultCompactionStrategy(-1),
        lambda: ContextWindowCompactionStrategy(100, 100),
        lambda: ContextWindowCompactionStrategy(100, 1, truncation_threshold=0.4),
    ],
)
def test_settings_that_make_no_sense_are_refused(make: object) -> None:
    with pytest.raises(ValueError, match=r"must|leaves nothing"):
        make()


STRATEGIES = [
    TruncationStrategy(4, 2),
    TruncationStrategy(300, 100, tokenizer=CharacterEstimatorTokenizer()),
    SlidingWindowStrategy(2),
    SelectiveToolCallCompactionStrategy(1),
    ToolResultCompactionStrategy(1),
    TokenBudgetComposedStrategy(200, None, [ToolResultCompactionStrategy(1)]),
    ContextWindowCompactionStrategy(600, 100, keep_last_tool_call_groups=1),
]


@given(rows=ledgers(), strategy=st.sampled_from(STRATEGIES))
async def test_no_strategy_splits_a_call_from_its_results_or_leaves_out_the_system(
    rows: list[dict], strategy
) -> None:
    messages = [Message.from_kernel(row) for row in rows]
    projected = await apply_compaction(messages, strategy)
    calls = {c.call_id for m in projected for c in m.contents if c.type == "function_call"}
    results = {c.call_id for m in projected for c in m.contents if c.type == "function_result"}
    assert calls == results
    assert [m for m in projected if m.role == "system"] == [
        m for m in messages if m.role == "system"
    ]
    assert projected


async def test_results_of_any_kind_stand_in_the_line() -> None:
    calls = [Content.from_function_call(f"c{n}", "look") for n in range(3)]
    results = [[{"type": "text", "text": "seen"}, {"type": "image"}, "plain"], None, {"n": 1}]
    messages = [
        Message.user("q"),
        Message("assistant", calls),
        *(
            Message("tool", [Content.from_function_result(f"c{n}", result=result)])
            for n, result in enumerate(results)
        ),
        Message("assistant", [Content.from_function_call("last", "look")]),
        Message("tool", [Content.from_function_result("last", result="x")]),
    ]
    await ToolResultCompactionStrategy(1)(messages)
    assert messages[1].text == "[Tool results: look: seen [image] plain; look: ; look: {'n': 1}]"


async def test_groups_go_only_until_the_tokens_fit() -> None:
    messages = conversation(6)
    annotate_message_groups(messages)
    budget = included_token_count(messages) - 1
    strategy = TokenBudgetComposedStrategy(budget)
    assert await strategy(messages)
    assert told(messages) == told(conversation(6))[:1] + told(conversation(6))[2:]
    assert not await strategy(messages)
