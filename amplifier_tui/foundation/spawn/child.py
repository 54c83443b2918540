"""Running an instruction in a child session."""

import asyncio
import contextlib
import logging
import re
import secrets
from collections.abc import Awaitable, Callable, Iterable, Mapping, Sequence
from decimal import Decimal, InvalidOperation
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol

from amplifier_tui.base.lazy.dataclass import dataclass
from amplifier_tui.base.plain import copy_plain
from amplifier_tui.base.python import awaited
from amplifier_tui.foundation.bundle.session import (
    BeforeInitialize,
    equip,
    get_working_dir,
    inject_additional_events,
    register_hook_metadata,
)
from amplifier_tui.foundation.dicts import deep_merge
from amplifier_tui.foundation.mentions.loading import expand_mentions_in_instruction
from amplifier_tui.foundation.session.capture import TurnCapture
from amplifier_tui.foundation.spawn.guards import watched_hooks
from amplifier_tui.foundation.spawn.preferences import (
    ProviderPreference,
    apply_provider_preferences,
    apply_provider_preferences_with_resolution,
)

if TYPE_CHECKING:
    from amplifier_tui.kernel.session import AmplifierSession

_log = logging.getLogger(__name__)

_SPANS = re.compile(r"^([0-9a-f]{16})-([0-9a-f]{16})_")
_TRACE = re.compile(r"^[0-9a-f]{32}$")
_NO_SPAN = "0" * 16


def generate_sub_session_id(
    agent_name: str | None = None,
    parent_session_id: str | None = None,
    parent_trace_id: str | None = None,
) -> str:
    """Return a new id `<parent span>-<own span>_<agent>`, both spans 16 hexadecimal digits.

    The parent span is the own span of the parent's id, else digits 8 to 24 of its 32-digit trace
    id.
    """
    match = _SPANS.match(parent_session_id or "")
    if match:
        parent = match[2]
    elif _TRACE.match(parent_trace_id or ""):
        parent = (parent_trace_id or "")[8:24]
    else:
        parent = _NO_SPAN
    agent = re.sub(r"[^a-z0-9]+", "-", (agent_name or "").lower()).strip("-") or "agent"
    return f"{parent}-{secrets.token_hex(8)}_{agent}"


COST_CHANNEL = "session.cost"
"""Contribution channel: each contribution is an amount in US dollars, or a mapping with
`cost_usd`."""


def sum_cost_usd(contributions: Iterable[Any]) -> Decimal | None:
    """Add amounts in US dollars up; None when no amount is known.

    An amount is a number, a text, or a mapping with `cost_usd`; what is none of these, or not
    finite, is left out.
    """
    known = [amount for amount in map(_amount, contributions) if amount is not None]
    return sum(known, Decimal(0)) if known else None


async def bridge_child_cost(
    parent_coordinator: Any, child_coordinator: Any, child_session_id: str
) -> None:
    """Have a parent count what a finished child cost, as contributor `delegate:<id>`.

    Nothing is contributed when the child's cost is unknown.
    """
    cost = sum_cost_usd(await child_coordinator.collect_contributions(COST_CHANNEL))
    if cost is not None:
        parent_coordinator.register_contributor(
            COST_CHANNEL, f"delegate:{child_session_id}", lambda: {"cost_usd": str(cost)}
        )


def _amount(value: Any) -> Decimal | None:
    if isinstance(value, Mapping):
        value = value.get("cost_usd")
    if isinstance(value, bool) or not isinstance(value, int | float | str | Decimal):
        return None
    try:
        amount = Decimal(str(value))
    except InvalidOperation:
        return None
    return amount if amount.is_finite() else None


Step = Callable[["AmplifierSession"], Awaitable[None]]


class Stop(Protocol):
    """Stops a child; see `ChildRun.stop`."""

    def __call__(self, *, immediate: bool) -> None:
        """Stop after the running step, or (`immediate`) at once."""


