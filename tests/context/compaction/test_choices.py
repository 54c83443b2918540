"""What the user decides about single items: the request, the ledger and a resume agree on it."""

import copy
import json
from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from amplifier_tui.context.compaction.choices import Choices
from amplifier_tui.context.compaction.shorten import replaced_results
from amplifier_tui.context.manager import SessionContextManager
from amplifier_tui.context.pipeline import ContextPipeline
from amplifier_tui.context.request.budget import BudgetPolicy
from amplifier_tui.context.state_file import state_before
from tests.context.support import (
    Row,
    assistant,
    calling,
    entries,
    exchanges,
    ledgers,
    long_session,
    result,
    system,
    unpaired,
    user,
)

LIMIT = 6_000


def begun(rows: list[Row], state: dict[str, Any] | None = None) -> ContextPipeline:
    manager = SessionContextManager(BudgetPolicy(max_tokens=LIMIT))
    pipeline = ContextPipeline(manager)
    manager.ledger.replace(rows)
    manager.view.forget()
    if state is not None:
        pipeline.restore(json.loads(json.dumps(state)))
    return pipeline


async def request(pipeline: ContextPipeline) -> list[Row]:
    return [copy.deepcopy(dict(row)) for row in await pipeline.manager.view.messages()]


def texts(rows: list[Row]) -> list[str]:
    return [str(row.get("content")) for row in rows]


def is_prompt(row: Row) -> bool:
    return row["role"] == "user" and "metadata" not in row


CHOICES = st.sampled_from(["pin", "drop", "shorten", None])
STEPS = st.lists(
    st.one_of(
        st.tuples(st.just("choose"), st.integers(0, 40), CHOICES),
        st.tuples(st.just("undo")),
        st.tuples(st.just("compact")),
        st.tuples(st.just("resume")),
        st.tuples(st.just("fork"), st.integers(1, 40)),
        st.tuples(st.just("say"), exchanges("later")),
    ),
    max_size=10,
)


@given(ledgers(), STEPS)
async def test_request_ledger_and_a_fresh_resume_agree_whatever_is_done(
    rows: list[Row], steps: list[tuple[Any, ...]]
) -> None:
    live, said = begun(rows), list(rows)
    for number, step in enumerate(steps):
        view = live.manager.view
        match step:
            case ("choose", row, choice):
                view.choose(str(row % len(said)), choice)
            case ("undo",):
                view.undo_choice()
            case ("compact",):
                await view.compact()
            case ("resume",):
                live = begun(said, live.to_dict())
            case ("fork", row):
                # A fork begins before a prompt.
                prompts = [at for at, each in enumerate(said) if is_prompt(each)]
                cut = [*prompts[1:], len(said)][row % len(prompts)]
                said, state = said[:cut], state_before(live.to_dict(), cut)
                live = begun(said, state)
            case ("say", more):
                # Ids of calls are of one answer only.
                fresh = json.loads(json.dumps(more).replace("later.", f"n{number}."))
                said += fresh
                for row in fresh:
                    live.manager.ledger.append(row)
        asked = await request(live)
        assert live.manager.ledger.messages() == said, "the ledger keeps what was said"
        assert unpaired(asked) == (set(), set())
        assert await request(begun(said, live.to_dict())) == asked
        for key in live.manager.view.decisions.choices.pins:
            assert said[int(key)]["role"] == "system" or said[int(key)].get("content") in [
                row.get("content") for row in asked
            ], "what is pinned is there, whole"


async def test_a_result_is_left_out_shortened_and_brought_back() -> None:
    rows = [system(), user("go"), calling("a"), result("a", "x" * 4_000), assistant(), user("on")]
    live = begun(rows)
    view = live.manager.view
    whole = await request(live)
    assert view.choose("3", "drop") == ""
    asked = await request(live)
    assert len(asked) == len(whole) and "The user left this out" in texts(asked)[3]
    (item,) = [item for item in await view.items() if item.key == "3"]
    assert (item.state, item.call_id) == ("dropped", "a") and item.whole > 900 > item.tokens
    assert view.choose("3", "shorten") == ""
    assert "characters left out" in texts(await request(live))[3]
    assert view.undo_choice() == "3" and "The user left this out" in texts(await request(live))[3]
    assert view.undo_choice() == "3" and await request(live) == whole
    assert view.undo_choice() is None


