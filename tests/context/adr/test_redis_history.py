import asyncio
import sys
from uuid import uuid4

import pytest
import redis.asyncio

from amplifier_tui.context.adr.message import Message
from amplifier_tui.context.adr.redis_history import RedisHistoryProvider
from amplifier_tui.context.errors import ContextError, HistoryUnavailableError
from tests.context.adr.redis_server import RedisServer
from tests.context.support import calling, result


def session() -> str:
    return uuid4().hex


async def test_messages_are_stored_and_loaded_by_another_process(redis_url: str) -> None:
    name = session()
    first = RedisHistoryProvider(redis_url=redis_url)
    assert first.source_id == RedisHistoryProvider.DEFAULT_SOURCE_ID == "redis_memory"
    turn = [
        Message.user("yes"),
        Message.from_kernel(calling("c1")),
        Message.from_kernel(result("c1", "漢字\nout")),
        Message.assistant("ok"),
    ]
    await first.save_messages(name, turn)
    await first.save_messages(name, turn)
    second = RedisHistoryProvider(redis_url=redis_url)
    assert await second.get_messages(name) == [*turn, *turn]
    assert await second.get_messages(session()) == []
    await second.clear(name)
    assert await first.get_messages(name) == []
    await first.aclose()
    await second.aclose()


async def test_twenty_writers_lose_nothing(redis_url: str) -> None:
    name = session()
    writers = [RedisHistoryProvider(redis_url=redis_url) for _ in range(20)]
    await asyncio.gather(
        *(
            writer.save_messages(name, [Message.user(f"{n}a"), Message.assistant(f"{n}b")])
            for n, writer in enumerate(writers)
        )
    )
    loaded = [m.text for m in await writers[0].get_messages(name)]
    assert sorted(loaded) == sorted(f"{n}{x}" for n in range(20) for x in "ab")
    for n in range(20):
        assert loaded.index(f"{n}b") == loaded.index(f"{n}a") + 1
    await asyncio.gather(*(writer.aclose() for writer in writers))


async def test_twenty_writers_under_a_cap_keep_exactly_that_many(redis_url: str) -> None:
    name = session()
    writers = [RedisHistoryProvider(redis_url=redis_url, max_messages=4) for _ in range(20)]
    client = redis.asyncio.Redis.from_url(redis_url)
    lengths: list[int] = []

    async def write(n: int, writer: RedisHistoryProvider) -> None:
        await writer.save_messages(name, [Message.user(f"{n}a"), Message.assistant(f"{n}b")])
        lengths.append(await client.llen(writer.key(name)))

    await asyncio.gather(*(write(n, writer) for n, writer in enumerate(writers)))
    assert max(lengths) <= 4
    assert len(await writers[0].get_messages(name)) == 4
    await asyncio.gather(client.aclose(), *(writer.aclose() for writer in writers))


async def test_storing_and_cutting_are_one_transaction(own_redis: RedisServer) -> None:
    provider = RedisHistoryProvider(redis_url=own_redis.url, max_messages=4)
    for text in ("one", "two"):
        await provider.save_messages("s", [Message.user(text)])
    client = redis.asyncio.Redis.from_url(own_redis.url)
    stats = await client.info("commandstats")
    counts = {name: stats[f"cmdstat_{name}"]["calls"] for name in ("multi", "rpush", "ltrim")}
    assert counts == {"multi": 2, "rpush": 2, "ltrim": 2}
    assert stats["cmdstat_exec"]["calls"] == 2
    await client.aclose()
    await provider.aclose()


async def test_a_cap_leaves_no_result_without_its_call(redis_url: str) -> None:
    name = session()
    provider = RedisHistoryProvider(redis_url=redis_url, max_messages=4)
    rows = [calling("a", "b"), result("a"), result("b"), calling("c"), result("c")]
    await provider.save_messages(name, [Message.from_kernel(row) for row in rows])
    loaded = [message.to_kernel() for message in await provider.get_messages(name)]
    assert [row["role"] for row in loaded] == ["assistant", "tool"]
    assert loaded[1]["tool_call_id"] == "c"
    await provider.aclose()


async def test_what_can_not_be_read_is_left_out(
    redis_url: str, caplog: pytest.LogCaptureFixture
) -> None:
    name = session()
    provider = RedisHistoryProvider(redis_url=redis_url, key_prefix="mine")
    client = redis.asyncio.Redis.from_url(redis_url)
    await client.rpush(provider.key(name), "not json", "[1]", '{"no": "role"}')
    await provider.save_messages(name, [Message.user("fine")])
    assert [m.text for m in await provider.get_messages(name)] == ["fine"]
    assert "left out" in caplog.text
    assert provider.key(name) == f"mine:{name}"
    await client.aclose()
    await provider.aclose()


