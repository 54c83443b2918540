from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from amplifier_tui.base.messages.tool_calls import calls_of
from amplifier_tui.base.tokens import message_tokens, text_tokens
from amplifier_tui.kernel.hooks import HookRegistry
from amplifier_tui.modules.context_simple import SimpleContextManager

Row = dict[str, Any]


def user(text: str) -> Row:
    return {"role": "user", "content": text}


def answer(text: str) -> Row:
    return {"role": "assistant", "content": [{"type": "text", "text": text}]}


def tool_use(*ids: str, text: str = "") -> Row:
    return {
        "role": "assistant",
        "content": [{"type": "text", "text": text}] if text else None,
        "tool_calls": [
            {"id": i, "type": "function", "function": {"name": "t", "arguments": "{}"}} for i in ids
        ],
    }


def result(identity: str, text: str) -> Row:
    return {"role": "tool", "tool_call_id": identity, "content": text}


def size(rows: list[Row]) -> int:
    return sum(map(message_tokens, rows))


def assert_pairs(rows: list[Row]) -> None:
    called = {c.call_id for row in rows if row["role"] == "assistant" for c in calls_of(row)}
    answered = {row["tool_call_id"] for row in rows if row["role"] == "tool"}
    assert called == answered


class Events:
    def __init__(self) -> None:
        self.hooks = HookRegistry()
        self.seen: list[tuple[str, Row]] = []
        self.hooks.observe(self._note)

    def _note(self, trace: Any) -> None:
        if "compact" in trace.event:
            self.seen.append((trace.event, trace.data))

    def names(self) -> list[str]:
        return [event for event, _ in self.seen]


async def filled(context: SimpleContextManager, rows: list[Row]) -> SimpleContextManager:
    for row in rows:
        await context.add_message(row)
    return context


def long_past(turns: int, length: int = 4_000) -> list[Row]:
    rows: list[Row] = []
    for n in range(turns):
        rows += [
            user(f"Question {n}"),
            tool_use(f"c{n}"),
            result(f"c{n}", f"{n} " + "x" * length),
            answer(f"Answer {n}"),
        ]
    return [*rows, user("Now this")]


async def test_below_the_threshold_nothing_is_touched():
    events = Events()
    rows = long_past(3)
    context = await filled(SimpleContextManager(max_tokens=10_000, hooks=events.hooks), rows)
    assert await context.get_messages_for_request() == rows
    assert events.seen == []


async def test_the_stored_history_is_never_changed():
    rows = long_past(30)
    context = await filled(SimpleContextManager(max_tokens=10_000), rows)
    view = await context.get_messages_for_request()
    assert size(view) < size(rows)
    assert await context.get_messages() == rows


async def test_old_tool_results_go_first_and_keep_both_ends():
    past = long_past(12)
    past[2]["content"] = "BEGIN" + "x" * 4_000 + "END"
    context = await filled(SimpleContextManager(max_tokens=12_000), past)
    view = await context.get_messages_for_request()
    assert len(view) == len(past)
    first = view[2]["content"]
    assert first.startswith("BEGIN") and first.endswith("END")
    assert "left out" in first and len(first) < 500
    assert view[-3]["content"] == past[-3]["content"]


async def test_then_whole_exchanges_go_and_the_users_words_stay():
    rows: list[Row] = [user("First of all")]
    for n in range(40):
        rows += [answer(f"{n} " + "y" * 2_000), user(f"Q{n} " + "z" * 1_000)]
    context = await filled(SimpleContextManager(max_tokens=10_000), rows)
    view = await context.get_messages_for_request()
    assert view[0] == rows[0]
    assert view[-1] == rows[-1]
    assert "earlier messages are left out" in view[1]["content"]
    spoken = [row for row in view if str(row["content"]).startswith("Q")]
    assert len(spoken) == 40
    assert size(view) <= 10_000 * 0.5


async def test_a_long_single_turn_is_compacted_and_its_latest_results_stay_whole():
    rows: list[Row] = [user("Do a lot")]
    for n in range(60):
        rows += [tool_use(f"c{n}", text=f"Step {n}"), result(f"c{n}", f"{n} " + "x" * 6_000)]
    context = await filled(SimpleContextManager(max_tokens=40_000), rows)
    view = await context.get_messages_for_request()
    assert len(view) == len(rows)
    assert size(view) <= 40_000 * 0.5
    assert view[-5:] == rows[-5:]
    assert_pairs(view)


async def test_one_giant_result_is_cut_so_that_the_session_can_go_on():
    rows = [user("Read it"), tool_use("c"), result("c", "x" * 4_000_000)]
    context = await filled(SimpleContextManager(max_tokens=50_000), rows)
    assert size(await context.get_messages_for_request()) <= 50_000


async def test_what_was_left_out_stays_out_so_that_the_beginning_does_not_change():
    events = Events()
    context = await filled(
        SimpleContextManager(max_tokens=10_000, hooks=events.hooks), long_past(30)
    )
    first = await context.get_messages_for_request()
    told = len(events.seen)
    await filled(context, [answer("Sure."), user("And more")])
    second = await context.get_messages_for_request()
    assert second[: len(first)] == first
    assert len(events.seen) == told


