"""What a model said goes back to it unchanged, and each request begins as the one before it."""

import json
from itertools import pairwise
from typing import Any, get_args

import pytest

from amplifier_tui.kernel import AmplifierSession
from amplifier_tui.kernel.models import HookResult
from tests.modules.provider_faults import Api, Asked
from tests.modules.provider_support import ask
from tests.modules.test_provider_faults import Look, plan
from tests.servers import LoopbackServer, RedactedThinking, Thinking, ToolUse, reply

ODD = [
    "  begins with blanks, \t tabs",
    "\n\nand e\u0301 beside \u00e9, \u200bzero width, \ufeff mark",
    ' "quotes" \\back\\ </think> \u6f22\U0001f9ea',
    "\r\nends with an empty line\n\n",
]
every_api = pytest.mark.parametrize("api", get_args(Api))
both_contexts = pytest.mark.parametrize("context", ["context-simple", "context-pipeline"])


async def requests_of(
    api: Any, context: str, replies: list[Any], prompts: list[str], reminds: bool = False
) -> list[dict[str, Any]]:
    """The requests that a session sends."""

    async def remind(event: str, data: dict[str, Any]) -> HookResult:
        return HookResult(
            action="inject_context",
            context_injection=f"Request {len(server.requests)}.",
            context_injection_role="user",
            ephemeral=True,
        )

    async with LoopbackServer(replies) as server:
        mounted = plan(Asked(api, True), server, {"default_model": "gpt-6-astra"})
        mounted["session"]["context"] = context
        async with AmplifierSession(mounted) as session:
            await session.coordinator.mount("tools", Look(), name="look")
            if reminds:
                session.coordinator.hooks.register("provider:request", remind, name="remind")
            for prompt in prompts:
                await session.execute(prompt)
        assert server.script.left == 0
    return [record.json for record in server.requests]


@every_api
@both_contexts
async def test_thoughts_go_back_to_the_letter(api: Any, context: str) -> None:
    first = reply(
        Thinking(ODD, signature="sig+/=9"),
        RedactedThinking("opaque+/=="),
        ToolUse("look", {"at": 1}, id="call_a"),
    )
    _, sent = await requests_of(api, context, [first, "Done."], ["go"])
    said = "".join(ODD)
    match api:
        case "anthropic":
            thought, hidden, call = sent["messages"][1]["content"]
            assert thought == {"type": "thinking", "thinking": said, "signature": "sig+/=9"}
            assert hidden == {"type": "redacted_thinking", "data": "opaque+/=="}
            assert (call["type"], call["id"]) == ("tool_use", "call_a")
        case "responses":
            (item,) = (item for item in sent["input"] if item["type"] == "reasoning")
            assert item["encrypted_content"] == "sig+/=9"
            assert item["summary"] == [{"type": "summary_text", "text": said}]
        case "chat":
            (message,) = (m for m in sent["messages"] if m["role"] == "assistant")
            assert message["reasoning_content"] == said
            assert [call["id"] for call in message["tool_calls"]] == ["call_a"]


@every_api
async def test_whoever_sets_an_output_limit_gets_what_fits(api: Any) -> None:
    async with (
        LoopbackServer([reply(stop="length")]) as server,
        AmplifierSession(plan(Asked(api, True), server, {})) as session,
    ):
        (provider,) = session.coordinator.get("providers").values()
        response = await provider.complete(ask(max_output_tokens=32))
    assert (response.content, response.finish_reason) == ([], "length")


@every_api
@both_contexts
async def test_each_request_begins_with_the_one_before_it(api: Any, context: str) -> None:
    replies = [
        reply("Looking. ", ToolUse("look", {"b": 1, "a": [1.5, None, "\u00e9"]}, id="call_a")),
        reply(ToolUse("look", {}, id="call_b"), ToolUse("look", {"at": 2}, id="call_c")),
        "Seen.",
        "Again.",
    ]
    requests = await requests_of(api, context, replies, ["one", "two"], reminds=True)
    for number, (before, after) in enumerate(pairwise(requests), 1):
        old, new = _pieces(before), _pieces(after)
        lasting = [piece for piece in old if f"Request {number - 1}." not in piece]
        assert new[: len(lasting)] == lasting
        assert len(old) - len(lasting) == 1
        assert before.get("tools") and _plain(before["tools"]) == _plain(after["tools"])


def _pieces(request: dict[str, Any]) -> list[str]:
    """The conversation in its smallest pieces, as text."""
    pieces: list[str] = []
    for message in request.get("messages") or request["input"]:
        content = message.get("content")
        parts = content if isinstance(content, list) else [content]
        rest = {name: value for name, value in message.items() if name != "content"}
        # A text alone and a list with one text are the same words of the same speaker.
        parts = [{"type": "text", "text": p} if isinstance(p, str) else p for p in parts]
        pieces += [_plain({**rest, "part": part}) for part in parts]
    return pieces


def _plain(value: Any) -> str:
    if isinstance(value, dict):
        value = {k: _plain(v) for k, v in value.items() if k != "cache_control"}
    elif isinstance(value, list):
        value = [_plain(each) for each in value]
    return json.dumps(value, ensure_ascii=False)
