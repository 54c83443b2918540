"""What the loop does with the answers of hooks (spec 001, hook processing)."""

import inspect
import logging
from collections.abc import Mapping
from typing import Any, Final

from amplifier_tui.base.lazy.dataclass import dataclass
from amplifier_tui.kernel.hooks.results import injections_of, stops_nothing
from amplifier_tui.kernel.models import ContextInjection, HookResult

logger = logging.getLogger(__name__)

_NO_REASON: Final = "A hook denied this and gave no reason."


@dataclass(frozen=True)
class Verdict:
    """What the hooks made of an event.

    Attributes:
        data: The event's data, modified if a hook modified it.
        denied: Why it must not happen; None if it may.
    """

    data: dict[str, Any]
    denied: str | None = None


class HookEmitter:
    """Emits a turn's events and carries out what the hooks answer.

    Args:
        orchestrator: Module id of the loop; events of its own begin with it.
        hooks: The hook registry, or a recorder in a test.
        context: The conversation.
        coordinator: Who asks the user and shows messages; None for nobody, and then questions
            are denied.
    """

    def __init__(
        self, orchestrator: str, hooks: Any, context: Any, coordinator: Any | None
    ) -> None:
        self.orchestrator = orchestrator
        self._hooks = hooks
        self._context = context
        self._coordinator = coordinator
        self._ephemeral: list[ContextInjection] = []
        self._deferred: list[tuple[HookResult, str, str]] = []
        self.stored = 0
        """How many injections went into the conversation so far."""

    @property
    def waiting(self) -> bool:
        """Whether there are texts for the next request only."""
        return bool(self._ephemeral)

    def take_ephemeral(self) -> list[ContextInjection]:
        """Return the texts for the next request; they are for that one only."""
        taken, self._ephemeral = self._ephemeral, []
        return taken

    async def emit(
        self, event: str, data: dict[str, Any], about: str = "", *, defer: bool = False
    ) -> Verdict:
        """Emit an event, do what the hooks answer, and say whether what it announces may happen.

        Args:
            event: Name of the event.
            data: Its data.
            about: What it is about, such as a tool's name.
            defer: Keep injections back until :meth:`settle`: between a tool call and its result
                there is no place for them.
        """
        result = await self._hooks.emit(event, data)
        match getattr(result, "action", "continue"):
            case "deny":
                await self._carry_out(result, event, about)
                return Verdict(data, result.reason or _NO_REASON)
            # Nobody is asked where the answer would change nothing.
            case "ask_user" if not stops_nothing(result, event):
                # What it has to add is for here to place. It stays the question it is known as.
                if added := getattr(result, "context_injections", []):
                    result.context_injections = []
                decided = await self._put_question(result, event, about)
                if decided.action == "deny":
                    return Verdict(_data_of(result, data), decided.reason or _NO_REASON)
                if added:
                    adding = HookResult(action="inject_context", context_injections=added)
                    await self._add(adding, event, about, defer)
            case "inject_context":
                await self._add(result, event, about, defer)
        return Verdict(_data_of(result, data))

    async def _add(self, result: HookResult, event: str, about: str, defer: bool) -> None:
        if defer:
            self._deferred.append((result, event, about))
        else:
            await self._carry_out(result, event, about)

    async def inject(self, event: str, text: str) -> None:
        """Put a hook's words on an event into the conversation, as the user's."""
        result = HookResult(
            action="inject_context", context_injection=text, context_injection_role="user"
        )
        await self._carry_out(result, event, "")

    async def settle(self) -> None:
        """Carry out the injections that were kept back."""
        deferred, self._deferred = self._deferred, []
        for result, event, about in deferred:
            await self._carry_out(result, event, about)

    async def _put_question(self, result: HookResult, event: str, about: str) -> HookResult:
        if self._coordinator is None:
            return HookResult(action="deny", reason="No approval system available")
        try:
            decided: HookResult = await self._coordinator.process_hook_result(
                result, event, about or event
            )
        except Exception as error:
            logger.exception("The user could not be asked about '%s'; denied", event)
            return HookResult(
                action="deny", reason=f"The user could not be asked ({error}), so it was denied."
            )
        return decided

    async def _carry_out(self, result: HookResult, event: str, about: str) -> None:
        items = _injections(result, event, about)
        stored = sum(not item.ephemeral for item in items)
        if self._coordinator is None:
            await self._inject(items)
            self.stored += stored
            return
        try:
            result = await self._coordinator.process_hook_result(result, event, about or event)
        except Exception:
            # A text that is too long, or a context that refuses it, must not end the turn.
            logger.exception("What a hook answered to '%s' could not be carried out", event)
            return
        self.stored += stored
        if result.action == "inject_context":
            left = _injections(result, event, about)
            self._ephemeral += [item for item in left if item.ephemeral]

    async def _inject(self, items: list[ContextInjection]) -> None:
        for item in items:
            if item.ephemeral:
                self._ephemeral.append(item)
                continue
            row = {
                "role": item.role,
                "content": item.content,
                "metadata": {"source": "hook", "hook_name": item.hook_name, "event": item.event},
            }
            outcome = self._context.add_message(row)
            if inspect.isawaitable(outcome):
                await outcome


def _data_of(result: Any, data: dict[str, Any]) -> dict[str, Any]:
    changed = getattr(result, "data", None)
    return changed if isinstance(changed, dict) else data


def _injections(result: HookResult, event: str, about: str) -> list[ContextInjection]:
    if result.action != "inject_context":
        return []
    found = injections_of(result, event, about or "unknown")
    return [item for item in found if item.content]


def plain(data: Mapping[str, Any]) -> dict[str, Any]:
    """Return event data without the fields that are None."""
    return {key: value for key, value in data.items() if value is not None}
