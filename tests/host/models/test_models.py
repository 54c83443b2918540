"""Which model answers: chosen in the session, for its sub-agents too, and kept for a resume."""

import asyncio
import json
import threading
from collections.abc import Callable
from importlib import import_module
from typing import Any

import pytest

from amplifier_tui.host.client import ModelChoice, OpenRequest
from amplifier_tui.host.events import (
    ApprovalRequested,
    Failed,
    HookTraced,
    ModelChanged,
    Notice,
    SessionOpened,
    TurnEnded,
)
from amplifier_tui.host.models.models import Models
from amplifier_tui.kernel.models import ModelInfo
from amplifier_tui.modules.provider_anthropic import AnthropicProvider
from amplifier_tui.modules.provider_openai import OpenAIProvider
from tests.host.asking import chat, claude
from tests.host.driving import Driver, Project
from tests.servers import Failure, LoopbackServer, ToolUse, reply

SONNET, HAIKU, ASTRA = "claude-sonnet-5-5", "claude-haiku-5-5", "gpt-6-astra"


@pytest.fixture(autouse=True, scope="module")
def sdks() -> None:
    """Imported before anything is waited for: together they take seconds."""
    for name in ("anthropic", "openai.resources.chat.completions"):
        import_module(name)


def both(project: Project, server: LoopbackServer, **more: Any) -> str:
    """A bundle with two vendors, the first of which answers."""
    return project.bundle(providers=[claude(server), chat(server)], **more)


def asked(server: LoopbackServer, index: int) -> tuple[str, str, str]:
    """Which API got a request, for which model and effort."""
    request = server.request_blocking(index)
    config = request.json.get("output_config") or {}
    effort = config.get("effort") or request.json.get("reasoning_effort") or ""
    return request.api, str(request.json["model"]), str(effort)


def test_every_provider_s_models_are_listed_as_its_vendor_lists_them(
    project: Project, driver: Driver, server: LoopbackServer
) -> None:
    driver.open(both(project, server))
    cards = {card.key: card for card in driver.client.models().result(30)}
    assert list(cards) == [
        f"anthropic/{SONNET}",
        f"anthropic/{HAIKU}",
        "openai/gpt-6-astra",
        "openai/gpt-6-luna",
    ]
    assert cards[f"anthropic/{SONNET}"].current and not cards[f"anthropic/{HAIKU}"].current
    assert cards["openai/gpt-6-astra"].context_window == 400_000
    assert cards["openai/gpt-6-astra"].takes == ("images", "thinking", "tools")
    assert "high" in cards["openai/gpt-6-astra"].efforts
    assert cards["openai/gpt-6-astra"].input_price is None, "what is next door has no price list"


def test_a_provider_that_can_t_list_its_models_says_why_in_their_place(
    project: Project, driver: Driver, server: LoopbackServer
) -> None:
    gone = chat(server, base_url="http://127.0.0.1:9/v1", connect_timeout=1)
    driver.open(project.bundle(providers=[claude(server), gone]))
    cards = driver.client.models().result(30)
    (broken,) = [card for card in cards if card.problem]
    assert broken.provider == "openai" and "Can't reach" in broken.problem
    assert len(cards) == 3


