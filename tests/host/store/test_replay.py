from pathlib import Path
from typing import Any

import pytest

from amplifier_tui.base.jsonl import append_rows
from amplifier_tui.host.events import (
    BlockEnded,
    Failed,
    HostEvent,
    ShellEnded,
    SteerApplied,
    ToolEnded,
    ToolStarted,
    TurnEnded,
    TurnStarted,
    Usage,
    UsageChanged,
)
from amplifier_tui.host.redaction import Redactor
from amplifier_tui.host.store.listing.listing import list_sessions
from amplifier_tui.host.store.replay import messages_of, time_of
from amplifier_tui.host.store.session_store import SessionStore
from amplifier_tui.host.store.sessions import find_session
from amplifier_tui.host.store.turns.outcomes import DISPLAY
from amplifier_tui.paths import sessions_dir


@pytest.fixture
def store(tmp_path: Path) -> SessionStore:
    store = SessionStore(tmp_path / "session", Redactor({}), lambda _: None)
    store.open()
    return store


def add(store: SessionStore, *rows: dict[str, Any]) -> None:
    for row in rows:
        store.add_row(row)


def told(store: SessionStore) -> list[HostEvent]:
    return store.replay().events(0, store.rows)


CALL = {"id": "c1", "name": "echo", "arguments": {"text": "x"}}


def test_rows_become_the_events_that_announced_them(store: SessionStore) -> None:
    blocks = [{"type": "thinking", "thinking": "hm"}, {"type": "text", "text": "let me"}]
    add(
        store,
        {"role": "user", "content": "go"},
        {"role": "assistant", "content": blocks, "tool_calls": [CALL]},
        {"role": "tool", "tool_call_id": "c1", "name": "echo", "content": "out"},
        {"role": "assistant", "content": "done"},
    )
    events = told(store)
    assert [type(e) for e in events] == [
        TurnStarted,
        BlockEnded,
        BlockEnded,
        ToolStarted,
        ToolEnded,
        BlockEnded,
    ]
    assert all(e.replayed and e.at > 0 and e.session_id == "session" for e in events)
    kinds = [(e.kind, e.text) for e in events if isinstance(e, BlockEnded)]
    assert kinds == [("thinking", "hm"), ("text", "let me"), ("text", "done")]


def test_calls_in_the_blocks_and_beside_them_are_one_call(store: SessionStore) -> None:
    block = {"type": "tool_call", "id": "c1", "name": "echo", "input": {"text": "x"}}
    add(store, {"role": "assistant", "content": [block], "tool_calls": [CALL]})
    (started,) = told(store)
    assert isinstance(started, ToolStarted) and started.arguments == {"text": "x"}


def test_calls_written_by_other_programs_are_read(store: SessionStore) -> None:
    function = {"name": "echo", "arguments": '{"text": "x"}'}
    add(
        store,
        {"role": "assistant", "content": None, "tool_calls": [{"id": "a", "function": function}]},
        {"role": "assistant", "tool_calls": [{"id": "b", "tool": "echo", "arguments": "{bad"}]},
        {"role": "assistant", "tool_calls": [None, {"id": 3}, {"name": "no id"}]},
    )
    first, second = told(store)
    assert isinstance(first, ToolStarted) and first.arguments == {"text": "x"}
    assert isinstance(second, ToolStarted) and second.arguments == {"arguments": "{bad"}


def test_what_was_known_beside_the_rows_comes_back(store: SessionStore) -> None:
    add(store, {"role": "user", "content": "go"})
    add(store, {"role": "assistant", "content": "", "tool_calls": [CALL]})
    ended = ToolEnded(
        session_id="s", call_id="c1", tool="write", ok=True, output="gone", diff="D", summary="+1"
    )
    store.note(ended)
    add(store, {"role": "tool", "tool_call_id": "c1", "content": "the output"})
    store.note(TurnEnded(session_id="s", turn=1, status="cancelled", usage=Usage(input_tokens=7)))
    add(store, {"role": "user", "content": "again"})
    store.note(Failed(session_id="s", kind="network", message="no line"))
    events = told(store)
    assert [type(e).__name__ for e in events] == [
        "TurnStarted",
        "ToolStarted",
        "ToolEnded",
        "TurnEnded",
        "TurnStarted",
        "Failed",
    ]
    tool = events[2]
    assert isinstance(tool, ToolEnded)
    assert (tool.diff, tool.summary, tool.output) == ("D", "+1", "the output")
    assert store.replay().usages() == (Usage(input_tokens=7),)


