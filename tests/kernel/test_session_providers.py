import logging
from typing import Any

import pytest

from amplifier_tui.kernel import AmplifierSession, ModuleCoordinator
from amplifier_tui.kernel.hooks import HookTrace
from tests.kernel.plans import MemoryLoader, Named, facts, mounts, plan

Log = pytest.LogCaptureFixture


class Provider:
    def __init__(self, config: dict[str, Any], name: str) -> None:
        self.config, self.name = config, name


async def openai(coordinator: ModuleCoordinator, config: dict[str, Any]) -> None:
    await coordinator.mount("providers", Provider(config, "openai"))


async def declines(coordinator: ModuleCoordinator, config: dict[str, Any]) -> None:
    return None


async def breaks(coordinator: ModuleCoordinator, config: dict[str, Any]) -> None:
    await coordinator.mount("providers", Provider(config, "openai"))
    await coordinator.mount("providers", Provider(config, "half"))
    raise RuntimeError("no key")


def entry(module: str, instance_id: str | None = None, **config: Any) -> dict[str, Any]:
    spec: dict[str, Any] = {"module": module, "config": config}
    return spec if instance_id is None else {**spec, "instance_id": instance_id}


def session_with(*entries: Any, **modules: Any) -> tuple[AmplifierSession, list[HookTrace]]:
    loader = MemoryLoader({"provider-openai": openai, **modules})
    session = AmplifierSession(plan(providers=list(entries)), loader=loader)
    traces: list[HookTrace] = []
    session.coordinator.hooks.observe(traces.append)
    return session, traces


def mounted(session: AmplifierSession) -> dict[str, Any]:
    return {
        name: getattr(provider, "config", {}).get("n")
        for name, provider in session.coordinator.get("providers").items()
    }


async def test_several_instances_are_mounted_under_their_ids_in_order() -> None:
    session, _ = session_with(
        entry("provider-openai", n=1),
        entry("provider-openai", "openai-2", n=2),
        entry("provider-openai", "openai-3", n=3),
    )
    await session.initialize()
    assert mounted(session) == {"openai": 1, "openai-2": 2, "openai-3": 3}
    assert list(mounted(session)) == ["openai", "openai-2", "openai-3"]


async def test_an_instance_without_a_default_leaves_the_default_name_free() -> None:
    session, _ = session_with(entry("provider-openai", "work", n=1))
    await session.initialize()
    assert mounted(session) == {"work": 1}


async def test_the_default_may_come_after_an_instance() -> None:
    session, _ = session_with(entry("provider-openai", "work", n=1), entry("provider-openai", n=2))
    await session.initialize()
    assert mounted(session) == {"work": 1, "openai": 2}


async def test_a_provider_that_mounts_under_another_name_is_found() -> None:
    async def odd(coordinator: ModuleCoordinator, config: dict[str, Any]) -> None:
        await coordinator.mount("providers", Provider(config, "gpt"), name="gpt")

    session, _ = session_with(entry("provider-odd", "work", n=1), **{"provider-odd": odd})
    await session.initialize()
    assert mounted(session) == {"work": 1}


async def test_a_provider_that_takes_its_instance_id_itself_is_left_alone() -> None:
    async def knows(coordinator: ModuleCoordinator, config: dict[str, Any]) -> None:
        await coordinator.mount("providers", Provider(config, "x"), name="work")

    session, _ = session_with(entry("provider-k", "work", n=1), **{"provider-k": knows})
    await session.initialize()
    assert mounted(session) == {"work": 1}


async def test_two_entries_without_an_id_are_refused() -> None:
    session, _ = session_with(
        entry("provider-openai"), entry("provider-openai"), entry("provider-openai", "x")
    )
    message = (
        r"^Multi-instance providers require explicit 'instance_id' on each additional entry\. "
        r"Found 2 entries for module 'provider-openai' without instance_id "
        r"\(at most 1 allowed as the default instance\)\.$"
    )
    with pytest.raises(ValueError, match=message):
        await session.initialize()


async def test_a_provider_that_mounts_nothing_has_declined(caplog: Log) -> None:
    session, traces = session_with(
        entry("provider-none"), entry("provider-openai", n=1), **{"provider-none": declines}
    )
    await session.initialize()
    assert mounted(session) == {"openai": 1}
    [failure] = [facts(t) for t in traces if t.event == "module:load_failed"]
    assert failure["module_type"] == "provider"
    assert failure["error"] == "Provider mount did not install a new provider instance"
    [record] = [r for r in caplog.records if r.levelno == logging.WARNING]
    assert record.getMessage().startswith("Failed to load provider 'provider-none'")
    assert record.exc_info is None


