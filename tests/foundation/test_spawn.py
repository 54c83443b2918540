import asyncio
from pathlib import Path
from typing import Any

import pytest

from amplifier_tui import kernel
from amplifier_tui.foundation.bundle.bundle import Bundle
from amplifier_tui.foundation.spawn.preferences import ProviderPreference
from tests.foundation.helpers import write
from tests.foundation.stacks import entry, loop_started, prepared, stack


async def test_a_child_answers_and_says_how_it_ended() -> None:
    ready = await prepared(stack())
    result = await ready.spawn(Bundle(name="child"), "do it")
    assert result["output"] == "echo: do it"
    assert (result["status"], result["turn_count"]) == ("success", 2)
    assert result["metadata"] == {"tools": []}
    assert result["session_id"]


async def test_a_child_is_laid_over_the_bundle_or_stands_alone() -> None:
    ready = await prepared(stack(tools=[entry("tool", config={"name": "base"})]))
    child = Bundle(name="child", tools=[entry("tool", id="more", config={"name": "extra"})])
    result = await ready.spawn(child, "x")
    assert result["metadata"] == {"tools": ["base", "extra"]}
    alone = stack(tools=[entry("tool", config={"name": "only"})])
    result = await ready.spawn(alone, "x", compose=False)
    assert result["metadata"] == {"tools": ["only"]}
    assert [tool["config"]["name"] for tool in ready.bundle.tools] == ["base"]


async def test_the_orchestrators_configuration_reaches_it_in_both_forms() -> None:
    ready = await prepared(stack())
    seen: list[dict[str, Any]] = []
    result = await ready.spawn(
        Bundle(name=""),
        "x",
        orchestrator_config={"prefix": "configured"},
        before_initialize=lambda session: seen.append(session.config),
    )
    assert result["output"] == "configured: x"
    assert seen[0]["orchestrator"]["config"] == {"prefix": "configured"}
    assert seen[0]["session"]["orchestrator"]["config"] == {"prefix": "configured"}
    assert "orchestrator" not in ready.mount_plan


async def test_a_child_has_its_parents_systems_folder_and_id(tmp_path: Path) -> None:
    ready = await prepared(stack(tmp_path))
    approval, display = object(), object()
    children: list[kernel.AmplifierSession] = []
    folder = tmp_path / "cwd"
    async with ready.create_session(
        "parent", approval_system=approval, display_system=display, session_cwd=folder
    ) as parent:
        result = await ready.spawn(
            Bundle(name=""),
            "x",
            parent_session=parent,
            session_id="child",
            self_delegation_depth=2,
            before_initialize=children.append,
        )
        (child,) = children
        assert (
            (child.session_id, child.parent_id)
            == ("child", "parent")
            == (
                result["session_id"],
                child.parent_id,
            )
        )
        assert child.coordinator.approval_system is approval
        assert child.coordinator.display_system is display
        assert child.coordinator.get_capability("session.working_dir") == str(folder)
        assert child.coordinator.get_capability("self_delegation_depth") == 2
        await ready.spawn(
            Bundle(name=""),
            "x",
            parent_session=parent,
            session_cwd=tmp_path / "own",
            before_initialize=children.append,
        )
        second = children[1].coordinator
        assert second.get_capability("session.working_dir") == str(tmp_path / "own")
        assert second.get_capability("self_delegation_depth") is None


async def test_the_parents_conversation_is_taken_along_unless_the_child_is_continued() -> None:
    ready = await prepared(stack())
    children: list[kernel.AmplifierSession] = []
    messages = [{"role": "user", "content": "before"}]
    for session_id, expected in ((None, ["before", "x", "echo: x"]), ("c", ["x", "echo: x"])):
        await ready.spawn(
            Bundle(name=""),
            "x",
            session_id=session_id,
            parent_messages=messages,
            before_initialize=children.append,
        )
        kept = await children[-1].coordinator.get("context").get_messages()
        assert [message["content"] for message in kept] == expected
    assert messages == [{"role": "user", "content": "before"}]


async def test_a_child_has_the_instruction_of_its_bundle_and_expands_mentions(
    tmp_path: Path,
) -> None:
    write(tmp_path / "note.md", "a note")
    source = stack(tmp_path)
    source.instruction = "parent text"
    ready = await prepared(source)
    children: list[kernel.AmplifierSession] = []
    child = Bundle(name="child", instruction="child text")
    result = await ready.spawn(child, "read @note.md", before_initialize=children.append)
    assert "a note" in result["output"] and result["output"].endswith("read @note.md")
    assert await children[0].coordinator.get("context").factory() == "child text"


async def test_what_a_child_cost_is_counted_by_its_parent() -> None:
    ready = await prepared(stack())
    async with ready.create_session() as parent:
        await ready.spawn(Bundle(name=""), "x", parent_session=parent, session_id="c1")
        costs = await parent.coordinator.collect_contributions("session.cost")
        assert costs == [{"cost_usd": "0.25"}, {"cost_usd": "0.25"}]
        names = [entry["name"] for entry in parent.coordinator.channels["session.cost"]]
        assert names[-1] == "delegate:c1"


async def test_a_failing_child_raises_its_error_and_is_cleaned_up() -> None:
    ready = await prepared(stack())
    children: list[kernel.AmplifierSession] = []
    async with ready.create_session() as parent:
        with pytest.raises(RuntimeError, match="the loop failed"):
            await ready.spawn(
                Bundle(name=""), "fail", parent_session=parent, before_initialize=children.append
            )
        assert not children[0].initialized
        costs = await parent.coordinator.collect_contributions("session.cost")
        assert len(costs) == 2


async def test_a_cancelled_child_is_cleaned_up() -> None:
    ready = await prepared(stack())
    children: list[kernel.AmplifierSession] = []
    await ready.spawn(Bundle(name=""), "x")
    with loop_started() as started:
        task = asyncio.create_task(
            ready.spawn(Bundle(name=""), "wait", before_initialize=children.append)
        )
        await started.wait()
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task
    assert not children[0].initialized


async def test_stopping_a_parent_stops_its_running_children() -> None:
    ready = await prepared(stack())
    seen: list[bool] = []
    async with ready.create_session() as parent:

        def stop(child: kernel.AmplifierSession) -> None:
            parent.coordinator.cancellation.request_graceful()
            seen.append(child.coordinator.cancellation.is_cancelled)

        await ready.spawn(Bundle(name=""), "x", parent_session=parent, before_initialize=stop)
    assert seen == [True]


async def test_preferences_choose_provider_and_model_with_patterns() -> None:
    ready = await prepared(stack())
    configs: list[dict[str, Any]] = []
    wishes = [
        ProviderPreference("nobody", "x"),
        ProviderPreference("fx-provider", "gpt-*"),
        ProviderPreference("fx-provider", "FX-small-*"),
    ]

    def note(child: kernel.AmplifierSession) -> None:
        configs.append(child.config["providers"][0]["config"])

    async with ready.create_session() as parent:
        await ready.spawn(
            Bundle(name=""),
            "x",
            parent_session=parent,
            provider_preferences=wishes,
            before_initialize=note,
        )
    await ready.spawn(
        Bundle(name=""),
        "x",
        provider_preferences=[ProviderPreference("fx-provider", "exact")],
        before_initialize=note,
    )
    assert configs == [
        {"priority": 0, "default_model": "fx-small-2"},
        {"priority": 0, "default_model": "exact"},
    ]
    assert "config" not in ready.mount_plan["providers"][0]
