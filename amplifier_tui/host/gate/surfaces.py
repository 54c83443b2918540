"""The two ways modules ask: the kernel's `ask_user`, and the provider of `hooks-approval`.

Both end at the queue. The kernel passes on a prompt and nothing else, so what is asked about is
taken from the emit that led to the question: the observer of the hooks leaves it in a context
variable of the asking task.
"""

import math
from collections.abc import Callable, Mapping
from contextvars import ContextVar
from dataclasses import dataclass
from typing import Any, Final, Literal

from amplifier_tui.host.events import MAIN_LANE, Risk
from amplifier_tui.host.gate.queue import STOPPED, ApprovalAnswer, ApprovalQuestion, ApprovalQueue
from amplifier_tui.kernel import events
from amplifier_tui.kernel.correlation import current_tool_call_id
from amplifier_tui.kernel.frontend import ApprovalDecision, ApprovalTimeoutError
from amplifier_tui.kernel.hooks import HookRegistry, HookTrace
from amplifier_tui.kernel.interfaces import ApprovalRequest, ApprovalResponse

TIMED_OUT: Final = "Approval request timed out"
_ARGUMENT_KEYS: Final = ("tool_input", "arguments", "input", "args", "parameters")
_RISKS: Final[dict[str, Risk]] = {
    "low": "low",
    "medium": "medium",
    "moderate": "medium",
    "high": "high",
    "critical": "critical",
}


@dataclass(frozen=True, slots=True)
class Asking:
    """The emit that led to a question.

    Attributes:
        trace: The emit.
        lane: Which agent's it is.
        hooks: The registry of that session.
    """

    trace: HookTrace
    lane: str
    hooks: HookRegistry


ASKING: ContextVar[Asking | None] = ContextVar("amplifier_tui_asking", default=None)
"""Set by the observer when an emit ends in `ask_user`, in the task that emitted."""


def lane_of_task() -> str:
    """Return the lane of the code that runs, as far as its emits have told."""
    asking = ASKING.get()
    return asking.lane if asking is not None else MAIN_LANE


class KernelApprovals:
    """The kernel's `ApprovalSystem` (spec 002, hook result processing).

    Args:
        approvals: Where the questions go.
        module_of: Names the module behind a hook handler.
    """

    def __init__(self, approvals: ApprovalQueue, module_of: Callable[[str], str] = str) -> None:
        self._approvals = approvals
        self._module_of = module_of

    async def request_approval(
        self, prompt: str, options: list[str], timeout: float, default: Literal["allow", "deny"]
    ) -> str:
        """Ask; see `kernel.approval.ApprovalSystem`.

        Raises:
            ApprovalTimeoutError: Nobody answered. It carries what to do: never allow what is
                risky.
        """
        asking = ASKING.get()
        if asking is not None and not _belongs(asking.trace, prompt):
            asking = None
        question = self._question(asking, prompt, options, timeout, default)
        hooks = asking.hooks if asking is not None else None
        await _tell(hooks, events.APPROVAL_REQUIRED, question)
        answer = await self._approvals.ask(question)
        if answer.outcome == "allowed":
            await _tell(hooks, events.APPROVAL_GRANTED, question, answer)
            return ApprovalDecision("Allow")
        await _tell(hooks, events.APPROVAL_DENIED, question, answer)
        if answer.outcome == "timed_out":
            raise ApprovalTimeoutError(answer.reason, default=answer.default)
        reason = STOPPED if answer.outcome == "cancelled" else answer.reason
        return ApprovalDecision("Deny", reason=reason)

    def _question(
        self,
        asking: Asking | None,
        prompt: str,
        options: list[str],
        timeout: float,
        default: Literal["allow", "deny"],
    ) -> ApprovalQuestion:
        if asking is None:
            return ApprovalQuestion(
                asker="a hook",
                prompt=prompt,
                options=tuple(options),
                timeout=_seconds(timeout),
                default=default,
                call_id=current_tool_call_id() or "",
            )
        trace = asking.trace
        data = trace.data
        handler = next((h for h in trace.handlers if h.verdict == "ask_user"), None)
        arguments = data.get("tool_input")
        return ApprovalQuestion(
            asker=self._module_of(handler.name) if handler is not None else "a hook",
            prompt=prompt,
            tool=str(data.get("tool_name") or ""),
            call_id=str(data.get("tool_call_id") or current_tool_call_id() or ""),
            arguments=arguments if isinstance(arguments, Mapping) else {},
            why=(handler.reason if handler is not None else None) or "",
            options=tuple(options),
            timeout=_seconds(timeout),
            default=default,
            lane=asking.lane,
        )


class ProviderApprovals:
    """An `ApprovalProvider` for modules that offer the capability `approval.register_provider`.

    Args:
        approvals: Where the questions go.
        asker: The module it is given to.
        lane: Which agent's session it belongs to.
    """

    def __init__(
        self, approvals: ApprovalQueue, asker: str = "hooks-approval", lane: str = MAIN_LANE
    ) -> None:
        self._approvals = approvals
        self._asker = asker
        self._lane = lane

    async def request_approval(self, request: ApprovalRequest) -> ApprovalResponse:
        """Ask; the module that asks announces it and remembers nothing."""
        answer = await self._approvals.ask(
            ApprovalQuestion(
                asker=self._asker,
                prompt=request.action,
                tool=request.tool_name,
                call_id=current_tool_call_id() or str(request.details.get("tool_call_id") or ""),
                arguments=_arguments(request.details),
                why=str(request.details.get("reason") or ""),
                timeout=_seconds(request.timeout),
                risk=_RISKS.get(request.risk_level.casefold()),
                lane=self._lane,
            )
        )
        if answer.outcome == "allowed":
            return ApprovalResponse(approved=True, reason=answer.reason or None)
        reason = TIMED_OUT if answer.outcome == "timed_out" else answer.reason
        return ApprovalResponse(approved=False, reason=reason or None)


def _belongs(trace: HookTrace, prompt: str) -> bool:
    # Left from an earlier emit of the same task, it would describe another call.
    return (trace.result.approval_prompt or "Allow this operation?") == prompt


def _arguments(details: Mapping[str, Any]) -> Mapping[str, Any]:
    for key in _ARGUMENT_KEYS:
        value = details.get(key)
        if isinstance(value, Mapping):
            return value
    return details


def _seconds(timeout: float | None) -> float | None:
    if timeout is None or not math.isfinite(timeout) or timeout <= 0:
        return None
    return float(timeout)


async def _tell(
    hooks: HookRegistry | None,
    event: str,
    question: ApprovalQuestion,
    answer: ApprovalAnswer | None = None,
) -> None:
    if hooks is None:
        return
    data: dict[str, Any] = {
        "tool_name": question.tool,
        "tool_call_id": question.call_id,
        "action": question.prompt,
        "asker": question.asker,
        "timeout": question.timeout,
    }
    if answer is not None:
        data |= {"outcome": answer.outcome, "by": answer.by, "reason": answer.reason}
        if answer.outcome == "timed_out":
            data["reason"] = TIMED_OUT
    await hooks.emit(event, data)
