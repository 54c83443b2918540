"""A session without a provider: a key is pasted, or a server on this machine is used."""

from dataclasses import replace

import pytest
from textual.events import Paste

from amplifier_tui.host.events import (
    Failed,
    LocalServer,
    LocalServersFound,
    Notice,
    OpeningReported,
    ReportItem,
)
from amplifier_tui.ui.dialogs.pickers import KeyPicker
from amplifier_tui.ui.dialogs.questions import AskLine
from tests.ui.driving import running
from tests.ui.fake_client import SESSION, FakeClient, opened

NO_PROVIDER = Failed(
    session_id=SESSION,
    kind="no_provider",
    message="The bundle coding has no provider that is ready",
    remedy="Set ANTHROPIC_API_KEY in the environment or in keys.env.",
    missing=("ANTHROPIC_API_KEY",),
)
FOUND = LocalServersFound(
    session_id=SESSION,
    servers=(LocalServer(name="Ollama", url="http://127.0.0.1:11434/v1", models=("qwen",)),),
)


@pytest.mark.parametrize("size", [(80, 24), (120, 36)])
async def test_a_key_is_pasted_masked_and_a_server_is_offered(size: tuple[int, int]) -> None:
    client = FakeClient(on_open=[opened(), NO_PROVIDER])
    async with running(client, size=size) as drive:
        await drive.until(lambda: "paste a key" in drive.text())
        assert "on this machine" not in drive.text()
        rows = drive.text().splitlines()
        row = next(at for at, line in enumerate(rows) if "paste a key" in line)
        await drive.pilot.click(offset=(rows[row].index("paste a key") + 1, row))
        await drive.dialog(AskLine)
        await drive.until(lambda: "keys.env, readable by you" in " ".join(drive.text().split()))
        await drive.write("sk-secret-1")
        assert "sk-secret-1" not in drive.text() and "•" in drive.text()
        await drive.press("enter")
        await drive.closed()
        assert client.named("set_up") == [({"ANTHROPIC_API_KEY": "sk-secret-1"}, "")]
        await drive.push(FOUND)
        assert "use Ollama on this machine" in drive.text()
        await drive.press("ctrl+x", "at")
        values = {"LOCAL_LLM_BASE_URL": "http://127.0.0.1:11434/v1", "LOCAL_LLM_MODEL": "qwen"}
        assert client.named("set_up")[-1] == (values, "local")


async def test_without_a_server_it_is_said_where_one_was_looked_for() -> None:
    none = LocalServersFound(session_id=SESSION, servers=(), problem="None at http://host:9/v1.")
    client = FakeClient(on_open=[opened(), NO_PROVIDER])
    async with running(client) as drive:
        await drive.press("ctrl+x", "at")
        await drive.until(lambda: "looked for where no provider is ready" in drive.text())
        await drive.push(none)
        await drive.press("ctrl+x", "at")
        await drive.until(lambda: "None at http://host:9/v1." in drive.text())
        assert not client.named("set_up")


async def test_after_a_refused_key_another_one_can_be_pasted() -> None:
    refused = Failed(
        session_id=SESSION,
        kind="authentication",
        message="Anthropic does not accept the API key.",
        remedy="Check ANTHROPIC_API_KEY.",
        prompt="hello",
        missing=("ANTHROPIC_API_KEY",),
    )
    client = FakeClient(on_open=[opened(), refused])
    async with running(client, size=(40, 12)) as drive:
        await drive.until(lambda: "paste another key" in drive.text())
        assert "not set" not in drive.text()
        await drive.press("ctrl+x", "number_sign")
        await drive.dialog(AskLine)
        await drive.write("sk-secret-2")
        await drive.press("enter")
        await drive.closed()
        assert client.named("set_up") == [({"ANTHROPIC_API_KEY": "sk-secret-2"}, "")]


async def test_why_a_key_was_not_taken_stays_whole_below_a_prompt_that_failed() -> None:
    why = "http://127.0.0.1:18462 does not accept the API key: invalid x-api-key. Check the key."
    refused = Notice(
        session_id=SESSION, level="warning", text=f"Nothing was kept: {why}", source="setup"
    )
    client = FakeClient(on_open=[opened(), replace(NO_PROVIDER, prompt="hello")])
    async with running(client, size=(80, 24)) as drive:
        await drive.until(lambda: "paste a key" in drive.text())
        await drive.push(refused)
        drive.app.state.notices.dismiss()
        await drive.until(lambda: why in " ".join(drive.text().split()))


