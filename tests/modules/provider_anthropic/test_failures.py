import asyncio

import pytest

from amplifier_tui.kernel import llm_errors
from amplifier_tui.kernel.correlation import aside
from amplifier_tui.kernel.message_models import TextBlock
from amplifier_tui.modules.provider_anthropic.errors import AnthropicErrors
from amplifier_tui.modules.provider_anthropic.settings import AnthropicSettings
from tests.modules.provider_anthropic.support import claude
from tests.modules.provider_support import ask, unanswered
from tests.servers import (
    Cut,
    Failure,
    LoopbackServer,
    Malformed,
    Pause,
    Raw,
    StreamFailure,
    Text,
    reply,
)

NEVER = {"max_retries": 0}


async def test_a_retry_after_is_waited_for_and_the_second_attempt_succeeds() -> None:
    replies = (Failure("rate_limited", retry_after=0.05), "Hi.")
    async with claude(*replies) as (provider, server, heard):
        response = await provider.complete(ask())
    assert response.content == [TextBlock(text="Hi.")]
    (retry,) = heard.of("provider:retry")
    assert (retry["attempt"], retry["delay"], retry["retry_after"]) == (1, 0.05, 0.05)
    assert retry["error"]["type"] == "RateLimitError"
    assert retry["status_code"] == 429
    assert len(server.requests) == 2
    assert heard.of("llm:response")[0]["attempts"] == 2
    assert len(heard.of("llm:request")) == 1


async def test_a_wait_longer_than_the_longest_fails_at_once() -> None:
    async with claude(Failure("rate_limited", retry_after=3600)) as (provider, server, heard):
        with pytest.raises(llm_errors.RateLimitError, match=r"Retry in 1 h\.") as caught:
            await provider.complete(ask())
    assert caught.value.retry_after == 3600
    assert len(server.requests) == 1
    assert heard.of("provider:retry") == []


async def test_no_other_error_is_waited_for_longer_either() -> None:
    async with claude(Failure("overloaded", retry_after=3600)) as (provider, server, heard):
        with pytest.raises(llm_errors.ProviderUnavailableError, match=r"Retry in 1 h\."):
            await provider.complete(ask())
    assert len(server.requests) == 1
    assert heard.of("provider:retry") == []


async def test_a_request_on_the_side_that_fails_is_told_as_one_that_has_failed() -> None:
    replies = (Failure("unauthorized"), Failure("unauthorized"))
    async with claude(*replies) as (provider, _, heard):
        with pytest.raises(llm_errors.AuthenticationError):
            await provider.complete(ask())
        # Its orchestrator tells.
        assert heard.of("provider:error") == []
        with aside(), pytest.raises(llm_errors.AuthenticationError):
            await provider.complete(ask())
    (failed,) = heard.of("provider:error")
    assert failed["request_id"] == heard.of("llm:request")[1]["request_id"]
    assert failed["error"]["type"] == "AuthenticationError" and failed["aside"] is True
    assert (failed["provider"], failed["status_code"]) == ("anthropic", 401)


async def test_a_request_on_the_side_that_is_cancelled_has_an_end_that_says_so() -> None:
    async with claude(reply(Pause(60), Text("late"))) as (provider, _, heard):
        with aside():
            asking = asyncio.create_task(provider.complete(ask()))
        asked = await heard.until("llm:request")
        asking.cancel()
        with pytest.raises(asyncio.CancelledError):
            await asking
    (ended,) = heard.of("llm:response")
    assert ended["request_id"] == asked["request_id"] and ended["status"] == "cancelled"
    assert ended["aside"] is True
    assert heard.of("provider:error") == []


async def test_retries_end() -> None:
    async with claude(*[Failure("overloaded")] * 3, config={"max_retries": 2}) as (
        provider,
        server,
        heard,
    ):
        with pytest.raises(llm_errors.ProviderUnavailableError):
            await provider.complete(ask())
    assert len(server.requests) == 3
    assert [data["attempt"] for data in heard.of("provider:retry")] == [1, 2]


async def test_what_can_not_pass_is_not_retried() -> None:
    async with claude(Failure("unauthorized"), "never") as (provider, server, _):
        with pytest.raises(llm_errors.AuthenticationError) as caught:
            await provider.complete(ask())
    assert caught.value.remedy == "Check ANTHROPIC_API_KEY."
    assert str(caught.value).endswith(f": invalid x-api-key. {caught.value.remedy}")
    assert server.script.left == 1


@pytest.mark.parametrize(
    ("step", "error"),
    [
        (Cut(), llm_errors.StreamError),
        (Malformed(), llm_errors.StreamError),
        (StreamFailure("overloaded"), llm_errors.ProviderUnavailableError),
        (StreamFailure("rate_limited"), llm_errors.RateLimitError),
    ],
)
async def test_a_broken_stream_is_aborted_and_retried_under_a_new_id(
    step: object, error: type[llm_errors.LLMError]
) -> None:
    broken = reply(Text(["half ", step]))
    async with claude(broken, "Whole.") as (provider, _, heard):
        response = await provider.complete(ask())
    assert response.content == [TextBlock(text="Whole.")]
    (aborted,) = heard.of("llm:stream_aborted")
    assert aborted["error"]["type"] == error.__name__
    deltas = heard.of("llm:stream_block_delta")
    assert deltas[0]["request_id"] == aborted["request_id"]
    assert deltas[-1]["request_id"] != aborted["request_id"]
    names = heard.names()
    assert names.index("llm:stream_aborted") < names.index("provider:retry")


