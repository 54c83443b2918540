"""The items of the context are those of the session on screen."""

import gc
import warnings
from concurrent.futures import Future

from amplifier_tui.host.client import ItemCard
from amplifier_tui.ui.app.actions import context
from amplifier_tui.ui.panes.context.pane import ContextPane
from tests.ui.driving import Driver, running
from tests.ui.fake_client import FakeClient, opened

ITEM = ItemCard(key="3", source="tool:read", text="import os", tokens=14_100)


class Slow(FakeClient):
    """Answers which items there are when the test says so."""

    def items(self) -> Future[tuple[ItemCard, ...]]:
        self.calls.append(("items",))
        self.asked: Future[tuple[ItemCard, ...]] = Future()
        return self.asked

    def beside(self) -> FakeClient:
        self.others.append(Slow(session="s2"))
        return self.others[-1]


async def beside(drive: Driver) -> FakeClient:
    await drive.press("ctrl+x", "plus")
    other = drive.client.others[-1]
    await drive.until(lambda: drive.app.client is other and drive.app.state is not None)
    await drive.until(lambda: drive.app.state is not None and drive.app.state.facts.opened)
    return other


async def test_items_that_come_late_are_not_listed_for_another_session() -> None:
    async with running(client := Slow(), size=(140, 36)) as drive:
        await drive.press("f4", "b")
        await drive.until(lambda: client.named("items"))
        await beside(drive)
        client.asked.set_result((ITEM,))
        await drive.settle()
        assert "tool:read" not in drive.text()
        assert drive.app.query_one(ContextPane).listed == ()


async def test_items_that_are_listed_go_with_their_session() -> None:
    async with running(client := Slow(), size=(140, 36)) as drive:
        await drive.press("f4", "b")
        await drive.until(lambda: client.named("items"))
        client.asked.set_result((ITEM,))
        await drive.until(lambda: "tool:read" in drive.text())
        other = await beside(drive)
        await drive.until(lambda: other.named("items"))
        assert "tool:read" not in drive.text()
        assert drive.app.query_one(ContextPane).listed == ()


async def test_items_go_with_a_session_whose_place_another_one_takes() -> None:
    async with running(client := Slow(), size=(140, 36)) as drive:
        await drive.press("f4", "b")
        await drive.until(lambda: client.named("items"))
        late = client.asked
        await drive.push(opened("s3"))
        late.set_result((ITEM,))
        await drive.settle()
        assert "tool:read" not in drive.text()


async def test_items_that_are_asked_for_twice_at_once_leave_nothing_unfinished() -> None:
    async with running(Slow(), size=(140, 36)) as drive:
        with warnings.catch_warnings(record=True) as told:
            warnings.simplefilter("always")
            context.items(drive.app)
            context.items(drive.app)
            await drive.settle()
            gc.collect()
        assert [str(each.message) for each in told if "never awaited" in str(each.message)] == []