@dataclass
class ChildRun:
    """One run of a child session with a mount plan of its own.

    `give_prompt` gives the initialized child its system prompt; `messages` is the conversation it
    starts with. An instruction of a model is `confined`: it mentions only what may be read unasked.
    `before_initialize` is called before its modules are mounted, `finished` before it
    is cleaned up, however the run ended.
    """

    resolver: Any
    package_paths: Sequence[str]
    plan: dict[str, Any]
    working_dir: Path
    give_prompt: Step
    parent: "AmplifierSession | None" = None
    session_id: str | None = None
    messages: list[dict[str, Any]] | None = None
    is_resumed: bool = False
    self_delegation_depth: int = 0
    confined: bool = False
    before_initialize: BeforeInitialize | None = None
    finished: Step | None = None
    _child: "AmplifierSession | None" = None
    _work: "asyncio.Task[str] | None" = None
    _stopped: bool = False

    def stop(self, *, immediate: bool) -> None:
        """Stop the child and nobody else; whoever waits for it gets the status `cancelled`.

        Args:
            immediate: Do not wait for the end of the running step.
        """
        self._stopped = True
        if self._child is not None:
            token = self._child.coordinator.cancellation
            (token.request_immediate if immediate else token.request_graceful)()
        if immediate and self._work is not None:
            self._work.cancel()

    async def execute(self, instruction: str) -> dict[str, Any]:
        """Create the child, run the instruction, clean up.

        Returns `output`, `session_id`, `status`, `turn_count` and `metadata`.
        """
        child = self._child = self._construct()
        async with contextlib.AsyncExitStack() as ending:
            ending.push_async_callback(child.cleanup)
            ending.callback(self._follow_parent(child))
            await self._set_up(child)
            ending.push_async_callback(self._finish, child)
            capture = TurnCapture(child.coordinator.hooks, "foundation:spawn")
            ending.callback(capture.stop)
            resolver = child.coordinator.get_capability("mention_resolver")
            if resolver is not None:
                instruction = await expand_mentions_in_instruction(
                    instruction, resolver=resolver, confined=self.confined
                )
            # It may have been stopped before it began.
            output = "" if self._stopped else await self._answer(child, instruction)
        result = capture.as_result(child.session_id, output)
        return {**result, "status": "cancelled"} if self._stopped else result

    async def _answer(self, child: "AmplifierSession", instruction: str) -> str:
        from amplifier_tui.kernel.mounting.callbacks import cancel_requests, is_genuine_cancellation

        requests = cancel_requests()
        self._work = asyncio.ensure_future(child.execute(instruction))
        try:
            return await self._work
        except (asyncio.CancelledError, Exception) as error:
            if not self._stopped or is_genuine_cancellation(requests):
                raise
            _log.info("Child session %s was stopped", child.session_id, exc_info=error)
            return ""

    def _construct(self) -> "AmplifierSession":
        from amplifier_tui import kernel

        inject_additional_events(self.plan)
        parent = None if self.parent is None else self.parent.coordinator
        child: AmplifierSession = kernel.AmplifierSession(
            self.plan,
            session_id=self.session_id,
            parent_id=None if self.parent is None else self.parent.session_id,
            approval_system=getattr(parent, "approval_system", None),
            display_system=getattr(parent, "display_system", None),
            is_resumed=self.is_resumed,
        )
        return child

    async def _set_up(self, child: "AmplifierSession") -> None:
        await equip(
            child, self.resolver, self.package_paths, self.working_dir, self.before_initialize
        )
        with watched_hooks(child, self.parent):
            await child.initialize()
        register_hook_metadata(child)
        coordinator = child.coordinator
        if self.self_delegation_depth > 0:
            coordinator.register_capability("self_delegation_depth", self.self_delegation_depth)
        context = coordinator.get("context")
        if self.messages and hasattr(context, "set_messages"):
            await awaited(context.set_messages(copy_plain(self.messages)))
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
