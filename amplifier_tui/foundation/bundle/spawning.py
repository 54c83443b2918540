"""Running an instruction in a child session (foundation reference e.4)."""

import contextlib
import logging
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

from amplifier_tui.foundation.bundle.model import Bundle
from amplifier_tui.foundation.bundle.opening import maybe_await
from amplifier_tui.foundation.bundle.session import (
    equip,
    give_prompt,
    register_hook_metadata,
)
from amplifier_tui.foundation.costs import bridge_child_cost
from amplifier_tui.foundation.dicts.merge import copy_plain, deep_merge
from amplifier_tui.foundation.mentions.context_block import expand_mentions_in_instruction
from amplifier_tui.foundation.session_events import inject_additional_events
from amplifier_tui.foundation.spawn_utils import (
    ProviderPreference,
    apply_provider_preferences,
    apply_provider_preferences_with_resolution,
)
from amplifier_tui.foundation.working_dir import get_working_dir

if TYPE_CHECKING:
    from amplifier_tui.foundation.bundle.prepared import BeforeInitialize, PreparedBundle
    from amplifier_tui.kernel import AmplifierSession

_log = logging.getLogger(__name__)

Step = Callable[["AmplifierSession"], Awaitable[None]]


@dataclass
class ChildRun:
    """One run of a child session.

    Attributes:
        prepared: Has the resolver and package paths.
        plan: The child's own mount plan.
        working_dir: The child's folder.
        give_prompt: Gives the initialized child its system prompt.
        parent: Whose child it is.
        session_id: Of the child; None for a new one.
        messages: Conversation it starts with.
        is_resumed: It existed before.
        self_delegation_depth: How often an agent has delegated to itself by now.
        before_initialize: Called with the child before its modules are mounted.
        finished: Called with the child before it is cleaned up, however the run ended.
    """

    prepared: "PreparedBundle"
    plan: dict[str, Any]
    working_dir: Path
    give_prompt: Step
    parent: "AmplifierSession | None" = None
    session_id: str | None = None
    messages: list[dict[str, Any]] | None = None
    is_resumed: bool = False
    self_delegation_depth: int = 0
    before_initialize: "BeforeInitialize | None" = None
    finished: Step | None = None
    _completed: dict[str, Any] = field(default_factory=dict)

    async def execute(self, instruction: str) -> dict[str, Any]:
        """Create the child, run the instruction, clean up.

        Returns:
            `output`, `session_id`, `status`, `turn_count` and `metadata`.
        """
        child = self._construct()
        async with contextlib.AsyncExitStack() as ending:
            ending.push_async_callback(child.cleanup)
            ending.callback(self._follow_parent(child))
            await self._set_up(child)
            ending.push_async_callback(self._finish, child)
            ending.callback(
                child.coordinator.hooks.register(
                    "orchestrator:complete", self._note, priority=999, name="foundation:spawn"
                )
            )
            resolver = child.coordinator.get_capability("mention_resolver")
            if resolver is not None:
                instruction = await expand_mentions_in_instruction(instruction, resolver=resolver)
            output = await child.execute(instruction)
        return {
            "output": output,
            "session_id": child.session_id,
            "status": self._completed.get("status") or "success",
            "turn_count": self._completed.get("turn_count") or 1,
            "metadata": self._completed.get("metadata") or {},
        }

    def _construct(self) -> "AmplifierSession":
        from amplifier_tui import kernel

        inject_additional_events(self.plan)
        parent = None if self.parent is None else self.parent.coordinator
        return kernel.AmplifierSession(
            self.plan,
            session_id=self.session_id,
            parent_id=None if self.parent is None else self.parent.session_id,
            approval_system=getattr(parent, "approval_system", None),
            display_system=getattr(parent, "display_system", None),
            is_resumed=self.is_resumed,
        )

    async def _set_up(self, child: "AmplifierSession") -> None:
        await equip(child, self.prepared, self.working_dir, self.before_initialize)
        await child.initialize()
        register_hook_metadata(child)
        coordinator = child.coordinator
        if self.self_delegation_depth > 0:
            coordinator.register_capability("self_delegation_depth", self.self_delegation_depth)
        context = coordinator.get("context")
        if self.messages and hasattr(context, "set_messages"):
            await maybe_await(context.set_messages(copy_plain(self.messages)))
        await self.give_prompt(child)

    def _follow_parent(self, child: "AmplifierSession") -> Callable[[], None]:
        """Have a stop of the parent stop the child as well; returns how to end that."""
        if self.parent is None:
            return lambda: None
        token, own = self.parent.coordinator.cancellation, child.coordinator.cancellation
        token.register_child(own)
        return lambda: token.unregister_child(own)

    async def _finish(self, child: "AmplifierSession") -> None:
        try:
            if self.finished is not None:
                await self.finished(child)
            if self.parent is not None:
                parent = self.parent.coordinator
                await bridge_child_cost(parent, child.coordinator, child.session_id)
        except Exception:  # bookkeeping must not replace the run's own result or error
            _log.exception("Bookkeeping of child session %s failed", child.session_id)

    def _note(self, event: str, data: dict[str, Any]) -> None:
        self._completed = data


