import asyncio
import threading

from amplifier_tui.host.events import HostEvent, Notice
from amplifier_tui.ui.session.feed import BATCH, Feed
from tests.ui.fake_client import FakeClient
from tests.waiting import within


def notice(n: int) -> Notice:
    return Notice(session_id="s", level="info", text=str(n))


async def test_events_pushed_from_another_thread_arrive_in_order_on_the_loop() -> None:
    client = FakeClient()
    seen: list[str] = []
    batches: list[int] = []
    done = asyncio.Event()
    here = threading.get_ident()

    def sink(events: list[HostEvent]) -> None:
        assert threading.get_ident() == here
        batches.append(len(events))
        seen.extend(e.text for e in events if isinstance(e, Notice))
        if len(seen) == 5_000:
            done.set()

    feed = Feed(client, sink)
    feed.start()
    thread = threading.Thread(target=lambda: [client.push(notice(n)) for n in range(5_000)])
    thread.start()
    async with within(20):
        await done.wait()
    thread.join()
    assert seen == [str(n) for n in range(5_000)]
    assert max(batches) <= BATCH
    feed.stop()


async def test_a_burst_is_worked_off_in_steps_between_which_other_things_happen() -> None:
    client = FakeClient()
    order: list[str] = []
    done = asyncio.Event()

    def sink(events: list[HostEvent]) -> None:
        order.append(f"batch {len(events)}")
        asyncio.get_running_loop().call_soon(order.append, "key")
        if order.count(f"batch {BATCH}") == 3:
            done.set()

    feed = Feed(client, sink)
    client.push(*(notice(n) for n in range(BATCH * 3)))
    feed.start()
    async with within(20):
        await done.wait()
    assert order[:5] == [f"batch {BATCH}", "key", f"batch {BATCH}", "key", f"batch {BATCH}"]
    feed.stop()


async def test_nothing_arrives_after_stop_and_flush_hands_over_what_is_there() -> None:
    client = FakeClient()
    seen: list[HostEvent] = []
    feed = Feed(client, seen.extend)
    feed.start()
    client.push(notice(1))
    feed.flush()
    assert len(seen) == 1
    feed.stop()
    client.push(notice(2))
    await asyncio.sleep(0)
    await asyncio.sleep(0)
    assert len(seen) == 1
    assert client._wake is None


async def test_a_wake_after_the_loop_is_gone_is_harmless() -> None:
    client = FakeClient()
    feed = Feed(client, lambda events: None)

    def elsewhere() -> None:
        async def start() -> None:
            feed.start()

        asyncio.run(start())

    thread = threading.Thread(target=elsewhere)
    thread.start()
    thread.join()
    feed._woken = False
    client.push(notice(1))
