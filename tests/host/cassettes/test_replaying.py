from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from amplifier_tui.host.cassettes.baseline import baseline
from amplifier_tui.host.cassettes.cassette import (
    Cassette,
    TapedAgent,
    TapedAnswer,
    TapedCall,
    TapedCompaction,
    TapedRequest,
)
from amplifier_tui.host.cassettes.comparing import differences
from tests.host.cassettes.taped import INSTRUCTION, TapedProject, recorded, taped
from tests.host.driving import MODULES
from tests.sandbox import needs_sandbox


@pytest.fixture
def made(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> TapedProject:
    monkeypatch.setenv("AMPLIFIER_MODULES", str(MODULES))
    folder = tmp_path / "project"
    folder.mkdir()
    return TapedProject(folder)


def edited(kind: type[Any], name: str, **changes: Any) -> Cassette:
    """Return the short session with one line of it changed."""
    cassette = taped()
    rows = [
        row.model_copy(update=changes) if isinstance(row, kind) and row.id == name else row
        for row in cassette.rows
    ]
    return cassette.model_copy(update={"rows": tuple(rows)})


def answer(name: str, **changes: Any) -> Cassette:
    """Return the short session with other words of the model."""
    taped_answer = next(each for each in taped().of(TapedAnswer) if each.id == name)
    content = [{**block, **changes} for block in taped_answer.content]
    return edited(TapedAnswer, name, content=content)


def test_thirty_turns_with_tools_approvals_agents_and_compactions_replay_without_a_difference(
    made: TapedProject,
) -> None:
    made.window = 9_000
    cassette = recorded(made, 30)
    assert len(list(cassette.of(TapedAnswer))) == 68 and len(list(cassette.of(TapedAgent))) == 4
    asked = [each for each in cassette.of(TapedCall) if each.hooks.get("gate") == "ask_user"]
    outcomes = {each.decision.outcome for each in asked if each.decision}
    assert outcomes == {"allowed", "denied", "timed_out"}
    assert list(cassette.of(TapedCompaction))
    replayed = made.play(cassette)
    assert not differences(cassette, replayed.cassette)
    assert not replayed.missed and not replayed.refused


def test_a_replay_knows_what_every_request_holds(made: TapedProject) -> None:
    assert not made.found(taped())


CHANGES: dict[str, tuple[Callable[[TapedProject], None], str, str]] = {
    "a hook denies": (
        lambda made: made.house.update(deny="never"),
        "turn 2, call 2.1.1 (write_file): hooks",
        "house-rules nothing → house-rules deny",
    ),
    "a hook changes arguments": (
        lambda made: made.house.update(content="other"),
        "turn 2, call 2.1.1 (write_file): arguments after hooks",
        "other",
    ),
    "a hook says more": (
        lambda made: made.house.update(say="Hurry up."),
        "turn 1, request 1, provider:request: hooks",
        "house-words nothing → house-words inject_context",
    ),
    "a rule denies": (
        lambda made: made.rules.update(deny=["bash(sort *)"]),
        "turn 3, call 3.1.1 (bash): decision",
        "goes → denied by rule bash(sort *)",
    ),
    "a rule allows": (
        lambda made: made.rules.update(allow=["bash(touch *)"]),
        "turn 3, call 3.1.2 (bash): decision",
        "allowed by user → allowed by rule bash(touch *)",
    ),
    "the prompt": (
        lambda made: setattr(made, "instruction", INSTRUCTION.replace("one sentence", "verse")),
        "turn 1, request 1: system prompt",
        "line 2: “You answer in one sentence.” → “You answer in verse.”",
    ),
    "the prompt of an agent": (
        lambda made: setattr(made, "agent", "You look twice."),
        "turn 4, agent of call 4.1.1, request 1: system prompt",
        "“You look twice.”",
    ),
    "a tool less": (
        lambda made: made.tools.remove("tool-todo"),
        "turn 1, request 1: tools",
        "todo → nothing",
    ),
    "a tool that is called is gone": (
        lambda made: made.tools.remove("tool-bash"),
        "turn 3, call 3.1.1 (bash): ran",
        "yes → no",
    ),
    "the budget of the context": (
        lambda made: made.context.update(target=0.8),
        "turn 5: compaction",
        "messages_removed 13, messages_truncated 1, reason floor →",
    ),
}


@pytest.mark.parametrize("change", CHANGES)
def test_what_was_changed_is_found_and_named(made: TapedProject, change: str) -> None:
    make, place, words = CHANGES[change]
    make(made)
    found = made.found(taped())
    named = [each for each in found if each.startswith(place)]
    assert any(words in each for each in named), "\n".join(found)


def test_another_result_of_a_real_tool_is_found_in_a_copy_of_the_workspace(
    made: TapedProject,
) -> None:
    (made.folder / "notes.txt").write_text("thread\nhay\n")
    found = made.found(taped(), "real")
    assert found[0].startswith("turn 1, call 1.1.1 (read_file): output: line 1: ")
    assert "needle" in found[0] and "thread" in found[0]
    assert not list(made.folder.glob("out*.txt")), "only the copy was written to"


@needs_sandbox
def test_real_tools_in_the_same_workspace_make_no_difference(made: TapedProject) -> None:
    assert not made.found(taped(), "real")


@needs_sandbox
def test_what_a_command_leaves_in_the_workspace_is_compared_once_it_is_known(
    made: TapedProject,
) -> None:
    known = baseline(taped(), made.play(taped(), "real"))
    assert not made.found(known, "real") and not made.found(known)
    other = answer("3.1", input={"command": "touch y"})
    lines = [row for row in other.rows if row.kind != "files"]
    files = [row for row in known.rows if row.kind == "files"]
    found = made.found(known.model_copy(update={"rows": (*lines, *files)}), "real")
    assert found[-2:] == [
        "workspace: file: x 0 bytes → x nothing",
        "workspace: file: y nothing → y 0 bytes",
    ]


def test_other_words_of_the_model_are_found_where_they_are_read_again(made: TapedProject) -> None:
    found = made.found(answer("2.2", text="Something else."))
    assert found[0] == (
        "turn 2: end text: “In turn 2: Created out2.txt: 1 bytes (+1 −0 lines).” → "
        "“Something else.”"
    )
    assert found[1].startswith("turn 3, request 1: what the model sees of 2.2: other words → ")
    assert "Something else." in found[1]


KEYS = pytest.mark.parametrize("key", ["result", "tool_result"])
"""Under both a result is shown to hooks, and either may be changed."""
FIRST = "turn 1, call 1.1.1 (read_file): output after hooks: "
SEES = "turn 1, request 2: what the model sees of 1.1.1: "


def filtering(made: TapedProject, **house: str) -> Cassette:
    """Return a session of which a hook filters the results of read_file."""
    made.house.update(house)
    session = recorded(made, 2)
    return baseline(session, made.play(session))


@pytest.mark.parametrize(
    ("now", "words"), [("0" * 12, "something else"), ("", "nothing")], ids=["other", "none"]
)
def test_what_the_model_sees_of_a_call_that_tells_nothing_is_no_digest(
    now: str, words: str
) -> None:
    def told(row: Any) -> Any:
        if isinstance(row, TapedCall) and row.id == "1.1.1":
            return row.model_copy(update={"result": None, "seen": None})
        if isinstance(row, TapedRequest) and "1.1.1" in row.seen:
            return row.model_copy(update={"seen": {**row.seen, "1.1.1": now}})
        return row

    changed = taped().model_copy(update={"rows": tuple(map(told, taped().rows))})
    (said,) = [str(e) for e in differences(taped(), changed) if str(e).startswith(SEES)]
    assert "needle" in said and said.endswith(f"→ {words}")


@KEYS
def test_a_hook_that_filters_a_result_as_it_did_makes_no_difference(
    made: TapedProject, key: str
) -> None:
    assert not made.found(filtering(made, filter=key))


@KEYS
def test_a_hook_that_filters_otherwise_is_told_in_the_words_of_then_and_now(
    made: TapedProject, key: str
) -> None:
    cassette = filtering(made, filter=key)
    made.house["words"] = "[hidden]"
    found = made.found(cassette)
    assert f"{FIRST}“[filtered]” → “[hidden]”" in found
    assert f"{SEES}“[filtered]” → “[hidden]”" in found


@KEYS
def test_a_hook_that_no_longer_filters_is_told_in_the_words_the_model_sees_now(
    made: TapedProject, key: str
) -> None:
    cassette = filtering(made, filter=key)
    del made.house["filter"]
    found = made.found(cassette)
    for place in (FIRST, SEES):
        (said,) = [each for each in found if each.startswith(place)]
        assert "“[filtered]” → “" in said and "needle" in said


@KEYS
def test_a_hook_that_begins_to_filter_is_told_in_the_words_the_model_sees_now(
    made: TapedProject, key: str
) -> None:
    made.house.update(filter=key)
    found = made.found(taped())
    for place in (FIRST, SEES):
        (said,) = [each for each in found if each.startswith(place)]
        assert "needle" in said and said.endswith("→ “[filtered]”")


def test_that_filtering_stopped_is_found_without_what_the_requests_hold(
    made: TapedProject,
) -> None:
    made.house.update(filter="tool_result")
    session = recorded(made, 1)
    del made.house["filter"]
    assert [each for each in made.found(session) if each.startswith(FIRST)]


def test_a_filter_is_seen_beside_a_hook_that_reminds(made: TapedProject) -> None:
    cassette = filtering(made, filter="tool_result", remind="Be brief.")
    made.house["words"] = "[hidden]"
    assert f"{FIRST}“[filtered]” → “[hidden]”" in made.found(cassette)


def test_a_hook_that_withholds_a_result_is_told_in_the_words_the_model_sees(
    made: TapedProject,
) -> None:
    cassette = filtering(made, withhold="secret")
    assert not made.found(cassette)
    del made.house["withhold"]
    found = made.found(cassette)
    for place in (FIRST, SEES):
        (said,) = [each for each in found if each.startswith(place)]
        assert "“withheld by a hook: secret” → “" in said and "needle" in said


@KEYS
def test_a_cassette_that_does_not_know_what_a_filter_left_makes_no_difference_of_the_same(
    made: TapedProject, key: str
) -> None:
    cassette = filtering(made, filter=key)
    rows = [
        row.model_copy(update={"seen": None}) if isinstance(row, TapedCall) else row
        for row in cassette.rows
    ]
    assert not made.found(cassette.model_copy(update={"rows": tuple(rows)}))


def test_a_call_with_other_arguments_is_named_with_both(made: TapedProject) -> None:
    found = made.found(answer("1.1", input={"file_path": "other.txt"}))
    assert found[0] == (
        "turn 1, call 1.1.1 (read_file): arguments: "
        '“{"file_path": "notes.txt"}” → “{"file_path": "other.txt"}”'
    )


def test_an_answer_that_makes_no_sense_ends_its_turn_and_no_more(made: TapedProject) -> None:
    found = made.found(edited(TapedAnswer, "1.1", content=[{"type": "nonsense", "id": 7}]))
    assert found[0].startswith("turn 1, call 1.1.1 (read_file): call: “read_file ")
    assert found[0].endswith(" → nothing")
    assert not [each for each in found if each.startswith("turn 2: end")]


def test_a_session_that_asks_once_more_than_it_did_says_so(made: TapedProject) -> None:
    cassette = taped()
    kept = tuple(row for row in cassette.rows if not (row.kind == "answer" and row.id == "1.2"))
    replayed = made.play(cassette.model_copy(update={"rows": kept}))
    assert replayed.missed == ["1.2"]


def test_a_cassette_of_before_denials_of_hooks_were_noted_makes_no_difference_of_the_same(
    made: TapedProject,
) -> None:
    made.house.update(deny="never")
    cassette = recorded(made, 2)
    denied = [row for row in cassette.of(TapedCall) if row.decision and row.decision.by == "hook"]
    assert denied and not made.found(cassette)
    rows = [
        row.model_copy(update={"decision": None}) if row in denied else row for row in cassette.rows
    ]
    older = cassette.model_copy(update={"rows": tuple(rows)})
    assert not made.found(older)
    del made.house["deny"]
    assert made.found(older)
