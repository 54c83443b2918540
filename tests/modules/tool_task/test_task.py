import asyncio
from types import SimpleNamespace
from typing import Any

import pytest

from amplifier_tui.kernel.coordinator import ModuleCoordinator
from amplifier_tui.kernel.loader import ModuleLoader
from amplifier_tui.kernel.models import ToolResult
from amplifier_tui.modules import tool_task
from amplifier_tui.modules.tool_task import new_session_id

AGENTS = {
    "explorer": {"description": "Looks\naround", "instruction": "secret"},
    "team:writer": {"description": "Writes"},
}


class Host:
    """A host that runs agents, as far as the tool can tell."""

    def __init__(self, agents: Any = AGENTS, depth: int = 0, parent: str = "s1") -> None:
        metadata = {"agent_depth": depth} if depth else {}
        config = {"session": {"metadata": metadata}, "agents": agents}
        session = SimpleNamespace(session_id=parent, parent_id=None, config=config)
        self.coordinator = ModuleCoordinator(session)
        self.coordinator.register_capability("session.spawn", self.spawn)
        self.coordinator.register_capability("session.resume", self.resume)
        self.calls: list[dict[str, Any]] = []
        self.answer: Any = {"output": "The answer.", "status": "success"}
        self.gate: asyncio.Event | None = None
        self.running = self.most = 0
        self.events: list[tuple[str, dict[str, Any]]] = []
        self.coordinator.hooks.observe(
            lambda trace: self.events.append((trace.event, dict(trace.data)))
        )

    async def spawn(self, **call: Any) -> Any:
        return await self._run(call, call["sub_session_id"])

    async def resume(self, **call: Any) -> Any:
        return await self._run(call, call["sub_session_id"])

    async def _run(self, call: dict[str, Any], session_id: str) -> Any:
        self.calls.append(call)
        self.running += 1
        self.most = max(self.most, self.running)
        try:
            if self.gate is not None:
                await self.gate.wait()
            if isinstance(self.answer, Exception):
                raise self.answer
            if isinstance(self.answer, dict):
                return {"session_id": session_id, **self.answer}
            return self.answer
        finally:
            self.running -= 1

    async def mount(self, **config: Any) -> "Host":
        await tool_task.mount(self.coordinator, config)
        return self

    @property
    def tool(self) -> Any:
        return self.coordinator.get("tools", "task")

    async def call(self, **arguments: Any) -> ToolResult:
        result: ToolResult = await self.tool.execute(arguments)
        return result

    async def ask(self, agent: str = "explorer", **more: Any) -> ToolResult:
        return await self.call(agent=agent, instruction="Find it.", **more)


async def test_it_is_found_by_its_id_and_offers_the_agents_of_the_plan():
    host = Host()
    mount = await ModuleLoader(host.coordinator).load("tool-task", {})
    await mount(host.coordinator)
    assert host.tool.input_schema["properties"]["agent"]["enum"] == ["explorer", "team:writer"]
    assert "- explorer: Looks around\n- team:writer: Writes" in host.tool.description
    assert "secret" not in host.tool.description


@pytest.mark.parametrize("agents", [None, {}, {"x": "text"}, ["x"]])
async def test_without_agents_there_is_nothing_to_offer(agents: Any):
    host = await Host(agents).mount()
    assert host.coordinator.get("tools") == {}
    assert list((await Host(agents).mount(allow_self=True)).coordinator.get("tools")) == ["task"]


async def test_an_agent_gets_the_task_and_its_answer_comes_back():
    host = await Host().mount()
    result = await host.ask()
    assert result.success
    (call,) = host.calls
    assert (call["agent_name"], call["instruction"]) == ("explorer", "Find it.")
    assert call["session_metadata"] == {"agent_depth": 1}
    child = call["sub_session_id"]
    assert child.endswith("_explorer")
    assert result.output == (f"The answer.\n[session_id {child}, to ask explorer something more]")
    assert [event for event, _ in host.events] == ["task:agent_spawned", "task:agent_completed"]
    facts = {"agent": "explorer", "sub_session_id": child, "parent_session_id": "s1"}
    for _, data in host.events:
        assert facts.items() <= data.items()
    assert host.events[1][1]["success"] is True


async def test_an_agent_can_be_asked_again():
    host = await Host().mount()
    result = await host.ask(session_id=" 0-1_explorer ")
    assert host.calls == [{"sub_session_id": "0-1_explorer", "instruction": "Find it."}]
    assert "to ask explorer something more" in str(result.output)
    assert host.events[0][0] == "task:agent_resumed"


async def test_the_name_without_its_namespace_is_enough_when_it_is_clear():
    host = await Host().mount()
    await host.ask("Writer")
    assert host.calls[0]["agent_name"] == "team:writer"
    twice = await Host({**AGENTS, "other:writer": {}}).mount()
    result = await twice.ask("writer")
    assert not result.success and "other:writer" in str(result.output)