async def test_a_larger_window_brings_everything_back():
    rows = long_past(30)
    context = await filled(SimpleContextManager(), rows)
    assert size(await context.get_messages_for_request(token_budget=10_000)) <= 8_500
    assert await context.get_messages_for_request(token_budget=100_000) == rows


async def test_compaction_is_told_before_and_after():
    events = Events()
    rows = long_past(30)
    context = await filled(SimpleContextManager(max_tokens=10_000, hooks=events.hooks), rows)
    view = await context.get_messages_for_request()
    assert events.names() == ["context:pre_compact", "context:post_compact", "context:compaction"]
    before, after, whole = (data for _, data in events.seen)
    assert (before["message_count"], before["token_count"]) == (len(rows), size(rows))
    assert after["message_count"] == len(view)
    assert abs(after["token_count"] - size(view)) < 40
    assert whole["before_tokens"] == before["token_count"]
    assert whole["messages_truncated"] + whole["messages_removed"] > 0


async def test_a_floor_that_is_too_high_is_told_once_and_compacted_rarely(caplog: Any):
    events = Events()
    context = SimpleContextManager(max_tokens=10_000, hooks=events.hooks)
    await filled(context, [user("x" * 34_000)])
    for n in range(10):
        await filled(context, [tool_use(f"c{n}"), result(f"c{n}", "y" * 450)])
        await context.get_messages_for_request()
    assert sum("can't be compacted below" in record.message for record in caplog.records) == 1
    assert events.names().count("context:compaction") <= 2


async def test_hooks_words_are_not_taken_for_the_users():
    rows = long_past(30)
    rows.append({"role": "user", "content": "from a hook", "metadata": {"source": "hook"}})
    context = await filled(SimpleContextManager(max_tokens=10_000), rows)
    view = await context.get_messages_for_request()
    assert [row["content"] for row in view[-2:]] == ["Now this", "from a hook"]


async def test_the_system_prompt_counts_and_stays():
    context = await filled(SimpleContextManager(max_tokens=10_000), long_past(8))
    context.set_system_prompt_factory(lambda: "s" * 16_000)
    view = await context.get_messages_for_request()
    assert view[0] == {"role": "system", "content": "s" * 16_000}
    assert size(view) <= 10_000 * 0.9


rows_of_a_turn = st.lists(
    st.one_of(
        st.builds(lambda n: ("answer", n), st.integers(0, 3_000)),
        st.builds(lambda k, n: ("tools", k, n), st.integers(1, 4), st.integers(0, 9_000)),
        st.builds(lambda n: ("system", n), st.integers(0, 200)),
    ),
    max_size=6,
)


@given(
    st.lists(st.tuples(st.integers(0, 3_000), rows_of_a_turn), min_size=1, max_size=12),
    st.integers(500, 20_000),
)
async def test_any_conversation_keeps_its_pairs_its_order_and_its_ends(
    turns: list[Any], budget: int
):
    rows: list[Row] = []
    for length, parts in turns:
        rows.append(user(f"u{len(rows)} " + "q" * length))
        for kind, *numbers in parts:
            if kind == "answer":
                rows.append(answer(f"a{len(rows)} " + "w" * numbers[0]))
            elif kind == "system":
                row = {"role": "system", "content": "h" * numbers[0]}
                rows.append({**row, "metadata": {"source": "hook"}})
            else:
                ids = [f"c{len(rows)}-{k}" for k in range(numbers[0])]
                rows.append(tool_use(*ids))
                rows += [result(identity, "r" * numbers[1]) for identity in ids]
    context = await filled(SimpleContextManager(max_tokens=budget), rows)
    view = await context.get_messages_for_request()
    own = [row for row in view if row.get("metadata", {}).get("source") != "compaction"]
    assert_pairs(own)
    assert await context.get_messages() == rows
    identity = [(row["role"], row.get("tool_call_id"), str(row["content"])[:3]) for row in rows]
    shown = iter(identity)
    for row in own:
        assert (row["role"], row.get("tool_call_id"), str(row["content"])[:3]) in shown
    assert next(row for row in own if row["role"] == "user") == rows[0]
    last = max(n for n, row in enumerate(rows) if row["role"] == "user")
    assert rows[last] in own
    assert size(view) <= max(size(rows), 1)
    assert await context.get_messages_for_request() == view


def test_tokens_are_counted_by_the_kind_of_character():
    assert text_tokens("a" * 400) == 100
    assert text_tokens("漢" * 300) == 200
    assert text_tokens("") == 0


def test_a_call_that_stands_in_the_content_and_beside_it_counts_once():
    block = {"type": "tool_call", "id": "c", "name": "t", "input": {"text": "x" * 400}}
    listed = {"id": "c", "name": "t", "arguments": {"text": "x" * 400}}
    both = {"role": "assistant", "content": [block], "tool_calls": [listed]}
    alone = {"role": "assistant", "content": [block]}
    beside = {"role": "assistant", "content": None, "tool_calls": [listed]}
    assert message_tokens(both) == message_tokens(alone)
    assert message_tokens(beside) > 100


def test_images_have_a_flat_price():
    image = {"type": "image", "source": {"type": "base64", "data": "A" * 1_000_000}}
    assert message_tokens({"role": "tool", "content": [image]}) < 2_000