async def test_a_stream_that_breaks_for_good_is_aborted_and_raises() -> None:
    broken = reply(Text(["half ", Cut()]))
    async with claude(broken, config=NEVER) as (provider, server, heard):
        broke = f"broke while {server.url} was answering"
        with pytest.raises(llm_errors.StreamError, match=broke):
            await provider.complete(ask())
    assert heard.names()[-1] == "llm:stream_aborted"


@pytest.mark.parametrize(
    ("base_url", "where"),
    [
        (None, "Anthropic"),
        ("https://api.anthropic.com/v1", "Anthropic"),
        ("https://anthropic.com.example.org", "https://anthropic.com.example.org"),
        ("http://127.0.0.1:19999", "http://127.0.0.1:19999"),
        ("http://[::1", "http://[::1"),
    ],
)
def test_what_answers_is_named_by_its_address_where_that_is_not_the_vendors(
    base_url: str | None, where: str
) -> None:
    settings = AnthropicSettings(base_url=base_url)
    refused = AnthropicErrors(None, settings, "m").answered(401, "no")
    assert str(refused).startswith(f"{where} does not accept the API key: no.")


async def test_nothing_is_aborted_when_nothing_was_shown() -> None:
    async with claude(reply(Cut()), config=NEVER) as (provider, _, heard):
        with pytest.raises(llm_errors.StreamError):
            await provider.complete(ask())
    assert heard.names() == ["llm:request"]


async def test_a_request_may_bring_its_own_timeout() -> None:
    async with claude(reply("x", before=Pause(30)), config=NEVER) as (provider, _, _heard):
        with pytest.raises(llm_errors.LLMTimeoutError):
            await provider.complete(ask(timeout=0.2))


async def test_an_address_nobody_answers_at_says_so() -> None:
    with unanswered() as url:
        async with claude(config={**NEVER, "base_url": url}) as (provider, _, _heard):
            with pytest.raises(llm_errors.NetworkError, match=r"Can.t reach http://127\.0\.0\.1"):
                await provider.complete(ask())


async def test_an_address_with_no_api_below_it_is_told_from_an_unknown_model() -> None:
    async with LoopbackServer() as server:
        url = f"{server.url}/v1"
        async with claude(config={**NEVER, "base_url": url}) as (provider, _, _heard):
            with pytest.raises(llm_errors.ConfigurationError) as raised:
                await provider.complete(ask())
    assert str(raised.value) == (
        f"Nothing answers this request at {url} (404 page not found). "
        "Check `base_url`, or ANTHROPIC_BASE_URL: it ends before /v1."
    )
    assert raised.value.status_code == 404


async def test_a_server_that_names_the_model_which_it_lacks_is_understood_in_other_words() -> None:
    words = b'{"error": "model \'Claude-Opus-9\' not found"}'
    async with claude(Raw([words], status=404), config=NEVER) as (provider, _, _heard):
        with pytest.raises(llm_errors.NotFoundError, match="does not know the model"):
            await provider.complete(ask(model="claude-opus-9"))


async def test_a_refusal_without_words_is_a_filter_error() -> None:
    async with claude(reply(stop="refusal"), config=NEVER) as (provider, _, _heard):
        with pytest.raises(llm_errors.ContentFilterError, match="Rephrase"):
            await provider.complete(ask())


async def test_a_refusal_with_words_is_an_answer() -> None:
    async with claude(reply("I'd rather not.", stop="refusal")) as (provider, _, _heard):
        response = await provider.complete(ask())
    assert response.finish_reason == "content_filter"
    assert response.metadata["stop_reason"] == "refusal"


async def test_cancelling_during_a_retrys_wait_ends_it() -> None:
    async with claude(Failure("rate_limited", retry_after=50)) as (provider, server, heard):
        answering = asyncio.create_task(provider.complete(ask()))
        await heard.until("provider:retry")
        answering.cancel()
        with pytest.raises(asyncio.CancelledError):
            await answering
    assert len(server.requests) == 1


async def test_the_key_is_in_no_message_and_no_event() -> None:
    async with claude(Failure("unauthorized"), raw=True) as (provider, _, heard):
        with pytest.raises(llm_errors.AuthenticationError) as caught:
            await provider.complete(ask())
    assert "sk-test" not in str(caught.value)
    assert "sk-test" not in repr(heard.all)
    assert "sk-test" not in repr(provider.settings)
    assert heard.of("llm:request")[0]["raw"]["model"] == "claude-sonnet-5-5"
