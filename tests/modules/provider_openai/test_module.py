import subprocess
import sys
import typing

import pytest

from amplifier_tui.kernel import llm_errors
from amplifier_tui.kernel.interfaces import Provider
from amplifier_tui.kernel.models import ProviderInfo
from amplifier_tui.modules.provider_openai import mount, on_session_ready
from amplifier_tui.modules.provider_openai.models import fallback_models
from amplifier_tui.modules.provider_openai.settings import OpenAISettings
from tests.modules.provider_openai.support import gpt
from tests.modules.provider_support import ask, coordinator_of
from tests.servers import Failure, LoopbackServer, Thinking, reply


async def test_openai_without_a_key_names_the_missing_variable() -> None:
    with pytest.raises(llm_errors.ConfigurationError, match="OPENAI_API_KEY is not set") as caught:
        await mount(coordinator_of(), {})
    assert caught.value.missing_env == ("OPENAI_API_KEY",)


@pytest.mark.parametrize(
    ("config", "responses"),
    [
        ({}, True),
        ({"base_url": "https://api.openai.com/v1"}, True),
        ({"base_url": "https://eu.api.openai.com/v1"}, True),
        ({"base_url": "https://api.openai.com.evil.example/v1"}, False),
        ({"base_url": "http://localhost:11434/v1"}, False),
        ({"base_url": "http://localhost:11434/v1", "api": "responses"}, True),
        ({"api": "chat"}, False),
    ],
)
def test_which_api_is_spoken_follows_the_address(config: dict, responses: bool) -> None:
    assert OpenAISettings.read({"api_key": "k", **config}).uses_responses is responses


async def test_key_and_address_come_from_the_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    async with LoopbackServer(["Hi."]) as server:
        monkeypatch.setenv("OPENAI_API_KEY", "sk-env")
        monkeypatch.setenv("OPENAI_BASE_URL", server.openai_url)
        coordinator = coordinator_of()
        cleanup = await mount(coordinator, {"api_key": "${OPENAI_API_KEY}"})
        await coordinator.get("providers", "openai").complete(ask(model="m"))
        await cleanup()
    assert server.requests[0].headers["authorization"] == "Bearer sk-env"


async def test_a_mistake_in_the_config_is_named() -> None:
    with pytest.raises(llm_errors.ConfigurationError, match="`api`") as caught:
        await mount(coordinator_of(), {"api_key": "sk-secret", "api": "completions"})
    assert "sk-secret" not in str(caught.value)


async def test_the_module_keeps_the_provider_contract() -> None:
    coordinator = coordinator_of()
    await mount(coordinator, {"api_key": "k"})
    provider = coordinator.get("providers", "openai")
    assert isinstance(provider, Provider)
    info = provider.get_info()
    assert isinstance(info, ProviderInfo)
    assert info.credential_env_vars == ["OPENAI_API_KEY"]
    assert info.defaults["model"] == "gpt-6-astra"
    assert info.defaults["context_window"] > info.defaults["max_output_tokens"] > 0
    assert {field.id for field in info.config_fields} >= {"api_key", "base_url", "api"}
    events = await coordinator.collect_contributions("observability.events")
    assert "llm:stream_aborted" in events[0]


def test_the_known_models_are_among_those_the_sdk_names() -> None:
    from openai.types.shared.chat_model import ChatModel

    assert {model.id for model in fallback_models()} <= set(typing.get_args(ChatModel))


async def test_models_of_the_server_are_listed() -> None:
    async with gpt(server={"models": ["qwen3", "whisper-1", "text-embedding-3"]}) as (p, _, _h):
        assert [model.id for model in await p.list_models()] == ["qwen3"]


async def test_reasoning_summaries_are_given_up_where_openai_refuses_them() -> None:
    def refuse(request: dict) -> Failure:
        assert request["reasoning"] == {"effort": "low", "summary": "auto"}
        return Failure(
            "bad_request", message="Your organization must be verified.", param="reasoning.summary"
        )

    config = {"effort": "low"}
    replies = (refuse, reply(Thinking(""), "Hi."), "Again.")
    async with gpt(*replies, api="responses", config=config) as (provider, server, heard):
        await provider.complete(ask())
        await provider.complete(ask())
    assert [record.json["reasoning"] for record in server.requests[1:]] == [{"effort": "low"}] * 2
    assert heard.of("provider:retry") == []


async def test_cleanup_closes_the_client_and_may_come_twice() -> None:
    async with gpt("Hi.") as (provider, _, _heard):
        await provider.complete(ask())
        client = provider._client
        await provider.close()
        assert client.is_closed()
        await provider.close()


def test_the_sdk_is_imported_only_when_the_session_is_ready() -> None:
    script = """
import asyncio, sys
from amplifier_tui.modules.provider_openai import mount, on_session_ready
from amplifier_tui.kernel.coordinator import ModuleCoordinator

async def main():
    coordinator = ModuleCoordinator()
    cleanup = await mount(coordinator, {"api_key": "k"})
    provider = coordinator.get("providers", "openai")
    provider.get_info()
    assert "openai" not in sys.modules
    await on_session_ready(coordinator)
    while "openai" not in sys.modules:
        await asyncio.sleep(0.01)
    await provider.warm()
    assert "openai" in sys.modules
    await cleanup()

asyncio.run(main())
"""
    subprocess.run([sys.executable, "-c", script], check=True, timeout=60)


async def test_session_ready_without_this_provider_does_nothing() -> None:
    await on_session_ready(coordinator_of())
