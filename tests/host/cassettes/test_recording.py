import json
from pathlib import Path
from typing import Any

import pytest

from amplifier_tui.host.cassettes.cassette import (
    Cassette,
    CassetteError,
    TapedAnswer,
    TapedCall,
    TapedHook,
    TapedRequest,
)
from amplifier_tui.host.cassettes.names import RunNames
from amplifier_tui.host.cassettes.recording import SessionRecorder
from amplifier_tui.host.cassettes.requests import RequestNotes
from amplifier_tui.host.redaction import Redactor
from amplifier_tui.kernel.message_models import ChatRequest, ImageBlock, Message, ToolSpec
from amplifier_tui.kernel.utils.request_tokens import request_tokens

CALLED = {"content": [], "tool_calls": [{"id": "c", "name": "echo", "arguments": {}}]}
CALL = {"tool_name": "echo", "tool_call_id": "c", "tool_input": {}}
ANSWER: tuple[tuple[str, dict[str, Any]], ...] = (
    ("prompt:submit", {"prompt": "go"}),
    ("execution:start", {}),
    ("provider:request", {"provider": "p"}),
    ("llm:request", {}),
    ("provider:response", {"provider": "p", "response": CALLED}),
)


def logged(folder: Path, *rows: tuple[str, dict[str, Any]], lane: str = "main") -> Path:
    folder.mkdir(exist_ok=True)
    about = {"ts": "2026-11-22T19:29:40+00:00", "lane": lane, "handlers": []}
    lines = [json.dumps({"event": event, **about, "data": data}) for event, data in rows]
    (folder / "events.jsonl").write_text("\n".join(lines) + "\n")
    return folder


def recorded(folder: Path) -> Cassette:
    return SessionRecorder(folder, Redactor({})).record()


def test_a_call_that_never_ended_is_recorded_without_a_result(tmp_path: Path) -> None:
    cassette = recorded(logged(tmp_path / "s", *ANSWER, ("tool:pre", CALL)))
    (call,) = cassette.of(TapedCall)
    assert (call.id, call.tool, call.result, call.error) == ("1.1.1", "echo", None, None)


@pytest.mark.parametrize("told", [True, False])
def test_calls_are_kept_also_where_a_provider_tells_of_them_beside_what_it_says(
    tmp_path: Path, told: bool
) -> None:
    call = {"type": "tool_call", "id": "c", "name": "echo", "input": {}}
    response = {
        **CALLED,
        "content": [{"type": "text", "text": "I look."}, *([call] if told else [])],
    }
    row = ("provider:response", {"provider": "p", "response": response})
    cassette = recorded(logged(tmp_path / "s", *ANSWER[:-1], row, ("tool:pre", CALL)))
    (answer,) = cassette.of(TapedAnswer)
    assert answer.content[1:] == [{**call, "id": "1.1.1"}]


def test_what_other_loops_say_otherwise_is_understood(tmp_path: Path) -> None:
    odd = {**CALL, "tool_input": "text", "error": {"type": "Odd", "message": "m", "more": [1]}}
    cassette = recorded(logged(tmp_path / "s", *ANSWER, ("tool:error", odd)))
    (call,) = cassette.of(TapedCall)
    assert call.arguments == {"input": "text"}
    assert call.error is not None and (call.error.type, call.error.msg) == ("Odd", "m")


def test_an_id_that_is_used_again_is_another_call(tmp_path: Path) -> None:
    done = ("tool:post", {**CALL, "result": {"success": True, "output": "o"}})
    again = (*ANSWER[2:], done)
    cassette = recorded(logged(tmp_path / "s", *ANSWER, done, *again))
    assert [each.id for each in cassette.of(TapedCall)] == ["1.1.1", "1.2.1"]
    assert [each.id for each in cassette.of(TapedAnswer)] == ["1.1", "1.2"]


