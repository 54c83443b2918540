"""tool-task: hands a task to an agent, a session of its own with a fresh context.

The agents are those of the mount plan. They run through the capability ``session.spawn``, and are
asked again through ``session.resume``; where no host offers these, the tool says so. Why an agent
is left out is in the capability ``agents.left_out``. Calls side by side run side by side.

Config:
    max_depth: How deep agents may call agents. Default 2: an agent's agents call no others.
    max_parallel: Agents at the same time. Default 4.
    max_output_chars: Characters of an answer the model gets. Default 40000.
    allow_self: Whether ``self``, the session's own configuration again, is offered. Default false.

Events: ``task:agent_spawned``, ``task:agent_resumed`` and ``task:agent_completed`` with ``agent``,
``instruction``, ``sub_session_id``, ``parent_session_id``, ``tool_call_id``; the last one with
``success`` and ``result`` or ``error``.
"""

import asyncio
import logging
import re
import secrets
from collections.abc import Awaitable, Callable, Mapping
from functools import partial
from typing import Any, ClassVar, Final

from pydantic import Field

from amplifier_tui.base.config import ModuleSettings
from amplifier_tui.base.messages.sub_sessions import resume_note
from amplifier_tui.base.text import shortened
from amplifier_tui.kernel.coordinator import ModuleCoordinator
from amplifier_tui.kernel.correlation import current_tool_call_id
from amplifier_tui.kernel.models import ToolResult
from amplifier_tui.modules._shared.tool import ModuleTool, ToolProblem, argument

__amplifier_module_type__ = "tool"
__amplifier_mounts_only_with__ = "agents"

SELF: Final = "self"
DEPTH: Final = "agent_depth"
"""Name of the entry in ``session.metadata`` that says how deep a session is."""

_SPANS: Final = re.compile(r"^[0-9a-f]{16}-([0-9a-f]{16})_")
_LONGEST: Final = 300


SPAWNED: Final = "task:agent_spawned"
RESUMED: Final = "task:agent_resumed"
COMPLETED: Final = "task:agent_completed"
EVENTS: Final = (SPAWNED, RESUMED, COMPLETED)


logger = logging.getLogger(__name__)


class TaskSettings(ModuleSettings):
    """The module's configuration; see the package's docstring."""

    module: ClassVar[str] = "tool-task"

    max_depth: int = Field(2, ge=1)
    max_parallel: int = Field(4, ge=1)
    max_output_chars: int = Field(40_000, ge=1)
    allow_self: bool = False


