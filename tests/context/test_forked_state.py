import copy
from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from amplifier_tui.context.compaction.decisions import unpacked
from amplifier_tui.context.state_file import own_part, state_again, state_before

KEYS = st.builds(
    lambda row, tail: f"{row}{tail}", st.integers(0, 30), st.sampled_from(["", ".0", "+call-1"])
) | st.sampled_from(["memory#0f3a", "rag#11.2"])
SUMMARIES = st.lists(
    st.fixed_dictionaries(
        {"id": st.text(), "text": st.text(), "keys": st.lists(KEYS), "at_row": st.integers(0, 30)}
    )
)
ROWS = st.dictionaries(st.sampled_from(["drop", "truncate"]), st.lists(KEYS))
STEP = st.fixed_dictionaries({"at_row": st.integers(0, 30), "rows": ROWS})
DECIDED = st.fixed_dictionaries(
    {
        "rows": ROWS,
        "resume_at": st.integers(0, 9),
        "summaries": SUMMARIES,
        "steps": st.lists(STEP),
    }
)
STATES = st.fixed_dictionaries(
    {
        "session_id": st.text(),
        "state": st.fixed_dictionaries(
            {
                "weather": st.dictionaries(st.text(), st.integers()),
                "context": st.fixed_dictionaries(
                    {
                        "decisions": st.fixed_dictionaries(
                            {
                                "models": st.dictionaries(st.text(), DECIDED),
                                "summaries": SUMMARIES,
                            }
                        ),
                        "told": st.integers(0, 30),
                        "anchor": st.none() | st.just({"usage": 1, "estimate": 1, "model": "m"}),
                    }
                ),
            }
        ),
    }
)


def row_of(key: str) -> int:
    digits = key.partition(".")[0].partition("+")[0]
    return int(digits) if digits.isdigit() else -1


@given(STATES, st.integers(0, 31))
def test_nothing_is_decided_about_rows_a_fork_does_not_have(data: Any, row: int) -> None:
    before = copy.deepcopy(data)
    cut = state_before(data, row)
    assert data == before
    own, was = cut["state"]["context"], data["state"]["context"]
    for model, decided in own["decisions"]["models"].items():
        old = was["decisions"]["models"][model]
        kept = {kind: set(unpacked(keys)) for kind, keys in decided["rows"].items()}
        wanted = {
            (kind, key)
            for step in old["steps"]
            for kind, keys in step["rows"].items()
            for key in keys
            if step["at_row"] <= row and row_of(key) < row
        }
        assert set().union(*kept.values()) == {key for _, key in wanted}
        assert {(kind, key) for kind, keys in kept.items() for key in keys} <= wanted
    left = own["decisions"]["summaries"]
    assert all(row_of(key) < row for summary in left for key in summary["keys"])
    assert all(summary["at_row"] <= row for summary in left)
    assert own["anchor"] is None
    assert cut["state"]["weather"] == data["state"]["weather"]
    assert cut["session_id"] == data["session_id"]


def test_a_state_without_a_context_s_own_part_stays_as_it_is() -> None:
    for data in ({}, {"state": {}}, {"state": {"rag": {"n": 1}}}, {"state": {"context": None}}):
        assert state_before(data, 3).get("state") == data.get("state", {})
    strange: dict[str, Any] = {"state": {"context": {"decisions": [1], "told": 2}}}
    assert state_before(strange, 3)["state"]["context"]["decisions"]["models"] == {}


def test_what_stands_for_summaries_in_any_order_holds_again_too() -> None:
    written = (("a", "1"), ("b", "2"), ("c", "2 3"), ("d", "1 4"), ("e", "4"))
    summaries = [
        {"id": name, "text": name, "keys": keys.split(), "at_row": 5} for name, keys in written
    ]
    decided = {"summaries": [{**each, "id": f"m{each['id']}"} for each in summaries[:2]]}
    own = {"decisions": {"models": {"m": decided}, "summaries": summaries}, "told": 0}
    data: dict[str, Any] = {"state": {"context": own}}
    taken = state_before(data, 9)
    assert state_before(taken, 9) == taken
    assert state_again(taken, own, 9) == data


@given(STATES, st.integers(0, 31))
def test_what_was_decided_holds_again_when_the_rows_are_back(data: Any, row: int) -> None:
    taken = state_before(data, row)
    assert state_again(taken, own_part(data), row) == {**data, "state": {**data["state"]}}


@given(STATES, st.integers(1, 31))
def test_what_was_decided_since_stays_when_rows_are_back(data: Any, row: int) -> None:
    since: Any = state_before(data, row)
    since["state"]["context"]["decisions"]["summaries"].append(
        {"id": "since", "text": "Since.", "keys": ["0"]}
    )
    back = state_again(since, own_part(data), row)["state"]["context"]["decisions"]
    assert back["summaries"][-1]["id"] == "since"
