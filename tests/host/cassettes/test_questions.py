"""What a hook asks outside of a tool call is decided as it was when its session is played."""

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

from amplifier_tui.host.cassettes.cassette import (
    Cassette,
    TapedHook,
    TapedPrompt,
    read_cassette,
)
from amplifier_tui.host.client import Decision
from amplifier_tui.host.events import ApprovalRequested, TurnEnded
from tests.host.cassettes.test_interplay import played, recorded
from tests.host.driving import Driver, Project, calling, saying
from tests.host.session.test_agents import ask as ask_agent
from tests.host.session.test_agents import coding, script

SUBMIT, REQUEST = "prompt:submit", "provider:request"


def asking(*events: str, **more: Any) -> tuple[str, dict[str, Any]]:
    """Return a hook that asks at events."""
    answer = {"action": "ask_user", "approval_prompt": "May it?", **more}
    return "hooks-answer", {event: [{**answer, "name": f"at {event}"}] for event in events}


def held(driver: Driver, bundle: str, *turns: tuple[str, Sequence[bool]]) -> str:
    """Hold a session whose questions are answered, and return its id."""
    session = driver.open(bundle).session_id
    for prompt, answers in turns:
        driver.client.submit(prompt)
        for allow in answers:
            request = driver.wait(ApprovalRequested)
            driver.client.decide(request.request_id, Decision(allow=allow, reason="so"))
        driver.wait(TurnEnded)
    driver.close()
    return session


TURNS: tuple[tuple[str, Sequence[bool]], ...] = (
    ("one", (True, True)),
    ("two", (True, False)),
    ("three", (False,)),
    ("three", (True, True)),
)


def decided(cassette: Cassette) -> list[tuple[str, str]]:
    """Return what was decided, after its place."""
    rows = cassette.of(TapedHook)
    return [(each.id, each.decision.outcome) for each in rows if each.decision is not None]


@pytest.fixture
def cassette(project: Project, driver: Driver) -> Cassette:
    """A session with questions at two events, some of which the user refused."""
    bundle = project.bundle(script=saying("Hello."), hooks=(asking(SUBMIT, REQUEST),))
    return recorded(project, held(driver, bundle, *TURNS))


def test_questions_are_decided_as_they_were_and_refused_prompts_are_said_again(
    project: Project, cassette: Cassette, tmp_path: Path
) -> None:
    assert decided(cassette) == [
        ("1 prompt:submit", "allowed"),
        ("1.1 provider:request", "allowed"),
        ("2 prompt:submit", "allowed"),
        ("2.1 provider:request", "denied"),
        ("3 prompt:submit", "denied"),
        ("4 prompt:submit", "allowed"),
        ("4.1 provider:request", "allowed"),
    ]
    assert [each.text for each in cassette.of(TapedPrompt)] == ["one", "two", "three", "three"]
    path = tmp_path / "a.cassette.jsonl"
    path.write_bytes(cassette.encoded())
    assert not played(project, read_cassette(path))


def test_a_hook_that_no_longer_asks_is_named_with_what_goes_now(
    project: Project, cassette: Cassette
) -> None:
    project.bundle(script=saying("Hello."), hooks=())
    found = played(project, cassette, missing=["2.1", "3.1"])
    asked = "at prompt:submit ask_user → at prompt:submit nothing (and 3 more times)"
    assert found[0] == f"turn 1, prompt:submit: hooks: {asked}"
    assert "turn 2, request 1: request: nothing → a request" in found
    assert "turn 3, request 1: request: nothing → a request" in found


def test_a_hook_that_asks_elsewhere_gets_no_decision_about_another_question(
    project: Project, driver: Driver
) -> None:
    bundle = project.bundle(script=saying("Hello."), hooks=(asking(SUBMIT),))
    cassette = recorded(project, held(driver, bundle, ("one", (True,))))
    project.bundle(script=saying("Hello."), hooks=(asking(REQUEST),))
    found = played(project, cassette)
    place, name = "turn 1, request 1, provider:request", "at provider:request"
    assert "turn 1, prompt:submit: hooks: at prompt:submit ask_user → at prompt:submit nothing" in (
        found
    )
    assert f"{place}: hooks: {name} nothing → {name} ask_user" in found
    assert any("The cassette holds no decision about this" in each for each in found)