class TaskTool(ModuleTool):
    """Calls agents."""

    name = "task"
    required = ("agent", "instruction")

    def __init__(self, coordinator: Any, settings: TaskSettings) -> None:
        self.settings = settings
        self._coordinator = coordinator
        self._slots = asyncio.Semaphore(settings.max_parallel)

    @property
    def agents(self) -> dict[str, str]:
        """The agents that can be called: name to description."""
        return known_agents(self._coordinator, allow_self=self.settings.allow_self)

    @property
    def description(self) -> str:
        """What it does, for the model."""
        listed = "\n".join(f"- {name}: {text}" for name, text in self.agents.items())
        return (
            "Hand a task to an agent. It works in the same folder with tools and a context of its "
            "own: it knows nothing of this conversation, so say in `instruction` what to do, what "
            "it must know, and what to answer. You get its final answer only. Call several at "
            f"once when their tasks don't depend on each other.\n{listed}"
        )

    @property
    def parameters(self) -> dict[str, Any]:
        """JSON schema of each argument."""
        more = "An agent's session of before, to ask it something more."
        return {
            "agent": {"type": "string", "enum": list(self.agents)},
            "instruction": argument("string", "The whole task."),
            "session_id": argument("string", more),
        }

    async def run(self, given: Mapping[str, Any]) -> ToolResult:
        """Run an agent."""
        instruction = given.get("instruction")
        if not isinstance(instruction, str) or not instruction.strip():
            raise ToolProblem("`instruction` is missing: say what the agent is to do.", "invalid")
        session_id = given.get("session_id")
        if isinstance(session_id, str) and session_id.strip():
            return await self._resume(session_id.strip(), instruction)
        known = self.agents
        agent = match_agent(str(given.get("agent") or ""), known)
        if agent is None:
            said = f"There is no agent {given.get('agent')!r}."
            left_out = self._coordinator.get_capability("agents.left_out") or {}
            if why := left_out.get(match_agent(str(given.get("agent") or ""), left_out)):
                said += f" {why}."
            raise ToolProblem(f"{said} Known: {', '.join(known)}.", "unknown")
        return await self._spawn(agent, instruction)

    async def _spawn(self, agent: str, instruction: str) -> ToolResult:
        spawn = self._capability("session.spawn")
        child = new_session_id(agent, str(self._coordinator.session_id or ""))
        more: dict[str, Any] = {}
        if agent == SELF:
            before = self._coordinator.get_capability("self_delegation_depth")
            more["self_delegation_depth"] = (before if isinstance(before, int) else 0) + 1
        call = partial(
            spawn,
            agent_name=agent,
            instruction=instruction,
            sub_session_id=child,
            session_metadata={DEPTH: depth_of(self._coordinator) + 1},
            **more,
        )
        return await self._run(SPAWNED, call, self._facts(agent, instruction, child))

    async def _resume(self, session_id: str, instruction: str) -> ToolResult:
        resume = self._capability("session.resume")
        call = partial(resume, sub_session_id=session_id, instruction=instruction)
        agent = session_id.partition("_")[2] or session_id
        return await self._run(RESUMED, call, self._facts(agent, instruction, session_id))

    def _capability(self, name: str) -> Callable[..., Awaitable[Any]]:
        found = self._coordinator.get_capability(name)
        if not callable(found):
            said = f"No agents can be run here: the host offers no {name}."
            raise ToolProblem(said, "no_host")
        offered: Callable[..., Awaitable[Any]] = found
        return offered

    def _facts(self, agent: str, instruction: str, child: str) -> dict[str, Any]:
        return {
            "agent": agent,
            "instruction": instruction,
            "sub_session_id": child,
            "parent_session_id": self._coordinator.session_id,
            "tool_call_id": current_tool_call_id(),
        }

    async def _run(
        self, event: str, call: Callable[[], Awaitable[Any]], facts: Mapping[str, Any]
    ) -> ToolResult:
        emit = self._coordinator.hooks.emit
        async with self._slots:
            await emit(event, dict(facts))
            try:
                answer = await call()
            except Exception as error:
                logger.warning("Agent %s failed", facts["agent"], exc_info=error)
                kind = type(error).__name__
                end = {"success": False, "error": {"type": kind, "msg": str(error)}}
                await emit(COMPLETED, {**facts, **end})
                said = f"The agent {facts['agent']} failed: {kind}: {error}"
                raise ToolProblem(said, "agent_failed") from error
            result = self._result(answer, facts)
            await emit(
                COMPLETED, {**facts, "success": result.success, "result": str(result.output)}
            )
        return result

    def _result(self, answer: Any, facts: Mapping[str, Any]) -> ToolResult:
        data = answer if isinstance(answer, Mapping) else {"output": answer}
        text = str(data.get("output") or "").strip()
        session_id = str(data.get("session_id") or facts["sub_session_id"])
        status = str(data.get("status") or "success")
        most = self.settings.max_output_chars
        if len(text) > most:
            text = f"{text[:most]}\n[… {len(text) - most} more characters]"
        notes: list[str] = []
        if status == "cancelled":
            notes.append("the user stopped this agent before it was done")
        elif status not in ("success", "completed"):
            notes.append(f"the agent ended with status {status}")
        if not text:
            notes.append("the agent ended without an answer")
        again = resume_note(session_id, facts["agent"])
        lines = [text, *(f"[{note}]" for note in notes), again]
        output = "\n".join(line for line in lines if line)
        if text or status in ("success", "completed"):
            return ToolResult(output=output)
        return ToolResult(success=False, output=output, error={"type": status, "message": notes[0]})


def known_agents(coordinator: Any, *, allow_self: bool) -> dict[str, str]:
    """Return the agents of a session's plan: name to description."""
    config = coordinator.config
    listed = config.get("agents") if isinstance(config, Mapping) else None
    found: dict[str, str] = {}
    for name, definition in (listed if isinstance(listed, Mapping) else {}).items():
        if isinstance(definition, Mapping):
            text = " ".join(str(definition.get("description") or "").split())
            found[str(name)] = shortened(text, _LONGEST)
    if allow_self:
        found.setdefault(SELF, "You again, with the same tools and a fresh context.")
    return found


def match_agent(wanted: str, known: Mapping[str, Any]) -> str | None:
    """Return the agent a name means; the part after ``namespace:`` is enough when it is clear."""
    if wanted in known:
        return wanted
    fitting = [name for name in known if name.rpartition(":")[2].lower() == wanted.lower()]
    return fitting[0] if len(fitting) == 1 else None


def depth_of(coordinator: Any) -> int:
    """Return how many agents deep a session is; 0 for the user's own."""
    config = coordinator.config
    session = config.get("session") if isinstance(config, Mapping) else None
    metadata = session.get("metadata") if isinstance(session, Mapping) else None
    depth = metadata.get(DEPTH) if isinstance(metadata, Mapping) else None
    return depth if isinstance(depth, int) and depth > 0 else 0


def new_session_id(agent: str, parent: str) -> str:
    """Return an id ``<parent's span>-<own span>_<agent>``, as the ecosystem names such sessions."""
    found = _SPANS.match(parent)
    plain = re.sub(r"[^0-9a-f]", "", parent.lower())
    span = found[1] if found else plain[8:24] if len(plain) == 32 else "0" * 16
    name = re.sub(r"[^a-z0-9]+", "-", agent.lower()).strip("-") or "agent"
    return f"{span}-{secrets.token_hex(8)}_{name}"


async def mount(coordinator: ModuleCoordinator, config: Mapping[str, Any] | None = None) -> None:
    """Mount the tool as ``task``; nothing is mounted where there is no agent to call."""
    tool = TaskTool(coordinator, TaskSettings.read(config))
    if not tool.agents or depth_of(coordinator) >= tool.settings.max_depth:
        return
    await coordinator.mount("tools", tool, name=tool.name)
    coordinator.register_contributor("observability.events", "tool-task", lambda: list(EVENTS))
