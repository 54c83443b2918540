import asyncio

import pytest

from amplifier_tui.kernel import llm_errors
from amplifier_tui.kernel.message_models import TextBlock
from amplifier_tui.modules.provider_openai.settings import OpenAISettings
from tests.modules.provider_openai.support import APIS, gpt
from tests.modules.provider_support import ask, unanswered
from tests.servers import (
    Cut,
    Failure,
    LoopbackServer,
    Malformed,
    Pause,
    StreamFailure,
    Text,
    reply,
)

pytestmark = pytest.mark.parametrize("api", APIS)
NEVER = {"max_retries": 0}


async def test_a_retry_after_is_waited_for_and_the_second_attempt_succeeds(api: str) -> None:
    replies = (Failure("rate_limited", retry_after=0.05), "Hi.")
    async with gpt(*replies, api=api) as (provider, server, heard):
        response = await provider.complete(ask())
    assert response.content == [TextBlock(text="Hi.")]
    (retry,) = heard.of("provider:retry")
    assert (retry["attempt"], retry["delay"]) == (1, 0.05)
    assert len(server.requests) == 2


async def test_an_empty_account_is_not_asked_again(api: str) -> None:
    async with gpt(Failure("quota"), "never", api=api) as (provider, server, _):
        with pytest.raises(llm_errors.QuotaExceededError):
            await provider.complete(ask())
    assert server.script.left == 1


@pytest.mark.parametrize(
    ("step", "error"),
    [
        (Cut(), "StreamError"),
        (Malformed(), "StreamError"),
        (StreamFailure("overloaded"), "ProviderUnavailableError"),
        (StreamFailure("rate_limited"), "RateLimitError"),
    ],
)
async def test_a_broken_stream_is_aborted_and_retried_under_a_new_id(
    api: str, step: object, error: str
) -> None:
    async with gpt(reply(Text(["half ", step])), "Whole.", api=api) as (provider, _, heard):
        response = await provider.complete(ask())
    assert response.content == [TextBlock(text="Whole.")]
    (aborted,) = heard.of("llm:stream_aborted")
    assert aborted["error"]["type"] == error
    deltas = heard.of("llm:stream_block_delta")
    assert deltas[0]["request_id"] == aborted["request_id"]
    assert deltas[-1]["request_id"] != aborted["request_id"]


async def test_a_conversation_that_outgrows_the_window_in_mid_stream_is_told_as_such(
    api: str,
) -> None:
    broken = reply(Text(["half ", StreamFailure("context_too_long")]))
    async with gpt(broken, api=api) as (provider, _, heard):
        with pytest.raises(llm_errors.ContextLengthError, match="Compact it"):
            await provider.complete(ask())
    assert heard.names()[-1] == "llm:stream_aborted"


async def test_a_request_may_bring_its_own_timeout(api: str) -> None:
    answer = reply("x", before=Pause(30))
    async with gpt(answer, api=api, config=NEVER) as (provider, _, _heard):
        with pytest.raises(llm_errors.LLMTimeoutError):
            await provider.complete(ask(timeout=0.2))


async def test_that_a_server_next_door_does_not_answer_is_said_with_what_tells(api: str) -> None:
    with unanswered() as url:
        config = {**NEVER, "base_url": f"{url}/v1/"}
        async with gpt(api=api, config=config) as (provider, _, _heard):
            with pytest.raises(llm_errors.NetworkError, match="No server answers there") as caught:
                await provider.complete(ask())
    assert f"`curl {url}/v1/models`" in str(caught.value)
    assert "or LOCAL_LLM_BASE_URL with the bundle local" in str(caught.value)
    there = OpenAISettings.read({"base_url": "https://models.example.com/v1", "default_model": "x"})
    assert there.advice == "Is the server running? Check `base_url`."


async def test_a_server_without_tls_is_not_said_to_be_missing(api: str) -> None:
    async def refuse(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await reader.read(64)
        writer.write(b"HTTP/1.1 400 Bad Request\r\n\r\n")
        writer.close()

    async with await asyncio.start_server(refuse, "127.0.0.1", 0) as server:
        port = server.sockets[0].getsockname()[1]
        config = {**NEVER, "base_url": f"https://127.0.0.1:{port}/v1"}
        async with gpt(api=api, config=config) as (provider, _, _heard):
            with pytest.raises(llm_errors.NetworkError, match="of http or https"):
                await provider.complete(ask())


async def test_a_wrong_path_in_the_address_is_suspected(api: str) -> None:
    async with (
        LoopbackServer() as server,
        gpt(api=api, config={**NEVER, "base_url": f"{server.url}/wrong"}) as (provider, _, _heard),
    ):
        with pytest.raises(llm_errors.NotFoundError, match="with /v1"):
            await provider.complete(ask(model="qwen3"))


async def test_an_address_without_a_path_is_named_as_most_servers_want_it(api: str) -> None:
    async with (
        LoopbackServer() as server,
        gpt(api=api, config={**NEVER, "base_url": server.url, "default_model": None}) as (
            provider,
            _,
            _heard,
        ),
    ):
        with pytest.raises(llm_errors.NotFoundError) as raised:
            await provider.list_models()
    said = str(raised.value)
    assert "does not know the address" in said and "the model" not in said
    assert f"set OPENAI_BASE_URL, or `base_url`, to {server.url}/v1." in said


async def test_an_answer_filtered_away_is_an_error(api: str) -> None:
    async with gpt(reply(stop="refusal"), api=api, config=NEVER) as (provider, _, _heard):
        with pytest.raises(llm_errors.ContentFilterError, match="Rephrase"):
            await provider.complete(ask())


async def test_cancelling_during_a_retrys_wait_ends_it(api: str) -> None:
    async with gpt(Failure("rate_limited", retry_after=50), api=api) as (provider, server, heard):
        answering = asyncio.create_task(provider.complete(ask()))
        await heard.until("provider:retry")
        answering.cancel()
        with pytest.raises(asyncio.CancelledError):
            await answering
    assert len(server.requests) == 1
