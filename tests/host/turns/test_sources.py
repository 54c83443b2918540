import json
from pathlib import Path

import pytest

from amplifier_tui.host.events import (
    BlockEnded,
    CancelRequested,
    Failed,
    ModuleFailed,
    ModuleLeftOut,
    ModuleMounted,
    ModuleUnmounted,
    Notice,
    TurnEnded,
    TurnStarted,
)
from tests.context.adr.redis_server import RedisServer
from tests.context.conftest import own_redis, redis_program
from tests.host.asking import CONTEXT, chat, seen, with_source
from tests.host.driving import Driver, Project
from tests.servers import LoopbackServer

__all__ = ["own_redis", "redis_program"]


def users(project: Project, session: str) -> list[object]:
    return [row["content"] for row in project.rows(session) if row["role"] == "user"]


def test_a_source_adds_to_the_request_and_not_to_the_conversation(
    project: Project, driver: Driver, server: LoopbackServer
) -> None:
    server.script.add("Take a coat.")
    opened = driver.open(with_source(project, server, {"says": "It rains."}))
    assert driver.turn("What to wear?").status == "success"
    assert seen(server, 0) == ["user: It rains.\n\nWhat to wear?"]
    assert users(project, opened.session_id) == ["What to wear?"]


def test_a_source_that_fails_stops_the_turn_before_the_model_is_asked(
    project: Project, driver: Driver, server: LoopbackServer
) -> None:
    opened = driver.open(with_source(project, server, {"raises": "the station is down"}))
    assert driver.turn("What to wear?").status == "error"
    (failed,) = driver.of(Failed)
    assert (failed.kind, failed.source, failed.retryable) == ("context_source", "weather", True)
    assert "'weather'" in failed.message and "the station is down" in failed.message
    assert "without" in failed.remedy and failed.prompt == "What to wear?"
    assert server.requests == []
    assert users(project, opened.session_id) == ["What to wear?"]


def test_a_source_comes_and_goes_with_its_module(
    project: Project, driver: Driver, server: LoopbackServer
) -> None:
    key = "hooks-source"
    server.script.add(*["Well."] * 6)
    driver.open(with_source(project, server, {"says": "It rains."}))
    for change, rains in (
        (lambda: None, True),
        (lambda: driver.client.reload(key), True),
        (lambda: driver.client.switch_module(key, on=False), False),
        (lambda: driver.client.switch_module(key, on=True), True),
        (lambda: driver.client.unmount(key), False),
        (lambda: driver.client.mount(key), True),
    ):
        change()
        assert driver.turn("And now?").status == "success"
        asked = seen(server, len(server.requests) - 1)
        assert ("It rains." in asked[-1], len(driver.of(ModuleFailed))) == (rains, 0)


def test_a_failed_source_can_be_left_out_for_the_rest_of_the_session(
    project: Project, driver: Driver, server: LoopbackServer
) -> None:
    server.script.add("Anything.", "Still anything.")
    opened = driver.open(with_source(project, server, {"raises": "the station is down"}))
    driver.turn("What to wear?")
    driver.client.retry(without="weather")
    again = driver.wait(TurnStarted)
    assert (again.turn, again.prompt) == (1, "What to wear?")
    assert driver.wait(TurnEnded).status == "success"
    assert seen(server, 0) == ["user: What to wear?"]
    assert driver.turn("And tomorrow?").status == "success"
    assert users(project, opened.session_id) == ["What to wear?", "And tomorrow?"]


@pytest.mark.parametrize("way", ["reload", "switch", "unmount", "configure"])
def test_a_source_that_was_left_out_comes_back_with_its_module(
    project: Project, driver: Driver, server: LoopbackServer, tmp_path: Path, way: str
) -> None:
    key, back = "hooks-source", tmp_path / "back"
    server.script.add(*["Well."] * 4)
    source = {"raises": "the station is down", "until": str(back), "says": "It rains."}
    driver.open(with_source(project, server, source))
    driver.turn("What to wear?")
    driver.client.retry(without="weather")
    assert driver.wait(TurnEnded).status == "success"
    (told,) = driver.of(ModuleLeftOut)
    assert (told.module_id, told.sources) == (key, ("weather",))
    assert any(f"/reload {key}" in event.text for event in driver.of(Notice))
    back.touch()
    assert driver.turn("And now?").status == "success"
    assert "It rains." not in seen(server, 1)[-1]
    mounted = len(driver.of(ModuleMounted))
    if way == "reload":
        driver.client.reload(key)
    elif way == "switch":
        driver.client.switch_module(key, on=False)
        driver.wait(ModuleUnmounted)
        driver.client.switch_module(key, on=True)
    elif way == "unmount":
        driver.client.unmount(key)
        driver.wait(ModuleUnmounted)
        driver.client.mount(key)
    else:
        driver.client.configure(key, "times", "1")
    driver.wait_until(lambda: len(driver.of(ModuleMounted)) > mounted, "not mounted anew")
    assert driver.turn("And now?").status == "success"
    assert "It rains." in seen(server, 2)[-1]


