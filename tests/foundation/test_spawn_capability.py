import asyncio
import re
from pathlib import Path
from typing import Any

import pytest

from amplifier_tui import kernel
from amplifier_tui.foundation.bundle.bundle import Bundle
from amplifier_tui.foundation.report import ReportItem
from amplifier_tui.foundation.spawn.capability import (
    ChildInfo,
    ChildRecord,
    MemoryRecords,
    SessionSpawner,
)
from tests.foundation.helpers import write
from tests.foundation.stacks import entry, loop_started, prepared, stack


def roster() -> dict[str, Any]:
    return {
        "helper": {
            "description": "helps",
            "instruction": "You help. @note.md",
            "tools": [entry("tool", id="own", config={"name": "own"})],
        },
        "loner": {"system": {"instruction": "Alone."}, "agents": "none"},
        "chief": {"agents": ["helper"]},
        "thinker": {"model_role": ["reasoning", "general"]},
        "frugal": {"provider_preferences": [{"provider": "fx-provider", "model": "fx-small-1"}]},
    }


def bundle(base: Path | None = None, **more: Any) -> Bundle:
    tools = [entry("tool", config={"name": "base"})]
    return stack(base, **{"tools": tools, "agents": roster(), **more})


class Children:
    def __init__(self) -> None:
        self.sessions: list[kernel.AmplifierSession] = []
        self.infos: list[ChildInfo] = []

    def __call__(
        self, child: kernel.AmplifierSession, parent: kernel.AmplifierSession, info: ChildInfo
    ) -> None:
        assert child.parent_id == parent.session_id and not child.initialized
        self.sessions.append(child)
        self.infos.append(info)

    @property
    def config(self) -> dict[str, Any]:
        return self.sessions[-1].config


async def test_an_agent_runs_as_a_child_with_its_own_tools_and_instruction(tmp_path: Path) -> None:
    write(tmp_path / "note.md", "noted")
    source = bundle(tmp_path, context={"include": ["note.md"]})
    source.instruction = "root text"
    ready, children = await prepared(source), Children()
    async with ready.create_session() as session:
        SessionSpawner(ready, prepare=children).register(session)
        spawn = session.coordinator.get_capability("session.spawn")
        result = await spawn(
            agent_name="helper",
            instruction="go",
            parent_session=session,
            agent_configs=session.config["agents"],
            something_new=True,
        )
        assert (result["output"], result["status"]) == ("echo: go", "success")
        assert result["metadata"] == {"tools": ["base", "own"]}
        factory = children.sessions[0].coordinator.get("context").factory
        sources = [source_id for source_id, _ in await factory.parts()]
        assert sources == ["bundle:helper", "file:@note.md"]
        assert children.infos == [ChildInfo(result["session_id"], "helper", "go")]


async def test_the_id_of_a_child_tells_its_parent(tmp_path: Path) -> None:
    ready, children = await prepared(bundle()), Children()
    spawner = SessionSpawner(ready, prepare=children)
    async with ready.create_session("0123456789abcdef0123456789abcdef") as session:
        spawner.register(session)
        first = (await spawner.spawn("helper", "x", session))["session_id"]
        assert re.fullmatch(r"89abcdef01234567-[0-9a-f]{16}_helper", first)
        given = await spawner.spawn("helper", "x", session, sub_session_id="mine")
        assert given["session_id"] == "mine"


async def test_self_is_the_parent_again(tmp_path: Path) -> None:
    source = bundle()
    source.instruction = "root text"
    ready, children = await prepared(source), Children()
    async with ready.create_session() as session:
        spawner = SessionSpawner(ready, prepare=children)
        result = await spawner.spawn("self", "x", session, self_delegation_depth=1)
    child = children.sessions[0].coordinator
    assert result["metadata"] == {"tools": ["base"]}
    assert await child.get("context").factory() == "root text"
    assert child.get_capability("self_delegation_depth") == 1


async def test_an_unknown_agent_is_refused_with_those_that_are_known() -> None:
    ready = await prepared(bundle())
    async with ready.create_session() as session:
        with pytest.raises(ValueError, match=r"no agent 'nobody' \(known: chief, frugal, helper"):
            await SessionSpawner(ready).spawn("nobody", "x", session)


async def test_an_agent_that_is_left_out_is_refused_with_the_reason() -> None:
    ready = await prepared(bundle())
    ready.notes.append(
        ReportItem(what="gone", kind="failed", part="agent", why="no file", where="a.md:3")
    )
    async with ready.create_session() as session:
        SessionSpawner(ready).register(session)
        why = {"gone": "no file (a.md:3)"}
        assert session.coordinator.get_capability("agents.left_out") == why
        with pytest.raises(ValueError, match=r"no agent 'gone': no file \(a.md:3\) \(known: ch"):
            await SessionSpawner(ready).spawn("gone", "x", session)


