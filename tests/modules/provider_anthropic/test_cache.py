"""What is marked for the cache is there again in the next request, so that it is read."""

import json
from typing import Any

import pytest

from amplifier_tui.kernel import AmplifierSession
from amplifier_tui.kernel.models import HookResult, ToolResult
from tests.servers import LoopbackServer, Thinking, ToolUse, reply

_LOOKS_BACK = 20
"""Blocks before a breakpoint at whose ends the API looks for what it has in its cache."""


def blocks_of(request: dict[str, Any]) -> list[dict[str, Any]]:
    said = [
        {"role": message["role"], **block}
        for message in request["messages"]
        for block in message["content"]
    ]
    return [*request.get("tools", []), *request.get("system", []), *said]


class Cache:
    """The cache of the API: what ends at a breakpoint is kept, and read where it begins again."""

    def __init__(self) -> None:
        self._kept: set[tuple[str, ...]] = set()

    def read(self, request: dict[str, Any]) -> tuple[int, int]:
        """The blocks read from the cache, and all."""
        blocks = blocks_of(request)
        marks = [number for number, block in enumerate(blocks, 1) if "cache_control" in block]
        plain = [{k: v for k, v in block.items() if k != "cache_control"} for block in blocks]
        texts = tuple(json.dumps(block, sort_keys=True) for block in plain)
        ends = {end for mark in marks for end in range(max(1, mark - _LOOKS_BACK + 1), mark + 1)}
        hits = [end for end in ends if texts[:end] in self._kept]
        self._kept |= {texts[:mark] for mark in marks}
        return max(hits, default=0), len(texts)


class Look:
    name = "look"
    description = "Looks."

    def __init__(self) -> None:
        self.input_schema = {"type": "object", "properties": {}}

    async def execute(self, input: dict[str, Any]) -> ToolResult:
        return ToolResult(output=f"seen {input}")


@pytest.mark.parametrize("at_last_result", [False, True])
async def test_what_hooks_add_to_one_request_spoils_no_prefix(at_last_result: bool) -> None:
    said = 0

    async def remind(event: str, data: dict[str, Any]) -> HookResult:
        nonlocal said
        said += 1
        return HookResult(
            action="inject_context",
            context_injection=f"It is {said} o'clock.",
            context_injection_role="user",
            ephemeral=True,
            append_to_last_tool_result=at_last_result,
        )

    many = [ToolUse("look", {"at": number}) for number in range(25)]
    replies = [
        reply(Thinking("Hm."), "Let me look.", ToolUse("look", {"at": 100})),
        reply(*many),
        "Seen.",
        reply(ToolUse("look", {"at": 200})),
        "Again.",
    ]
    async with LoopbackServer(replies) as server:
        config = {"api_key": "sk-test", "base_url": server.url}
        plan = {
            "session": {"orchestrator": "loop-streaming", "context": "context-simple"},
            "providers": [{"module": "provider-anthropic", "config": config}],
        }
        async with AmplifierSession(plan) as session:
            await session.coordinator.mount("tools", Look(), name="look")
            session.coordinator.hooks.register("provider:request", remind, name="remind")
            await session.execute("look around")
            await session.execute("and again")
    cache = Cache()
    found = [cache.read(record.json) for record in server.requests]
    assert len(found) == 5 and said == 5
    lost = [total - read for read, total in found[1:]]
    # What is new since the request before: its answer, the results of its calls, the reminder.
    assert lost[0] <= 5
    assert lost[1] <= 25 + 25 + 4
    assert all(each <= 5 for each in lost[2:]), found
