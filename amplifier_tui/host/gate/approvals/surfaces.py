"""The two ways modules ask: the kernel's `ask_user`, and the provider of `hooks-approval`.

Both end at the queue. What is asked about is taken from the emit that led to the question.
"""

import math
from collections.abc import Mapping
from typing import Any, Final, Literal

from amplifier_tui.host.events import MAIN_LANE, Risk
from amplifier_tui.host.gate.approvals.question import STOPPED, ApprovalAnswer, ApprovalQuestion
from amplifier_tui.host.gate.approvals.queue import ApprovalQueue
from amplifier_tui.host.gate.session_gate import SessionGate
from amplifier_tui.kernel import events
from amplifier_tui.kernel.correlation import current_tool_call_id
from amplifier_tui.kernel.hooks import HookRegistry, HookTrace
from amplifier_tui.kernel.hooks.frontend import (
    ApprovalDecision,
    ApprovalTimeoutError,
    HookApprovalSystem,
)
from amplifier_tui.kernel.interfaces import ApprovalRequest, ApprovalResponse
from amplifier_tui.kernel.models.hook_result import HookResult

_MOST_ASKING: Final = 100
TIMED_OUT: Final = "Approval request timed out"
_ARGUMENT_KEYS: Final = ("tool_input", "arguments", "input", "args", "parameters")
_RISKS: Final[dict[str, Risk]] = {
    "low": "low",
    "medium": "medium",
    "moderate": "medium",
    "high": "high",
    "critical": "critical",
}


class KernelApprovals(HookApprovalSystem):
    """The kernel's approval system of one session (spec 002, hook result processing).

    Args:
        approvals: Where the questions go.
        lane: The agent whose session it is.
        gate: Decides about its tool calls.
    """

    def __init__(
        self,
        approvals: ApprovalQueue,
        lane: str = MAIN_LANE,
        gate: SessionGate | None = None,
    ) -> None:
        self._approvals = approvals
        self._gate = gate
        self._lane = lane
        self._hooks: HookRegistry | None = None
        self._asking: dict[int, HookTrace] = {}
        """The emits that ended in a question, by the identity of their result."""

    def observe(self, hooks: HookRegistry) -> None:
        """Note which emits of the session end in a question."""
        self._hooks = hooks
        hooks.observe(self._note)

    def _note(self, trace: HookTrace) -> None:
        if trace.result.action == "ask_user":
            self._asking[id(trace.result)] = trace
            if len(self._asking) > _MOST_ASKING:
                # Nobody came to ask: the oldest is given up.
                del self._asking[next(iter(self._asking))]

    async def request_for_hook(self, result: HookResult, prompt: str, options: list[str]) -> str:
        """Ask what a hook wants to know; see `kernel.hooks.frontend.HookApprovalSystem`.

        Raises:
            ApprovalTimeoutError: Nobody answered. It carries what to do: never allow what is
                risky.
        """
        trace = self._asking.pop(id(result), None)
        timeout, default = result.approval_timeout, result.approval_default
        return await self._ask(self._question(trace, prompt, options, timeout, default), trace)

    async def request_approval(
        self, prompt: str, options: list[str], timeout: float, default: Literal["allow", "deny"]
    ) -> str:
        """Ask for an orchestrator that does so itself; see `kernel.hooks.frontend.ApprovalSystem`.

        Raises:
            ApprovalTimeoutError: As `request_for_hook`.
        """
        # It says nothing of the emit: take the latest with these words.
        found = [key for key, trace in self._asking.items() if _prompt_of(trace) == prompt]
        trace = self._asking.pop(found[-1]) if found else None
        return await self._ask(self._question(trace, prompt, options, timeout, default), trace)

    async def _ask(self, question: ApprovalQuestion, trace: HookTrace | None) -> str:
        await _tell(self._hooks, events.APPROVAL_REQUIRED, question)
        answer = await self._approvals.ask(question)
        if self._gate is not None:
            self._gate.answered(question, answer)
        if answer.arguments is not None and trace is not None:
            try:
                return await self._judge_anew(question, trace, answer.arguments)
            finally:
                self._approvals.judged_anew(question)
        if answer.outcome == "allowed":
            await _tell(self._hooks, events.APPROVAL_GRANTED, question, answer)
            return ApprovalDecision("Allow")
        told = events.APPROVAL_GRANTED if answer.by_default else events.APPROVAL_DENIED
        await _tell(self._hooks, told, question, answer)
        if answer.outcome == "timed_out":
            raise ApprovalTimeoutError(answer.reason, default=answer.default)
        reason = STOPPED if answer.outcome == "cancelled" else answer.reason
        return ApprovalDecision("Deny", reason=reason)

    async def _judge_anew(
        self, question: ApprovalQuestion, trace: HookTrace, arguments: Mapping[str, Any]
    ) -> str:
        """Have hooks and gate judge a call with other arguments, and ask if they say so."""
        if self._hooks is None or self._gate is None:
            return ApprovalDecision("Deny", reason="nobody could judge the changed call")
        data = {**trace.data, "tool_input": dict(arguments)}
        data.pop("timestamp", None)
        result = await self._hooks.emit(events.TOOL_PRE, data)
        if result.action == "deny":
            said = f"the call with the arguments the user gave it was refused: {result.reason}"
            return ApprovalDecision("Deny", reason=said)
        data = result.data or data
        if data.get("tool_name") != question.tool:
            return ApprovalDecision("Deny", reason="a hook made another call of the changed one")
        if result.action == "ask_user":
            prompt, options = result.approval_prompt or "", result.approval_options or []
            granted = await self.request_for_hook(result, prompt, list(options))
            if granted != "Allow":
                return granted
            data = result.data or data
        # What a loop runs: the arguments that were asked about, or those of its result.
        trace.result.data = {**(trace.result.data or trace.data), "tool_input": data["tool_input"]}
        self._gate.changed(question, data["tool_input"])
        return ApprovalDecision("Allow")

    def _question(
        self,
        trace: HookTrace | None,
        prompt: str,
        options: list[str],
        timeout: float,
        default: Literal["allow", "deny"],
    ) -> ApprovalQuestion:
        prepared = self._gate.asked(trace.result) if self._gate and trace is not None else None
        if prepared is not None:
            return prepared
        data = trace.data if trace is not None else {}
        handlers = trace.handlers if trace is not None else ()
        handler = next((h for h in handlers if h.verdict == "ask_user"), None)
        arguments = data.get("tool_input")
        return ApprovalQuestion(
            asker=(handler.module or handler.name) if handler is not None else "a hook",
            prompt=prompt,
            tool=str(data.get("tool_name") or ""),
            event=trace.event if trace is not None else "",
            call_id=str(data.get("tool_call_id") or current_tool_call_id() or ""),
            arguments=arguments if isinstance(arguments, Mapping) else {},
            why=(handler.reason if handler is not None else None) or "",
            options=tuple(options),
            timeout=_seconds(timeout),
            default=default,
            lane=self._lane,
        )


