"""Making a provider ready from inside: a key that is tried first, a server on this machine."""

import asyncio
import os
import stat
from collections.abc import Callable
from importlib import import_module

import pytest

from amplifier_tui.foundation.settings.keys import set_key
from amplifier_tui.host.events import Failed, ModeChanged, Notice, SessionOpened
from amplifier_tui.host.models.local_servers import find_local_servers, no_server, server_at
from amplifier_tui.host.models.setup import trial
from amplifier_tui.paths import amplifier_home
from tests.host.asking import chat
from tests.host.driving import Driver, Project
from tests.servers import Failure, LoopbackServer

KEY = "sk-test-4444444444444444"


@pytest.fixture(autouse=True, scope="module")
def sdks() -> None:
    """Imported before anything is waited for: together they take seconds."""
    for name in ("anthropic", "openai.resources.chat.completions"):
        import_module(name)


@pytest.fixture(autouse=True)
def keyless(monkeypatch: pytest.MonkeyPatch) -> None:
    # Set and taken out again, so that what is tried does not outlive the test.
    for name in ("ANTHROPIC_API_KEY", "LOCAL_LLM_BASE_URL", "LOCAL_LLM_MODEL"):
        monkeypatch.setenv(name, "x")
        monkeypatch.delenv(name)


@pytest.mark.parametrize(
    "pasted",
    [
        f'export ANTHROPIC_API_KEY="{KEY}"',
        f"ANTHROPIC_API_KEY='{KEY}'",
        f" ANTHROPIC_API_KEY={KEY}",
        f'"{KEY}"',
        KEY,
    ],
)
def test_what_surrounds_a_pasted_key_is_no_part_of_it(pasted: str) -> None:
    with trial({"ANTHROPIC_API_KEY": pasted}) as attempt:
        assert os.environ["ANTHROPIC_API_KEY"] == KEY
        attempt.keep()
    assert f'ANTHROPIC_API_KEY="{KEY}"' in (amplifier_home() / "keys.env").read_text()


@pytest.mark.parametrize("pasted", [f'export OPENAI_API_KEY="{KEY}"', '""', "ANTHROPIC_API_KEY="])
def test_a_line_of_another_variable_and_an_empty_one_are_refused(pasted: str) -> None:
    wanted = pytest.raises(ValueError, match="ANTHROPIC_API_KEY")
    with wanted as refused, trial({"ANTHROPIC_API_KEY": pasted}):
        pass
    assert KEY not in str(refused.value) and "ANTHROPIC_API_KEY" not in os.environ


def keyless_bundle(project: Project, server: LoopbackServer) -> str:
    config = {"base_url": server.url, "max_retries": 0}
    return project.bundle(providers=[{"module": "provider-anthropic", "config": config}])


def test_a_key_is_tried_with_one_small_request_and_kept_where_it_works(
    project: Project, driver: Driver, server: LoopbackServer
) -> None:
    server.script.add(Failure("unauthorized"), "ready", "hello")
    driver.open(keyless_bundle(project, server))
    failed = driver.wait(Failed)
    assert (failed.kind, failed.missing) == ("no_provider", ("ANTHROPIC_API_KEY",))
    driver.client.set_up({"ANTHROPIC_API_KEY": "sk-wrong-333333333333"})
    said = driver.wait(Notice, lambda e: e.source == "setup").text
    assert said.startswith("Nothing was kept: ") and "does not accept the API key" in said
    assert "sk-wrong" not in said and "ANTHROPIC_API_KEY" not in os.environ
    keys = amplifier_home() / "keys.env"
    assert not keys.exists()
    driver.client.set_up({"ANTHROPIC_API_KEY": KEY})
    said = driver.wait(Notice, lambda e: e.source == "setup").text
    assert said == f"It answers. ANTHROPIC_API_KEY kept in {keys}, readable by you alone"
    assert stat.S_IMODE(keys.stat().st_mode) == 0o600
    assert f'ANTHROPIC_API_KEY="{KEY}"' in keys.read_text()
    assert len(server.requests) == 2
    assert server.request_blocking(1).json["max_tokens"] <= 32
    driver.turn("hi")
    assert driver.answers() == ["hello"], "the small request is not part of the conversation"
    assert all(KEY not in str(event.to_json()) for event in driver.drain())


