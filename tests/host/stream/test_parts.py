from decimal import Decimal
from pathlib import Path
from typing import Any

import pytest

from amplifier_tui.host.events import (
    BlockDelta,
    BlockEnded,
    BlockStarted,
    HostEvent,
    LaneClosed,
    LaneOpened,
    TodoItem,
    ToolEnded,
    ToolStarted,
    Usage,
)
from amplifier_tui.host.redaction import Redactor
from amplifier_tui.host.store.session_store import SessionStore
from amplifier_tui.host.stream.blocks import Blocks
from amplifier_tui.host.stream.lanes import Lanes
from amplifier_tui.host.stream.notices import line_of, retry_facts
from amplifier_tui.host.stream.results import is_todo_tool, output_text, read_plan, summary_words
from amplifier_tui.host.stream.sender import Sender
from amplifier_tui.host.stream.tools import Tools
from amplifier_tui.host.stream.usage import UsageMeter, read_count


class Up:
    """What went up."""

    def __init__(self, folder: Path) -> None:
        self.events: list[HostEvent] = []
        self.store = SessionStore(folder, Redactor({}), lambda _: None)
        self.sender = Sender(self.events.append, self.store)

    def of(self, kind: type[Any]) -> list[Any]:
        return [event for event in self.events if isinstance(event, kind)]

    def texts(self) -> dict[str, str]:
        """Return what the screen shows at the end, by block."""
        shown: dict[str, str] = {}
        for event in self.events:
            if isinstance(event, BlockEnded):
                if event.discarded:
                    shown.pop(event.block_id, None)
                else:
                    shown[event.block_id] = event.text
        return shown


@pytest.fixture
async def up(tmp_path: Path) -> Up:
    return Up(tmp_path / "s")


def stream(request: str, index: int, kind: str = "text", **more: Any) -> dict[str, Any]:
    return {"request_id": request, "block_index": index, "block_type": kind, **more}


def durable(index: int, total: int, **block: Any) -> dict[str, Any]:
    return {"block_index": index, "total_blocks": total, "block": block}


# --- blocks --------------------------------------------------------------------------------


async def test_the_durable_copy_replaces_what_streamed(up: Up) -> None:
    blocks = Blocks(up.sender)
    blocks.step_begins("main")
    blocks.stream_start("main", stream("r", 0))
    blocks.stream_delta("main", stream("r", 0, text="Hel"))
    blocks.stream_delta("main", stream("r", 0, text="lo"))
    blocks.stream_end("main", stream("r", 0))
    blocks.content_end("main", durable(0, 1, type="text", text="Hello!"))
    (started,) = up.of(BlockStarted)
    assert [e.text for e in up.of(BlockEnded)] == ["Hello", "Hello!"]
    assert {e.block_id for e in up.events} == {started.block_id}


async def test_an_equal_copy_is_not_sent_again(up: Up) -> None:
    blocks = Blocks(up.sender)
    blocks.stream_delta("main", stream("r", 0, text="same"))
    blocks.stream_end("main", stream("r", 0))
    blocks.content_end("main", durable(0, 1, type="text", text="same"))
    assert len(up.of(BlockEnded)) == 1


async def test_a_provider_that_does_not_stream_gives_whole_blocks(up: Up) -> None:
    blocks = Blocks(up.sender)
    blocks.content_end("main", durable(0, 2, type="thinking", thinking="hm"))
    blocks.content_end("main", durable(1, 2, type="text", text="yes"))
    assert [(e.kind, e.text) for e in up.of(BlockEnded)] == [("thinking", "hm"), ("text", "yes")]
    assert not up.of(BlockStarted)


async def test_copies_find_their_blocks_whatever_their_numbers(up: Up) -> None:
    blocks = Blocks(up.sender)
    for index, kind in enumerate(("thinking", "text", "tool_use", "text")):
        blocks.stream_delta("main", stream("r", index * 2, kind, text=f"{kind}{index}"))
        blocks.stream_end("main", stream("r", index * 2))
    for index, text in enumerate(("text1", "text3")):
        blocks.content_end("main", durable(index, 2, type="text", text=text))
    assert len(up.of(BlockStarted)) == len(up.texts()) == 4