async def test_children_can_delegate_as_far_as_their_agent_allows() -> None:
    ready, children = await prepared(bundle()), Children()
    async with ready.create_session() as session:
        spawner = SessionSpawner(ready, prepare=children)
        seen: dict[str, list[str]] = {}
        for name in ("helper", "chief", "loner"):
            await spawner.spawn(name, "x", session)
            seen[name] = sorted(children.config.get("agents", {}))
            for capability in ("session.spawn", "session.resume"):
                assert children.sessions[-1].coordinator.get_capability(capability)
    assert seen == {
        "helper": ["chief", "frugal", "helper", "loner", "thinker"],
        "chief": ["helper"],
        "loner": [],
    }


async def test_an_agent_that_came_while_the_session_runs_is_known() -> None:
    ready = await prepared(bundle())
    async with ready.create_session() as session:
        session.coordinator.config["agents"]["late"] = {"instruction": "late"}
        result = await SessionSpawner(ready).spawn("late", "x", session)
        assert result["output"] == "echo: x"
        more = await SessionSpawner(ready).spawn(
            "given", "y", session, agent_configs={"given": {"instruction": "given"}}
        )
        assert more["output"] == "echo: y"


async def test_tools_and_hooks_are_inherited_as_the_call_says() -> None:
    extra = [entry("tool", config={"name": "base"}), entry("tool", id="b", config={"name": "b"})]
    hooks = [entry("hook", config={"events": ["x"]}), entry("hook", id="h2")]
    ready, children = await prepared(bundle(tools=extra, hooks=hooks)), Children()
    async with ready.create_session() as session:
        spawner = SessionSpawner(ready, prepare=children)
        results = [
            await spawner.spawn("helper", "x", session, tool_inheritance=rule)
            for rule in (
                {"exclude_tools": ["b"]},
                {"inherit_tools": ["b"]},
                {"inherit_tools": []},
            )
        ]
        await spawner.spawn("helper", "x", session, hook_inheritance={"exclude_hooks": ["h2"]})
    names = [result["metadata"]["tools"] for result in results]
    assert names == [["base", "own"], ["b", "own"], ["own"]]
    assert [hook.get("id") for hook in children.config["hooks"]] == [None]


async def test_metadata_and_configuration_of_the_call_reach_the_child() -> None:
    ready, children = await prepared(bundle()), Children()
    async with ready.create_session() as session:
        result = await SessionSpawner(ready, prepare=children).spawn(
            "helper",
            "x",
            session,
            session_metadata={"task": 1},
            orchestrator_config={"prefix": "set"},
            provider_preferences=[{"provider": "fx-provider", "model": "fx-large-*"}],
        )
    assert result["output"] == "set: x"
    assert children.config["session"]["metadata"] == {"task": 1}
    assert children.config["providers"][0]["config"]["default_model"] == "fx-large-1"


async def test_an_agents_own_preferences_count_when_the_call_has_none() -> None:
    ready, children = await prepared(bundle()), Children()
    async with ready.create_session() as session:
        await SessionSpawner(ready, prepare=children).spawn("frugal", "x", session)
    assert children.config["providers"][0]["config"]["default_model"] == "fx-small-1"


async def test_an_agents_role_becomes_the_provider_and_model_a_routing_module_says() -> None:
    ready, children, asked = await prepared(bundle()), Children(), []

    async def resolve(role: Any) -> list[dict[str, str]]:
        asked.append(role)
        return [{"provider": "fx-provider", "model": "fx-large-*"}]

    async with ready.create_session() as session:
        session.coordinator.register_capability("model_role_resolver", resolve)
        spawner = SessionSpawner(ready, prepare=children)
        await spawner.spawn("thinker", "x", session)
        assert children.config["providers"][0]["config"]["default_model"] == "fx-large-1"
        await spawner.spawn("frugal", "x", session)
        assert children.config["providers"][0]["config"]["default_model"] == "fx-small-1"
        await spawner.records.save(ChildRecord("late", "p", "thinker", {}, None, [], ""))
        await spawner.resume("late", "x", session)
        assert children.config["providers"][0]["config"]["default_model"] == "fx-large-1"
    assert asked == [["reasoning", "general"]] * 2