def test_a_failed_and_a_denied_result_are_told_from_their_rows(store: SessionStore) -> None:
    second = {**CALL, "id": "c2"}
    add(
        store,
        {"role": "assistant", "content": "", "tool_calls": [CALL, second]},
        {
            "role": "tool",
            "tool_call_id": "c1",
            "content": "boom\nmore",
            "metadata": {"is_error": True},
        },
        {
            "role": "tool",
            "tool_call_id": "c2",
            "content": "User denied: no",
            "metadata": {"is_error": True, "denied": True},
        },
    )
    one, two = [e for e in told(store) if isinstance(e, ToolEnded)]
    assert (one.ok, one.denied, one.error) == (False, False, "boom")
    assert (two.ok, two.denied) == (False, True)


def test_what_hooks_put_in_is_not_shown_but_steering_is(store: SessionStore) -> None:
    hook = {"source": "hook", "hook_name": "linter"}
    steer = {"source": "hook", "hook_name": "amplifier-tui-steer"}
    add(
        store,
        {"role": "user", "content": "go"},
        {"role": "system", "content": "lint", "metadata": hook},
        {"role": "user", "content": "inject", "metadata": hook},
        {"role": "user", "content": "rather", "metadata": steer},
    )
    events = told(store)
    assert [type(e) for e in events] == [TurnStarted, SteerApplied]


def test_a_prompt_is_shown_as_it_was_typed(store: SessionStore) -> None:
    store.add_row(
        {"role": "user", "content": "<file>…</file> read @a"},
        {"prompt": "read @a", "attachments": ["a.txt"]},
    )
    (turn,) = told(store)
    assert isinstance(turn, TurnStarted)
    assert (turn.prompt, turn.attachments) == ("read @a", ("a.txt",))
    assert store.metadata.first_prompt == "read @a"


def test_a_page_begins_anywhere_and_nothing_is_told_twice(store: SessionStore) -> None:
    for number in range(4):
        call = {**CALL, "id": f"c{number}"}
        add(
            store,
            {"role": "user", "content": f"p{number}"},
            {"role": "assistant", "content": "", "tool_calls": [call]},
            {"role": "tool", "tool_call_id": f"c{number}", "content": "out"},
        )
    replay = store.replay()
    whole = replay.events(0, store.rows)
    for cut in range(store.rows + 1):
        parts = replay.events(0, cut) + replay.events(cut, store.rows)
        assert [e.to_json() for e in parts] == [e.to_json() for e in whole]


def test_ids_used_again_keep_their_own_results(store: SessionStore) -> None:
    for number in range(2):
        add(
            store,
            {"role": "assistant", "content": "", "tool_calls": [CALL]},
            {"role": "tool", "tool_call_id": "c1", "content": f"out {number}"},
        )
    outputs = [e.output for e in told(store) if isinstance(e, ToolEnded)]
    assert outputs == ["out 0", "out 1"]
    tail = store.replay().events(1, store.rows)
    assert [e.output for e in tail if isinstance(e, ToolEnded)] == ["out 1"]


def test_the_model_gets_a_result_for_every_call() -> None:
    second = {**CALL, "id": "c2"}
    rows = [
        {"role": "user", "content": "go", "timestamp": "t"},
        {"role": "assistant", "content": "", "tool_calls": [CALL, second]},
        {"role": "tool", "tool_call_id": "c1", "content": "out"},
        {"role": "user", "content": "next"},
        {"no": "role"},
    ]
    messages = messages_of(rows)
    assert [m["role"] for m in messages] == ["user", "assistant", "tool", "tool", "user"]
    assert messages[3]["tool_call_id"] == "c2" and "No result" in messages[3]["content"]
    assert "timestamp" not in messages[0]


def test_sessions_without_a_card_are_listed_by_their_first_prompt(
    tmp_path: Path, own_home: Path
) -> None:
    folder = sessions_dir(tmp_path) / "aaaa-bbbb"
    folder.mkdir(parents=True)
    (folder / "transcript.jsonl").write_text('{"role": "user", "content": "a\\n b"}\n')
    (sessions_dir(tmp_path) / "empty").mkdir()
    sub = sessions_dir(tmp_path) / "span-span_agent"
    sub.mkdir()
    (sub / "transcript.jsonl").write_text("{}\n")
    (card,) = list_sessions("", tmp_path).cards
    assert (card.session_id, card.first_prompt) == ("aaaa-bbbb", "a b")
    assert find_session(tmp_path, "aaaa") == folder
    assert list_sessions("", tmp_path / "elsewhere").cards == ()