async def spawn(
    prepared: "PreparedBundle",
    child_bundle: Bundle,
    instruction: str,
    *,
    compose: bool = True,
    parent_session: "AmplifierSession | None" = None,
    session_id: str | None = None,
    orchestrator_config: dict[str, Any] | None = None,
    parent_messages: list[dict[str, Any]] | None = None,
    session_cwd: Path | None = None,
    provider_preferences: list[ProviderPreference] | None = None,
    self_delegation_depth: int = 0,
    before_initialize: "BeforeInitialize | None" = None,
) -> dict[str, Any]:
    """Run an instruction in a child session; see `PreparedBundle.spawn`."""
    bundle = prepared.bundle.compose(child_bundle) if compose else child_bundle
    plan = with_orchestrator_config(copy_plain(bundle.to_mount_plan()), orchestrator_config)
    plan = await with_preferences(plan, provider_preferences, parent_session)
    working_dir = session_cwd or child_folder(parent_session, bundle.base_path)

    async def prompt(child: "AmplifierSession") -> None:
        await give_prompt(child, bundle, working_dir)

    run = ChildRun(
        prepared=prepared,
        plan=plan,
        working_dir=working_dir,
        give_prompt=prompt,
        parent=parent_session,
        session_id=session_id,
        messages=parent_messages if session_id is None else None,
        self_delegation_depth=self_delegation_depth,
        before_initialize=before_initialize,
    )
    return await run.execute(instruction)


def with_orchestrator_config(plan: dict[str, Any], config: dict[str, Any] | None) -> dict[str, Any]:
    """Merge a configuration over the orchestrator's, wherever the kernel reads it from.

    The kernel reads the plan's top-level `orchestrator` when `session.orchestrator` is a name, and
    `session.orchestrator.config` when it is a mapping; both are written.
    """
    if not config:
        return plan
    top = plan.get("orchestrator")
    top = dict(top) if isinstance(top, dict) else {}
    top["config"] = deep_merge(top.get("config"), config)
    session = dict(plan.get("session") or {})
    orchestrator = session.get("orchestrator")
    if isinstance(orchestrator, dict):
        merged = deep_merge(orchestrator.get("config"), config)
        session["orchestrator"] = {**orchestrator, "config": merged}
    return {**plan, "orchestrator": top, "session": session}


async def with_preferences(
    plan: dict[str, Any],
    preferences: list[ProviderPreference] | None,
    parent: "AmplifierSession | None",
) -> dict[str, Any]:
    """Apply provider preferences; patterns are looked up in the parent's mounted providers."""
    if not preferences:
        return plan
    if parent is None:
        return apply_provider_preferences(plan, preferences)
    return await apply_provider_preferences_with_resolution(plan, preferences, parent.coordinator)


def child_folder(parent: "AmplifierSession | None", base_path: Path | None) -> Path:
    """Return the folder of a child: the parent's, else the bundle's, else the process's."""
    fallback = base_path or Path.cwd()
    return fallback if parent is None else get_working_dir(parent.coordinator, fallback)
