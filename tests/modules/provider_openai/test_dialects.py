"""What compatible servers do in their own ways, each as it speaks on the wire."""

from decimal import Decimal

import pytest

from amplifier_tui.kernel import capabilities, llm_errors
from amplifier_tui.kernel.message_models import TextBlock, ThinkingBlock, ToolCallBlock
from tests.modules.provider_openai.support import gpt
from tests.modules.provider_support import READ_FILE, ask, assistant, tool, user
from tests.servers import Failure, StreamFailure, Text, Thinking, ToolUse, Usage, reply
from tests.servers.dialects import DIALECTS, Dialect

pytestmark = pytest.mark.parametrize("name", DIALECTS)
NEVER = {"max_retries": 0}


def speaking(name: str) -> dict[str, Dialect]:
    return {"dialect": DIALECTS[name]}


async def test_thoughts_words_and_counts_arrive(name: str) -> None:
    answer = reply(Thinking("Hm."), "Yes, it is.", usage=Usage(120, 30))
    async with gpt(answer, server=speaking(name)) as (provider, _, heard):
        response = await provider.complete(ask())
    thought, words = response.content
    assert isinstance(thought, ThinkingBlock) and thought.thinking == "Hm."
    assert words == TextBlock(text="Yes, it is.")
    assert (heard.text("thinking"), heard.text()) == ("Hm.", "Yes, it is.")
    assert response.finish_reason == "stop"
    if name == "vLLM":
        assert response.usage is None, "counts that did not come are not zero"
    else:
        assert response.usage is not None
        assert (response.usage.input_tokens, response.usage.output_tokens) == (120, 30)
        paid = Decimal("0.00042") if name == "OpenRouter" else None
        assert response.usage.cost_usd == paid


async def test_two_calls_are_told_apart_and_their_results_find_back(name: str) -> None:
    both = reply(ToolUse("read_file", {"path": "a"}), ToolUse("read_file", {"path": "b"}))
    one = reply(ToolUse("read_file", {"path": "c"}))
    async with gpt(both, one, server=speaking(name)) as (provider, server, heard):
        response = await provider.complete(ask(tools=[READ_FILE]))
        calls = response.tool_calls or []
        results = [tool(call.id, f"content of {call.arguments['path']}") for call in calls]
        said = assistant(response.content)
        again = await provider.complete(ask(user("Hi"), said, *results, tools=[READ_FILE]))
        (third,) = again.tool_calls or []
    assert [call.arguments for call in calls] == [{"path": "a"}, {"path": "b"}]
    assert len({call.id for call in [*calls, third]} - {""}) == 3, "also of an earlier answer"
    blocks = [block for block in response.content if isinstance(block, ToolCallBlock)]
    assert [block.id for block in blocks] == [call.id for call in calls]
    assert response.finish_reason == "tool_calls"
    started = heard.of("llm:stream_block_start")
    assert [data["block_type"] for data in started[:2]] == ["tool_use", "tool_use"]
    sent = server.requests[1].json["messages"]
    given = [call["id"] for message in sent for call in message.get("tool_calls", [])]
    answered = [each for each in sent if each["role"] == "tool"]
    assert [each["tool_call_id"] for each in answered] == given
    assert [each["content"] for each in answered] == ["content of a", "content of b"]


async def test_a_conversation_that_is_too_long_is_told_as_such(name: str) -> None:
    refused = Failure("context_too_long")
    async with gpt(refused, config=NEVER, server=speaking(name)) as (provider, _, _heard):
        with pytest.raises(llm_errors.ContextLengthError, match="Compact it"):
            await provider.complete(ask())


async def test_a_failure_within_an_answer_is_told_and_tried_again(name: str) -> None:
    broken = reply(Text(["half ", StreamFailure()]))
    async with gpt(broken, "Whole.", server=speaking(name)) as (provider, _, heard):
        response = await provider.complete(ask())
    assert response.content == [TextBlock(text="Whole.")]
    (retry,) = heard.of("provider:retry")
    assert retry["error"]["type"] == "ProviderUnavailableError"
    told = {
        "Ollama": "unexpectedly stopped",
        "LM Studio": "unloaded",
        "vLLM": "EngineCore",
        "llama.cpp": "Loading model",
        "OpenRouter": "Provider disconnected",
    }
    assert told[name] in retry["error"]["msg"]


async def test_what_the_model_list_says_is_believed(name: str) -> None:
    async with gpt(server=speaking(name)) as (provider, _, _heard):
        (model,) = await provider.list_models()
    assert model.context_window == (32_768 if name == "Ollama" else 40_960)
    if name == "OpenRouter":
        assert model.max_output_tokens == 16_384
        assert capabilities.THINKING in model.capabilities
        assert capabilities.VISION not in model.capabilities
        assert model.pricing is not None
        assert (model.pricing.input_per_million, model.pricing.output_per_million) == (3, 15)
        assert model.pricing.cache_read_per_million == 0.3
        assert model.pricing.source == "the server's own list"
    else:
        assert capabilities.TOOLS in model.capabilities
        assert model.pricing is None