def test_the_store_says_once_that_it_cannot_write_and_once_that_it_can(tmp_path: Path) -> None:
    folder = tmp_path / "session"
    folder.mkdir()
    for name in ("display.jsonl", "partial.jsonl"):
        (folder / name).symlink_to("/dev/full")
    told: list[str] = []
    store = SessionStore(
        folder, Redactor({}), lambda e: told.append(str(e.strerror) if e else "ok")
    )
    store._lock.acquire()
    store.audit({"a": 1})
    store.partial.prompt("x")
    assert told == ["No space left on device"]
    store.add_row({"role": "user", "content": "hi"})
    assert store.rows == 1


def test_a_folder_that_cannot_be_made_does_not_stop_the_session(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    told: list[OSError | None] = []
    store = SessionStore(tmp_path / "file" / "session", Redactor({}), told.append)
    store.open()
    store.add_row({"role": "user", "content": "hi"})
    store.partial.delta("b", "x")
    store.log.append({"event": "e"}, "{}")
    store.save_metadata()
    store.close()
    assert len(told) == 1 and told[0] is not None


def test_what_others_put_into_the_metadata_of_a_prompt_hinders_nothing(store: SessionStore) -> None:
    odd = {"attachments": 3, "user_commands": 4}
    store.note(ShellEnded(session_id="session", command_id="c1", command="ls"))
    add(store, {"role": "user", "content": "hi", "metadata": odd})
    store.note(ShellEnded(session_id="session", command_id="c2", command="pwd"))
    assert [type(event).__name__ for event in told(store)] == [
        *("ShellEnded", "TurnStarted", "ShellEnded")
    ]
    waiting = [event.command_id for event in store.replay().unsent_commands()]
    assert waiting == ["c2"]


def test_what_a_turn_used_counts_though_the_program_was_killed_in_it(store: SessionStore) -> None:
    def used(session: int, turn: int) -> UsageChanged:
        usages = (Usage(input_tokens=session), Usage(input_tokens=turn))
        return UsageChanged(session_id="s", session=usages[0], turn=usages[1])

    def ended(turn: int, tokens: int) -> TurnEnded:
        usage = Usage(input_tokens=tokens)
        return TurnEnded(session_id="s", turn=turn, status="success", usage=usage)

    def total() -> int:
        return sum(usage.input_tokens for usage in store.replay().usages())

    # Of an older version.
    store.note(ended(1, 5))
    for event in (used(7, 2), used(9, 4), ended(2, 4), used(10, 5)):
        store.note(event)
    assert total() == 10
    store.note(used(13, 3))
    assert total() == 13
    assert [type(event) for event in told(store)] == [TurnEnded, TurnEnded]
    store.note(ended(3, 3))
    store.note(ended(4, 2))
    assert total() == 15


def test_what_was_noted_of_a_turn_without_numbers_is_left_out(store: SessionStore) -> None:
    ended = TurnEnded(session_id="s", turn=1, status="success", usage=Usage(input_tokens=7))
    for usage in ({"input_tokens": "many"}, {"cost": ["x"]}, 3):
        event = {**ended.to_json(), "usage": usage}
        append_rows(store.folder / DISPLAY, [{"row": 0, "event": event}])
    store.note(ended)
    assert store.replay().usages() == (Usage(input_tokens=7),)


def test_what_was_noted_with_odd_ids_is_left_out(store: SessionStore) -> None:
    add(store, {"role": "user", "content": "hi"})
    for event in (
        ShellEnded(session_id="session", command_id="c1", command="ls"),
        ToolEnded(session_id="session", call_id="c1", tool="x", ok=True),
    ):
        for name in {"agent", "call_id", "command_id"} & event.to_json().keys():
            line = {"row": 1, "event": {**event.to_json(), name: []}}
            append_rows(store.folder / DISPLAY, [line])
    assert [type(event).__name__ for event in told(store)] == ["TurnStarted"]
    assert store.replay().unsent_commands() == ()


@pytest.mark.parametrize("stamp", [10**400, "9999-99-99T00:00:00", [], None])
def test_a_time_that_is_none_is_not_known(stamp: Any) -> None:
    assert time_of({"timestamp": stamp}) == 0.0