async def test_a_role_nobody_can_resolve_leaves_the_sessions_model(
    caplog: pytest.LogCaptureFixture,
) -> None:
    ready, children = await prepared(bundle()), Children()

    def fail(role: Any) -> None:
        raise KeyError("no such role")

    async with ready.create_session() as session:
        spawner = SessionSpawner(ready, prepare=children)
        await spawner.spawn("thinker", "x", session)
        session.coordinator.register_capability("model_role_resolver", fail)
        await spawner.spawn("thinker", "x", session)
    assert "default_model" not in (children.config["providers"][0].get("config") or {})
    assert "no such role" in caplog.text


async def test_the_parents_plan_is_not_changed() -> None:
    import copy

    ready = await prepared(bundle())
    async with ready.create_session() as session:
        before = copy.deepcopy(session.config)
        await SessionSpawner(ready).spawn("helper", "x", session, session_metadata={"a": 1})
        assert session.config == before


async def test_a_child_can_be_continued(tmp_path: Path) -> None:
    ready, children = await prepared(bundle(tmp_path)), Children()
    async with ready.create_session(session_cwd=tmp_path / "cwd") as session:
        spawner = SessionSpawner(ready, prepare=children)
        spawner.register(session)
        first = await spawner.spawn("helper", "one", session)
        resume = session.coordinator.get_capability("session.resume")
        second = await resume(first["session_id"], "two", unknown_option=1)
        assert second["output"] == "echo: two"
        assert second["session_id"] == first["session_id"]
        child = children.sessions[-1]
        kept = await child.coordinator.get("context").get_messages()
        assert [message["content"] for message in kept] == [
            "one",
            "echo: one",
            "two",
            "echo: two",
        ]
        assert child.is_resumed and children.infos[-1].is_resumed
        assert child.coordinator.get_capability("session.working_dir") == str(tmp_path / "cwd")
        with pytest.raises(ValueError, match="No sub-session 'gone'"):
            await resume("gone", "x")
        session.config["tools"] = []
        third = await resume(first["session_id"], "three")
        assert third["metadata"] == {"tools": ["own"]}, "what it inherited is gone"


async def test_a_child_does_one_thing_at_a_time() -> None:
    ready, records = await prepared(bundle()), MemoryRecords()
    async with ready.create_session() as session:
        spawner = SessionSpawner(ready, records=records)
        await spawner.spawn("helper", "one", session, sub_session_id="w")
        with loop_started() as started:
            task = asyncio.create_task(spawner.resume("w", "wait now", session))
            await started.wait()
            with pytest.raises(ValueError, match="'w' is at work"):
                await spawner.resume("w", "two", session)
            with pytest.raises(ValueError, match="'w' is at work"):
                await spawner.spawn("helper", "two", session, sub_session_id="w")
            task.cancel()
            with pytest.raises(asyncio.CancelledError):
                await task
        assert (await spawner.resume("w", "three", session))["output"] == "echo: three"
        record = await records.load("w")
    assert record is not None
    said = [message["content"] for message in record.messages if message["role"] == "user"]
    assert said == ["one", "wait now", "three"]


async def test_a_child_that_failed_or_was_cancelled_can_be_continued() -> None:
    ready, records = await prepared(bundle()), MemoryRecords()
    async with ready.create_session() as session:
        spawner = SessionSpawner(ready, records=records)
        with pytest.raises(RuntimeError, match="failed"):
            await spawner.spawn("helper", "fail now", session, sub_session_id="f")
        with loop_started() as started:
            task = asyncio.create_task(
                spawner.spawn("helper", "wait now", session, sub_session_id="w")
            )
            await started.wait()
            task.cancel()
            with pytest.raises(asyncio.CancelledError):
                await task
        for name, text in (("f", "fail now"), ("w", "wait now")):
            record = await records.load(name)
            assert record is not None and record.messages[0]["content"] == text
        assert (await spawner.resume("f", "again", session))["output"] == "echo: again"


async def test_what_modules_share_is_passed_on_to_children(tmp_path: Path) -> None:
    source = bundle(tmp_path)
    source.instruction = "root"
    ready, children = await prepared(source), Children()
    async with ready.create_session() as session:
        session.coordinator.register_capability("session.routing", "r")
        await SessionSpawner(ready, prepare=children).spawn("helper", "x", session)
        child, parent = children.sessions[0].coordinator, session.coordinator
        for name in ("session.routing", "mention_resolver", "mention_deduplicator"):
            assert child.get_capability(name) is parent.get_capability(name)
        assert child.get("module-source-resolver") is parent.get("module-source-resolver")


async def test_only_the_newest_records_are_kept() -> None:
    from amplifier_tui.foundation.spawn.capability import ChildRecord

    records = MemoryRecords(limit=2)
    for name in ("a", "b", "a", "c"):
        await records.save(ChildRecord(name, "p", "self", {}, None, [], "/"))
    assert [await records.load(name) is not None for name in "abc"] == [True, False, True]
