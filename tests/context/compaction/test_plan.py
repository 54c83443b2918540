from dataclasses import replace

from amplifier_tui.context.compaction.outline import MARKER
from amplifier_tui.context.compaction.plan import plan, project
from amplifier_tui.context.entries import Entry
from tests.context.support import (
    Row,
    assistant,
    budget,
    calling,
    entries,
    hooked,
    long_session,
    result,
    system,
    user,
)


def kinds(rows: list[Entry], limit: int, **kwargs: object) -> dict[int, str]:
    made = plan(rows, budget(limit), {}, **kwargs)
    return {int(key): decision for key, decision in made.decisions.items()}


def size(*rows: Row) -> int:
    return sum(entry.tokens for entry in entries(*rows))


def test_nothing_happens_below_the_trigger() -> None:
    made = plan(entries(*long_session(3)), budget(10**6), {})
    assert (made.actions, made.reason, made.saved) == ((), "fits", 0)
    assert made.describe() == "Nothing to compact"


def test_a_request_that_just_reaches_the_trigger_stays_whole() -> None:
    rows = entries(*long_session(10))
    total = sum(entry.tokens for entry in rows)
    at = replace(budget(total), trigger=total)
    assert plan(rows, at, {}).reason == "fits"
    assert plan(rows, replace(at, trigger=total - 1), {}).reason == "trigger"


def test_the_users_last_words_stay_where_they_came_with_a_result() -> None:
    words = {"type": "text", "text": "and these are my own words"}
    block = {"type": "tool_result", "tool_call_id": "c", "output": "out " * 2_000}
    last = {"role": "user", "content": [block, words]}
    rows = entries(user("first"), assistant("a" * 4_000), calling("c", text="t" * 4_000), last)
    assert rows[-1].own
    made = plan(rows, budget(500), {})
    assert rows[-1].key not in made.decisions
    assert rows[2].key not in made.decisions
    assert rows[1].key in made.decisions


def test_old_results_are_cut_first_and_the_oldest_first_of_all() -> None:
    rows = long_session(10)
    made = plan(entries(*rows), budget(size(*rows)), {})
    cut = [action.rows[0] for action in made.actions]
    assert made.level == 1
    assert {action.kind for action in made.actions} == {"truncate"}
    assert cut == [3 + 4 * n for n in range(len(cut))]
    assert made.after <= budget(size(*rows)).target


def test_old_answers_go_before_the_users_words_are_cut() -> None:
    rows = long_session(10, output=8)
    words = [user("u" * 800) for _ in range(4)]
    rows[1:1] = [user("first"), assistant("a" * 400), words[0], assistant("b" * 400), *words[1:]]
    made = kinds(entries(*rows), size(*rows))
    assert made[2] == made[4] == "drop"
    assert 1 not in made
    assert made[3] == "stub"


def test_an_old_paste_that_is_far_too_large_is_cut_before_any_answer_goes() -> None:
    turns = long_session(3, output=400)
    for limit in (20_000, 50_000):
        rows = entries(*turns, user("p" * 160_000), user("go on"))
        assert kinds(rows, limit, force=True) == {len(turns): "stub"}


def test_nothing_is_left_out_for_a_small_part_of_what_the_target_misses() -> None:
    turns = long_session(3, output=400)
    rows = entries(*turns, user("p" * 160_000))
    made = plan(rows, budget(45_000), {})
    assert "drop" not in made.decisions.values()
    assert (made.after, made.reason) == (made.floor, "floor")
    smaller = entries(*long_session(3), *(assistant("a" * 16_000),), user("p" * 88_000))
    assert "drop" in plan(smaller, budget(30_000), {}).decisions.values()


def test_what_fits_only_without_the_answers_is_sent_without_them() -> None:
    turns = long_session(3, output=400)
    rows = entries(*turns, user("p" * 160_000))
    made = plan(rows, budget(sum(row.tokens for row in rows) - 300), {})
    assert "drop" in made.decisions.values()
    assert made.reason == "floor"


def test_a_whole_answer_is_left_out_with_its_results() -> None:
    rows = [user("first"), calling("a", "b"), result("b"), result("a"), *long_session(5, output=8)]
    made = kinds(entries(*rows), 60)
    assert made[1] == made[2] == made[3] == "drop"