@pytest.mark.parametrize(
    ("rows", "words"),
    [
        ((), "has no event log of this program"),
        (ANSWER[:1], "has no event log of this program"),
        ((*ANSWER, ("tool:post", {"cut": True})), "row 6 of events.jsonl can't be read"),
        ((*ANSWER[:2], ("provider:request", {"provider": "p" * 400})), "s: providers.p"),
    ],
)
def test_a_session_that_can_not_be_played_says_why(
    tmp_path: Path, rows: tuple[Any, ...], words: str
) -> None:
    with pytest.raises(CassetteError, match=words):
        recorded(logged(tmp_path / "s", *rows))


def test_what_hooks_answer_again_at_the_same_place_has_a_number(tmp_path: Path) -> None:
    own = ("policy:own", {})
    log = logged(tmp_path / "s", *ANSWER, own, own, ANSWER[-1], own) / "events.jsonl"
    handler = '"handlers": [{"name": "h", "verdict": "ask_user"}]'
    log.write_text(log.read_text().replace('"handlers": []', handler))
    asked = [each.id for each in recorded(log.parent).of(TapedHook) if "own" in each.id]
    assert asked == ["1.2 policy:own", "1.2 policy:own#2", "1.3 policy:own"]


def test_a_request_that_was_never_answered_was_stopped(tmp_path: Path) -> None:
    cassette = recorded(logged(tmp_path / "s", *ANSWER[:4]))
    assert [(each.id, each.interrupted) for each in cassette.of(TapedAnswer)] == [("1.1", True)]


def test_a_loop_that_does_not_tell_what_was_answered_is_named(tmp_path: Path) -> None:
    rows = (ANSWER[1], ANSWER[3], ("execution:end", {"response": "Hello."}))
    with pytest.raises(CassetteError, match="its loop does not tell what was answered"):
        recorded(logged(tmp_path / "s", *rows))


def test_a_loop_that_does_not_tell_when_a_turn_begins_is_named(tmp_path: Path) -> None:
    rows = (ANSWER[0], *ANSWER[2:])
    with pytest.raises(CassetteError, match="emit `execution:start` before the first request"):
        recorded(logged(tmp_path / "s", *rows))


def test_a_turn_that_was_completed_without_an_answer_is_one_of_such_a_loop(tmp_path: Path) -> None:
    end = ("execution:end", {"response": "Hello.", "status": "completed"})
    with pytest.raises(CassetteError, match="emit `provider:response` after each answer"):
        recorded(logged(tmp_path / "s", *ANSWER[:4], end))


def test_a_request_that_was_refused_at_a_question_is_none_that_nobody_answered(
    tmp_path: Path,
) -> None:
    end = ("execution:end", {"response": "It was denied.", "status": "completed"})
    cassette = recorded(logged(tmp_path / "s", *ANSWER[:3], end))
    assert [each.interrupted for each in cassette.of(TapedAnswer)] == [True]


def test_an_answer_of_another_form_is_taken_as_far_as_it_goes(tmp_path: Path) -> None:
    odd: tuple[dict[str, Any], ...] = (
        {"response": "Hello."},
        {"response": {"content": "Hello.", "tool_calls": ["c"]}, "usage": 3},
    )
    begin = (("context:budget", {"window": 0}), *ANSWER[:-1])
    for data in odd:
        cassette = recorded(logged(tmp_path / "s", *begin, ("provider:response", data)))
        (answer,) = cassette.of(TapedAnswer)
        assert answer.content == [{"type": "text", "text": "Hello."}]


def test_what_a_request_has_to_read_is_counted_as_elsewhere_its_tools_and_images_too() -> None:
    notes, names = RequestNotes(), RunNames({"workspace": "/somewhere"})
    source = {"type": "base64", "media_type": "image/png", "data": "A" * 100_000}
    messages = [Message(role="user", content=[ImageBlock(source=source)])]
    tool = ToolSpec(name="look", description="Looks. " * 100, parameters={"type": "object"})
    bare, whole = ChatRequest(messages=messages), ChatRequest(messages=messages, tools=[tool])
    before = notes.note("1.1", bare, [], "", names)
    notes.note("1.2", whole, before, "1.1", names)
    told = [each.tokens for each in notes.among([]) if isinstance(each, TapedRequest)]
    assert told == [request_tokens(bare), request_tokens(whole)]
    assert told[1] - told[0] > 100