RENEWS = """
__amplifier_module_type__ = "hook"

from amplifier_tui.context.adr.provider import ContextProvider


class Source(ContextProvider):
    async def before_run(self, agent, session, context, state):
        raise RuntimeError("the station is down")


async def mount(coordinator, config=None):
    async def renew(event, data):
        pipeline = coordinator.get_capability("context.pipeline")
        if pipeline.provider("weather") is not None:
            pipeline.remove("weather")
        pipeline.add(Source("weather"))

    coordinator.hooks.register("prompt:submit", renew, name="hooks-renews")
"""


def test_a_source_that_its_module_renews_with_each_prompt_stays_out_until_the_module_is_reloaded(
    project: Project, driver: Driver, server: LoopbackServer, tmp_path: Path
) -> None:
    package = tmp_path / "hooks-renews" / "amplifier_module_hooks_renews"
    package.mkdir(parents=True)
    (package / "__init__.py").write_text(RENEWS)
    server.script.add(*["Well."] * 3)
    name = project.bundle(
        context=CONTEXT, context_config={"providers": []}, providers=[chat(server)]
    )
    bundle = project.bundles / f"{name}.md"
    hooks = f"hooks:\n- module: hooks-renews\n  source: {package.parent}"
    bundle.write_text(bundle.read_text().replace("hooks: []", hooks))
    driver.open(name)
    assert driver.turn("What to wear?").status == "error"
    driver.client.retry(without="weather")
    assert driver.wait(TurnEnded).status == "success"
    assert [driver.turn("And now?").status for _ in range(2)] == ["success"] * 2
    mounted = len(driver.of(ModuleMounted))
    driver.client.reload("hooks-renews")
    driver.wait_until(lambda: len(driver.of(ModuleMounted)) > mounted, "not mounted anew")
    assert driver.turn("And now?").status == "error", "it is asked again, and is still down"


def test_one_that_comes_back_before_the_next_turn_is_not_skipped_there(
    project: Project, driver: Driver, server: LoopbackServer, tmp_path: Path
) -> None:
    server.script.add("Well.")
    back = tmp_path / "back"
    until = {"raises": "down", "until": str(back)}
    news = {"id": "news", "says": "Peace.", **until}
    driver.open(with_source(project, server, {"says": "It rains.", **until}, news))
    driver.turn("What to wear?")
    driver.client.retry(without="weather")
    assert driver.wait(TurnEnded).status == "error"
    back.touch()
    driver.client.reload("hooks-source")
    assert driver.turn("And now?").status == "success"
    assert "It rains." in seen(server, 0)[-1] and "Peace." in seen(server, 0)[-1]


def test_a_source_that_works_again_is_asked_again_by_a_plain_retry(
    project: Project, driver: Driver, server: LoopbackServer, tmp_path: Path
) -> None:
    server.script.add("Take a coat.")
    back = tmp_path / "back"
    source = {"raises": "the station is down", "until": str(back), "says": "It rains."}
    opened = driver.open(with_source(project, server, source))
    driver.turn("What to wear?")
    driver.client.retry()
    assert driver.wait(TurnEnded).status == "error"
    back.touch()
    driver.client.retry()
    assert driver.wait(TurnEnded).status == "success"
    assert seen(server, 0) == ["user: It rains.\n\nWhat to wear?"]
    assert users(project, opened.session_id) == ["What to wear?"]
    assert {event.turn for event in driver.of(TurnStarted)} == {1}


def test_sources_that_fail_after_the_turn_cost_a_notice_each_and_not_the_answer(
    project: Project, driver: Driver, server: LoopbackServer
) -> None:
    server.script.add("Take a coat.")
    sources = (
        {"id": "diary", "raises_after": "no ink"},
        {"id": "calendar", "raises_after": "no paper"},
    )
    driver.open(with_source(project, server, *sources))
    assert driver.turn("What to wear?").status == "success"
    assert driver.answers() == ["Take a coat."]
    told = {event.source: event.text for event in driver.of(Notice) if event.level == "warning"}
    assert set(told) == {"diary", "calendar"}
    assert "no ink" in told["diary"] and "no paper" in told["calendar"]
    assert not driver.of(Failed)