async def test_an_answer_that_was_continued_is_one_text(up: Up) -> None:
    blocks = Blocks(up.sender)
    for request, text in (("r1", "Hello "), ("r2", "World")):
        blocks.stream_delta("main", stream(request, 0, text=text))
        blocks.stream_end("main", stream(request, 0))
    blocks.content_end("main", durable(0, 1, type="text", text="Hello World"))
    assert list(up.texts().values()) == ["Hello World"]


async def test_an_aborted_request_is_void_and_its_repetition_is_not(up: Up) -> None:
    blocks = Blocks(up.sender)
    blocks.stream_delta("main", stream("r1", 0, text="broken"))
    assert blocks.stream_aborted("main", {"request_id": "r1"})
    assert not blocks.stream_aborted("main", {"request_id": "r1"})
    blocks.stream_delta("main", stream("r2", 0, text="whole"))
    blocks.stream_end("main", stream("r2", 0))
    assert list(up.texts().values()) == ["whole"]
    assert blocks.unsaved_texts() == ["whole"]


async def test_hidden_reasoning_keeps_the_summary_that_was_shown(up: Up) -> None:
    blocks = Blocks(up.sender)
    blocks.stream_delta("main", stream("r", 0, "thinking", text="a summary"))
    blocks.stream_end("main", stream("r", 0, "thinking"))
    blocks.content_end("main", durable(0, 1, type="redacted_thinking", data="xyz"))
    assert list(up.texts().values()) == ["a summary"]


async def test_older_deltas_count_only_where_nothing_else_streams(up: Up) -> None:
    blocks = Blocks(up.sender)
    blocks.content_delta("main", {"block_index": 0, "delta": {"text": "old"}})
    blocks.step_begins("main")
    blocks.stream_delta("main", stream("r", 0, text="new"))
    blocks.content_delta("main", {"block_index": 0, "delta": "new"})
    up.sender.turn_over()
    assert "".join(e.text for e in up.of(BlockDelta)) == "oldnew"


async def test_what_still_streams_at_the_end_is_interrupted(up: Up) -> None:
    blocks = Blocks(up.sender)
    blocks.stream_delta("main", stream("r", 0, text="half"))
    blocks.turn_over("main", interrupted=True)
    (ended,) = up.of(BlockEnded)
    assert ended.interrupted and ended.text == "half"


async def test_words_in_a_row_are_saved_and_those_after_it_are_not(up: Up) -> None:
    blocks = Blocks(up.sender)
    blocks.stream_delta("main", stream("r", 0, text="first"))
    blocks.row_added()
    blocks.stream_delta("main", stream("r", 1, text="second"))
    blocks.stream_delta("lane", stream("q", 0, text="of a sub-agent"))
    assert blocks.unsaved_texts() == ["second"]


async def test_streams_of_lanes_do_not_mix(up: Up) -> None:
    blocks = Blocks(up.sender)
    for lane in ("main", "child"):
        blocks.stream_delta(lane, stream("same", 0, text=lane))
        blocks.stream_end(lane, stream("same", 0))
    assert [(e.agent, e.text) for e in up.of(BlockEnded)] == [("main", "main"), ("child", "child")]


# --- tools ---------------------------------------------------------------------------------


def pre(call_id: str = "c1", tool: str = "echo", **arguments: Any) -> dict[str, Any]:
    return {"tool_name": tool, "tool_call_id": call_id, "tool_input": arguments}


@pytest.fixture
def tools(up: Up, tmp_path: Path) -> Tools:
    return Tools(up.sender, tmp_path, lambda tool: f"tool-{tool}")


async def test_an_error_and_a_result_of_one_call_end_it_once(up: Up, tools: Tools) -> None:
    tools.pre("main", pre())
    tools.error("main", {**pre(), "error": {"type": "X", "msg": "bad\nmore"}})
    tools.post("main", {**pre(), "result": {"success": False}})
    tools.row_added({"role": "tool", "tool_call_id": "c1", "content": "bad"})
    (ended,) = up.of(ToolEnded)
    assert (ended.ok, ended.error) == (False, "bad")


async def test_an_id_may_be_used_again(up: Up, tools: Tools) -> None:
    for text in ("one", "two"):
        tools.pre("main", pre())
        tools.post("main", {**pre(), "result": text})
    assert [e.output for e in up.of(ToolEnded)] == ["one", "two"]
    assert len(up.of(ToolStarted)) == 2


