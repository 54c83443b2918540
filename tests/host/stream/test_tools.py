from pathlib import Path
from typing import Any

import pytest

from amplifier_tui.base.commands.run import Output
from amplifier_tui.base.messages.sub_sessions import ending_note
from amplifier_tui.host.events import (
    TodoItem,
    ToolEnded,
    ToolStarted,
)
from amplifier_tui.host.gate.calls.result_limit import MOST, bounded
from amplifier_tui.host.redaction import Redactor
from amplifier_tui.host.session.modules.facts import ModuleFacts
from amplifier_tui.host.stream.normalizer import Normalizer
from amplifier_tui.host.stream.results import is_todo_tool, output_text, read_plan, summary_words
from amplifier_tui.host.stream.tools import Tools
from amplifier_tui.kernel.hooks import HookRegistry
from amplifier_tui.kernel.models import HookResult, ToolResult
from tests.host.stream.up import Up


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


async def test_a_call_that_was_refused_took_no_time(up: Up, tools: Tools) -> None:
    tools.pre("main", pre())
    tools.refused("main", pre(), "not this")
    tools.error("main", {**pre(), "error": {"type": "denied", "msg": "no"}})
    (ended,) = up.of(ToolEnded)
    assert ended.denied and ended.duration_ms == 0


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


async def test_how_a_command_ended_is_no_line_of_its_output(up: Up, tools: Tools) -> None:
    lines = [f"line {number}" for number in range(25)]
    tools.pre("main", pre(tool="bash"))
    result = "\n".join([*lines, ending_note("exit code 0", 0.1)])
    tools.post("main", {**pre(tool="bash"), "result": result})
    (ended,) = up.of(ToolEnded)
    assert ended.summary == "25 lines"


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


def test_images_that_an_event_left_out_are_named_only_where_there_is_nothing_else() -> None:
    source = {"type": "base64", "media_type": "image/png", "data": "QUJD"}
    image = {"type": "image", "source": source}
    seen = ToolResult(output="seen", content=[{"type": "text", "text": "seen"}, image])
    assert output_text(seen.safe_hook_presentation()) == "seen"
    alone = ToolResult(content=[image])
    assert output_text(alone.safe_hook_presentation()) == "[image]"


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


def test_the_words_about_an_output_of_which_a_tool_left_out_the_middle_say_so() -> None:
    output = Output(4_000, 1_000)
    output.feed("".join(f"{number}\n" for number in range(20_000)).encode())
    output.feed(b"")
    text = output.text()
    result = {"success": True, "output": text}
    assert summary_words(result, text, "") == f"{text.rstrip().count(chr(10)) + 1:,} lines, cut"
    within = "a\nb [… 9 characters left out]"
    assert summary_words(within, within, "") == "2 lines"


async def test_the_words_about_a_result_that_was_bounded_say_so(tmp_path: Path) -> None:
    result = await bounded("line\n" * (MOST // 4), tmp_path, Redactor({}))
    text = output_text(result.model_dump())
    assert summary_words(result, text, "").endswith(" lines, cut")


@pytest.mark.parametrize("name", ["result", "tool_result"])
async def test_a_result_is_shown_as_hooks_left_it_under_either_of_its_names(
    up: Up, tmp_path: Path, name: str
) -> None:
    normalizer, hooks = Normalizer(up.sender, tmp_path, ModuleFacts()), HookRegistry()
    normalizer.observe(hooks)

    async def filtered(event: str, data: dict[str, Any]) -> HookResult:
        return HookResult(
            action="modify", data={**data, name: {"success": True, "output": "[filtered]"}}
        )

    hooks.register("tool:post", filtered)
    call = {"tool_name": "echo", "tool_call_id": "c", "tool_input": {}}
    result = {"success": True, "output": "a secret"}
    await hooks.emit("tool:pre", call)
    await hooks.emit("tool:post", {**call, "result": result, "tool_result": result})
    assert up.of(ToolEnded)[-1].output == "[filtered]"
