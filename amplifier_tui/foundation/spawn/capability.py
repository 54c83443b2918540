"""The capabilities `session.spawn` and `session.resume`, which delegating tools call."""

import logging
from collections import OrderedDict
from collections.abc import Awaitable, Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import KW_ONLY, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol

from amplifier_tui.base.lazy.dataclass import dataclass
from amplifier_tui.base.plain import copy_plain
from amplifier_tui.base.python import awaited
from amplifier_tui.foundation.bundle.session import give_prompt
from amplifier_tui.foundation.spawn.child import (
    ChildRun,
    Stop,
    child_folder,
    generate_sub_session_id,
    with_orchestrator_config,
    with_preferences,
)
from amplifier_tui.foundation.spawn.inheritance import child_plan, follow_parent, module_lists
from amplifier_tui.foundation.spawn.preferences import ProviderPreference

if TYPE_CHECKING:
    from amplifier_tui.foundation.bundle.prepared import PreparedBundle
    from amplifier_tui.kernel.session import AmplifierSession

_log = logging.getLogger(__name__)


@dataclass(frozen=True)
class ChildRecord:
    """A child session that has run.

    `agent_name` is `self` for none, `plan` empty to have it made anew from the parent's, and
    `instruction` None for the bundle's own. `metadata` is what the caller put into
    `session.metadata`, `inherited` the parent's module lists when the plan was made.
    """

    session_id: str
    parent_id: str
    agent_name: str
    plan: dict[str, Any]
    instruction: str | None
    messages: list[dict[str, Any]]
    working_dir: str
    self_delegation_depth: int = 0
    metadata: dict[str, Any] = field(default_factory=dict)
    inherited: dict[str, Any] = field(default_factory=dict)


class RecordStore(Protocol):
    """Keeps child records, in memory or on disk."""

    async def save(self, record: ChildRecord) -> None:
        """Keep a record, replacing an earlier one of the same session."""

    async def load(self, session_id: str) -> ChildRecord | None:
        """Return a record, or None."""


@dataclass
class MemoryRecords:
    """Keeps the newest records, at most `limit`, for as long as the program runs."""

    limit: int = 64
    _records: "OrderedDict[str, ChildRecord]" = field(default_factory=OrderedDict)

    async def save(self, record: ChildRecord) -> None:
        """Keep a record; beyond the limit the oldest is forgotten."""
        self._records[record.session_id] = record
        self._records.move_to_end(record.session_id)
        while len(self._records) > self.limit:
            self._records.popitem(last=False)

    async def load(self, session_id: str) -> ChildRecord | None:
        """Return a record, or None."""
        return self._records.get(session_id)


_INHERITED = (
    "mention_resolver",
    "mention_deduplicator",
    "session.routing",
    # What an agent changes can be undone with the turn that called it.
    "checkpoint.store",
)


@dataclass(frozen=True, slots=True)
class ChildInfo:
    """What a child is about: the agent (`self` for the parent again) and what it is asked to do.

    `stop` ends the child alone, see `ChildRun.stop`.
    """

    session_id: str
    agent_name: str
    instruction: str
    is_resumed: bool = False
    stop: Stop = field(default=lambda *, immediate: None, compare=False, repr=False)


Prepare = Callable[["AmplifierSession", "AmplifierSession", ChildInfo], Awaitable[None] | None]
"""Gets a child before its modules are mounted, its parent, and what it is about."""


