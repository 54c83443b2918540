"""What a turn costs by the vendors' rules, each example worked by hand.

Anthropic (Pricing, prompt caching): a cache read costs what its list says, a write that lives five
minutes 1.25 times the input price, one that lives an hour 2 times; thinking is output. OpenAI
(Pricing): cached input has its own price, reasoning is output, and the prices of long requests
hold for those with more than 272 000 input tokens.
"""

import asyncio
import re
import socket
from collections.abc import Iterable
from decimal import Decimal
from typing import Any

import pytest

from amplifier_tui.base.prices import ListPrice, list_prices
from amplifier_tui.kernel.llm_errors import StreamError
from amplifier_tui.modules._provider import models
from amplifier_tui.modules.provider_anthropic.models import fallback_models as claude_models
from amplifier_tui.modules.provider_openai.models import fallback_models as gpt_models
from tests.modules.provider_anthropic.support import claude
from tests.modules.provider_faults import Asked
from tests.modules.provider_openai.support import gpt
from tests.modules.provider_support import ask
from tests.servers import Pause, Stall, Text, Thinking, Usage, reply

SONNET, ASTRA = "claude-sonnet-5-5", "gpt-6-astra"
LISTED = {
    SONNET: (ListPrice(0, "2", "10", "0.1", "2.5"),),
    ASTRA: (
        ListPrice(0, "10", "50", "1", "12.5"),
        ListPrice(272_000, "20", "75", "2", "25"),
    ),
}
OPUS, HAIKU, GPT = "claude-opus-4-5", "claude-haiku-4-5", "gpt-5.1"
HOUR = {"prompt_caching": "1h"}

EXAMPLES = [
    # 1 000 x $5 + 500 x $25 = $0.005 + $0.0125
    ("anthropic", OPUS, {}, Usage(1_000, 500), "0.0175"),
    # 1 000 x $5 + 100 000 read x $0.50 + 200 x $25 = $0.005 + $0.05 + $0.005
    ("anthropic", OPUS, {}, Usage(101_000, 200, cache_read=100_000), "0.06"),
    # 2 000 x $5 + 8 000 written x $6.25 + 400 x $25 = $0.01 + $0.05 + $0.01
    ("anthropic", OPUS, {}, Usage(10_000, 400, cache_write=8_000), "0.07"),
    # The same for an hour: 8 000 x $10 = $0.08
    ("anthropic", OPUS, HOUR, Usage(10_000, 400, cache_write=8_000), "0.1"),
    # 5 000 x $2 + 40 000 read x $0.10 + 5 000 written x $2.50 + 1 000 x $10
    #   = $0.01 + $0.004 + $0.0125 + $0.01
    (
        "anthropic",
        SONNET,
        {},
        Usage(50_000, 1_000, cache_read=40_000, cache_write=5_000),
        "0.0365",
    ),
    # The same for an hour: 5 000 x $4 = $0.02
    (
        "anthropic",
        SONNET,
        HOUR,
        Usage(50_000, 1_000, cache_read=40_000, cache_write=5_000),
        "0.044",
    ),
    # 2 000 x $2 + 3 000 x $10, of which 2 500 are thinking = $0.004 + $0.03
    ("anthropic", SONNET, {}, Usage(2_000, 3_000, reasoning=2_500), "0.034"),
    # 12 x $1 + 3 x $5
    ("anthropic", HAIKU, {}, Usage(12, 3), "0.000027"),
    # 4 000 x $1.25 + 6 000 cached x $0.125 + 1 000 x $10 = $0.005 + $0.00075 + $0.01
    ("responses", GPT, {}, Usage(10_000, 1_000, cache_read=6_000), "0.01575"),
    # 1 000 x $1.25 + 2 000 x $10, of which 1 500 are reasoning = $0.00125 + $0.02
    ("chat", GPT, {}, Usage(1_000, 2_000, reasoning=1_500), "0.02125"),
    # 3 000 x $10 + 12 000 cached x $1 + 5 000 written x $12.50 + 800 x $50
    #   = $0.03 + $0.012 + $0.0625 + $0.04
    (
        "responses",
        ASTRA,
        {},
        Usage(20_000, 800, cache_read=12_000, cache_write=5_000),
        "0.1445",
    ),
    # 272 000 x $10 + 1 000 x $50 = $2.72 + $0.05: not yet a long request
    ("responses", ASTRA, {}, Usage(272_000, 1_000), "2.77"),
    # 1 x $20 + 272 000 cached x $2 + 1 000 x $75 = $0.00002 + $0.544 + $0.075
    ("responses", ASTRA, {}, Usage(272_001, 1_000, cache_read=272_000), "0.61902"),
    ("chat", "nobody-knows-it", {}, Usage(1_000, 500), None),
]


