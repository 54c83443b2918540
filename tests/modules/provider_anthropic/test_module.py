import subprocess
import sys
from types import SimpleNamespace

import pytest

from amplifier_tui.kernel import llm_errors
from amplifier_tui.kernel.interfaces import Provider
from amplifier_tui.kernel.models import ProviderInfo
from amplifier_tui.modules.provider_anthropic import AnthropicProvider, mount, on_session_ready
from amplifier_tui.modules.provider_anthropic.models import CAPABILITIES, abilities
from tests.modules.provider_anthropic.support import claude
from tests.modules.provider_support import ask, coordinator_of
from tests.servers import LoopbackServer


async def test_without_a_key_mounting_names_the_missing_variable() -> None:
    with pytest.raises(llm_errors.ConfigurationError, match="ANTHROPIC_API_KEY is not set") as c:
        await mount(coordinator_of(), {})
    assert c.value.missing_env == ("ANTHROPIC_API_KEY",)


@pytest.mark.parametrize("key", ["", "  ", "${ANTHROPIC_API_KEY}", None])
async def test_a_key_that_is_none_counts_as_missing(key: str | None) -> None:
    with pytest.raises(llm_errors.ConfigurationError):
        await mount(coordinator_of(), {"api_key": key})


async def test_key_and_address_come_from_the_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    async with LoopbackServer(["Hi."]) as server:
        monkeypatch.setenv("ANTHROPIC_API_KEY", "sk-env\n")
        monkeypatch.setenv("ANTHROPIC_BASE_URL", server.url)
        coordinator = coordinator_of()
        cleanup = await mount(coordinator, {"api_key": "${ANTHROPIC_API_KEY}"})
        await coordinator.get("providers", "anthropic").complete(ask())
        await cleanup()
        headers = server.requests[0].headers
    assert "sk-env" in headers.get("x-api-key", "") + headers.get("authorization", "")


@pytest.mark.parametrize(
    ("config", "complaint"),
    [
        ({"max_tokens": "many"}, "`max_tokens`"),
        ({"thinking": "hard"}, "`thinking`"),
        ({"timeout": 0}, "`timeout`"),
        ({"prompt_caching": "2h"}, "`prompt_caching`"),
    ],
)
async def test_a_mistake_in_the_config_is_named(config: dict, complaint: str) -> None:
    with pytest.raises(llm_errors.ConfigurationError, match=complaint) as caught:
        await mount(coordinator_of(), {"api_key": "sk-secret", **config})
    assert caught.value.missing_env == ()
    assert "sk-secret" not in str(caught.value)


async def test_unknown_keys_and_texts_for_numbers_are_fine() -> None:
    async with claude("Hi.", config={"max_tokens": "900", "priority": 1}) as (provider, server, _):
        await provider.complete(ask())
    assert server.requests[0].json["max_tokens"] == 900


async def test_the_module_keeps_the_provider_contract() -> None:
    coordinator = coordinator_of()
    await mount(coordinator, {"api_key": "k"})
    provider = coordinator.get("providers", "anthropic")
    assert isinstance(provider, Provider)
    info = provider.get_info()
    assert isinstance(info, ProviderInfo)
    assert info.credential_env_vars == ["ANTHROPIC_API_KEY"]
    assert info.defaults["model"] == "claude-sonnet-5-5"
    assert info.defaults["context_window"] > info.defaults["max_output_tokens"] > 0
    assert {field.id for field in info.config_fields} >= {"api_key", "default_model"}
    events = await coordinator.collect_contributions("observability.events")
    assert "llm:stream_block_delta" in events[0]


async def test_models_come_from_the_api_and_correct_the_defaults() -> None:
    async with claude() as (provider, _, _heard):
        models = await provider.list_models()
        info = provider.get_info()
    assert [model.id for model in models] == ["claude-sonnet-5-5", "claude-haiku-5-5"]
    assert models[0].context_window == 200_000
    assert info.defaults["max_output_tokens"] == 32_000


async def test_without_the_api_the_well_known_models_are_listed() -> None:
    async with LoopbackServer(models_fail=True) as server:
        coordinator = coordinator_of()
        cleanup = await mount(coordinator, {"api_key": "k", "base_url": server.url})
        models = await coordinator.get("providers", "anthropic").list_models()
        await cleanup()
    names = {model.id: model for model in models}
    assert names["claude-sonnet-5-5"].display_name == "Claude Sonnet 5.5"
    assert names["claude-haiku-4-5"].pricing.input_per_million == 1


async def test_the_known_models_are_among_those_the_sdk_names() -> None:
    import typing

    from anthropic.types.model_param import ModelParam

    literal, _ = typing.get_args(ModelParam)
    async with LoopbackServer(models_fail=True) as server:
        provider = AnthropicProvider(_settings(server.url))
        models = await provider.list_models()
        await provider.close()
    assert {model.id for model in models} <= set(typing.get_args(literal))


def _settings(url: str):
    from amplifier_tui.modules.provider_anthropic.settings import AnthropicSettings

    return AnthropicSettings.read({"api_key": "k", "base_url": url})


async def test_cleanup_closes_the_client_and_may_come_twice() -> None:
    async with claude("Hi.") as (provider, _, _heard):
        await provider.complete(ask())
        client = provider._client
        await provider.close()
        assert client.is_closed()
        await provider.close()


def test_the_sdk_is_imported_only_when_the_session_is_ready() -> None:
    script = """
import asyncio, sys
from amplifier_tui.modules.provider_anthropic import mount, on_session_ready
from amplifier_tui.kernel.coordinator import ModuleCoordinator

async def main():
    coordinator = ModuleCoordinator()
    cleanup = await mount(coordinator, {"api_key": "k"})
    provider = coordinator.get("providers", "anthropic")
    provider.get_info()
    assert "anthropic" not in sys.modules
    await on_session_ready(coordinator)
    while "anthropic" not in sys.modules:
        await asyncio.sleep(0.01)
    await provider.warm()
    assert "anthropic" in sys.modules
    await cleanup()

asyncio.run(main())
"""
    subprocess.run([sys.executable, "-c", script], check=True, timeout=60)


async def test_session_ready_without_this_provider_does_nothing() -> None:
    await on_session_ready(coordinator_of())


async def test_arguments_of_complete_override_the_request() -> None:
    async with claude("Hi.") as (provider, server, _):
        await provider.complete(ask(), model="claude-y", max_output_tokens=7, other=1)
    assert server.requests[0].json["model"] == "claude-y"
    assert server.requests[0].json["max_tokens"] == 7


def test_a_model_can_do_what_the_list_does_not_deny() -> None:
    yes, no = SimpleNamespace(supported=True), SimpleNamespace(supported=False)
    said = SimpleNamespace(thinking=no, image_input=yes)
    assert abilities(said) == ["tools", "streaming", "vision"]
    assert abilities(None) == list(CAPABILITIES)
