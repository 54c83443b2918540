import asyncio
import inspect
from pathlib import Path
from typing import Any

import pytest

from amplifier_tui import kernel
from amplifier_tui.foundation.bundle.bundle import Bundle
from amplifier_tui.foundation.modules.resolver import BundleModuleResolver
from amplifier_tui.foundation.registry.registry import load_bundle
from amplifier_tui.kernel.mounting.errors import SourceUnavailableError
from amplifier_tui.kernel.mounting.sources import ModuleNotFoundError as KernelModuleNotFound
from tests.foundation.helpers import allow, write
from tests.foundation.stacks import STACK, entry, prepared, stack


async def test_a_session_is_awaited_or_entered() -> None:
    ready = await prepared(stack())
    session = await ready.create_session()
    assert session.initialized
    assert await session.execute("hi") == "echo: hi"
    await session.cleanup()
    async with ready.create_session(session_id="mine") as session:
        assert (session.session_id, await session.execute("ho")) == ("mine", "echo: ho")
    assert not session.initialized


async def test_an_opening_is_a_coroutine_to_asyncio() -> None:
    ready = await prepared(stack())
    first, second = await asyncio.gather(
        asyncio.create_task(ready.create_session()),
        asyncio.wait_for(ready.create_session(), 10),
    )
    assert first.session_id != second.session_id
    for session in (first, second):
        await session.cleanup()


async def test_an_opening_nobody_awaits_does_nothing_and_warns_of_nothing(
    recwarn: pytest.WarningsRecorder,
) -> None:
    import gc

    opening = (await prepared(stack())).create_session()
    opening.close()
    del opening
    gc.collect()
    assert not [warning for warning in recwarn if "never awaited" in str(warning.message)]


async def test_an_error_inside_the_block_passes_and_the_session_is_cleaned_up() -> None:
    ready = await prepared(stack())
    with pytest.raises(RuntimeError, match="the loop failed"):
        async with ready.create_session() as session:
            await session.execute("fail")
    assert not session.initialized


async def test_the_spec_example_runs(tmp_path: Path) -> None:
    path = write(
        tmp_path / "bundle.md",
        "---\nbundle: {name: example}\n"
        f"session:\n  orchestrator: {{module: fx-loop, source: {STACK / 'loop'}}}\n"
        f"  context: {{module: fx-context, source: {STACK / 'context'}}}\n"
        f"providers:\n  - {{module: fx-provider, source: {STACK / 'provider'}}}\n---\nBe kind.\n",
    )
    bundle = await load_bundle(path)
    ready = await bundle.prepare(trust=allow)
    async with ready.create_session() as session:
        assert await session.execute("your prompt") == "echo: your prompt"


async def test_a_session_has_its_ids_systems_and_capabilities(tmp_path: Path) -> None:
    ready = await prepared(stack(tmp_path))
    ready.bundle_package_paths.append("/pkg")
    approval, display = object(), object()
    session = await ready.create_session(
        "s1", "p1", approval, display, session_cwd=tmp_path / "cwd", is_resumed=True
    )
    coordinator = session.coordinator
    assert (session.session_id, session.parent_id, session.is_resumed) == ("s1", "p1", True)
    assert coordinator.approval_system is approval and coordinator.display_system is display
    assert coordinator.get_capability("session.working_dir") == str(tmp_path / "cwd")
    assert coordinator.get_capability("bundle_package_paths") == ["/pkg"]
    assert isinstance(coordinator.get_capability("hook_metadata"), dict)
    assert coordinator.get("module-source-resolver") is ready.resolver
    await session.cleanup()


async def test_a_session_nobody_says_more_about_is_new_and_nobodys_child(tmp_path: Path) -> None:
    ready = await prepared(stack(tmp_path))
    async with ready.create_session() as one, ready.create_session() as two:
        assert (one.parent_id, one.is_resumed) == (None, False)
        assert one.session_id and one.session_id != two.session_id