async def test_the_row_ends_a_call_nobody_else_ended(up: Up, tools: Tools) -> None:
    tools.pre("main", pre())
    tools.refused("main", pre(), "not this")
    tools.row_added({"role": "tool", "tool_call_id": "c1", "content": "Denied by user"})
    (ended,) = up.of(ToolEnded)
    assert ended.denied and ended.error == "not this" and ended.output == "Denied by user"


def asked(*calls: tuple[str, str, dict[str, Any]]) -> dict[str, Any]:
    listed = [{"id": i, "name": tool, "arguments": given} for i, tool, given in calls]
    return {"role": "assistant", "content": "", "tool_calls": listed}


def unnamed(tool: str = "echo", **arguments: Any) -> dict[str, Any]:
    return {"tool_name": tool, "tool_input": arguments}


async def test_a_call_without_an_id_has_the_one_the_model_asked_for_it_by(
    up: Up, tools: Tools
) -> None:
    tools.asked_for(asked(("a", "echo", {"n": 1}), ("b", "echo", {"n": 2}), ("c", "grep", {})))
    for number in (2, 1):
        tools.pre("main", unnamed(n=number))
    tools.refused("main", unnamed(n=2), "not two")
    tools.post("main", {**unnamed(n=1), "result": "one"})
    tools.row_added({"role": "tool", "tool_call_id": "b", "content": "Denied"})
    one, two = up.of(ToolEnded)
    assert (one.call_id, one.output, one.denied) == ("a", "one", False)
    assert (two.call_id, two.error, two.denied) == ("b", "not two", True)


async def test_a_call_without_an_id_whose_arguments_a_hook_changed_is_the_same_call(
    up: Up, tools: Tools
) -> None:
    tools.asked_for(asked(("a", "echo", {"n": 1})))
    tools.pre("main", unnamed(n=10))
    tools.post("main", {**unnamed(n=11), "result": "ten"})
    tools.error("main", {**unnamed(n=11), "error": "too late"})
    (ended,) = up.of(ToolEnded)
    assert (ended.call_id, ended.output) == ("a", "ten")


async def test_calls_without_ids_that_no_row_announces_are_kept_apart_by_their_arguments(
    up: Up, tools: Tools
) -> None:
    for number in (1, 2):
        tools.pre("child", unnamed(n=number))
    tools.refused("child", unnamed(n=2), "no")
    tools.refused("child", unnamed(n=3), "nobody's")
    tools.post("child", {**unnamed(n=1), "result": "one"})
    tools.turn_over("child")
    assert [(e.ok, e.denied, e.error) for e in up.of(ToolEnded)] == [
        (True, False, ""),
        (False, True, "no"),
    ]


async def test_a_row_ends_a_call_without_an_id_that_was_announced_after_it_began(
    up: Up, tools: Tools
) -> None:
    tools.pre("main", unnamed(n=1))
    tools.refused("main", unnamed(n=1), "no")
    tools.asked_for(asked(("a", "echo", {"n": 1})))
    tools.row_added({"role": "tool", "tool_call_id": "a", "content": "Denied"})
    (ended,) = up.of(ToolEnded)
    assert ended.denied and ended.error == "no"


async def test_calls_that_are_open_at_the_end_were_stopped(up: Up, tools: Tools) -> None:
    tools.pre("main", pre())
    tools.pre("child", pre())
    tools.turn_over("main")
    (ended,) = up.of(ToolEnded)
    assert ended.interrupted and ended.agent == "main"


async def test_the_diff_is_against_the_file_as_it_was_when_the_user_allowed_it(
    up: Up, tools: Tools, tmp_path: Path
) -> None:
    path = tmp_path / "a.txt"
    path.write_text("old\n")
    tools.pre("main", pre(tool="write_file", file_path="a.txt", content="new\n"))
    path.write_text("meanwhile\n")
    tools.granted("main", pre())
    path.write_text("new\n")
    tools.post("main", {**pre(tool="write_file"), "result": {"success": True, "output": "ok"}})
    (ended,) = up.of(ToolEnded)
    assert "-meanwhile" in ended.diff and "-old" not in ended.diff