def test_results_of_the_current_turn_go_before_the_latest_three() -> None:
    rows = [user("do it")]
    for n in range(6):
        rows += [calling(f"c{n}"), result(f"c{n}", "out " * 3_000)]
    made = kinds(entries(*rows), size(*rows))
    assert set(made) <= {2, 4, 6}
    assert made[2] in ("squeeze", "truncate")


def test_the_latest_results_are_cut_only_for_what_does_not_fit_at_all() -> None:
    rows = [user("do it"), calling("a"), result("a", "out " * 40_000)]
    within = plan(entries(*rows), budget(45_000), {})
    assert (within.actions, within.reason) == ((), "floor")
    beyond = plan(entries(*rows), budget(20_000), {})
    assert [action.kind for action in beyond.actions] == ["squeeze"]
    assert beyond.level == 4


def test_a_result_that_is_far_too_large_is_cut_before_the_history_goes() -> None:
    rows = [*long_session(5), calling("x"), result("x", "out " * 100_000)]
    limit = 20_000
    made = kinds(entries(*rows), limit)
    assert made[len(rows) - 1] == "squeeze"
    assert "drop" not in made.values()


def test_a_single_endless_turn_can_go_on() -> None:
    rows = [system(), user("work on it")]
    for n in range(200):
        rows += [calling(f"c{n}", text="thinking about it " * 20), result(f"c{n}", "ok " * 50)]
    made = plan(entries(*rows), budget(5_000), {})
    assert made.after <= 5_000
    assert made.reason != "overflow"
    view = project(entries(*rows), made.decisions)
    assert view[:3] == [rows[0], rows[1], MARKER]
    assert view[-2:] == rows[-2:]


def test_what_can_not_be_cut_is_said_with_its_biggest_source() -> None:
    rows = [system("s" * 40_000), user("hello")]
    made = plan(entries(*rows), budget(5_000), {})
    assert (made.reason, made.biggest[0]) == ("overflow", "system")
    assert made.floor == made.after == made.before


def test_what_a_provider_added_is_cut_but_not_left_out() -> None:
    rows = entries(*long_session(3, output=8), system("docs " * 10_000))
    rows[-1].provided = True
    made = kinds(rows, 5_000)
    assert made[len(rows) - 1] in ("squeeze", "truncate")


def test_hooks_words_are_cut_like_old_words_but_never_as_the_users_last() -> None:
    rows = [user("first"), hooked("lint " * 2_000), assistant(), user("last"), hooked("h" * 4_000)]
    made = kinds(entries(*rows), 1_300)
    assert made[1] == "stub"
    assert 3 not in made


def test_protected_rows_stay() -> None:
    rows = long_session(10)
    made = plan(entries(*rows), budget(3_000), {}, protected={"3", "7"})
    assert not {"3", "7"} & set(made.decisions)


def test_tool_schemas_count_and_can_not_be_cut() -> None:
    rows = entries(*long_session(4))
    bare = plan(rows, budget(5_000), {}, force=True)
    laden = plan(rows, budget(5_000), {}, force=True, overhead=2_000)
    assert laden.before == bare.before + 2_000
    assert laden.floor == bare.floor + 2_000


def test_decided_once_is_decided() -> None:
    rows = long_session(10)
    first = plan(entries(*rows), budget(size(*rows)), {})
    more = [*rows, *long_session(10)[1:]]
    second = plan(entries(*more), budget(size(*rows)), first.decisions)
    assert set(first.decisions) <= set(second.decisions)
    assert second.before < size(*more)
    assert all(a.rows[0] != 3 or a.kind == "drop" for a in second.actions)


def test_one_line_stands_where_the_first_row_was_left_out() -> None:
    rows = entries(user("first"), assistant("a" * 4_000), user("x"), assistant("b" * 400), user())
    made = plan(rows, budget(1_200), {})
    view = project(rows, made.decisions)
    assert [row["content"] for row in view if row["role"] == "user"][:2] == [
        "first",
        MARKER["content"],
    ]
    assert sum(row is MARKER for row in view) == 1


def test_leaving_out_less_than_the_line_takes_is_not_worth_it() -> None:
    rows = entries(user("first"), assistant("ok"), user("u" * 400))
    made = plan(rows, budget(110), {}, force=True)
    assert made.actions == ()


def test_a_plan_reads_as_a_sentence() -> None:
    rows = long_session(10)
    rows[5:5] = [user("u" * 9_000)]
    told = plan(entries(*rows), budget(600), {}).describe()
    assert told.startswith("-")
    assert "results shortened (tool:read_file" in told or "answers left out" in told
    assert "message" in told