def test_the_provider_that_reads_the_pasted_key_is_asked_and_no_other(
    project: Project, driver: Driver, server: LoopbackServer
) -> None:
    server.script.add(Failure("unauthorized"), "ready")
    keyless = {"base_url": server.url, "max_retries": 0, "priority": 9}
    other = {"module": "provider-anthropic", "config": keyless}
    bundle = project.bundle(providers=[chat(server), other])
    driver.open(bundle)
    driver.client.set_up({"ANTHROPIC_API_KEY": "sk-wrong-333333333333"})
    said = driver.wait(Notice, lambda e: e.source == "setup").text
    assert said.startswith("Nothing was kept: ") and not (amplifier_home() / "keys.env").exists()
    driver.client.set_up({"ANTHROPIC_API_KEY": KEY})
    assert "It answers." in driver.wait(Notice, lambda e: e.source == "setup").text
    asked = [server.request_blocking(index).api for index in range(2)]
    assert asked == ["anthropic", "anthropic"]
    driver.client.set_up({"NOBODY_READS_THIS": KEY})
    said = driver.wait(Notice, lambda e: e.source == "setup").text
    assert said == f"Nothing was kept: no provider of the bundle {bundle} reads NOBODY_READS_THIS"


def test_a_trial_leaves_the_session_as_it_is_and_goes_on_with_it_where_the_key_works(
    project: Project, drive: Callable[..., Driver], server: LoopbackServer
) -> None:
    first = drive()
    opened = first.open(project.bundle())
    first.turn("remember this")
    first.close()
    keyless_bundle(project, server)
    driver = drive()
    driver.open(resume=opened.session_id, mode="plan")
    server.script.add(Failure("unauthorized"), "ready", "hello")
    driver.client.set_up({"ANTHROPIC_API_KEY": "sk-wrong-333333333333"})
    driver.wait(Notice, lambda e: e.source == "setup")
    assert len(driver.of(SessionOpened)) == 1, "what did not work changed nothing"
    driver.client.set_up({"ANTHROPIC_API_KEY": "a\0b"})
    assert "null" in driver.wait(Notice, lambda e: e.source == "setup").text
    assert "ANTHROPIC_API_KEY" not in os.environ
    driver.client.set_up({"ANTHROPIC_API_KEY": KEY})
    again = driver.wait(SessionOpened)
    driver.wait(Notice, lambda e: e.source == "setup")
    driver.turn("go on")
    modes = [e.mode for e in driver.of(ModeChanged) if e.session_id == again.session_id]
    assert modes[-1] == "plan"
    sent = str(server.request_blocking(2).json["messages"])
    assert "remember this" in sent and "go on" in sent
    ids = {event.session_id for event in driver.drain()} - {""}
    assert ids == {opened.session_id, again.session_id}, "nothing is shown of a trial"
    assert len(driver.client.sessions().result(5).cards) == 2


def test_a_variable_that_can_not_be_set_leaves_the_others_as_they_were() -> None:
    with (
        pytest.raises(ValueError),
        trial({"LOCAL_LLM_BASE_URL": "http://x", "LOCAL_LLM_MODEL": "\0"}),
    ):
        pass
    assert "LOCAL_LLM_BASE_URL" not in os.environ


def test_setting_up_without_a_session_says_that_there_is_none(driver: Driver) -> None:
    driver.client.set_up({"ANTHROPIC_API_KEY": KEY})
    driver.client.switch_bundle("no-such-bundle")
    driver.wait(Failed)
    assert [event.text for event in driver.of(Notice)] == ["No session is open"]


def test_a_server_on_this_machine_is_found_and_used(
    project: Project, driver: Driver, server: LoopbackServer
) -> None:
    server.script.add("ready", "hello")
    driver.open(keyless_bundle(project, server))
    driver.wait(Failed)
    values = {"LOCAL_LLM_BASE_URL": server.openai_url, "LOCAL_LLM_MODEL": "gpt-6-luna"}
    driver.client.set_up(values, "local")
    opened = driver.wait(SessionOpened)
    assert (opened.bundle, opened.model) == ("local", "gpt-6-luna")
    assert "It answers." in driver.wait(Notice, lambda e: e.source == "setup").text
    driver.turn("hi")
    assert driver.answers() == ["hello"]


