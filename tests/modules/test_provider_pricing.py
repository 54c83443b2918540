"""The price of an answer that a provider does not know itself."""

import asyncio
from typing import Any

import pytest

from amplifier_tui.modules._provider import models
from tests.modules.provider_openai.support import gpt
from tests.modules.provider_support import ask
from tests.servers import reply
from tests.waiting import within


async def test_an_answer_does_not_wait_for_a_price_that_is_slow_to_come(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    async def never(asked: Any) -> None:
        await asyncio.Event().wait()

    monkeypatch.setattr(models, "list_prices", never)
    async with gpt(reply("Hi."), api="chat") as (provider, _, _heard), within(20):
        response = await provider.complete(ask(model="unknown"))
    assert response.usage is not None
    assert response.usage.input_tokens and response.usage.cost_usd is None


async def test_no_price_is_looked_up_for_a_request_that_can_not_be_written(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    looked_up: list[Any] = []

    async def note(asked: Any) -> dict[Any, Any]:
        looked_up.append(asked)
        return {}

    def refuse(*_: Any) -> None:
        raise ValueError("it can't be written")

    monkeypatch.setattr(models, "list_prices", note)
    async with gpt(api="chat") as (provider, _, _heard):
        monkeypatch.setattr(provider, "_prepare", refuse)
        with pytest.raises(ValueError, match="can't be written"):
            await provider.complete(ask(model="unknown"))
        await asyncio.sleep(0)
    assert not looked_up
