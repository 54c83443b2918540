"""What a provider accepts of a server: where it may send one, how much, and for how long."""

import asyncio
import itertools
import subprocess
import sys
import zlib
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from typing import Any

import pytest

from amplifier_tui.kernel import llm_errors
from amplifier_tui.kernel.message_models import TextBlock
from amplifier_tui.modules._provider import http
from tests.modules.provider_anthropic.support import claude
from tests.modules.provider_openai.support import gpt
from tests.modules.provider_support import ask
from tests.servers import LoopbackServer, Pause, Raw, Stall, Text, reply

Case = Callable[..., AbstractAsyncContextManager[tuple[Any, LoopbackServer, Any]]]
NEVER = {"max_retries": 0}
EVENTS = {"content-type": "text/event-stream"}
JSON = {"content-type": "application/json"}
SMALL = http.ResponseLimits(body=200_000, error=10_000, event=200_000, stream=1_000_000)


@asynccontextmanager
async def _responses(*replies: Any, **options: Any) -> AsyncIterator[tuple[Any, Any, Any]]:
    async with gpt(*replies, api="responses", **options) as running:
        yield running


@asynccontextmanager
async def _chat(*replies: Any, **options: Any) -> AsyncIterator[tuple[Any, Any, Any]]:
    async with gpt(*replies, api="chat", **options) as running:
        yield running


every_api = pytest.mark.parametrize("case", [claude, _responses, _chat])
both_ways = pytest.mark.parametrize("stream", [True, False])


@pytest.fixture
def small(monkeypatch: pytest.MonkeyPatch) -> None:
    """Limits that a test reaches fast."""
    monkeypatch.setattr(http, "LIMITS", SMALL)


def packed(pieces: Iterator[bytes]) -> Iterator[bytes]:
    """The pieces as one gzip stream."""
    packer = zlib.compressobj(9, zlib.DEFLATED, zlib.MAX_WBITS | 16)
    for piece in pieces:
        if data := packer.compress(piece):
            yield data
    yield packer.flush()


# -- where ----------------------------------------------------------------------------------------


@every_api
@both_ways
@pytest.mark.parametrize("status", [301, 302, 303, 307, 308])
async def test_a_redirect_to_another_host_gets_neither_prompt_nor_key(
    case: Case, stream: bool, status: int
) -> None:
    async with LoopbackServer(["stolen"]) as other:
        away = Raw(status=status, headers={"location": f"{other.url}/v1/messages"})
        async with case(away, config={"stream": stream}) as (provider, server, _):
            with pytest.raises(llm_errors.ConfigurationError) as caught:
                await provider.complete(ask("my secret plan"))
        assert len(server.requests) == 1, "a refused redirect was retried"
        assert other.requests == []
    said = str(caught.value)
    assert server.url in said
    assert other.url in said
    assert f"`base_url` of provider-{provider.name}" in said
    assert caught.value.model


@every_api
@pytest.mark.parametrize(
    ("location", "named"),
    [
        ("https://127.0.0.1:{port}/v1/messages", "https://127.0.0.1:{port}"),
        ("http://localhost:{port}/v1/messages", "http://localhost:{port}"),
        ("//evil.invalid/v1/messages", "http://evil.invalid"),
        ("http://127.0.0.1:{port}@evil.invalid/x", "http://evil.invalid"),
        ("http://127.0.0.1.evil.invalid:{port}/x", "http://127.0.0.1.evil.invalid"),
        ("ftp://127.0.0.1:{port}/x", "ftp://127.0.0.1:{port}"),
    ],
)
async def test_another_scheme_name_or_port_is_another_host(
    case: Case, location: str, named: str
) -> None:
    async with case(config=NEVER) as (provider, server, _):
        away = location.format(port=server.port)
        server.script.add(Raw(status=307, headers={"location": away}), "never")
        with pytest.raises(llm_errors.ConfigurationError) as caught:
            await provider.complete(ask())
        assert server.script.left == 1
    assert named.format(port=server.port) in str(caught.value)


