"""A key that waits to stay alone does nothing when the row it was pressed on is gone by then."""

import pytest

from amplifier_tui.host.client import RuleCard
from amplifier_tui.host.events import ModuleMounted, ModuleUnmounted, QueueChanged, TurnStarted
from amplifier_tui.ui.dialogs.permissions.rules import RuleList
from amplifier_tui.ui.prompt.queue_sheet import QueueSheet
from tests.ui.driving import Driver, running
from tests.ui.fake_client import SESSION
from tests.ui.session.test_letters import PACE, Hand
from tests.ui.state.make import make


def queue(*prompts: str) -> QueueChanged:
    return QueueChanged(session_id=SESSION, items=prompts, ids=prompts, steering=())


async def queued(drive: Driver, monkeypatch: pytest.MonkeyPatch) -> Hand:
    await drive.push(TurnStarted(session_id=SESSION, turn=1, prompt="go"), queue("one", "two"))
    hand = Hand(drive, monkeypatch)
    await drive.app.run_by_id("turn.queue")
    await drive.dialog(QueueSheet)
    await hand.wait(1)
    return hand


@pytest.mark.parametrize("then", ["", "down"])
async def test_the_prompt_behind_one_that_was_sent_is_not_sent(
    then: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with running() as drive:
        hand = await queued(drive, monkeypatch)
        await hand.press("s", pause=PACE)
        await drive.push(queue("two"))
        await hand.press(*filter(None, [then]))
        await hand.wait(1)
        assert drive.client.named("send_queued") == []
        await hand.press("s")
        assert drive.client.named("send_queued") == [("two",)]


async def test_the_prompt_that_d_was_pressed_on_is_dropped_and_the_one_behind_it_is_not(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    async with running() as drive:
        hand = await queued(drive, monkeypatch)
        await hand.press("d", pause=PACE)
        await drive.push(queue("two"))
        await hand.wait(1)
        assert drive.client.named("unqueue") == [("one",)]


async def test_a_module_is_not_unmounted_in_place_of_another(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    async with running() as drive:
        for name in ("tool-a", "tool-b"):
            await drive.push(make(ModuleMounted, module_id=name, kind="tool"))
        hand = Hand(drive, monkeypatch)
        await hand.press("f2")
        await hand.press("u", pause=PACE)
        await drive.push(make(ModuleUnmounted, module_id="tool-a", kind="tool"))
        await hand.wait(1)
        assert drive.client.named("unmount") == []
        await hand.press("u")
        assert drive.client.named("unmount") == [("tool-b",)]


async def test_a_rule_is_not_revoked_in_place_of_another(monkeypatch: pytest.MonkeyPatch) -> None:
    async with running() as drive:
        hand = Hand(drive, monkeypatch)
        first, second = (RuleCard(key=k, text=f"bash({k} *)", editable=True) for k in ("ls", "rm"))
        drive.client.standing = (first, second)
        await drive.app.run_by_id("permissions.show")
        listed = await drive.dialog(RuleList)
        await hand.wait(1)
        await hand.press("d", pause=PACE)
        drive.client.standing = (second,)
        listed.run_worker(listed._load())
        await hand.wait(1)
        assert drive.client.named("remove_rule") == []
        await hand.press("d")
        assert drive.client.named("remove_rule") == [("rm",)]