@pytest.fixture(autouse=True)
def listed(monkeypatch: pytest.MonkeyPatch) -> None:
    """The vendors' lists, also for the server of the test."""

    async def prices(
        asked: Iterable[tuple[str, str]],
    ) -> dict[tuple[str, str], tuple[ListPrice, ...]]:
        return {pair: LISTED.get(pair[1], ()) for pair in asked}

    monkeypatch.setattr(models, "list_prices", prices)


@pytest.mark.parametrize(("api", "model", "config", "used", "dollars"), EXAMPLES)
async def test_a_turn_costs_what_the_vendors_rules_say(
    api: str, model: str, config: dict[str, Any], used: Usage, dollars: str | None
) -> None:
    answer = reply("Hi.", usage=used)
    anthropic = api == "anthropic"
    opened = claude(answer, config=config) if anthropic else gpt(answer, api=api)
    async with opened as (provider, _, heard):
        response = await provider.complete(ask(model=model))
    assert response.usage is not None
    expected = None if dollars is None else Decimal(dollars)
    assert response.usage.cost_usd == expected
    told = heard.of("llm:response")[0]["cost_usd"]
    assert (None if told is None else Decimal(told)) == expected


async def test_the_parts_of_a_continued_answer_are_paid_for_together() -> None:
    first = reply("Half and ", stop="length", usage=Usage(1_000, 500))
    async with claude(first, reply("half.", usage=Usage(1_500, 100))) as (provider, _, _heard):
        response = await provider.complete(ask(model=OPUS))
    assert response.usage is not None
    # $0.0175, and 1 500 x $5 + 100 x $25 = $0.01
    assert response.usage.cost_usd == Decimal("0.0275")


async def test_what_a_server_says_itself_counts() -> None:
    answer = Asked("chat", stream=False).replaced(
        reply("Hi."), '"prompt_tokens"', '"cost":0.00125,"prompt_tokens"'
    )
    async with gpt(answer, api="chat", config={"stream": False}) as (provider, _, _heard):
        response = await provider.complete(ask(model=GPT))
    assert response.usage is not None
    assert response.usage.cost_usd == Decimal("0.00125")


async def test_the_providers_own_tables_agree_with_the_list_and_say_of_when_they_are() -> None:
    own = {("anthropic", each.id): each.pricing for each in claude_models() if each.pricing}
    own |= {("openai", each.id): each.pricing for each in gpt_models() if each.pricing}
    found = await list_prices(own)
    for pair, pricing in own.items():
        price = found[pair][0]
        cached = float(price.cache_read or 0)
        assert (pricing.input_per_million, pricing.output_per_million) == (
            float(price.input),
            float(price.output),
        ), pair
        assert pricing.cache_read_per_million == cached, pair
        assert pricing.source == f"provider-{pair[0]}'s table of 2026-11"
        assert re.fullmatch(r"genai-prices [\d.]+ of 20\d\d-\d\d-\d\d", price.source)


async def test_an_answer_that_came_to_nothing_is_paid_for_all_the_same() -> None:
    nothing = (reply(usage=Usage(1_000, 500)), reply("Hi.", usage=Usage(1_000, 500)))
    async with claude(*nothing, config={"default_model": OPUS}) as (provider, _, heard):
        response = await provider.complete(ask())
    (retry,) = heard.of("provider:retry")
    assert retry["usage"]["cost_usd"] == "0.0175"
    assert response.usage.cost_usd == Decimal("0.0175")


