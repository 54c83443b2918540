"""A prompt that a wrong key kept from its answer, on the screen, with a real session behind it."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

import pytest

from amplifier_tui.foundation.trust.gate import trust_everything
from amplifier_tui.host import LocalClient, OpenRequest
from amplifier_tui.ui.dialogs.questions import AskLine
from tests.host.asking import seen
from tests.host.driving import MODULES, Project
from tests.servers import Failure, LoopbackServer
from tests.ui.driving import Driver, running

PROMPT = "dup key"
REFUSED = "does not accept the API key"


@asynccontextmanager
async def screen(folder: Path, request: OpenRequest) -> AsyncIterator[Driver]:
    client = LocalClient(trust_everything)
    try:
        async with running(client, cwd=folder, request=request) as drive:
            yield drive
    finally:
        client.close().result(5)


@pytest.mark.parametrize("way", ["pasted", "restarted"])
async def test_a_prompt_that_failed_reaches_the_model_once_with_the_right_key(
    way: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("AMPLIFIER_MODULES", str(MODULES))
    monkeypatch.setenv("ANTHROPIC_API_KEY", "sk-wrong-333333333333")
    folder = tmp_path / "project"
    folder.mkdir()
    pasted = way == "pasted"
    replies = [Failure("unauthorized"), *(["ready"] if pasted else []), "Here it is."]
    with LoopbackServer(replies) as server:
        config = {"base_url": server.url, "max_retries": 0}
        provider = {"module": "provider-anthropic", "config": config}
        bundle = Project(folder).bundle(providers=[provider])
        async with screen(folder, OpenRequest(cwd=folder, bundle=bundle)) as drive:
            await drive.write(PROMPT)
            await drive.press("enter")
            await drive.until(lambda: REFUSED in drive.text() and drive.draft == PROMPT)
            first = drive.app.state.facts.session_id
            if pasted:
                await drive.press("ctrl+x", "number_sign")
                await drive.dialog(AskLine)
                await drive.write("sk-test-4444444444444444")
                await drive.press("enter")
                await drive.until(lambda: drive.app.state.facts.session_id != first)
                await answered(drive)
        if not pasted:
            monkeypatch.setenv("ANTHROPIC_API_KEY", "sk-test-4444444444444444")
            async with screen(folder, OpenRequest(cwd=folder, resume=first)) as drive:
                # Nobody quit: the draft was not stored.
                await drive.write(PROMPT)
                await answered(drive)
        assert seen(server, len(replies) - 1) == [f"user: {PROMPT}"]


async def answered(drive: Driver) -> None:
    """Send the draft, which is the prompt that failed."""
    await drive.until(lambda: drive.app.state.facts.opened and REFUSED in drive.text())
    assert drive.draft == PROMPT
    await drive.press("enter")
    await drive.until(lambda: "Here it is." in drive.text())
    assert drive.draft == "" and "Trying again" in drive.text()