@pytest.mark.parametrize("immediate", [False, True])
def test_a_source_that_hangs_can_be_stopped_at_once(
    project: Project, driver: Driver, server: LoopbackServer, tmp_path: Path, immediate: bool
) -> None:
    server.script.add("Anything.")
    hangs = tmp_path / "hangs"
    opened = driver.open(with_source(project, server, {"hangs": str(hangs)}))
    driver.client.submit("What to wear?")
    driver.wait_for_file(hangs)
    driver.client.interrupt(immediate=immediate)
    driver.wait(CancelRequested)
    assert driver.wait(TurnEnded, timeout=5).status == "cancelled"
    assert server.requests == []
    assert users(project, opened.session_id) == ["What to wear?"]
    assert not driver.of(Failed)


def test_a_source_that_hangs_is_given_up_after_its_time(
    project: Project, driver: Driver, server: LoopbackServer, tmp_path: Path
) -> None:
    config = {"providers": [], "provider_timeout": 0.05}
    hangs = {"hangs": str(tmp_path / "hangs")}
    driver.open(with_source(project, server, hangs, context_config=config))
    assert driver.turn("What to wear?").status == "error"
    assert "no answer within 0.05 s" in driver.of(Failed)[-1].message


def test_ten_megabytes_of_a_source_are_cut_and_the_user_is_told(
    project: Project, driver: Driver, server: LoopbackServer
) -> None:
    server.script.add("I see.")
    driver.open(with_source(project, server, {"says": "0123456789", "times": 1_048_576}))
    assert driver.turn("What is it?").status == "success"
    (flood,) = seen(server, 0)
    assert len(flood) < 200_000 and flood.endswith("What is it?")
    assert any("'weather'" in e.text and "cut" in e.text for e in driver.of(Notice))


def test_redis_may_go_in_mid_session(
    project: Project, driver: Driver, server: LoopbackServer, own_redis: RedisServer
) -> None:
    server.script.add("One.", "Two.", "Three.")
    config = {"providers": [{"id": "redis", "redis_url": own_redis.url}]}
    name = project.bundle(context=CONTEXT, context_config=config, providers=[chat(server)])
    opened = driver.open(name)
    driver.turn("prompt 1")
    own_redis.stop()
    assert driver.turn("prompt 2").status == "success"
    assert seen(server, 1) == ["user: prompt 1", "assistant: One.", "user: prompt 2"]
    assert driver.turn("prompt 3").status == "success"
    assert len(seen(server, 2)) == 5
    (told,) = [event.text for event in driver.of(Notice) if event.level == "warning"]
    assert "'redis_memory' is not available" in told and "goes on" in told
    assert len(project.rows(opened.session_id)) == 6


def test_a_message_larger_than_the_window_is_not_sent_and_its_source_is_named(
    project: Project, driver: Driver
) -> None:
    config = {"script": None, "tokens_per_second": 0, "context_window": 8_000}
    config |= {"max_output_tokens": 1_000}
    name = project.bundle(
        context="context-pipeline",
        context_config={"providers": []},
        providers=[{"module": "provider-mock", "config": config}],
    )
    driver.open(name)
    assert driver.turn("word " * 20_000).status == "error"
    (failed,) = driver.of(Failed)
    assert failed.kind == "context_length" and "'user'" in failed.message
    assert not failed.retryable and failed.remedy
    assert not driver.of(BlockEnded)


def test_a_turn_that_was_given_up_does_not_end_the_one_that_runs_when_it_wakes(
    project: Project, driver: Driver, tmp_path: Path
) -> None:
    grave, woke = tmp_path / "grave", tmp_path / "woke"
    config = {"stubborn_once": str(grave), "started": str(tmp_path / "started")}
    config |= {"woke": str(woke), "waits_for": str(tmp_path / "go"), "waiting": str(tmp_path / "w")}
    hooks = (("hooks-source", {}),)
    name = project.bundle(
        loop="loop-test",
        loop_config=config,
        context=CONTEXT,
        context_config={"providers": []},
        hooks=hooks,
    )
    opened = driver.open(name)
    driver.client.submit("one")
    driver.wait_for_file(tmp_path / "started")
    driver.client.interrupt(immediate=True)
    assert driver.wait(Failed).kind == "stuck"
    driver.wait(TurnEnded)
    driver.client.submit("two")
    driver.wait_for_file(tmp_path / "w")
    grave.touch()
    driver.wait_for_file(woke)
    (tmp_path / "go").touch()
    assert driver.wait(TurnEnded).status == "success"
    state = json.loads((project.folder_of(opened.session_id) / "state.json").read_text())
    assert state["state"]["weather"]["heard"] == ["You said two"]
