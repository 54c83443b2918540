"""Whoever goes back before a prompt has the request of then, whatever was compacted since."""

import copy
import json
from contextlib import suppress
from typing import Any, Literal

from hypothesis import example, given
from hypothesis import strategies as st

from amplifier_tui.context.compaction.decisions import Decisions
from amplifier_tui.context.errors import SummaryError
from amplifier_tui.context.manager import SessionContextManager
from amplifier_tui.context.pipeline import ContextPipeline
from amplifier_tui.context.request.budget import BudgetPolicy
from amplifier_tui.context.state_file import own_part, state_again, state_before
from tests.context.support import Row, ScriptedProvider, assistant, calling, result, user

Between = Literal["", "compact", "summary", "resume"]
TURNS = st.lists(
    st.tuples(
        st.integers(0, 1_500),
        st.integers(0, 1_500),
        st.sampled_from(["", "", "compact", "summary", "resume"]),
    ),
    min_size=2,
    max_size=9,
)


def begun(rows: list[Row], state: dict[str, Any] | None = None) -> ContextPipeline:
    manager = SessionContextManager(BudgetPolicy(max_tokens=4_000))
    pipeline = ContextPipeline(manager)
    manager.ledger.replace(rows)
    manager.view.forget()
    if state is not None:
        pipeline.restore(json.loads(json.dumps(state)))
    return pipeline


async def asked(live: ContextPipeline, prompt: Row) -> list[Row]:
    live.manager.ledger.append(prompt)
    return [copy.deepcopy(dict(row)) for row in await live.manager.view.messages()]


def prompt_of(turn: int) -> Row:
    return user(f"prompt {turn} " + "and so on " * 40)


def rows_of(live: ContextPipeline) -> list[Row]:
    return live.manager.ledger.messages()


async def talked(turns: list[tuple[int, int, Between]]) -> tuple[ContextPipeline, list[Any]]:
    """Hold a conversation; returns for each prompt the rows before it, and the request."""
    live = begun([])
    requests: list[Any] = []
    for number, (read, said, between) in enumerate(turns):
        before = len(live.manager.ledger)
        requests.append((before, await asked(live, prompt_of(number))))
        for row in (
            calling(f"c{number}"),
            result(f"c{number}", "line " * read),
            assistant(f"answer {number} " + "word " * said),
        ):
            live.manager.ledger.append(row)
        await live.manager.view.messages()
        match between:
            case "compact":
                await live.manager.view.compact()
            case "summary":
                with suppress(SummaryError):
                    await live.summarize(ScriptedProvider(f"Summary after {number}."))
            case "resume":
                live = begun(rows_of(live), live.to_dict())
    return live, requests


@given(TURNS, st.integers(0, 8), st.integers(0, 8))
@example([(1_121, 1_500, ""), (0, 0, "")], 0, 1)  # Nothing could be compacted before.
async def test_going_back_gives_the_model_what_it_was_sent_then(
    turns: list[tuple[int, int, Between]], first: int, second: int
) -> None:
    live, requests = await talked(turns)
    rows, state = rows_of(live), live.to_dict()
    now = await asked(live, user("on"))
    for turn in sorted({first % len(turns), second % len(turns)}, reverse=True):
        cut, then = requests[turn]
        back = begun(rows[:cut], state_before(state, cut))
        own, state = own_part(state), back.to_dict()
        # The last rows are back for a moment, and what was decided about them.
        again = begun(rows, state_again(state, own, cut))
        assert await asked(again, user("on")) == now
        assert await asked(back, prompt_of(turn)) == then
        rows, now = rows[:cut], await asked(begun(rows[:cut], state), user("on"))


def test_what_an_older_version_compacted_is_whole_again() -> None:
    decisions = Decisions()
    decisions.restore({"models": {"m@1": {"rows": {"drop": ["1-7"]}, "resume_at": 9}}})
    decisions.of("m@1").take({**decisions.of("m@1").rows, "8": "drop"}, (), 12)
    decisions.keep_before(12)
    assert decisions.of("m@1").rows == {"8": "drop"}, "nobody knows when the others were left out"