def test_another_hook_that_asks_gets_no_decision_about_the_first_ones_question(
    project: Project, cassette: Cassette
) -> None:
    other = ("hooks-test", {"ask": True, "ask_at": REQUEST})
    project.bundle(script=saying("Hello."), hooks=(asking(SUBMIT), other))
    found = played(project, cassette)
    place = "turn 1, request 1, provider:request"
    assert f"{place}: decision: allowed by user → denied by user" in found


def test_a_cassette_of_before_questions_were_noted_is_played_and_says_what_it_lacks(
    project: Project, driver: Driver
) -> None:
    bundle = project.bundle(script=saying("Hello."), hooks=(asking(REQUEST),))
    cassette = recorded(project, held(driver, bundle, ("one", (True,))))
    bare = {"asker": "", "decision": None}
    rows = (
        row.model_copy(update=bare) if isinstance(row, TapedHook) else row for row in cassette.rows
    )
    found = played(project, cassette.model_copy(update={"rows": tuple(rows)}))
    assert "The cassette holds no decision about this" in found[-1]


def test_what_nobody_was_asked_takes_no_decision_of_another_question(
    project: Project, driver: Driver
) -> None:
    # Nobody minds what hooks answer when an answer has come.
    bundle = project.bundle(script=saying("Hello."), hooks=(asking("llm:response", REQUEST),))
    turns = (("one", (True,)), ("two", (False,)))
    cassette = recorded(project, held(driver, bundle, *turns))
    assert decided(cassette) == [
        ("1.1 provider:request", "allowed"),
        ("2.1 provider:request", "denied"),
    ]
    assert not played(project, cassette)


def test_a_refused_prompt_that_is_said_again_is_there_twice_as_it_was_typed(
    project: Project, driver: Driver
) -> None:
    (project.folder / "notes.txt").write_text("some words")
    bundle = project.bundle(script=saying("Hello."), hooks=(asking(SUBMIT),))
    turns = (("see @notes.txt", (False,)), ("see @notes.txt", (True,)))
    cassette = recorded(project, held(driver, bundle, *turns))
    assert [each.text for each in cassette.of(TapedPrompt)] == ["see @notes.txt"] * 2
    assert not played(project, cassette)


@pytest.mark.parametrize("text", ["Look first. Delete it", "see @notes.txt", "Delete it"])
def test_a_prompt_that_was_stopped_at_a_question_keeps_its_words_beside_one_that_was_refused(
    project: Project, driver: Driver, text: str
) -> None:
    (project.folder / "notes.txt").write_text("some words")
    bundle = project.bundle(script=saying("Hello."), hooks=(asking(SUBMIT),))
    session = driver.open(bundle).session_id
    prompts = ["Delete it", text, "Delete it", "go"]
    for number, prompt in enumerate(prompts):
        driver.client.submit(prompt)
        request = driver.wait(ApprovalRequested)
        if number == 1:
            driver.client.interrupt()
        else:
            driver.client.decide(request.request_id, Decision(allow=number == 3))
        driver.wait(TurnEnded)
    driver.close()
    cassette = recorded(project, session)
    assert [each.text for each in cassette.of(TapedPrompt)] == prompts
    assert not played(project, cassette)


def test_a_prompt_that_a_hook_refused_without_a_question_is_refused_again(
    project: Project, driver: Driver
) -> None:
    refuses = ("hooks-test", {"deny_prompt": "not this", "deny_only": "two"})
    bundle = project.bundle(script=saying("Hello."), hooks=(refuses,))
    turns: list[tuple[str, Sequence[bool]]] = [(text, ()) for text in ("two", "one", "two", "two")]
    cassette = recorded(project, held(driver, bundle, *turns))
    assert [each.id for each in cassette.of(TapedHook)] == [
        f"{turn} prompt:submit" for turn in (1, 3, 4)
    ]
    assert not played(project, cassette)


