from dataclasses import replace

import pytest

from amplifier_tui.host.events import Failed, ModuleFailed, TurnEnded, TurnStarted
from amplifier_tui.ui.dialogs.bundle_picker import BundlePicker
from tests.ui.driving import Driver, running
from tests.ui.fake_client import SESSION, FakeClient, opened

TURN = TurnStarted(session_id=SESSION, turn=1, prompt="go")
END = TurnEnded(session_id=SESSION, turn=1, status="error")
KEY = ("ANTHROPIC_API_KEY",)


def failed(**values: object) -> Failed:
    fields: dict[str, object] = {"kind": "rate_limit", "message": "Wait", "prompt": "go"}
    return Failed(session_id=SESSION, **{**fields, **values})


async def click(drive: Driver, words: str) -> None:
    await drive.until(lambda: words in drive.text())
    rows = drive.text().splitlines()
    y = next(y for y, row in enumerate(rows) if words in row)
    await drive.pilot.click(offset=(rows[y].index(words), y))
    await drive.settle()


async def test_a_prompt_in_the_conversation_is_gone_on_with_and_the_draft_cleared() -> None:
    async with running() as drive:
        await drive.push(TURN, failed(retryable=True), END)
        assert drive.draft == "go"
        await drive.press("ctrl+x", "r")
        assert drive.client.named("retry") == [("",)]
        assert drive.client.named("submit") == []
        assert drive.draft == ""
        await drive.push(TurnStarted(session_id=SESSION, turn=1, prompt="go", at=2.0))
        assert "Trying again" in drive.text()


async def test_a_key_that_comes_before_the_failed_turn_has_ended_tries_again_after_it() -> None:
    async with running() as drive:
        await drive.push(TURN, failed(retryable=True))
        await drive.press("ctrl+x", "r")
        assert drive.client.named("retry") == []
        await drive.push(END)
        assert drive.client.named("retry") == [("",)] and drive.draft == ""
        await drive.push(TurnStarted(session_id=SESSION, turn=1, prompt="go", at=2.0))
        await drive.press("ctrl+x", "r")
        assert "A turn is running." in drive.text()
        await drive.push(END)
        assert drive.client.named("retry") == [("",)]


async def test_the_returned_draft_sent_as_it_is_goes_on_and_a_changed_one_is_new() -> None:
    async with running() as drive:
        await drive.push(TURN, failed(retryable=True), END)
        await drive.press("enter")
        assert drive.client.named("retry") == [("",)]
        assert drive.client.named("submit") == []
        await drive.push(TURN, failed(), END)
        await drive.press("end")
        await drive.write(" on")
        await drive.press("enter")
        assert drive.client.named("submit") == [("go on",)]


@pytest.mark.parametrize("keys", [["enter"], ["ctrl+x", "r"]])
async def test_a_session_opened_anew_goes_on_and_leaves_the_draft_as_it_is(
    keys: list[str],
) -> None:
    async with running() as drive:
        await drive.push(TURN, failed(), END)
        assert drive.draft == "go"
        drive.app.main.prompt.input.set_draft("mine")
        stored = (replace(event, session_id="s2", replayed=True) for event in (TURN, failed(), END))
        await drive.push(*stored, opened(session_id="s2", failed="go"))
        assert drive.draft == "mine", "it was given back long ago"
        drive.app.main.prompt.input.set_draft("go")
        await drive.press(*keys)
        assert drive.client.named("retry") == [("",)]
        assert drive.client.named("submit") == [] and drive.draft == ""


async def test_another_draft_stays() -> None:
    async with running() as drive:
        await drive.write("mine")
        await drive.push(TURN, failed(retryable=True), END)
        await drive.press("ctrl+x", "r")
        assert drive.client.named("retry") == [("",)]
        assert drive.draft == "mine"


async def test_a_prompt_no_turn_began_for_is_sent_again() -> None:
    async with running() as drive:
        await drive.push(failed(kind="no_session"))
        await drive.press("ctrl+x", "r")
        assert drive.client.named("submit") == [("go",)]
        assert drive.client.named("retry") == []


async def test_where_the_screen_knows_of_no_failure_the_session_is_asked() -> None:
    async with running() as drive:
        await drive.press("ctrl+x", "r")
        assert drive.client.named("retry") == [("",)]


@pytest.mark.parametrize("way", ["chord", "command", "click"])
async def test_a_failed_source_is_left_out(way: str) -> None:
    async with running() as drive:
        await drive.push(TURN, failed(kind="context_source", source="memory"), END)
        if way == "click":
            await click(drive, "go on without memory")
        elif way == "chord":
            await drive.press("ctrl+x", "g")
        else:
            drive.app.main.prompt.input.clear_draft()
            await drive.write("/without")
            await drive.press("enter")
        assert drive.client.named("retry") == [("memory",)]
        assert drive.draft == ""


async def test_without_a_failed_source_nothing_is_left_out() -> None:
    async with running() as drive:
        await drive.push(TURN, failed(retryable=True), END)
        await drive.press("ctrl+x", "g")
        assert drive.client.named("retry") == []
        assert "No source" in drive.text()


def keyless() -> FakeClient:
    remedy = "Set ANTHROPIC_API_KEY, run amplifier-tui init, or open the demo bundle."
    return FakeClient(
        on_open=[
            ModuleFailed(
                session_id=SESSION,
                module_id="provider-anthropic",
                kind="provider",
                error="no key",
                missing=KEY,
            ),
            opened(provider="", model=""),
            Failed(
                session_id=SESSION,
                kind="no_provider",
                message="No provider is ready",
                remedy=remedy,
                missing=KEY,
            ),
        ]
    )


@pytest.mark.parametrize("size", [(80, 24), (120, 36), (200, 50)])
async def test_without_a_key_the_card_says_it_once_and_offers_the_demo(
    size: tuple[int, int],
) -> None:
    async with running(keyless(), size=size) as drive:
        await drive.until(lambda: "No provider is ready" in drive.text())
        assert drive.text().count("ANTHROPIC_API_KEY is not set") == 1
        await click(drive, "try the offline demo")
        assert [request.demo for (request,) in drive.client.named("open")] == [False, True]
        await drive.press("ctrl+x", "w")
        assert [request.demo for (request,) in drive.client.named("open")][-1]


async def test_the_card_leads_to_the_bundles() -> None:
    async with running(keyless()) as drive:
        await click(drive, "choose a bundle")
        await drive.dialog(BundlePicker)