async def test_the_time_a_user_takes_to_answer_is_not_the_tools(
    up: Up, tools: Tools, monkeypatch: pytest.MonkeyPatch
) -> None:
    now = 100.0
    monkeypatch.setattr("amplifier_tui.host.stream.tools.monotonic", lambda: now)
    tools.pre("main", pre())
    now = 160.0
    tools.granted("main", pre())
    now = 160.25
    tools.post("main", {**pre(), "result": "ok"})
    (ended,) = up.of(ToolEnded)
    assert ended.duration_ms == 250


async def test_a_call_that_was_refused_has_no_diff(up: Up, tools: Tools, tmp_path: Path) -> None:
    tools.pre("main", pre(tool="write_file", file_path="a.txt", content="x"))
    (tmp_path / "a.txt").write_text("somebody else")
    tools.error("main", {**pre(), "error": {"type": "denied", "msg": "no"}, "denied": True})
    (ended,) = up.of(ToolEnded)
    assert ended.denied and ended.diff == ""


async def test_a_patch_over_several_files_shows_them_all(
    up: Up, tools: Tools, tmp_path: Path
) -> None:
    patch = "*** Begin Patch\n*** Update File: a\n*** Add File: b\n*** End Patch"
    (tmp_path / "a").write_text("1\n")
    tools.pre("main", pre(tool="apply_patch", patch=patch))
    (tmp_path / "a").write_text("2\n")
    (tmp_path / "b").write_text("3\n")
    tools.post("main", {**pre(tool="apply_patch"), "result": "ok"})
    (ended,) = up.of(ToolEnded)
    assert "+++ a" in ended.diff and "+++ b" in ended.diff


async def test_large_output_is_cut_and_its_size_told(up: Up, tools: Tools) -> None:
    tools.pre("main", pre())
    tools.post("main", {**pre(), "result": "x" * 100_000})
    (ended,) = up.of(ToolEnded)
    assert (len(ended.output), ended.output_size) == (65_536, 100_000)


async def test_results_are_found_under_every_name_they_go_by(up: Up, tools: Tools) -> None:
    for number, key in enumerate(("result", "tool_result", "tool_response")):
        tools.post("main", {**pre(f"c{number}"), key: {"success": True, "output": key}})
    assert [e.output for e in up.of(ToolEnded)] == ["result", "tool_result", "tool_response"]


@pytest.mark.parametrize(
    ("result", "words"),
    [
        ({"success": True, "output": {"exit_code": 0}}, "exit 0"),
        ({"success": True, "output": {"matches": [1, 2, 3]}}, "3 hits"),
        ({"success": True, "output": {"matches": [1]}}, "1 hit"),
        ({"success": True, "output": {"content": "a\nb\n"}}, "2 lines"),
        ({"success": True, "output": ["a"]}, "1 item"),
        ({"success": True, "output": ""}, "no output"),
        ({"success": True, "output": "one line"}, ""),
        ("a\nb\nc", "3 lines"),
        (None, "no output"),
    ],
)
def test_a_result_in_a_few_words(result: Any, words: str) -> None:
    assert summary_words(result, output_text(result), "") == words


def test_images_in_a_result_are_named() -> None:
    content = [{"type": "text", "text": "seen"}, {"type": "image", "source": {}}]
    assert output_text({"success": True, "output": None, "content": content}) == "seen\n\n[image]"


# --- usage ---------------------------------------------------------------------------------


def test_an_answer_is_counted_once_however_often_it_is_told() -> None:
    meter = UsageMeter()
    meter.turn_begins()
    meter.step_begins("main")
    usage = {"usage": {"input_tokens": 10, "output_tokens": 5, "cost_usd": "0.5"}}
    assert meter.request_answered("main", usage)
    assert not meter.step_answered("main", usage)
    assert not meter.step_answered("main", usage)
    meter.step_begins("main")
    assert meter.step_answered("main", usage)
    assert not meter.step_answered("main", usage)
    assert meter.turn.as_usage() == Usage(input_tokens=20, output_tokens=10, cost="1.0")


def test_an_answer_of_two_requests_counts_both() -> None:
    meter = UsageMeter()
    meter.step_begins("main")
    for _ in range(2):
        meter.request_answered("main", {"usage": {"input_tokens": 1, "output_tokens": 2}})
    meter.step_answered("main", {"usage": {"input_tokens": 1, "output_tokens": 2}})
    assert meter.turn.output_tokens == 4 and meter.window == 3