@every_api
async def test_a_redirect_within_the_host_is_followed(case: Case) -> None:
    async with case(config=NEVER) as (provider, server, _):
        path = "/v1/messages" if case is claude else "/v1/chat/completions"
        if case is _responses:
            path = "/v1/responses"
        server.script.add(
            Raw(itertools.repeat(b"x" * 65536), status=307, headers={"location": path}),
            Raw(status=308, headers={"location": f"{server.url}{path}"}),
            "Hi.",
        )
        response = await provider.complete(ask())
    assert response.content == [TextBlock(text="Hi.")]
    assert server.requests[2].json == server.requests[0].json


@every_api
async def test_redirects_in_a_circle_end(case: Case) -> None:
    path = {claude: "messages", _responses: "responses"}.get(case, "chat/completions")
    rounds = [Raw(status=307, headers={"location": f"/v1/{path}"})] * 50
    async with case(*rounds, config=NEVER) as (provider, server, _):
        with pytest.raises(llm_errors.LLMError, match="redirects"):
            await provider.complete(ask())
    assert server.script.left > 20


async def test_the_model_list_is_asked_of_no_other_host() -> None:
    hits: list[bytes] = []

    async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        hits.append(await reader.readuntil(b"\r\n\r\n"))
        writer.write(
            b"HTTP/1.1 302 Found\r\nlocation: http://evil.invalid/v1/models\r\n"
            b"content-length: 0\r\nconnection: close\r\n\r\n"
        )
        await writer.drain()
        writer.close()

    server = await asyncio.start_server(serve, "127.0.0.1", 0)
    url = f"http://127.0.0.1:{server.sockets[0].getsockname()[1]}/v1"
    async with server, _chat(config={"base_url": url}) as (provider, _, _heard):
        with pytest.raises(llm_errors.ConfigurationError, match=r"evil\.invalid"):
            await provider.list_models()
    assert len(hits) == 1


# -- how much -------------------------------------------------------------------------------------


@every_api
@pytest.mark.usefixtures("small")
async def test_a_packed_bomb_ends_readably(case: Case) -> None:
    bomb = packed(itertools.repeat(b" " * 1_000_000, 2_000))
    away = Raw(bomb, headers={**JSON, "content-encoding": "gzip"})
    async with case(away, config={"stream": False}) as (provider, server, _):
        with pytest.raises(llm_errors.StreamError, match=r"more than 0\.2 MB.*Check `base_url`"):
            await provider.complete(ask())
        await (await server.request()).disconnected.wait()
    assert len(server.requests) == 1, "it was asked for the bomb again"


@every_api
@pytest.mark.usefixtures("small")
async def test_an_answer_without_end_ends_readably(case: Case) -> None:
    endless = Raw(itertools.repeat(b" " * 65_536), headers=JSON)
    async with case(endless, config={"stream": False}) as (provider, server, _):
        with pytest.raises(llm_errors.StreamError, match=r"more than 0\.2 MB"):
            await provider.complete(ask())
        await (await server.request()).disconnected.wait()


@every_api
@both_ways
@pytest.mark.usefixtures("small")
async def test_an_error_page_without_end_keeps_its_status(case: Case, stream: bool) -> None:
    page = packed(itertools.repeat(b"gone wrong " * 100_000))
    away = Raw(page, status=503, headers={"content-encoding": "gzip"})
    async with case(away, config={**NEVER, "stream": stream}) as (provider, server, _):
        with pytest.raises(llm_errors.ProviderUnavailableError) as caught:
            await provider.complete(ask())
        await (await server.request()).disconnected.wait()
    assert caught.value.status_code == 503
    assert len(str(caught.value)) < 2_000


@every_api
@pytest.mark.usefixtures("small")
@pytest.mark.parametrize(
    "piece",
    [
        b"x" * 65_536,
        b"data: " + b"x" * 50_000 + b"\n",
        b": " + b"x" * 50_000 + b"\r\n",
        b"event: a\rdata: b\r",
    ],
    ids=["one line", "one event of lines", "one event of comments", "one event of short lines"],
)
async def test_an_event_without_end_ends_readably(case: Case, piece: bytes) -> None:
    endless = Raw(packed(itertools.repeat(piece)), headers={**EVENTS, "content-encoding": "gzip"})
    async with case(endless) as (provider, server, _):
        with pytest.raises(llm_errors.StreamError, match=r"one event of more than 0\.2 MB"):
            await provider.complete(ask())
        await (await server.request()).disconnected.wait()
    assert len(server.requests) == 1