async def test_an_answer_is_left_out_with_its_calls_and_their_results() -> None:
    rows = [user("go"), calling("a", "b"), result("a"), result("b"), assistant("So."), user("on")]
    live = begun(rows)
    assert live.manager.view.choose("1", "drop") == ""
    asked = await request(live)
    assert [row["role"] for row in asked] == ["user", "user", "assistant", "user"]
    items = {item.key: item for item in await live.manager.view.items()}
    assert items["1"].state == "dropped" and items["1"].whole > items["1"].tokens
    live.manager.view.choose("3", "pin")
    assert await request(live) == rows, "a pinned result keeps its call"


async def test_compaction_leaves_what_is_pinned_whole_also_where_it_had_cut_it() -> None:
    live = begun(long_session(20, 4_000))
    view = live.manager.view
    await request(live)
    cut = next(item for item in await view.items() if item.state == "compacted" and item.call_id)
    assert view.choose(cut.key, "pin") == ""
    await view.compact()
    asked = await request(live)
    assert view.ledger.entries[int(cut.key)].message["content"] in texts(asked)
    assert sum(item.tokens for item in await view.items()) <= LIMIT


async def test_what_a_request_cannot_do_without_is_refused_with_a_reason() -> None:
    live = begun([system("be kind"), user("go"), assistant("Yes."), user("and now?")])
    view = live.manager.view
    assert "instructions always go along" in view.choose("0", "drop")
    assert "what the model is asked right now" in view.choose("3", "drop")
    assert view.choose("3", "pin") == ""
    assert "shorter than the" in view.choose("2", "shorten")
    assert "go on without the source" in view.choose("rag#1", "drop")
    assert view.choose("99", "drop") and view.decisions.choices.changes == (("3", "pin"),)
    named = {item.source: item.fixed for item in await view.items() if item.fixed}
    assert "be kind" in str(texts(await request(live))) and all(named.values())


async def test_the_biggest_items_come_first_and_every_one_has_a_name() -> None:
    live = begun(long_session(3, 4_000))
    items = await live.manager.view.items()
    sizes = [max(item.tokens, item.whole) for item in items]
    assert sizes == sorted(sizes, reverse=True) and all(item.source for item in items)
    assert items[0].source == "tool:read_file" and items[0].text.startswith("line 0")


async def test_a_call_that_still_runs_is_one_item_and_its_missing_result_another() -> None:
    live = begun([user("go"), calling("a", "b"), result("a")])
    items = {item.text: item for item in await live.manager.view.items()}
    assert len(items) == 4 and [i.key for i in items.values()].count("1") == 1
    assert [i.fixed for i in items.values() if not i.key] == [
        "It stands in for a result until that is there."
    ]


def test_a_message_stands_for_a_row_by_the_same_object_every_time() -> None:
    rows = entries(user("go"), calling("a"), result("a", "x" * 2_000))
    choices = Choices([("2", "shorten")])
    assert choices.applied(rows)[2] is choices.applied(rows)[2]
    assert choices.applied(rows[:2]) == rows[:2]


def test_only_the_results_in_a_message_give_way_to_a_line() -> None:
    block = {"type": "tool_result", "tool_use_id": "a", "content": "long"}
    row = {"role": "user", "content": [block, {"type": "text", "text": "and?"}]}
    assert replaced_results(row, "gone")["content"] == [
        {**block, "content": "gone"},
        {"type": "text", "text": "and?"},
    ]


def test_what_cannot_be_read_of_a_saved_state_is_left_out() -> None:
    choices = Choices()
    choices.restore([["1", "pin"], ["2", "fold"], [3, "drop"], "x", ["4"], ["2", ["pin"]]])
    assert choices.changes == (("1", "pin"), ("2", None), ("2", None)) and choices.pins == {"1"}
    choices.restore({"1": "pin"})
    assert choices.changes == ()