def test_turns_and_sub_agents_add_up() -> None:
    meter = UsageMeter()
    for _ in range(2):
        meter.turn_begins()
        for lane in ("main", "child"):
            meter.step_begins(lane)
            meter.request_answered(lane, {"usage": {"input_tokens": 1, "output_tokens": 1}})
    assert (meter.turn.input_tokens, meter.session.input_tokens) == (2, 4)
    meter.restore(Usage(input_tokens=10, cost="0.25"))
    assert meter.session.input_tokens == 14 and meter.session.cost == Decimal("0.25")


@pytest.mark.parametrize(
    "usage",
    [
        {"input_tokens": 3, "output_tokens": 4, "cache_read_input_tokens": 2},
        {"prompt_tokens": 3, "completion_tokens": 4, "cache_read_tokens": 2},
    ],
)
def test_every_vendor_s_words_are_read(usage: dict[str, int]) -> None:
    count = read_count(usage)
    assert count is not None
    assert (count.input_tokens, count.output_tokens, count.cache_read_tokens) == (3, 4, 2)


@pytest.mark.parametrize("usage", [None, {}, "x", {"input_tokens": -1}, {"input_tokens": True}])
def test_what_is_no_usage_counts_nothing(usage: Any) -> None:
    assert read_count(usage) is None


def test_a_cost_that_makes_no_sense_is_unknown() -> None:
    for cost in ("NaN", "-1", "free", True, None):
        count = read_count({"input_tokens": 1}, cost)
        assert count is not None and count.cost is None


# --- plans, lanes, notices -----------------------------------------------------------------


def test_a_plan_is_read_from_the_result_or_the_arguments() -> None:
    todos = [
        {"content": "one", "status": "completed"},
        {"title": "two", "status": "in_progress", "activeForm": "Doing two"},
        "three",
        {"nothing": 1},
    ]
    expected = (
        TodoItem(content="one", status="completed"),
        TodoItem(content="two", status="in_progress", active_form="Doing two"),
        TodoItem(content="three", status="pending"),
    )
    assert read_plan({"todos": todos}, {"success": True, "output": "saved"}) == expected
    assert read_plan({}, {"success": True, "output": {"todos": todos}}) == expected
    assert read_plan({"action": "list"}, "nothing") is None
    assert is_todo_tool("TodoWrite") and is_todo_tool("update_plan") and not is_todo_tool("bash")


async def test_lanes_open_and_close_once(up: Up) -> None:
    lanes = Lanes(up.sender, UsageMeter())
    data = {"agent": "researcher", "sub_session_id": "x-y_researcher", "parent_session_id": "s"}
    lanes.spawned("main", {"session_id": "s"})
    lanes.spawned("main", data)
    lanes.spawned("main", data)
    lanes.ended("main", {**data, "success": True, "result": "found it"})
    lanes.ended("main", data)
    (opened,), (closed,) = up.of(LaneOpened), up.of(LaneClosed)
    assert (opened.lane, opened.name, opened.parent) == ("x-y_researcher", "researcher", "main")
    assert (closed.status, closed.result) == ("success", "found it")


async def test_lanes_that_are_open_at_the_end_are_closed_with_it(up: Up) -> None:
    over: list[str] = []
    lanes = Lanes(up.sender, UsageMeter(), lambda lane, _: over.append(lane))
    lanes.open("a", "one")
    lanes.open("b", "two", parent="a")
    lanes.close_all("cancelled")
    assert over == ["b", "a"]
    assert [e.status for e in up.of(LaneClosed)] == ["cancelled", "cancelled"]
    assert up.of(LaneOpened)[1].parent == "a"


def test_a_retry_says_when_and_why() -> None:
    data = {
        "provider": "anthropic",
        "attempt": 1,
        "max_retries": 3,
        "delay": 2.4,
        "error": {"type": "RateLimitError", "msg": "slow down"},
    }
    assert retry_facts({**data, "status_code": 529}) == {
        "provider": "anthropic",
        "attempt": 1,
        "most": 3,
        "delay": 2.4,
        "problem": "slow down",
        "status": 529,
    }
    strange = {"attempt": True, "max_retries": "many", "delay": "soon", "error": None}
    assert set(retry_facts(strange).values()) == {"", 0} == set(retry_facts({}).values())
    assert line_of("user:notification", {"message": "m", "level": "WARN"}) == ("warning", "m", "")
