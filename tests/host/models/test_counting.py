"""What answers use is counted once, whether their provider tells of it with an event or not."""

import asyncio
from contextlib import nullcontext
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from amplifier_tui.host.models.routing import ModelRoute
from amplifier_tui.host.session.modules.facts import ModuleFacts
from amplifier_tui.host.stream.normalizer import Normalizer
from amplifier_tui.kernel import events
from amplifier_tui.kernel.correlation import aside
from amplifier_tui.kernel.hooks import HookRegistry
from amplifier_tui.kernel.message_models import ChatRequest, ChatResponse, Message, TextBlock, Usage
from amplifier_tui.kernel.utils.request_tokens import request_tokens
from tests.host.stream.up import Up

USAGE = {"input_tokens": 90, "output_tokens": 10, "total_tokens": 100, "cost_usd": "3"}


class Provider:
    """A provider that reports in its answer, and, if it `tells`, with an event, too."""

    name = "own"

    def __init__(self, hooks: HookRegistry, tells: bool) -> None:
        self.hooks, self.tells = hooks, tells

    async def complete(self, request: Any, **more: Any) -> ChatResponse:
        if self.tells:
            await self.hooks.emit(events.LLM_RESPONSE, {"usage": USAGE, "model": "m"})
        return ChatResponse(content=[TextBlock(text="hi")], usage=Usage(**USAGE))


@pytest.mark.parametrize("tells", [True, False])
@pytest.mark.parametrize("of", ["a loop that tells of it", "another loop", "no conversation"])
async def test_it_is_counted_once(tmp_path: Path, tells: bool, of: str) -> None:
    route, coordinator, hooks = ModelRoute(), SimpleNamespace(mount_points={}), HookRegistry()
    normalizer = Normalizer(Up(tmp_path / "s").sender, tmp_path, ModuleFacts())
    normalizer.observe(hooks)
    route.responses, route.returned = normalizer.responses, normalizer.count_response
    route.stand_before(coordinator)  # type: ignore[arg-type]
    coordinator.mount_points["providers"]["own"] = Provider(hooks, tells)
    provider = coordinator.mount_points["providers"]["own"]
    for _ in range(2):
        await hooks.emit(events.PROVIDER_REQUEST, {"provider": "own"})
        with aside() if of == "no conversation" else nullcontext():
            await provider.complete(ChatRequest(messages=[]))
        if of == "a loop that tells of it":
            await hooks.emit(events.PROVIDER_RESPONSE, {"usage": USAGE})
    used = normalizer.usage.session
    assert (used.input_tokens, used.output_tokens, used.cost) == (180, 20, 6)


@pytest.mark.parametrize("tells", [True, False])
async def test_what_is_stopped_counts_where_its_provider_said_only_that_it_was_asked(
    tmp_path: Path, tells: bool
) -> None:
    route, coordinator, hooks = ModelRoute(), SimpleNamespace(mount_points={}), HookRegistry()
    normalizer = Normalizer(Up(tmp_path / "s").sender, tmp_path, ModuleFacts())
    normalizer.observe(hooks)
    route.requests, route.responses = normalizer.requests, normalizer.responses
    route.returned = normalizer.count_response
    route.stand_before(coordinator)  # type: ignore[arg-type]
    asked = asyncio.Event()

    class Stalls:
        name = "own"

        async def complete(self, request: Any, **more: Any) -> None:
            if tells:
                await hooks.emit(events.LLM_REQUEST, {})
            asked.set()
            await asyncio.Event().wait()

    coordinator.mount_points["providers"]["own"] = Stalls()
    provider = coordinator.mount_points["providers"]["own"]
    request = ChatRequest(messages=[Message(role="user", content="x" * 4_000)])
    answering = asyncio.create_task(provider.complete(request))
    await asked.wait()
    answering.cancel()
    with pytest.raises(asyncio.CancelledError):
        await answering
    used = normalizer.usage.session
    # Before it tells of a request it has sent none, as far as anybody knows.
    assert used.input_tokens == used.unpriced_tokens == (1_004 if tells else 0)
    assert normalizer.usage.window == 0


def test_the_size_of_a_request_is_told_also_where_its_messages_are_plain_data() -> None:
    request = SimpleNamespace(messages=[{"role": "user", "content": "x" * 4_000}, "y" * 40])
    assert request_tokens(request) == 1_004 + 14