@dataclass(eq=False)
class SessionSpawner:
    """Runs agents as child sessions of sessions of one prepared bundle.

    `records` keep children for `resume` (default: in memory); `prepare` is called with every child.
    """

    prepared: "PreparedBundle"
    _: KW_ONLY
    records: RecordStore = field(default_factory=MemoryRecords)
    prepare: Prepare | None = None
    _at_work: set[str] = field(default_factory=set)

    def register(self, session: "AmplifierSession") -> None:
        """Offer `session.spawn` and `session.resume` to a session's modules.

        And `agents.left_out`: why an agent is none of the session's, by name.
        """

        async def resume(sub_session_id: str, instruction: str, **more: Any) -> dict[str, Any]:
            return await self.resume(sub_session_id, instruction, parent_session=session, **more)

        async def spawn(agent_name: str, instruction: str, **more: Any) -> dict[str, Any]:
            more["parent_session"] = more.get("parent_session") or session
            return await self.spawn(agent_name, instruction, **more)

        session.coordinator.register_capability("session.spawn", spawn)
        session.coordinator.register_capability("session.resume", resume)
        session.coordinator.register_capability("agents.left_out", self.prepared.agents_left_out)

    async def spawn(
        self,
        agent_name: str,
        instruction: str,
        parent_session: "AmplifierSession",
        agent_configs: Mapping[str, Any] | None = None,
        sub_session_id: str | None = None,
        tool_inheritance: Mapping[str, Any] | None = None,
        hook_inheritance: Mapping[str, Any] | None = None,
        orchestrator_config: dict[str, Any] | None = None,
        parent_messages: list[dict[str, Any]] | None = None,
        provider_preferences: Iterable[ProviderPreference | Mapping[str, Any]] | None = None,
        self_delegation_depth: int = 0,
        session_metadata: dict[str, Any] | None = None,
        use_subprocess: bool = False,
        **ignored: Any,
    ) -> dict[str, Any]:
        """Run an agent of the parent (or `self`, the parent again) in a child session.

        Args:
            agent_name: Its name.
            instruction: What it is to do.
            parent_session: The session that delegates.
            agent_configs: Agents by name, before those of the parent's plan.
            sub_session_id: Id of the child; default a new one.
            tool_inheritance: `exclude_tools` or `inherit_tools`, lists of module ids.
            hook_inheritance: `exclude_hooks` or `inherit_hooks`, lists of module ids.
            orchestrator_config: Merged over the orchestrator's configuration.
            parent_messages: Conversation the child starts with.
            provider_preferences: Most wanted first; default the agent's own, else those of its
                `model_role`.
            self_delegation_depth: How often an agent has delegated to itself by now.
            session_metadata: Goes into the child's `session.metadata`.
            use_subprocess: Has no effect: children run in this process.
            ignored: What later callers pass and this one does not know.

        Raises:
            ValueError: There is no such agent, or a child of that id is at work.
        """
        known = _known_agents(parent_session, agent_configs)
        agent = _agent(agent_name, known, self.prepared.agents_left_out)
        plan = child_plan(
            parent_session.config,
            agent,
            agents=known,
            tool_inheritance=tool_inheritance,
            hook_inheritance=hook_inheritance,
        )
        plan = _with_metadata(plan, session_metadata)
        plan = with_orchestrator_config(plan, orchestrator_config)
        wishes = provider_preferences or await _own_preferences(agent, parent_session)
        plan = await with_preferences(plan, _preferences(wishes), parent_session)
        own = parent_session.session_id
        record = ChildRecord(
            session_id=sub_session_id
            or generate_sub_session_id(agent_name, own, own.replace("-", "")),
            parent_id=own,
            agent_name=agent_name,
            plan=plan,
            instruction=_instruction(agent),
            messages=list(parent_messages or []),
            working_dir=str(child_folder(parent_session, self.prepared.bundle.base_path)),
            self_delegation_depth=self_delegation_depth,
            metadata=dict(session_metadata or {}),
            inherited=module_lists(parent_session.config),
        )
        with self._working(record.session_id):
            return await self._run(record, instruction, parent_session, is_resumed=False)

    async def resume(
        self,
        sub_session_id: str,
        instruction: str,
        parent_session: "AmplifierSession",
        **ignored: Any,
    ) -> dict[str, Any]:
        """Continue a child session; raises `ValueError` when none of that id is kept or may go on.

        It may not while it is at work: of two runs at once, one would lose what the other said.
        """
        with self._working(sub_session_id):
            record = await self.records.load(sub_session_id)
            if record is None:
                raise ValueError(f"No sub-session {sub_session_id!r} to resume")
            if not record.plan:
                record = await self._planned(record, parent_session)
            elif record.inherited:
                now = parent_session.config
                plan = follow_parent(record.plan, record.inherited, now)
                record = replace(record, plan=plan, inherited=module_lists(now))
            return await self._run(record, instruction, parent_session, is_resumed=True)

    @contextmanager
    def _working(self, session_id: str) -> Iterator[None]:
        if session_id in self._at_work:
            raise ValueError(
                f"Sub-session {session_id!r} is at work: wait for its answer, or begin another one"
            )
        self._at_work.add(session_id)
        try:
            yield
        finally:
            self._at_work.remove(session_id)

    async def _planned(self, record: ChildRecord, parent: "AmplifierSession") -> ChildRecord:
        """Return a record of an earlier run of the program with a plan as it would be now."""
        known = _known_agents(parent, None)
        agent = _agent(record.agent_name, known, self.prepared.agents_left_out)
        plan = _with_metadata(child_plan(parent.config, agent, agents=known), record.metadata)
        wishes = await _own_preferences(agent, parent)
        plan = await with_preferences(plan, _preferences(wishes), parent)
        folder = record.working_dir or str(child_folder(parent, self.prepared.bundle.base_path))
        return replace(
            record,
            plan=plan,
            instruction=_instruction(agent),
            working_dir=folder,
            inherited=module_lists(parent.config),
        )

    async def _run(
        self,
        record: ChildRecord,
        instruction: str,
        parent: "AmplifierSession",
        *,
        is_resumed: bool,
    ) -> dict[str, Any]:
        async def before_initialize(child: "AmplifierSession") -> None:
            self.register(child)
            if self.prepare is not None:
                await awaited(self.prepare(child, parent, info))

        async def prompt(child: "AmplifierSession") -> None:
            await self._give_prompt(child, parent, record)

        async def finished(child: "AmplifierSession") -> None:
            context = child.coordinator.get("context")
            messages = await awaited(context.get_messages()) if context is not None else []
            await self.records.save(replace(record, messages=copy_plain(list(messages))))

        run = ChildRun(
            resolver=self.prepared.resolver,
            package_paths=self.prepared.bundle_package_paths,
            plan=copy_plain(record.plan),
            working_dir=Path(record.working_dir),
            give_prompt=prompt,
            parent=parent,
            session_id=record.session_id,
            messages=record.messages,
            is_resumed=is_resumed,
            self_delegation_depth=record.self_delegation_depth,
            confined=True,
            before_initialize=before_initialize,
            finished=finished,
        )
        info = ChildInfo(
            record.session_id, record.agent_name, instruction, is_resumed, stop=run.stop
        )
        return await run.execute(instruction)

    async def _give_prompt(
        self, child: "AmplifierSession", parent: "AmplifierSession", record: ChildRecord
    ) -> None:
        bundle = self.prepared.bundle
        if record.instruction is not None:
            # An agent brings the context it needs; the bundle's own files are for the root.
            bundle = replace(bundle, context={}, _pending_context={})
        await give_prompt(
            child,
            bundle,
            Path(record.working_dir),
            instruction=record.instruction,
            source_id=None if record.instruction is None else f"bundle:{record.agent_name}",
        )
        for name in _INHERITED:
            value = parent.coordinator.get_capability(name)
            if value is not None:
                child.coordinator.register_capability(name, value)