async def test_a_provider_that_declined_is_not_told_that_the_session_is_ready() -> None:
    told: list[str] = []

    async def on_session_ready(coordinator: ModuleCoordinator) -> None:
        told.append("ready")

    class Loader(MemoryLoader):
        async def load(self, module_id: str, *arguments: Any, **keywords: Any) -> Any:
            mount = await super().load(module_id, *arguments, **keywords)
            mount.__on_session_ready__ = (module_id, on_session_ready)
            return mount

    config = plan(providers=[entry("provider-none"), entry("provider-mock")])
    session = AmplifierSession(config, loader=Loader({"provider-none": declines}))
    await session.initialize()
    assert len(told) == len(["loop", "context", "provider-mock"])


async def test_a_provider_that_fails_leaves_names_and_order_as_they_were(caplog: Log) -> None:
    session, traces = session_with(
        entry("provider-openai", n=1),
        entry("provider-mock"),
        entry("provider-bad", "second", n=2),
        **{"provider-bad": breaks},
    )
    await session.initialize()
    assert list(mounted(session)) == ["openai", "mock"]
    assert mounted(session)["openai"] == 1
    [failure] = [facts(t) for t in traces if t.event == "module:load_failed"]
    assert failure["instance_id"] == "second"
    assert failure["error"] == "no key"
    [record] = [r for r in caplog.records if r.levelno == logging.WARNING]
    assert record.exc_info is not None


async def test_a_session_with_no_working_provider_starts_and_says_so_at_the_turn() -> None:
    session, _ = session_with(entry("provider-none"), **{"provider-none": declines})
    await session.initialize()
    with pytest.raises(RuntimeError, match="No providers mounted"):
        await session.execute("hi")


async def test_an_application_may_look_at_each_provider_before_it_is_loaded() -> None:
    seen: list[dict[str, Any]] = []

    async def before_load(coordinator: ModuleCoordinator, spec: dict[str, Any]) -> None:
        spec["config"]["n"] = "changed"
        seen.append(spec)
        if spec["module"] == "provider-mock":
            raise RuntimeError("not this one")

    session, traces = session_with(entry("provider-openai", n=1), entry("provider-mock"))
    session.coordinator.register_capability("provider.before_load", before_load)
    await session.initialize()
    assert [spec["module"] for spec in seen] == ["provider-openai", "provider-mock"]
    assert mounted(session) == {"openai": 1}
    assert [t.data["error"] for t in traces] == ["not this one"]


async def test_an_application_may_abort_when_a_provider_fails() -> None:
    heard: list[tuple[str, Exception]] = []

    def load_failure(
        coordinator: ModuleCoordinator, spec: dict[str, Any], error: Exception
    ) -> None:
        heard.append((spec["module"], error))
        if len(heard) == 2:
            raise PermissionError("enough")

    session, _ = session_with(
        entry("provider-none"),
        entry("provider-bad"),
        entry("provider-openai"),
        **{"provider-none": declines, "provider-bad": breaks},
    )
    session.coordinator.register_capability("provider.load_failure", load_failure)
    with pytest.raises(PermissionError, match="enough"):
        await session.initialize()
    assert [module for module, _ in heard] == ["provider-none", "provider-bad"]
    assert isinstance(heard[1][1], RuntimeError)
    assert not session.initialized


async def test_a_replaced_provider_counts_as_installed_and_is_mentioned(caplog: Log) -> None:
    session, traces = session_with(
        entry("provider-openai", n=1),
        entry("provider-twin", n=2),
        **{"provider-twin": mounts("providers", Named("openai"))},
    )
    await session.initialize()
    assert isinstance(session.coordinator.get("providers", "openai"), Named)
    assert traces == []
    assert "'provider-twin' replaced 'openai' in providers" in caplog.text


async def test_instances_replace_nobody(caplog: Log) -> None:
    session, _ = session_with(
        entry("provider-openai", n=1), entry("provider-openai", "second", n=2)
    )
    await session.initialize()
    assert "replaced" not in caplog.text


async def test_an_application_that_changes_what_it_looks_at_changes_only_its_copy() -> None:
    session, _ = session_with(entry("provider-mock"))
    session.config["providers"][0]["config"] = {"list": [{"a": 1}]}

    def before_load(coordinator: Any, spec: dict[str, Any]) -> None:
        spec["config"]["list"][0]["a"] = "changed"
        spec["config"]["list"].append("more")

    session.coordinator.register_capability("provider.before_load", before_load)
    await session.initialize()
    assert len(session.coordinator.get("providers")) == 1
    assert session.config["providers"][0]["config"] == {"list": [{"a": 1}]}