async def test_the_folder_is_the_bundles_when_none_is_given(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    for base, expected in ((tmp_path / "b", tmp_path / "b"), (None, tmp_path)):
        async with (await prepared(stack(base))).create_session() as session:
            assert session.coordinator.get_capability("session.working_dir") == str(expected)


async def test_a_callback_sees_the_session_before_its_modules(tmp_path: Path) -> None:
    seen: list[tuple[bool, str]] = []

    async def before(session: kernel.AmplifierSession) -> None:
        folder = session.coordinator.get_capability("session.working_dir")
        seen.append((session.initialized, folder))

    ready = await prepared(stack(tmp_path))
    async with ready.create_session(before_initialize=before):
        assert seen == [(False, str(tmp_path))]


async def test_a_session_that_cannot_start_is_cleaned_up(monkeypatch: pytest.MonkeyPatch) -> None:
    cleaned: list[bool] = []
    original = kernel.AmplifierSession.cleanup

    async def cleanup(self: kernel.AmplifierSession) -> None:
        cleaned.append(True)
        await original(self)

    monkeypatch.setattr(kernel.AmplifierSession, "cleanup", cleanup)
    broken = stack(session={"orchestrator": "no-such-loop", "context": entry("context")})
    with pytest.raises(RuntimeError, match="Cannot initialize without orchestrator"):
        await (await prepared(broken)).create_session()
    assert cleaned == [True]


async def test_the_session_class_is_looked_up_in_the_kernel_package_at_call_time(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    ready = await prepared(stack())

    class Stop(Exception):
        pass

    def replacement(*args: Any, **more: Any) -> None:
        raise Stop

    monkeypatch.setattr(kernel, "AmplifierSession", replacement)
    with pytest.raises(Stop):
        await ready.create_session()


async def test_recording_hooks_are_told_of_our_events_once() -> None:
    hooks = [
        {"module": "hooks-logging", "config": {"additional_events": ["x"]}},
        {"module": "hook-context-intelligence"},
        {"module": "other"},
    ]
    ready = await prepared(stack(hooks=hooks))
    for _ in range(2):
        async with ready.create_session():
            pass
    configs = [hook.get("config") for hook in ready.mount_plan["hooks"]]
    ours = ["session:config", "mentions:resolved"]
    assert configs == [{"additional_events": ["x", *ours]}, {"additional_events": ours}, None]
    assert ready.bundle.hooks == hooks


async def test_the_resolver_answers_for_activated_modules_only(tmp_path: Path) -> None:
    resolver = BundleModuleResolver({"a": tmp_path})
    assert resolver.resolve("a").resolve() == tmp_path
    assert resolver.resolve("a", source_hint="x", profile_hint="y").path == tmp_path
    assert (resolver.get_module_source("a"), resolver.get_module_source("b")) == (
        str(tmp_path),
        None,
    )
    with pytest.raises(KernelModuleNotFound, match="'b' was not activated"):
        resolver.resolve("b")
    with pytest.raises(KernelModuleNotFound):
        await resolver.async_resolve("b", "./x")
    assert inspect.iscoroutinefunction(resolver.async_resolve)


async def test_a_module_that_comes_late_is_activated_by_its_hint() -> None:
    ready = await prepared(stack())
    source = await ready.resolver.async_resolve("fx-tool", source_hint=str(STACK / "tool"))
    assert source.resolve() == STACK / "tool"
    again = await ready.resolver.async_resolve("fx-hook", profile_hint=str(STACK / "hook"))
    assert again.path == STACK / "hook"
    with pytest.raises(KernelModuleNotFound, match="File not found"):
        await ready.resolver.async_resolve("fx-gone", "/no/where")


async def test_nothing_is_mounted_in_place_of_what_could_not_be_fetched() -> None:
    entry = {"module": "tool-todo", "source": "git+https://h.invalid/x@main"}
    ready = await stack(tools=[entry]).prepare(install_deps=False, trust=allow)
    assert "Could not resolve host" in ready.activation_failures["tool-todo"]
    with pytest.raises(SourceUnavailableError, match="Could not resolve host") as caught:
        await ready.resolver.async_resolve("tool-todo", entry["source"])
    assert "sources: {modules: {tool-todo: built-in}}" in caught.value.remedy
    async with ready.create_session() as session:
        assert session.coordinator.get("tools") == {}


async def test_an_entry_without_a_source_means_the_built_in_module(tmp_path: Path) -> None:
    resolver = BundleModuleResolver({"tool-todo": tmp_path}, sources={("tool-todo", "x"): tmp_path})
    assert resolver.resolve("tool-todo", "x").path == tmp_path
    with pytest.raises(KernelModuleNotFound):
        resolver.resolve("tool-todo")


async def test_a_bundle_without_modules_of_its_own_prepares_without_trust() -> None:
    ready = await Bundle(name="x", session={"orchestrator": "o"}).prepare()
    assert (ready.mount_plan, ready.activation_failures) == (
        {"session": {"orchestrator": "o"}},
        {},
    )