@pytest.mark.parametrize("case", [claude, gpt])
async def test_what_an_error_cost_goes_with_it(case: Any) -> None:
    used_up = reply(Thinking("Hm."), stop="length", usage=Usage(1_000, 500))
    model = OPUS if case is claude else GPT
    async with case(used_up, config={"default_model": model}) as (provider, _, _heard):
        with pytest.raises(StreamError, match="before the first word") as caught:
            await provider.complete(ask())
    usage = caught.value.usage
    assert (usage.input_tokens, usage.output_tokens) == (1_000, 500)
    assert usage.cost_usd == Decimal("0.0175" if case is claude else "0.00625")


@pytest.mark.parametrize("api", ["anthropic", "responses", "chat"])
async def test_an_answer_that_is_stopped_is_paid_for_as_far_as_it_came(api: str) -> None:
    answer = reply(Text(["x" * 4_000, Stall()]), usage=Usage(1_000, 5_000))
    anthropic = api == "anthropic"
    opened = claude(answer) if anthropic else gpt(answer, api=api)
    async with opened as (provider, _, heard):
        asked = ask("y" * 4_000, model=OPUS if anthropic else GPT)
        answering = asyncio.create_task(provider.complete(asked))
        await heard.until("llm:stream_block_delta")
        answering.cancel()
        with pytest.raises(asyncio.CancelledError):
            await answering
    (ended,) = heard.of("llm:response")
    assert ended["status"] == "cancelled"
    used = ended["usage"]
    # Anthropic tells what it has read with the first event, OpenAI with the last.
    assert used["input_tokens"] == (1_000 if anthropic else 1_004)
    assert used["output_tokens"] == 1_000
    # 1 000 x $5 + 1 000 x $25; 1 004 x $1.25 + 1 000 x $10
    assert Decimal(ended["cost_usd"]) == Decimal("0.03" if anthropic else "0.011255")


@pytest.mark.parametrize("case", [claude, gpt])
async def test_a_request_that_is_stopped_before_it_has_gone_out_costs_nothing(case: Any) -> None:
    full, *waiting = [socket.socket() for _ in range(4)]
    full.bind(("127.0.0.1", 0))
    full.listen(0)
    for each in waiting:
        each.setblocking(False)
        each.connect_ex(full.getsockname())
    away = f"http://127.0.0.1:{full.getsockname()[1]}/v1"
    async with case(config={"base_url": away}) as (provider, server, heard):
        answering = asyncio.create_task(provider.complete(ask("y" * 4_000)))
        await heard.until("llm:request")
        await provider.warm()
        for _ in range(50):
            await asyncio.sleep(0)
        answering.cancel()
        with pytest.raises(asyncio.CancelledError):
            await answering
        assert not server.requests
    for each in (full, *waiting):
        each.close()
    (ended,) = heard.of("llm:response")
    assert ended["status"] == "cancelled" and ended["usage"] == {}


@pytest.mark.parametrize("case", [claude, gpt])
async def test_a_request_that_the_server_has_is_paid_for_also_before_the_first_word(
    case: Any,
) -> None:
    async with case(reply(Pause(60), Text("late"))) as (provider, server, heard):
        answering = asyncio.create_task(provider.complete(ask("y" * 4_000)))
        await server.request()
        answering.cancel()
        with pytest.raises(asyncio.CancelledError):
            await answering
    (ended,) = heard.of("llm:response")
    assert ended["usage"]["input_tokens"] > 0


async def test_an_answer_that_is_stopped_reads_from_the_cache_what_the_one_before_did() -> None:
    first = reply("Hi.", usage=Usage(1_000, 5, cache_read=900))
    stalled = reply(Text(["x" * 40, Stall()]), usage=Usage(1_000, 10))
    async with gpt(first, stalled, api="responses") as (provider, _, heard):
        asked = ask("y" * 4_000, model=GPT)
        await provider.complete(asked)
        answering = asyncio.create_task(provider.complete(asked))
        await heard.until("llm:stream_block_delta", text="x" * 40)
        answering.cancel()
        with pytest.raises(asyncio.CancelledError):
            await answering
    stopped = heard.of("llm:response")[-1]
    assert stopped["usage"]["cache_read_tokens"] == 900
    # 104 x $1.25 + 900 cached x $0.125 + 10 x $10
    assert Decimal(stopped["cost_usd"]) == Decimal("0.0003425")
    assert stopped["duration_ms"] >= 0 and stopped["finish_reason"] is None