def test_other_answers_are_found_at_their_question(project: Project, cassette: Cassette) -> None:
    said = TapedHook.model_validate
    other = {"outcome": "denied", "by": "rule", "rule": "asks(x)"}
    rows = tuple(
        said({**row.model_dump(), "decision": other}) if row.id == "4.1 provider:request" else row
        for row in cassette.rows
    )
    found = played(project, cassette.model_copy(update={"rows": rows}))
    place = "turn 4, request 1, provider:request"
    assert found[0] == f"{place}: decision: denied by rule asks(x) → denied by user"


def test_a_question_in_the_turn_of_an_agent_is_told_from_those_around_it(
    project: Project, driver: Driver
) -> None:
    name, config = asking(REQUEST)
    hooks = f"hooks:\n  - module: {name}\n    config: {json.dumps(config)}\n"
    bundle = coding(project, script([ask_agent("tester")], {"tell": {"say": "Done."}}), hooks)
    cassette = recorded(project, held(driver, bundle, ("go", (True, False, True))))
    assert decided(cassette) == [
        ("1.1 provider:request", "allowed"),
        ("1.1.1/1 provider:request", "denied"),
        ("1.2 provider:request", "allowed"),
    ]
    assert not played(project, cassette)


CLOCK: dict[str, tuple[str, str]] = {
    "allow": ("allowed", "timeout"),
    "deny": ("timed_out", "timeout"),
}


@pytest.mark.parametrize(
    ("event", "default"), [(SUBMIT, "allow"), (REQUEST, "allow"), (REQUEST, "deny")]
)
def test_what_the_clock_answered_is_answered_so_again(
    project: Project, driver: Driver, event: str, default: str
) -> None:
    hook = asking(event, approval_timeout=0.01, approval_default=default)
    bundle = project.bundle(script=saying("Hello."), hooks=(hook,))
    cassette = recorded(project, held(driver, bundle, ("one", ())))
    (row,) = cassette.of(TapedHook)
    assert (row.decision.outcome, row.decision.by) == CLOCK[default]
    assert not played(project, cassette)


@pytest.mark.parametrize(("default", "other"), [("allow", "deny"), ("deny", "allow")])
def test_a_clock_that_answers_otherwise_now_is_told(
    project: Project, driver: Driver, default: str, other: str
) -> None:
    hook = asking(REQUEST, approval_timeout=0.01, approval_default=default)
    bundle = project.bundle(script=saying("Hello."), hooks=(hook,))
    cassette = recorded(project, held(driver, bundle, ("one", ())))
    hook = asking(REQUEST, approval_timeout=300, approval_default=other)
    project.bundle(script=saying("Hello."), hooks=(hook,))
    found = played(project, cassette, missing=["1.1"] if other == "allow" else [])
    before, after = (" by ".join(CLOCK[each]) for each in (default, other))
    assert found[0] == f"turn 1, request 1, provider:request: decision: {before} → {after}"


def test_a_call_that_the_clock_allowed_is_allowed_again(project: Project, driver: Driver) -> None:
    (project.folder / "a.txt").write_text("a")
    asks = {"ask": True, "timeout": 0.01, "default": "allow"}
    name = project.bundle(
        script=calling({"read_file": {"file_path": "a.txt"}}),
        tools=("tool-filesystem",),
        hooks=(("hooks-test", asks),),
    )
    cassette = recorded(project, held(driver, name, ("go", ())))
    (call,) = [row for row in cassette.rows if row.kind == "call"]
    assert (call.decision.outcome, call.decision.by) == CLOCK["allow"]
    assert not played(project, cassette)


@pytest.mark.parametrize("event", [SUBMIT, REQUEST])
def test_a_turn_that_was_stopped_at_the_question_of_a_hook_is_stopped_there(
    project: Project, driver: Driver, event: str
) -> None:
    bundle = project.bundle(script=saying("Hello."), hooks=(asking(event),))
    session = driver.open(bundle).session_id
    driver.client.submit("one")
    driver.wait(ApprovalRequested)
    driver.client.interrupt()
    driver.wait(TurnEnded)
    driver.client.submit("two")
    driver.allow_next()
    driver.wait(TurnEnded)
    driver.close()
    cassette = recorded(project, session)
    assert [outcome for _, outcome in decided(cassette)] == ["cancelled", "allowed"]
    assert not played(project, cassette)
