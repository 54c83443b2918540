from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest

from amplifier_tui.foundation.bundle.bundle import Bundle
from amplifier_tui.foundation.bundle.composing import tag_container_provenance
from amplifier_tui.foundation.configurator import (
    RUNTIME_CONTEXT_OVERLAY_CAPABILITY,
    RUNTIME_SKILL_OVERLAY_CAPABILITY,
    Category,
    RuntimeOverlay,
    SessionConfigurator,
)
from amplifier_tui.kernel.session import AmplifierSession
from tests.foundation.helpers import write
from tests.foundation.stacks import entry, prepared, stack


class Opened:
    def __init__(self, session: AmplifierSession, bundle: Bundle) -> None:
        self.session = session
        self.configurator = SessionConfigurator(session, bundle)

    def parts(self, category: Category) -> set[str]:
        coordinator = self.session.coordinator
        return {
            "tool": lambda: set(coordinator.get("tools")),
            "provider": lambda: set(coordinator.get("providers")),
            "hook": lambda: set(coordinator.hooks.list_handlers("tool:pre")["tool:pre"]),
            "agent": lambda: set(coordinator.config["agents"]),
        }[category]()

    async def prompt(self) -> str:
        text: str = await self.session.coordinator.get("context").factory()
        return text


@pytest.fixture
async def opened(tmp_path: Path) -> AsyncIterator[Opened]:
    write(tmp_path / "one.md", "first file")
    write(tmp_path / "two.md", "second file")
    bundle = stack(
        tmp_path,
        tools=[entry("tool", config={"name": "base"})],
        providers=[entry("provider"), entry("provider", id="spare", instance_id="spare")],
        agents={"helper": {"instruction": "x"}, "other": {"instruction": "y"}},
        context={"include": ["one.md", "two.md"]},
    )
    ready = await prepared(bundle)
    async with ready.create_session() as session:

        async def handler(event: str, data: dict[str, Any]) -> None: ...

        session.coordinator.hooks.register("tool:pre", handler, name="watching")
        yield Opened(session, bundle)
    assert set(ready.mount_plan["agents"]) == {"helper", "other"}


@pytest.mark.parametrize(
    ("category", "name"),
    [("tool", "base"), ("provider", "spare"), ("hook", "watching"), ("agent", "helper")],
)
async def test_a_part_is_turned_off_and_on_again(
    opened: Opened, category: Category, name: str
) -> None:
    before = opened.parts(category)
    assert name in before and opened.configurator.names(category)[name]
    off = await opened.configurator.disable(category, name)
    assert (off.success, off.enabled, off.changed) == (True, False, True)
    assert opened.parts(category) == before - {name}
    assert opened.configurator.names(category)[name] is False
    again = await opened.configurator.disable(category, name)
    assert (again.success, again.changed) == (True, False)
    on = await opened.configurator.enable(category, name)
    assert (on.success, on.enabled, on.changed) == (True, True, True)
    assert opened.parts(category) == before
    assert not (await opened.configurator.enable(category, name)).changed


async def test_a_context_file_that_is_off_is_not_in_the_next_request(opened: Opened) -> None:
    assert "first file" in await opened.prompt()
    await opened.configurator.disable("context", "one.md")
    prompt = await opened.prompt()
    assert "first file" not in prompt and "second file" in prompt
    await opened.configurator.enable("context", "one.md")
    assert "first file" in await opened.prompt()


async def test_a_module_can_add_a_context_file_while_the_session_runs(
    opened: Opened, tmp_path: Path
) -> None:
    overlay = RuntimeOverlay(added={"late.md": write(tmp_path / "late.md", "came late")})
    opened.session.coordinator.register_capability(RUNTIME_CONTEXT_OVERLAY_CAPABILITY, overlay)
    assert "came late" in await opened.prompt()
    await opened.configurator.disable("context", "late.md")
    assert "came late" not in await opened.prompt()


async def test_what_skills_are_off_is_told_to_the_module_that_offers_them(opened: Opened) -> None:
    await opened.configurator.disable("skill", "refactor")
    overlay = opened.session.coordinator.get_capability(RUNTIME_SKILL_OVERLAY_CAPABILITY)
    skills = {"refactor": Path("/a"), "review": Path("/b")}
    assert overlay.apply(skills) == {"review": Path("/b")}
    await opened.configurator.enable("skill", "refactor")
    assert overlay.apply(skills) == skills


async def test_what_cannot_be_done_is_said_and_changes_nothing(opened: Opened) -> None:
    unknown: Any = "wheel"
    wrong = [
        await opened.configurator.disable(unknown, "x"),
        await opened.configurator.disable("tool", "gone"),
        await opened.configurator.enable("agent", "gone"),
    ]
    assert [each.success for each in wrong] == [False] * 3
    assert "categories are: tool, provider" in wrong[0].error
    assert "no tool 'gone' (it has: base)" in wrong[1].error
    (first, *_) = opened.parts("provider") - {"spare"}
    await opened.configurator.disable("provider", "spare")
    last = await opened.configurator.disable("provider", first)
    assert last.enabled and "last provider" in last.error and opened.parts("provider") == {first}


async def test_a_part_tells_its_origins_and_the_includes_it_came_by(opened: Opened) -> None:
    inner = Bundle(name="inner", tools=[{"module": "tool-x"}])
    tag_container_provenance(inner, "inner:behaviors/x")
    tag_container_provenance(inner, "outer")
    bundle = inner.compose(Bundle(name="top", tools=[{"module": "tool-y"}]))
    configurator = SessionConfigurator(opened.session, bundle)
    assert [origin.bundle for origin in configurator.origins("tool", "x")] == ["inner"]
    assert configurator.include_chain("tool", "tool-x") == ("outer", "inner:behaviors/x")
    assert configurator.include_chain("tool", "tool-y") == ()
    assert configurator.origins("tool", "nothing") == []