def without_a_key(*names: str) -> OpeningReported:
    items = tuple(
        ReportItem(what=name, kind="unused", part="provider", why="not set", missing=(name,))
        for name in names
    )
    return OpeningReported(session_id=SESSION, items=items)


@pytest.mark.parametrize(
    "keys", [["ctrl+x", "number_sign"], [*"/key", "enter"], [*"/key OPENAI_API_KEY", "enter"]]
)
async def test_a_provider_that_is_not_used_for_want_of_a_key_can_be_given_one(
    keys: list[str],
) -> None:
    client = FakeClient(on_open=[opened(), without_a_key("OPENAI_API_KEY")])
    async with running(client) as drive:
        await drive.press(*("space" if key == " " else key for key in keys))
        await drive.dialog(AskLine)
        await drive.write("sk-secret-4")
        await drive.press("enter")
        await drive.closed()
        assert client.named("set_up") == [({"OPENAI_API_KEY": "sk-secret-4"}, "")]


async def test_a_refused_key_is_asked_for_before_one_that_a_spare_provider_lacks() -> None:
    client = FakeClient(on_open=[opened(), without_a_key("OPENAI_API_KEY"), NO_PROVIDER])
    async with running(client) as drive:
        await drive.press("ctrl+x", "number_sign")
        await drive.dialog(AskLine)
        await drive.until(lambda: "ANTHROPIC_API_KEY" in drive.text())


async def test_a_key_that_is_set_is_replaced_by_name_and_what_is_no_name_is_not_repeated() -> None:
    client = FakeClient()
    async with running(client) as drive:
        await drive.press("ctrl+x", "number_sign")
        await drive.until(lambda: "No key is missing. /key and its variable" in drive.text())
        await drive.write("/key sk-secret-5")
        await drive.press("enter")
        await drive.until(lambda: "such as /key OPENAI_API_KEY" in drive.text())
        assert "sk-secret-5" not in drive.text()
        await drive.write("/key ANTHROPIC_API_KEY")
        await drive.press("enter")
        await drive.dialog(AskLine)
        await drive.write("sk-secret-6")
        await drive.press("enter")
        await drive.closed()
        assert client.named("set_up") == [({"ANTHROPIC_API_KEY": "sk-secret-6"}, "")]


async def test_a_key_that_is_pasted_before_its_provider_is_chosen_is_kept_and_not_shown() -> None:
    names = ("ANTHROPIC_API_KEY", "OPENAI_API_KEY")
    client = FakeClient(on_open=[opened(), replace(NO_PROVIDER, missing=names)])
    async with running(client, size=(80, 24)) as drive:
        await drive.until(lambda: "paste a key" in drive.text())
        await drive.press("ctrl+x", "number_sign")
        await drive.dialog(KeyPicker)
        drive.app.post_message(Paste(" sk-secret-3\n"))
        await drive.until(lambda: "Which key  pasted, not shown: whose?" in drive.text())
        assert "sk-secret" not in drive.text()
        await drive.press("down", "enter")
        await drive.dialog(AskLine)
        await drive.until(lambda: "•" in drive.text())
        assert "sk-secret" not in drive.text()
        await drive.press("enter")
        await drive.closed()
        assert client.named("set_up") == [({"OPENAI_API_KEY": "sk-secret-3"}, "")]


@pytest.mark.parametrize("size", [(80, 24), (40, 12)])
async def test_an_empty_key_is_said_and_the_field_stays_for_the_one_that_is_pasted_next(
    size: tuple[int, int],
) -> None:
    client = FakeClient(on_open=[opened(), NO_PROVIDER])
    async with running(client, size=size) as drive:
        await drive.press("ctrl+x", "number_sign")
        await drive.dialog(AskLine)
        await drive.press("space", "enter")
        await drive.until(lambda: "Nothing was entered yet" in drive.text())
        drive.app.post_message(Paste("sk-secret-7"))
        await drive.until(lambda: "•" in drive.text())
        await drive.press("enter")
        await drive.closed()
        assert client.named("set_up") == [({"ANTHROPIC_API_KEY": "sk-secret-7"}, "")]
        assert not client.named("submit")