@pytest.mark.parametrize(
    "arguments",
    [
        {"agent": "explorer"},
        {"agent": "explorer", "instruction": " "},
        {"agent": "explorer", "instruction": 3},
        {"agent": "nobody", "instruction": "x"},
        {"instruction": "x"},
        {"agent": "self", "instruction": "x"},
    ],
)
async def test_a_call_that_makes_no_sense_runs_nobody(arguments: dict[str, Any]):
    host = await Host().mount()
    result = await host.call(**arguments)
    assert not result.success and result.error is not None
    assert host.calls == [] and host.events == []


async def test_a_call_of_an_agent_that_is_left_out_says_why():
    host = await Host().mount()
    host.coordinator.register_capability("agents.left_out", {"team:gone": "It has no file"})
    for name in ("team:gone", "gone"):
        result = await host.ask(name)
        assert not result.success
        assert f"no agent '{name}'. It has no file. Known: explorer, " in str(result.output)
    assert host.calls == [] and host.events == []


async def test_where_no_agents_can_be_run_it_says_so():
    host = await Host().mount()
    host.coordinator.register_capability("session.spawn", None)
    host.coordinator.register_capability("session.resume", None)
    for more in ({}, {"session_id": "x"}):
        result = await host.ask(**more)
        assert not result.success and "host offers no session." in str(result.output)


async def test_calls_side_by_side_run_side_by_side_up_to_the_limit():
    host = await Host().mount(max_parallel=3)
    host.gate = asyncio.Event()
    tasks = [asyncio.create_task(host.ask()) for _ in range(5)]
    while host.running < 3:
        await asyncio.sleep(0)
    host.gate.set()
    results = await asyncio.gather(*tasks)
    assert all(result.success for result in results) and host.most == 3
    assert len({call["sub_session_id"] for call in host.calls}) == 5


async def test_an_agent_that_fails_is_an_answer_too():
    host = await Host().mount()
    host.answer = RuntimeError("no provider")
    result = await host.ask()
    assert not result.success and "RuntimeError: no provider" in str(result.output)
    assert host.events[-1][1]["success"] is False
    assert host.events[-1][1]["error"] == {"type": "RuntimeError", "msg": "no provider"}


async def test_cancelling_the_call_cancels_the_agent_and_frees_its_place():
    host = await Host().mount(max_parallel=1)
    host.gate = asyncio.Event()
    task = asyncio.create_task(host.ask())
    while not host.running:
        await asyncio.sleep(0)
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    assert host.running == 0
    host.gate.set()
    assert (await host.ask()).success


@pytest.mark.parametrize(
    ("answer", "success", "text"),
    [
        ({"output": "", "status": "success"}, True, "ended without an answer"),
        ({"output": "half", "status": "incomplete"}, True, "ended with status incomplete"),
        ({"output": "", "status": "cancelled"}, False, "the user stopped this agent"),
        ("plain text", True, "plain text"),
        (None, True, "ended without an answer"),
    ],
)
async def test_whatever_the_host_answers_is_told(answer: Any, success: bool, text: str):
    host = await Host().mount()
    host.answer = answer
    result = await host.ask()
    assert result.success is success and text in str(result.output)


async def test_a_very_long_answer_is_cut():
    host = await Host().mount(max_output_chars=100)
    host.answer = {"output": "x" * 1_000}
    text = str((await host.ask()).output)
    assert text.startswith("x" * 100 + "\n[… 900 more characters]")


async def test_agents_call_agents_only_so_deep():
    assert "task" in (await Host(depth=1).mount()).coordinator.get("tools")
    assert (await Host(depth=2).mount()).coordinator.get("tools") == {}
    deeper = await Host(depth=2).mount(max_depth=3)
    await deeper.ask()
    assert deeper.calls[0]["session_metadata"] == {"agent_depth": 3}


async def test_oneself_can_be_called_where_that_is_allowed():
    host = await Host().mount(allow_self=True)
    host.coordinator.register_capability("self_delegation_depth", 2)
    await host.ask("self")
    assert host.calls[0]["agent_name"] == "self"
    assert host.calls[0]["self_delegation_depth"] == 3


@pytest.mark.parametrize("config", [{"max_depth": 0}, {"max_parallel": "two"}, {"allow_self": 1}])
async def test_a_mistake_in_the_config_is_told(config: dict[str, Any]):
    with pytest.raises(ValueError, match="tool-task"):
        await Host().mount(**config)


def test_ids_show_their_ancestry():
    child = new_session_id("Team: Writer!", "0" * 32)
    assert child.startswith("0" * 16 + "-") and child.endswith("_team-writer")
    grandchild = new_session_id("x", child)
    assert grandchild.split("-")[0] == child.split("-")[1].split("_")[0]
    assert new_session_id("", "anything").endswith("_agent")