class ProviderApprovals:
    """An `ApprovalProvider` for modules that offer the capability `approval.register_provider`."""

    def __init__(
        self,
        approvals: ApprovalQueue,
        lane: str = MAIN_LANE,
        gate: SessionGate | None = None,
    ) -> None:
        self._approvals = approvals
        self._lane = lane
        self._gate = gate

    async def request_approval(self, request: ApprovalRequest) -> ApprovalResponse:
        """Ask; the module that asks announces it and remembers nothing."""
        question = ApprovalQuestion(
            asker="hooks-approval",
            prompt=request.action,
            tool=request.tool_name,
            call_id=current_tool_call_id() or str(request.details.get("tool_call_id") or ""),
            arguments=_arguments(request.details),
            why=str(request.details.get("reason") or ""),
            timeout=_seconds(request.timeout),
            risk=_RISKS.get(request.risk_level.casefold()),
            lane=self._lane,
        )
        answer = await self._approvals.ask(question)
        if self._gate is not None:
            self._gate.answered(question, answer)
        if answer.outcome == "allowed":
            return ApprovalResponse(approved=True, reason=answer.reason or None)
        reason = TIMED_OUT if answer.outcome == "timed_out" else answer.reason
        return ApprovalResponse(approved=False, reason=reason or None)


def _prompt_of(trace: HookTrace) -> str:
    return trace.result.approval_prompt or "Allow this operation?"


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
        outcome = "allowed" if answer.by_default else answer.outcome
        data |= {"outcome": outcome, "by": answer.by, "reason": answer.reason}
        if answer.outcome == "timed_out":
            data["reason"] = TIMED_OUT
    await hooks.emit(event, data)