def _with_metadata(plan: dict[str, Any], metadata: Mapping[str, Any] | None) -> dict[str, Any]:
    if not metadata:
        return plan
    session = dict(plan.get("session") or {})
    session["metadata"] = {**(session.get("metadata") or {}), **metadata}
    return {**plan, "session": session}


def _known_agents(
    parent: "AmplifierSession", agent_configs: Mapping[str, Any] | None
) -> dict[str, Any]:
    config = parent.coordinator.config
    live = config.get("agents") if isinstance(config, Mapping) else None
    merged = {**(live if isinstance(live, Mapping) else {}), **(agent_configs or {})}
    copied: dict[str, Any] = copy_plain(merged)
    return copied


def _agent(
    name: str, known: Mapping[str, Any], left_out: Mapping[str, str]
) -> dict[str, Any] | None:
    if name == "self":
        return None
    agent = known.get(name)
    if not isinstance(agent, dict):
        listed = ", ".join(sorted(known)) or "none"
        why = f": {left_out[name]}" if name in left_out else ""
        raise ValueError(f"There is no agent {name!r}{why} (known: {listed})")
    return agent


def _instruction(agent: Mapping[str, Any] | None) -> str | None:
    if agent is None:
        return None
    system = agent.get("system")
    text = agent.get("instruction") or (
        system.get("instruction") if isinstance(system, Mapping) else None
    )
    return str(text) if text else None


async def _own_preferences(
    agent: Mapping[str, Any] | None, parent: "AmplifierSession"
) -> Iterable[ProviderPreference | Mapping[str, Any]]:
    """Return what an agent wishes: its preferences, else those its role stands for.

    Capability `model_role_resolver` of a routing module gets the role, or the list of roles, and
    returns preferences; it may be async.
    """
    given = (agent or {}).get("provider_preferences")
    # What else stands there is told by `bundle validate`, and is no reason to do without the agent.
    wishes = (
        [each for each in given if isinstance(each, Mapping)] if isinstance(given, list) else []
    )
    role = (agent or {}).get("model_role")
    resolve = parent.coordinator.get_capability("model_role_resolver")
    if wishes or not role or not callable(resolve):
        return wishes
    try:
        return await awaited(resolve(role)) or ()
    except Exception as error:  # a module's code; the agent runs with the session's model then
        _log.warning("No model for the role %s of an agent: %s", role, error)
        return ()


def _preferences(
    wishes: Iterable[ProviderPreference | Mapping[str, Any]],
) -> list[ProviderPreference]:
    return [
        wish if isinstance(wish, ProviderPreference) else ProviderPreference.from_dict(wish)
        for wish in wishes
    ]
