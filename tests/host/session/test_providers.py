from collections.abc import Callable, Iterator
from typing import Any

import pytest

from amplifier_tui.host.events import (
    BlockDelta,
    BlockEnded,
    BlockStarted,
    Failed,
    Notice,
    ProviderRetrying,
    ToolEnded,
    TurnEnded,
)
from tests.host.driving import Driver, Project
from tests.servers import Cut, Failure, Gate, LoopbackServer, Reply, Thinking, ToolUse, reply

APIS = ("anthropic", "responses", "chat")


@pytest.fixture
def server() -> Iterator[LoopbackServer]:
    server = LoopbackServer().start()
    yield server
    server.stop()


def provider(api: str, server: LoopbackServer, **config: Any) -> dict[str, Any]:
    settings: dict[str, Any] = {"api_key": "sk-test-0000000000000001", "max_retries": 0, **config}
    if api == "anthropic":
        return {
            "module": "provider-anthropic",
            "config": {**settings, "base_url": server.url},
        }
    return {
        "module": "provider-openai",
        "config": {**settings, "base_url": server.openai_url, "api": api},
    }


@pytest.fixture(params=APIS)
def api(request: pytest.FixtureRequest) -> str:
    return str(request.param)


def test_a_turn_with_a_tool_runs_over_the_real_wire(
    project: Project, driver: Driver, server: LoopbackServer, api: str
) -> None:
    server.script.add(
        reply("Let me look. ", ToolUse("echo", {"text": "found"})),
        reply("It says: found."),
    )
    driver.open(project.bundle(providers=[provider(api, server)]))
    ended = driver.turn("look")
    assert ended.status == "success"
    assert driver.answers()[-1] == "It says: found."
    (tool,) = driver.of(ToolEnded)
    assert tool.ok and tool.output == "found"
    assert ended.usage.input_tokens == 40 and ended.usage.output_tokens == 20
    started = {e.block_id for e in driver.of(BlockStarted)}
    assert started == {e.block_id for e in driver.of(BlockEnded)}, "no block is shown twice"


def test_words_are_shown_while_the_server_is_still_sending(
    project: Project, driver: Driver, server: LoopbackServer, api: str
) -> None:
    gate = Gate()
    server.script.add(Reply([*reply("First words, ").parts, gate, *reply("last words.").parts]))
    driver.open(project.bundle(providers=[provider(api, server)]))
    driver.client.submit("talk")
    driver.wait(BlockDelta, lambda e: "words" in e.text or "First" in e.text)
    assert not gate.opened.is_set()
    gate.open()
    assert driver.wait(TurnEnded).status == "success"


def test_an_immediate_stop_closes_the_connection_and_keeps_the_words(
    project: Project, driver: Driver, server: LoopbackServer, api: str
) -> None:
    server.script.add(Reply([*reply("Once upon a time. ").parts, Gate()]), "And on.")
    opened = driver.open(project.bundle(providers=[provider(api, server)]))
    driver.client.submit("tell me")
    driver.wait(BlockDelta, lambda e: "time" in e.text or "Once" in e.text)
    driver.client.interrupt(immediate=True)
    assert driver.wait(TurnEnded).status == "cancelled"
    server.request_blocking(0).disconnected.wait_blocking(5)
    rows = project.rows(opened.session_id)
    assert rows[-1]["metadata"]["interrupted"] and "Once" in str(rows[-1]["content"])
    assert driver.turn("go on").status == "success"
    assert driver.answers()[-1] == "And on."


@pytest.mark.parametrize(
    ("failure", "kind", "retryable"),
    [
        (Failure("unauthorized"), "authentication", False),
        (Failure("unknown_model"), "not_found", False),
        (Failure("rate_limited", retry_after=3), "rate_limit", True),
        (Failure("overloaded"), "overloaded", True),
        (Failure("context_too_long"), "context_length", False),
    ],
    ids=lambda value: getattr(value, "kind", str(value)),
)
def test_a_failure_of_the_api_says_what_to_do_and_gives_the_prompt_back(
    project: Project,
    driver: Driver,
    server: LoopbackServer,
    failure: Failure,
    kind: str,
    retryable: bool,
) -> None:
    server.script.add(failure, "Better now.")
    driver.open(project.bundle(providers=[provider("anthropic", server)]))
    assert driver.turn("hello").status == "error"
    failed = driver.of(Failed)[-1]
    assert (failed.kind, failed.retryable, failed.prompt) == (kind, retryable, "hello")
    assert failed.remedy
    if failure.retry_after:
        assert failed.retry_after == failure.retry_after
    assert driver.turn("hello").status == "success"
    assert driver.answers()[-1] == "Better now."


def test_an_answer_that_the_provider_refuses_to_go_on_with_is_said_to_be_no_whole_one(
    project: Project, drive: Callable[[], Driver], server: LoopbackServer, api: str
) -> None:
    server.script.add(reply("The recipe begins with", stop="refusal"))
    driver = drive()
    driver.open(project.bundle(providers=[provider(api, server)]))
    ended = driver.turn("hello")
    assert (ended.status, ended.remark) == ("success", "The model declined to answer")
    assert driver.answers()[-1] == "The recipe begins with"
    assert not [notice for notice in driver.of(Notice) if notice.level == "warning"]
    server.script.add("Fine.")
    assert driver.turn("in other words").remark == ""
    driver.close()
    later = drive()
    later.open(resume="last")
    assert [event.declined for event in later.of(TurnEnded)] == [True, False]


def test_an_answer_that_breaks_off_is_void_once_it_is_repeated(
    project: Project, driver: Driver, server: LoopbackServer
) -> None:
    server.script.add(
        Reply([*reply("Half an ans").parts, Cut()]), reply(Thinking("hm"), "The whole answer.")
    )
    entry = provider("anthropic", server, max_retries=1, min_retry_delay=0.01, retry_delay=0.01)
    driver.open(project.bundle(providers=[entry]))
    assert driver.turn("hello").status == "success"
    shown = {e.block_id: e for e in driver.of(BlockEnded)}
    kept = [e.text for e in shown.values() if not e.discarded]
    assert kept == ["hm", "The whole answer."]
    assert [e.attempt for e in driver.of(ProviderRetrying)] == [1]


def test_a_prompt_for_a_provider_that_failed_says_so(project: Project, driver: Driver) -> None:
    driver.open(project.bundle(providers=[{"module": "provider-nonsense"}]))
    first = driver.wait(Failed)
    driver.client.submit("anybody?")
    failed = driver.wait(Failed)
    assert (failed.kind, failed.prompt) == ("no_provider", "anybody?")
    assert failed.message.endswith("no provider that is ready: provider-nonsense failed")
    assert (failed.message, failed.remedy) == (first.message, first.remedy)


def test_a_session_without_a_key_names_the_variable_and_what_asks_for_one(
    project: Project, driver: Driver, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("ANTHROPIC_API_KEY", raising=False)
    entry = {"module": "provider-anthropic", "config": {"api_key": "${ANTHROPIC_API_KEY}"}}
    driver.open(project.bundle(providers=[entry]))
    remedy = driver.wait(Failed).remedy
    assert "ANTHROPIC_API_KEY" in remedy and "amplifier-tui init" in remedy