async def test_servers_are_looked_for_on_this_machine_and_odd_ones_are_passed_over(
    server: LoopbackServer,
) -> None:
    port = int(server.url.rsplit(":", 1)[1])
    (found,) = await find_local_servers({"Ollama": port, "LM Studio": 9})
    assert (found.name, found.url) == ("Ollama", f"http://127.0.0.1:{port}/v1")
    assert found.models


async def test_the_server_whose_address_is_set_comes_first_with_the_model_that_is_set(
    server: LoopbackServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    ports = {"Ollama": int(server.url.rsplit(":", 1)[1])}
    monkeypatch.setenv("LOCAL_LLM_BASE_URL", f"{server.openai_url}/")
    (known,) = await find_local_servers(ports)
    assert known.name == "Ollama"
    (found,) = await find_local_servers({"vLLM": 9})
    assert (found.url, found.name) == (server.openai_url, server.url.removeprefix("http://"))
    assert found.title.endswith(" on this machine")
    monkeypatch.setenv("LOCAL_LLM_MODEL", found.models[-1])
    (again,) = await find_local_servers({"vLLM": 9})
    assert again.models[0] == found.models[-1] and set(again.models) == set(found.models)


@pytest.mark.parametrize("scheme", ["http://", ""])
async def test_an_address_without_its_path_is_asked_where_most_servers_answer(
    server: LoopbackServer, scheme: str
) -> None:
    found = await server_at(scheme + server.url.removeprefix("http://"))
    assert found is not None and found.url == server.openai_url and found.models
    assert await server_at(f"{server.url}/elsewhere") is None


@pytest.mark.parametrize(
    ("address", "shown"),
    [
        ("http://127.0.0.1:9/v1", "http://127.0.0.1:9/v1, port 11434,"),
        ("http://me:secret@127.0.0.1:9/v1", "http://127.0.0.1:9/v1, port"),
        ("http://[::1", "http://[::1, port"),
        ("127.0.0.1:9/v1", "127.0.0.1:9/v1, port"),
        ("http://127.0.0.1:99999/v1", "http://127.0.0.1:99999/v1, port"),
    ],
)
async def test_where_none_answers_the_addresses_are_told(
    address: str, shown: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("LOCAL_LLM_BASE_URL", address)
    assert await find_local_servers({"vLLM": 9}) == ()
    said = no_server()
    assert f"Asked: {shown}" in said and "set LOCAL_LLM_BASE_URL" in said
    assert "secret" not in said


@pytest.mark.parametrize("body", ['{"data": 3}', '{"data": {"id": "x"}}', "[" * 200_000])
async def test_another_program_on_a_usual_port_hides_no_server(
    server: LoopbackServer, body: str
) -> None:
    async def answer(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await reader.readuntil(b"\r\n\r\n")
        writer.write(f"HTTP/1.0 200 OK\r\n\r\n{body}".encode())
        await writer.drain()
        writer.close()

    port = int(server.url.rsplit(":", 1)[1])
    async with await asyncio.start_server(answer, "127.0.0.1", 0) as odd:
        odd_port = odd.sockets[0].getsockname()[1]
        (found,) = await find_local_servers({"vLLM": odd_port, "Ollama": port})
    assert found.name == "Ollama"


def test_a_key_that_the_environment_has_another_of_is_said_to_count_for_this_run_only(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("ANTHROPIC_API_KEY", "sk-old-of-the-shell-1")
    with trial({"ANTHROPIC_API_KEY": KEY}) as attempt:
        attempt.works = True
    said = attempt.keep()
    assert said.startswith("From the next start on ANTHROPIC_API_KEY of the environment wins")
    assert "unset it there" in said and attempt.shadowed == ("ANTHROPIC_API_KEY",)


def test_a_key_of_the_file_that_is_replaced_is_in_nobodys_shadow(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    set_key(amplifier_home(), "ANTHROPIC_API_KEY", "sk-old-of-the-file-1")
    monkeypatch.setenv("ANTHROPIC_API_KEY", "sk-old-of-the-file-1")
    with trial({"ANTHROPIC_API_KEY": KEY}) as attempt:
        attempt.works = True
    assert attempt.keep().startswith("ANTHROPIC_API_KEY kept in ") and not attempt.shadowed