async def test_a_server_that_is_gone_is_an_error_that_names_the_history() -> None:
    provider = RedisHistoryProvider("team", redis_url="unix:///nowhere/redis.sock")
    with pytest.raises(
        HistoryUnavailableError, match="'team' is not available: Redis does"
    ) as error:
        await provider.get_messages("s")
    assert error.value.source_id == "team"
    await provider.aclose()


async def test_what_could_not_be_stored_waits_for_the_server(own_redis: RedisServer) -> None:
    provider = RedisHistoryProvider(redis_url=own_redis.url)
    state: dict = {}
    await provider.save_messages("s", [Message.user("one")], state=state)
    own_redis.stop()
    for text in ("two", "three"):
        with pytest.raises(HistoryUnavailableError):
            await provider.save_messages("s", [Message.user(text)], state=state)
    assert len(state["unsaved"]) == 2
    with pytest.raises(HistoryUnavailableError):
        await provider.get_messages("s", state=state)
    own_redis.start()
    loaded = await provider.get_messages("s", state=state)
    # The server kept nothing: what waited is all there is.
    assert [m.text for m in loaded] == ["two", "three"]
    assert state == {}
    await provider.aclose()


async def test_a_server_that_hangs_is_as_good_as_gone_and_nothing_is_lost_or_doubled(
    own_redis: RedisServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("amplifier_tui.context.adr.redis_history._TIMEOUT", 0.05)
    provider = RedisHistoryProvider(redis_url=own_redis.url)
    state: dict = {}
    await provider.save_messages("s", [Message.user("yes")], state=state)
    own_redis.freeze()
    with pytest.raises(HistoryUnavailableError, match="Redis does not answer"):
        await provider.save_messages("s", [Message.user("yes")], state=state)
    with pytest.raises(HistoryUnavailableError):
        await provider.get_messages("s", state=state)
    own_redis.thaw()
    monkeypatch.setattr("amplifier_tui.context.adr.redis_history._TIMEOUT", 5.0)
    await provider.aclose()
    # The server may have taken by now what it was asked to while it hung.
    loaded = await provider.get_messages("s", state=state)
    assert [m.text for m in loaded] == ["yes", "yes"]
    assert state == {}
    await provider.save_messages("s", [Message.user("yes")], state=state)
    assert len(await provider.get_messages("s")) == 3
    await provider.aclose()


async def test_what_was_about_to_be_stored_survives_that_it_is_given_up(
    own_redis: RedisServer, redis_url: str
) -> None:
    provider = RedisHistoryProvider(redis_url=own_redis.url)
    state: dict = {}
    await provider.get_messages("s")
    own_redis.freeze()
    with pytest.raises(TimeoutError):
        async with asyncio.timeout(0.1):
            await provider.save_messages("s", [Message.user("kept")], state=state)
    own_redis.thaw()
    other = RedisHistoryProvider(redis_url=redis_url)
    name = session()
    assert [m.text for m in await other.get_messages(name, state=state)] == ["kept"]
    await other.aclose()
    await provider.aclose()


async def test_any_text_can_be_stored(redis_url: str) -> None:
    provider, name = RedisHistoryProvider(redis_url=redis_url), session()
    said = Message.user("half a pair \ud83d, a zero \x00, an escape \x1b[2J")
    await provider.save_messages(name, [said])
    assert await provider.get_messages(name) == [said]
    await provider.aclose()


async def test_a_client_of_ones_own_is_used_and_left_open(redis_url: str) -> None:
    client = redis.asyncio.Redis.from_url(redis_url, decode_responses=True)
    provider = RedisHistoryProvider("mine", client=client)
    name = session()
    await provider.save_messages(name, [Message.user("hi")])
    await provider.aclose()
    assert await client.llen(provider.key(name)) == 1
    await client.aclose()


def test_one_provider_serves_one_event_loop_after_the_other(redis_url: str) -> None:
    provider, name = RedisHistoryProvider(redis_url=redis_url), session()
    asyncio.run(provider.save_messages(name, [Message.user("hi")]))
    assert len(asyncio.run(provider.get_messages(name))) == 1


@pytest.mark.parametrize(
    ("kwargs", "complaint"),
    [({}, "redis_url"), ({"redis_url": "redis://x", "max_messages": 0}, "max_messages")],
)
def test_settings_that_make_no_sense_are_refused(kwargs: dict, complaint: str) -> None:
    with pytest.raises(ValueError, match=complaint):
        RedisHistoryProvider(**kwargs)


async def test_without_the_client_it_is_said_what_to_install(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setitem(sys.modules, "redis.asyncio", None)
    provider = RedisHistoryProvider(host="localhost")
    with pytest.raises(ContextError, match=r"pip install 'amplifier-tui\[redis\]'"):
        await provider.get_messages("s")


async def test_a_host_can_be_given_instead_of_an_address() -> None:
    provider = RedisHistoryProvider(host="localhost", port=1, ssl=False)
    with pytest.raises(HistoryUnavailableError):
        await provider.clear("s")
    await provider.aclose()