@every_api
@pytest.mark.usefixtures("small")
async def test_a_stream_of_events_without_end_ends_readably(case: Case) -> None:
    away = Raw(itertools.repeat(b": ping\n\n" * 4_000), headers=EVENTS)
    async with case(away) as (provider, server, _):
        with pytest.raises(llm_errors.StreamError, match="more than 1 MB"):
            await provider.complete(ask())
        await (await server.request()).disconnected.wait()


@every_api
@pytest.mark.usefixtures("small")
async def test_many_events_within_the_limits_are_an_answer(case: Case) -> None:
    async with case(reply("word " * 1_500)) as (provider, _, _heard):
        response = await provider.complete(ask())
    assert response.content[0].text.split() == ["word"] * 1_500


@pytest.mark.parametrize("end", [b"\n\n", b"\r\n\r\n", b"\r\r", b"\n\r\n"])
@pytest.mark.usefixtures("small")
async def test_the_end_of_an_event_is_seen_across_pieces_of_the_stream(end: bytes) -> None:
    event = b"data: " + b"x" * 90_000 + end
    events = event * 8
    cuts = [events[at : at + 89_999] for at in range(0, len(events), 89_999)]
    async with claude(Raw(cuts, headers=EVENTS), config=NEVER) as (provider, _, _heard):
        with pytest.raises(llm_errors.LLMError) as caught:
            await provider.complete(ask())
    assert "more than" not in str(caught.value)


# -- how long -------------------------------------------------------------------------------------


@every_api
async def test_a_stream_that_stalls_is_ended_by_the_time_between_two_bytes(case: Case) -> None:
    config = {**NEVER, "timeout": 0.2}
    async with case(reply(Text(["one ", Stall()])), config=config) as (provider, server, _):
        with pytest.raises(llm_errors.LLMTimeoutError, match="raise `timeout`"):
            await provider.complete(ask())
        await (await server.request()).disconnected.wait()


@every_api
async def test_a_stream_that_only_drips_is_ended_by_the_time_of_the_request(case: Case) -> None:
    drip = Raw(itertools.cycle([b": still here\n\n", Pause(0.02)]), headers=EVENTS)
    async with case(drip, config={"request_timeout": 1}) as (provider, server, _):
        await provider.warm()
        assert provider.client, "the first client takes a while, which is not the server's"
        with pytest.raises(llm_errors.LLMTimeoutError, match="raise `request_timeout`") as caught:
            await provider.complete(ask())
        await (await server.request()).disconnected.wait()
    assert " 1 s" in str(caught.value)
    assert len(server.requests) == 1, "what took too long was begun anew"


@every_api
async def test_a_request_is_cancelled_within_its_time(case: Case) -> None:
    async with case(reply(Text(["one ", Stall()]))) as (provider, server, heard):
        answering = asyncio.create_task(provider.complete(ask()))
        await heard.until("llm:stream_block_delta")
        answering.cancel()
        with pytest.raises(asyncio.CancelledError):
            await answering
        await (await server.request()).disconnected.wait()


@every_api
@pytest.mark.parametrize("name", ["timeout", "connect_timeout", "request_timeout"])
async def test_times_of_no_sense_are_refused(case: Case, name: str) -> None:
    with pytest.raises(llm_errors.ConfigurationError, match=f"`{name}`"):
        async with case(config={name: -1}):
            pass


@every_api
async def test_the_time_to_connect_is_a_setting(case: Case) -> None:
    async with case(config={"connect_timeout": 3.5, "timeout": 90}) as (provider, _, _heard):
        await provider.warm()
        assert provider.client.timeout.connect == 3.5
        assert provider.client.timeout.read == 90


# -- cost -----------------------------------------------------------------------------------------


def test_nothing_of_http_is_imported_before_the_first_request() -> None:
    check = (
        "import sys, amplifier_tui.modules.provider_anthropic as one, "
        "amplifier_tui.modules.provider_openai as other; "
        "sys.exit(any(name.startswith('httpx') for name in sys.modules))"
    )
    subprocess.run([sys.executable, "-c", check], check=True)