def test_a_provider_that_lists_names_says_why_none_is_offered(
    project: Project, driver: Driver, server: LoopbackServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def named(_: Any) -> list[str]:
        return ["gpt-6-luna"]

    monkeypatch.setattr(OpenAIProvider, "list_models", named)
    driver.open(both(project, server))
    cards = driver.client.models().result(30)
    (broken,) = [card for card in cards if card.provider == "openai"]
    assert "should return ModelInfo, got str" in broken.problem and __file__ in broken.problem


def test_a_failure_is_said_of_the_provider_that_was_asked(
    project: Project, driver: Driver, server: LoopbackServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def sick(*_: Any, **__: Any) -> Any:
        return {}

    monkeypatch.setattr(OpenAIProvider, "complete", sick)
    driver.open(both(project, server))
    driver.client.switch_model("gpt-6-luna")
    assert driver.turn("one").status == "error"
    (said,) = [event for event in driver.of(Notice) if event.level == "error"]
    assert "returned dict" in said.text and said.source == "openai"


def test_another_vendor_s_model_answers_from_the_next_request_on_and_after_a_resume(
    project: Project, drive: Callable[..., Driver], server: LoopbackServer
) -> None:
    server.script.add(*"abcdefg")
    driver = drive()
    opened = driver.open(both(project, server))
    assert driver.wait(ModelChanged).model == SONNET
    driver.turn("one")
    driver.client.switch_model("gpt-6-luna")
    changed = driver.wait(ModelChanged)
    assert (changed.provider, changed.model, changed.context_window) == (
        "openai",
        "gpt-6-luna",
        400_000,
    )
    driver.client.set_effort("high")
    assert driver.wait(ModelChanged).effort == "high"
    driver.turn("two")
    driver.client.switch_model(f"anthropic/{HAIKU}")
    driver.turn("three")
    assert [asked(server, index) for index in range(3)] == [
        ("anthropic", SONNET, ""),
        ("chat", "gpt-6-luna", "high"),
        ("anthropic", HAIKU, "high"),
    ]
    driver.close()
    again = drive()
    resumed = again.open(resume=opened.session_id)
    assert (resumed.provider, resumed.model) == ("anthropic", HAIKU)
    changed = again.wait(ModelChanged)
    assert (changed.model, changed.effort, changed.chosen) == (HAIKU, "high", "")
    again.turn("four")
    assert asked(server, 3) == ("anthropic", HAIKU, "high")
    # The next session of the bundle begins with it, whoever remembered it.
    again.client.switch_bundle("test", carry=False)
    assert again.wait(SessionOpened).model == SONNET, "it was chosen in another run"
    again.client.switch_model("gpt-6-luna", "openai")
    again.wait(ModelChanged, lambda event: event.model == "gpt-6-luna")
    again.client.switch_bundle("test", carry=False)
    assert again.wait(SessionOpened).model == "gpt-6-luna"


def test_limits_that_were_remembered_with_a_provider_s_own_model_give_way_to_its_settings(
    project: Project, drive: Callable[..., Driver], server: LoopbackServer
) -> None:
    name = both(project, server)
    windows = []
    for model in (SONNET, HAIKU):
        driver = drive()
        chosen = ModelChoice(provider="anthropic", model=model, context_window=60_000)
        driver.open(name, models={"test": chosen})
        windows.append(driver.wait(ModelChanged).context_window)
        driver.close()
    assert windows[0] > 60_000 and windows[1] == 60_000


def test_a_session_that_is_opened_with_a_model_is_answered_by_it_from_the_first_prompt_on(
    project: Project, drive: Callable[..., Driver], server: LoopbackServer
) -> None:
    server.script.add("a", "b")
    name = both(project, server)
    chosen = {"test": ModelChoice(provider="anthropic", model=HAIKU)}
    driver = drive()
    request = OpenRequest(cwd=driver.cwd, bundle=name, model="gpt-6-luna", models=chosen)
    driver.client.open(request)
    driver.client.submit("sent while it opens")
    driver.wait(TurnEnded)
    assert asked(server, 0) == ("chat", "gpt-6-luna", "")
    assert not any(event.chosen for event in driver.of(ModelChanged)), "later ones are as before"
    session = driver.of(SessionOpened)[0].session_id
    driver.close()
    again = drive()
    again.open(resume=session, model=f"anthropic/{SONNET}")
    again.turn("two")
    assert asked(server, 1) == ("anthropic", SONNET, ""), (
        "what is named comes before what is stored"
    )


def test_a_model_that_is_named_for_this_run_answers_beside_too_until_another_is_chosen(
    project: Project, drive: Callable[..., Driver], server: LoopbackServer
) -> None:
    server.script.add("a", "b", "c")
    name = both(project, server)
    chosen = {"test": ModelChoice(provider="anthropic", model=HAIKU)}
    driver = drive()
    driver.open(name, model="gpt-6-luna", models=chosen)
    driver.turn("one")
    beside = drive(driver.client.beside())
    beside.open(name)
    beside.turn("two")
    beside.client.switch_model(SONNET, "anthropic")
    beside.wait(ModelChanged, lambda event: bool(event.chosen))
    third = drive(driver.client.beside())
    third.open(name)
    third.turn("three")
    models = [asked(server, index)[1] for index in range(3)]
    assert models == ["gpt-6-luna", "gpt-6-luna", SONNET]


@pytest.mark.parametrize("beside", [False, True])
def test_a_model_that_is_still_being_looked_up_answers_in_the_sessions_opened_meanwhile(
    project: Project,
    drive: Callable[..., Driver],
    server: LoopbackServer,
    monkeypatch: pytest.MonkeyPatch,
    beside: bool,
) -> None:
    looked_up, switch, calls = threading.Event(), Models.switch, []

    async def slow_once(self: Models, *args: Any, **more: Any) -> ModelChoice | None:
        calls.append(args)
        if len(calls) == 1:
            looked_up.set()
            await asyncio.Event().wait()
        return await switch(self, *args, **more)

    monkeypatch.setattr(Models, "switch", slow_once)
    server.script.add("a")
    name = both(project, server)
    driver = drive()
    driver.client.open(OpenRequest(cwd=driver.cwd, bundle=name, model="gpt-6-luna"))
    assert looked_up.wait(30)
    if beside:
        driver = drive(driver.client.beside())
        driver.open(name)
    else:
        driver.client.switch_bundle(name, carry=False)
        driver.wait_until(lambda: len(driver.of(SessionOpened)) == 2, "no session was opened")
    driver.turn("one")
    assert asked(server, 0)[1] == "gpt-6-luna"


def test_events_of_a_request_name_the_provider_that_answers_it(
    project: Project, driver: Driver, server: LoopbackServer
) -> None:
    server.script.add("a", Failure("unauthorized"))
    driver.open(both(project, server))
    driver.client.switch_model(ASTRA, "openai")
    driver.wait(ModelChanged, lambda event: bool(event.chosen))
    driver.turn("one")
    driver.turn("two")
    told = [
        (trace.event, data["provider"], data["model"])
        for trace in driver.of(HookTraced)
        if trace.event in ("provider:request", "provider:response", "provider:error")
        and "iteration" in (data := json.loads(driver.client.payload(trace.seq).result(5)))
    ]
    assert told == [
        ("provider:request", "openai", ASTRA),
        ("provider:response", "openai", ASTRA),
        ("provider:request", "openai", ASTRA),
        ("provider:error", "openai", ASTRA),
    ]


def test_a_remembered_model_is_used_and_one_of_a_provider_that_is_gone_is_not(
    project: Project, drive: Callable[..., Driver], server: LoopbackServer
) -> None:
    name = both(project, server)
    chosen = ModelChoice(provider="openai", model="gpt-6-luna", context_window=5_000)
    driver = drive()
    opened = driver.open(name, models={name: chosen})
    assert (opened.model, opened.context_window) == ("gpt-6-luna", 5_000)
    driver.close()
    other = drive()
    gone = ModelChoice(provider="elsewhere", model="gpt-9")
    opened = other.open(name, models={name: gone})
    assert opened.model == SONNET
    said = [e.text for e in other.of(Notice)]
    why = "the provider elsewhere is not mounted"
    assert f"gpt-9 is not used: {why}. Choose another with /model" in said


def test_a_remembered_model_of_a_provider_without_its_key_names_the_key_and_how_to_choose_another(
    project: Project, driver: Driver, server: LoopbackServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("OPENAI_API_KEY", raising=False)
    name = project.bundle(providers=[claude(server), {"module": "provider-openai"}])
    driver.open(name, models={name: ModelChoice(provider="openai", model=ASTRA)})
    remedy = "Set OPENAI_API_KEY to use it, or choose another with /model"
    why = f"{ASTRA} is not used: the provider openai is not mounted. {remedy}"
    assert why in [e.text for e in driver.of(Notice)]


def test_what_is_chosen_elsewhere_changes_no_session_that_has_answered_and_no_fork_of_it(
    project: Project, drive: Callable[..., Driver], server: LoopbackServer
) -> None:
    server.script.add("one", "two", "three")
    name = both(project, server)
    elsewhere = {name: ModelChoice(provider="anthropic", model=HAIKU)}
    driver = drive()
    session = driver.open(name).session_id
    driver.turn("first")
    driver.close()
    again = drive()
    assert again.open(resume=session, models=elsewhere).model == SONNET
    again.turn("second")
    assert asked(server, 1)[1] == SONNET
    again.client.fork()
    assert again.wait(SessionOpened).model == SONNET
    again.client.switch_bundle(name, carry=False)
    assert again.wait(SessionOpened).model == HAIKU, "a new one begins with what was chosen last"


def test_a_switch_counts_within_the_running_turn_and_for_sub_agents(
    project: Project, driver: Driver, server: LoopbackServer
) -> None:
    server.script.add(
        reply(ToolUse("bash", {"command": "touch made.txt"})),
        reply(ToolUse("delegate", {"text": "look"})),
        "from the child",
        "done",
    )
    name = both(project, server, tools=("tool-bash", "tool-test"))
    project.allow(["delegate"])
    driver.open(name)
    driver.client.submit("go")
    driver.wait(ApprovalRequested)
    driver.client.switch_model(ASTRA)
    driver.wait(ModelChanged, lambda e: e.model == ASTRA)
    driver.client.interrupt()
    driver.wait(TurnEnded)
    driver.turn("go on")
    models = [asked(server, index)[1] for index in range(4)]
    assert models == [SONNET, ASTRA, ASTRA, ASTRA]


def test_a_name_that_no_provider_lists_is_not_taken_and_the_nearest_and_a_way_to_it_are_told(
    project: Project, driver: Driver, server: LoopbackServer
) -> None:
    driver.open(both(project, server))
    driver.wait(ModelChanged)
    for wrong, near in (
        ("claude-sonet-5-5", f"; did you mean '{SONNET}'?"),
        ("mistral/large", "."),
    ):
        driver.client.switch_model(wrong)
        notice = driver.wait(Notice)
        assert (notice.level, notice.source) == ("warning", "model")
        way = f"Write anthropic/{wrong} to ask for it all the same"
        stranger = "The provider mistral is not mounted; no other"
        why = stranger if "/" in wrong else "No provider"
        assert notice.text == f"{why} lists {wrong}{near} {way}"
    driver.client.switch_bundle("test", carry=False)
    assert driver.wait(SessionOpened).model == SONNET
    driver.client.switch_model("anthropic/claude-sonet-5-5")
    changed = driver.wait(ModelChanged, lambda e: e.chosen == "model")
    assert (changed.provider, changed.model) == ("anthropic", "claude-sonet-5-5")
    assert changed.doubted
    driver.wait(Notice, lambda e: "claude-sonet-5-5" in e.text)
    said = "does not list claude-sonet-5-5: it is asked for all the same; did you mean"
    assert said in driver.of(Notice)[-1].text


def test_a_session_that_is_to_open_with_a_model_nobody_lists_says_so_and_asks_no_other(
    project: Project, driver: Driver, server: LoopbackServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    listing, list_models = threading.Event(), AnthropicProvider.list_models

    async def later(provider: AnthropicProvider) -> list[ModelInfo]:
        await asyncio.to_thread(listing.wait, 15)
        return await list_models(provider)

    monkeypatch.setattr(AnthropicProvider, "list_models", later)
    name = both(project, server)
    driver.client.open(OpenRequest(cwd=driver.cwd, bundle=name, model="claude-sonet-5-5"))
    driver.client.submit("one")
    driver.wait(SessionOpened)
    driver.client.submit("two")
    listing.set()
    failed = driver.wait(Failed)
    assert (failed.kind, failed.prompt) == ("not_found", "one\n\ntwo")
    assert failed.message.startswith("No provider lists claude-sonet-5-5; did you mean")
    assert failed.remedy == f"Until you choose another, {SONNET} answers."
    server.script.add("ok")
    driver.turn("what answers now")
    assert len(server.requests) == 1 and asked(server, 0) == ("anthropic", SONNET, "")


def test_a_part_of_a_name_is_the_one_model_that_has_it(
    project: Project, driver: Driver, server: LoopbackServer
) -> None:
    driver.open(both(project, server))
    driver.wait(ModelChanged)
    for part, whole in (("haiku", HAIKU), ("Luna", "gpt-6-luna"), (SONNET.upper(), SONNET)):
        driver.client.switch_model(part)
        changed = driver.wait(ModelChanged, lambda e: e.chosen == "model")
        assert changed.model == whole
        said = driver.of(Notice)[-1]
        assert (said.level, said.text) == ("info", f"{part} is {changed.provider}/{whole}")
    driver.client.switch_model("gpt-6")
    said = driver.wait(Notice, lambda e: e.source == "model")
    assert said.text == "gpt-6 may be openai/gpt-6-astra, openai/gpt-6-luna: write one of them"
    assert len([e for e in driver.of(ModelChanged) if e.chosen]) == 3


def test_where_the_provider_that_answers_lists_no_models_every_name_is_taken(
    project: Project, driver: Driver, server: LoopbackServer
) -> None:
    gone = chat(server, base_url="http://127.0.0.1:9/v1", connect_timeout=1)
    driver.open(project.bundle(providers=[gone, claude(server)]))
    driver.wait(ModelChanged)
    driver.client.switch_model("mistral/large")
    changed = driver.wait(ModelChanged, lambda e: e.chosen == "model")
    assert (changed.provider, changed.model) == ("openai", "mistral/large")
    said = "no provider mistral is mounted, and openai does not list mistral/large: it is asked"
    assert driver.wait(Notice, lambda e: "mistral" in e.text).text.startswith(said)


def test_to_another_model_and_back_leaves_as_much_room_as_before(
    project: Project, driver: Driver, server: LoopbackServer
) -> None:
    narrow = claude(server, context_window=150_000)
    driver.open(project.bundle(providers=[narrow, chat(server)]))
    first = driver.wait(ModelChanged)
    for name in (HAIKU, ASTRA, SONNET):
        driver.client.switch_model(name)
        last = driver.wait(ModelChanged, lambda e, name=name: e.model == name)
        if name == HAIKU:
            assert last.max_output_tokens == 32_000, "what is asked for, not what it can do"
    assert (first.context_window, first.max_output_tokens) == (150_000, 32_000)
    assert (last.context_window, last.max_output_tokens) == (150_000, 32_000)


def test_a_model_that_fails_leaves_the_way_back_and_loses_nothing(
    project: Project, driver: Driver, server: LoopbackServer
) -> None:
    server.script.add("one", Failure("unknown_model"), "two")
    driver.open(both(project, server))
    driver.turn("first")
    driver.client.switch_model("claude-nowhere", "anthropic")
    assert "does not list claude-nowhere" in driver.wait(Notice).text
    driver.client.submit("second")
    failed = driver.wait(Failed)
    assert (failed.kind, failed.back, failed.prompt) == ("not_found", SONNET, "second")
    driver.wait(TurnEnded)
    driver.client.switch_model_back()
    assert driver.wait(ModelChanged, lambda e: e.chosen == "effort").model == SONNET
    driver.client.retry()
    driver.wait(TurnEnded)
    assert driver.answers() == ["one", "two"]
    assert asked(server, 2)[1] == SONNET


def test_the_way_back_leads_to_the_model_of_before_the_last_switch_and_back_again(
    project: Project, driver: Driver, server: LoopbackServer
) -> None:
    driver.open(both(project, server))
    driver.client.switch_model_back()
    assert driver.wait(Notice).text == "There is no model to go back to"
    # To itself is no switch.
    for model in (HAIKU, SONNET, ASTRA, HAIKU, SONNET, SONNET):
        driver.client.switch_model(model)
        driver.wait(ModelChanged, lambda e, model=model: e.model == model)
    driver.client.set_effort("low")
    driver.wait(ModelChanged, lambda e: e.effort == "low")
    for model in (HAIKU, SONNET, HAIKU):
        driver.client.switch_model_back()
        changed = driver.wait(ModelChanged)
        assert (changed.model, changed.effort) == (model, "low")


def test_of_several_switches_to_one_that_fails_the_first_is_gone_back_on(
    project: Project, driver: Driver, server: LoopbackServer
) -> None:
    server.script.add("one", Failure("unknown_model"))
    driver.open(both(project, server))
    driver.turn("first")
    for model in (HAIKU, "claude-nowhere"):
        driver.client.switch_model(model, "anthropic")
        driver.wait(ModelChanged, lambda e, model=model: e.model == model)
    driver.client.submit("second")
    assert driver.wait(Failed).back == SONNET
    driver.wait(TurnEnded)
    driver.client.switch_model_back()
    assert driver.wait(ModelChanged, lambda e: e.chosen == "effort").model == SONNET
