"""OpenAI's own form of `apply_patch`: the tool of this program carries it out."""

from pathlib import Path
from typing import Any

import pytest

from amplifier_tui.kernel import AmplifierSession
from amplifier_tui.kernel.message_models import ToolCallBlock, ToolSpec
from tests.modules.provider_faults import Asked
from tests.modules.provider_openai.support import gpt
from tests.modules.provider_support import ask, assistant, tool, user
from tests.modules.test_provider_faults import plan
from tests.servers import LoopbackServer, Raw, reply
from tests.servers.wire import sse

UPDATE = {"type": "update_file", "path": "a.txt", "diff": "@@\n-one\n+two\n"}
PATCH = ToolSpec(name="apply_patch", parameters={"type": "object", "properties": {}})
NATIVE = {"native_tools": True}


def calling(*operations: dict[str, Any], stop: Any = None) -> Raw:
    """An answer with one item for each operation."""
    asked = Asked("responses", stream=True)
    begun, going, ended = asked.pieces(reply(stop=stop))
    events = [begun, going]
    for index, operation in enumerate(operations):
        item = {
            "type": "apply_patch_call",
            "id": f"apc_{index}",
            "call_id": f"call_{index}",
            "status": "completed",
            "operation": operation,
        }
        for kind in ("response.output_item.added", "response.output_item.done"):
            data = {"type": kind, "sequence_number": 5, "output_index": index, "item": item}
            events.append(sse(data, event=kind))
    return asked.raw([*events, ended])


async def test_files_are_created_changed_and_deleted_and_the_calls_go_back_as_they_came(
    tmp_path: Path,
) -> None:
    (tmp_path / "a.txt").write_text("one\n")
    (tmp_path / "old.txt").write_text("gone\n")
    operations = [
        UPDATE,
        {"type": "create_file", "path": "new.txt", "diff": "+fresh\n"},
        {"type": "delete_file", "path": "old.txt"},
        {"type": "update_file", "path": "nowhere.txt", "diff": "@@\n-x\n+y\n"},
    ]
    async with LoopbackServer([calling(*operations), "Done."]) as server:
        mounted = plan(Asked("responses", True), server, {"default_model": "gpt-6-astra", **NATIVE})
        mounted["tools"] = [
            {"module": "tool-apply-patch", "config": {"working_dir": str(tmp_path)}}
        ]
        async with AmplifierSession(mounted) as session:
            assert await session.execute("go") == "Done."
    files = {path.name: path.read_text() for path in tmp_path.iterdir()}
    assert files == {"a.txt": "two\n", "new.txt": "fresh\n"}
    first, second = (record.json for record in server.requests)
    assert first["tools"] == [{"type": "apply_patch"}]
    calls = [item for item in second["input"] if item["type"] == "apply_patch_call"]
    assert [call["operation"] for call in calls] == operations
    outputs = [item for item in second["input"] if item["type"] == "apply_patch_call_output"]
    assert [output["call_id"] for output in outputs] == [call["call_id"] for call in calls]
    assert [output["status"] for output in outputs] == [*["completed"] * 3, "failed"]


async def test_it_is_shown_as_a_call_of_the_tool() -> None:
    async with gpt(calling(UPDATE), api="responses", config=NATIVE) as (provider, _, heard):
        response = await provider.complete(ask(tools=[PATCH]))
    assert response.finish_reason == "tool_calls"
    (call,) = response.tool_calls or []
    wanted = "*** Begin Patch\n*** Update File: a.txt\n@@\n-one\n+two\n*** End Patch\n"
    assert (call.name, call.arguments) == ("apply_patch", {"input": wanted})
    assert heard.of("llm:stream_block_start")[0]["name"] == "apply_patch"


@pytest.mark.parametrize(
    "operation",
    [
        {"type": "update_file", "path": "a\n*** Delete File: b", "diff": ""},
        {"type": "update_file", "path": "a\u2028b", "diff": ""},
        {"type": "rename_file", "path": "a", "diff": ""},
        {"type": "delete_file"},
    ],
)
async def test_an_operation_that_is_none_is_an_error_for_the_model(operation: Any) -> None:
    async with gpt(calling(operation), api="responses", config=NATIVE) as (provider, _, _heard):
        response = await provider.complete(ask(tools=[PATCH]))
    (call,) = response.tool_calls or []
    assert call.arguments == {}
    assert "none that can be carried out" in call.arguments_error


async def test_other_calls_of_the_tool_and_other_apis_have_the_usual_form() -> None:
    ours = ToolCallBlock(id="c1", name="apply_patch", input={"input": "*** Begin Patch"})
    kept: Any = {"operation": UPDATE}
    changed = ToolCallBlock(id="c2", name="apply_patch", input={"input": "edited"}, **kept)
    history = [user("Hi"), assistant([ours, changed]), tool("c1", "one"), tool("c2", "two")]
    async with gpt("Hi.", api="responses", config=NATIVE) as (provider, server, _):
        await provider.complete(ask(*history, tools=[PATCH]))
    kinds = [item["type"] for item in server.requests[0].json["input"]]
    assert kinds == ["message", *["function_call"] * 2, *["function_call_output"] * 2]
    async with gpt("Hi.", api="responses") as (provider, server, _):
        await provider.complete(ask(tools=[PATCH]))
    assert server.requests[0].json["tools"][0]["type"] == "function", "unless it is asked for"


async def test_an_operation_that_the_output_limit_cut_off_is_not_carried_out() -> None:
    half = {"type": "create_file", "path": "new.txt", "diff": "+the first half"}
    answer = calling(UPDATE, half, stop="length")
    async with gpt(answer, api="responses", config=NATIVE) as (provider, _, _heard):
        response = await provider.complete(ask(tools=[PATCH]))
    whole, cut = provider.parse_tool_calls(response)
    assert "Update File" in whole.arguments["input"]
    assert cut.arguments == {} and "cut off by the output limit" in cut.arguments_error
