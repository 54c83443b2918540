"""The gate before the tools of one session or sub-agent."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING, Any, Final

from amplifier_tui.base.plain import copy_plain
from amplifier_tui.host.events import MAIN_LANE
from amplifier_tui.host.gate.approvals.question import ApprovalAnswer, ApprovalQuestion
from amplifier_tui.host.gate.calls.grants import Grants, Key, Touched, call_key
from amplifier_tui.host.gate.calls.guarded import (
    Execute,
    Guard,
    GuardedTool,
    Wrong,
    module_of_code,
    run_tool,
)
from amplifier_tui.host.gate.calls.spoilt import spoilt
from amplifier_tui.host.gate.gate import OUTSIDE_SANDBOX, Gate, GateDecision
from amplifier_tui.host.gate.modes import APPROVAL
from amplifier_tui.host.stand_in import StandIns
from amplifier_tui.kernel import events
from amplifier_tui.kernel.hooks import HookAnswers, HookResult
from amplifier_tui.kernel.hooks.results import injections_of
from amplifier_tui.kernel.models.hook_result import changed, continue_with
from amplifier_tui.kernel.session import AmplifierSession
from amplifier_tui.kernel.session.grant import Grant, granted

if TYPE_CHECKING:
    from pathlib import Path

    from amplifier_tui.host.gate.approvals.describe import Description
    from amplifier_tui.kernel.coordinator import ModuleCoordinator

logger = logging.getLogger(__name__)

ASKER: Final = "amplifier-tui"
"""Who asks where no hook does."""
CAPABILITY: Final = "session.gate"
"""Modules that would ask by themselves leave it to whoever offers this."""
UNCOPIED: Final = "checkpoint.uncopied"
"""What keeps copies of files says by it, blocking, why there are none of what commands change."""
_OPTIONS: Final = ("Allow", "Allow once", "Allow always", "Deny")
_MOST_ASKING: Final = 100


class SessionGate:
    """Judges the calls of a session, and executes none that was not decided about.

    Args:
        gate: Decides.
        lane: The agent whose session it is.
        refused: Told of a tool somebody tried to run undecided, and of who tried.
        decided: Told of what was decided without a question: tool, arguments, call id, decision.
        bound: Makes a tool's result small enough to be looked at.
        execute: Gives the result of a call that may run.
        wrong: Told of a tool that raises or whose answer is no proper result, and of a hook
            (`hook:` and whose) that made a call none.
    """

    def __init__(
        self,
        gate: Gate,
        lane: str = MAIN_LANE,
        *,
        refused: Callable[[str, str], None] = lambda *_: None,
        decided: Callable[[ApprovalQuestion, GateDecision], None] = lambda *_: None,
        bound: Callable[[Any], Awaitable[Any]] | None = None,
        execute: Execute = run_tool,
        wrong: Wrong = lambda *_: None,
    ) -> None:
        self._gate = gate
        self._lane = lane
        self._refused = refused
        self._decided = decided
        self._bound = bound or _unbound
        self._execute = execute
        self._wrong = wrong
        self._grants = Grants()
        self._tools: dict[str, Any] = {}
        self._asking: dict[int, tuple[HookResult, ApprovalQuestion]] = {}
        """The questions nobody was asked yet, by the identity of their result."""
        self._open: dict[int, GateDecision] = {}
        """What was decided about the questions that are being asked, by their identity."""
        self._approved: dict[Key, Touched] = {}
        """What a person was shown and allowed while the hooks were still judging.

        By what it was, what it was about then.
        """

    def stand_before(self, session: AmplifierSession) -> None:
        """Judge every call of a session, from before its first module is mounted."""
        coordinator = session.coordinator

        def orchestrator() -> str:
            kind = type(coordinator.get("orchestrator"))
            return module_of_code(kind.__module__) or kind.__name__

        guard = Guard(
            *(self._grants, self._refused, self._bound, orchestrator, self._gate.ran),
            *(self._execute, self._gate.touched, self._wrong),
        )
        points = coordinator.mount_points
        self._tools = points["tools"] = StandIns(
            partial(GuardedTool, guard), points.get("tools") or {}
        )
        coordinator.hooks.conclude(events.TOOL_PRE, self._conclude, "gate")
        coordinator.hooks.note_denials(events.TOOL_PRE, self._denied_by_hook)
        coordinator.register_capability(CAPABILITY, self._gate)
        if self._lane == MAIN_LANE:
            # What agents change is kept with the rest.
            self._gate.uncopied = partial(_uncopied, coordinator)

    def turn_over(self) -> None:
        """What was decided and not used in a turn does not count in the next."""
        self._grants.clear()
        self._approved.clear()
        self._asking.clear()
        self._open.clear()

    async def _conclude(self, answers: HookAnswers) -> HookResult:
        data, result = answers.data, answers.result
        tool, given = str(data.get("tool_name") or ""), data.get("tool_input")
        arguments: dict[str, Any] = given if isinstance(given, dict) else {}
        who, said = spoilt(answers, self._tools)
        if said:
            self._wrong(f"hook:{who}", said, said)
            return HookResult(action="deny", reason=said)
        hooked = result.action == "ask_user"
        failed = tuple(
            f"{module} failed while judging it: {error}" for module, error in answers.failed
        )
        judge = partial(
            self._gate.decide,
            tool,
            arguments,
            hooked=hooked,
            failed=failed,
            confines=self.confines(tool),
            leaves_out=getattr(self._tools.get(tool), "leaves_out", False) is True,
        )
        decision = await asyncio.to_thread(judge)
        while decision.mode != self._gate.mode:
            decision = await asyncio.to_thread(judge)
        decided_in = decision.mode
        confined = decided_in == "auto" and self.confines(tool)
        question = ApprovalQuestion(
            asker=answers.asker if hooked else ASKER,
            prompt=(result.approval_prompt or "") if hooked else "",
            tool=tool,
            call_id=str(data.get("tool_call_id") or ""),
            arguments=arguments,
            why=(result.reason if hooked else "") or decision.reason,
            options=tuple(result.approval_options or ()) if hooked else (),
            timeout=result.approval_timeout if hooked else self._gate.timeout,
            default=result.approval_default if decision.hook_only else "deny",
            lane=self._lane,
            description=decision.description,
            by_person=decision.by_person,
            pressing=not (hooked or decision.by_mode or decision.is_critical),
            # Without its id a call that changed could not be told from a second one.
            schema=self._schema(tool) if data.get("tool_call_id") else None,
            judge=lambda: judge() if self._gate.mode != decided_in else None,
            judge_anew=judge,
            began=answers.began,
            lends=decision.lends,
            network=decision.network
            and self.confines(tool)
            and not await asyncio.to_thread(self._gate.sandbox),
            leaves=confined and not await asyncio.to_thread(self._gate.sandbox),
        )
        if decision.verdict == "ask":
            decision = await asyncio.to_thread(self.unless_refused, decision, tool, arguments)
        if decision.verdict == "deny":
            self._decided(question, decision)
            return HookResult(action="deny", reason=decision.reason)
        shown = self._approved.pop(call_key(tool, arguments), None)
        by_person = shown is not None and decision.description.touched.is_part_of(shown)
        if decision.verdict == "allow" or by_person:
            if not by_person:
                self._decided(question, decision)
            self._let_through(question, decision, "person" if by_person else "")
            return continue_with(data) if hooked else result
        asked = changed(result, data=data) if hooked else self._asked(result, decision, data)
        self._asking[id(asked)] = (asked, question)
        self._open[id(question)] = decision
        while len(self._asking) > _MOST_ASKING:
            # Nobody came to ask: the oldest is given up.
            _, given_up = self._asking.pop(next(iter(self._asking)))
            self._open.pop(id(given_up), None)
        return asked

    async def _denied_by_hook(self, answers: HookAnswers) -> None:
        """Tell what a hook denied: the gate is not asked about it any more."""
        tool, given = str(answers.data.get("tool_name") or ""), answers.data.get("tool_input")
        arguments: dict[str, Any] = given if isinstance(given, dict) else {}
        decision = await asyncio.to_thread(self._hooks_denial, answers, tool, arguments)
        question = ApprovalQuestion(
            asker=answers.asker,
            tool=tool,
            call_id=str(answers.data.get("tool_call_id") or ""),
            arguments=arguments,
            lane=self._lane,
        )
        self._decided(question, decision)

    def _hooks_denial(
        self, answers: HookAnswers, tool: str, arguments: Mapping[str, Any]
    ) -> GateDecision:
        from amplifier_tui.host.gate.approvals.describe import describe_call
        from amplifier_tui.host.gate.rules.text import RuleError, planned_rule

        gate, said = self._gate, (answers.result.data or {}).get("rule")
        description = describe_call(tool, arguments, gate.workspace, diffs=False)
        reason = answers.result.reason or ""
        decision = GateDecision("deny", reason, description, "other", mode=gate.mode, by_hook=True)
        if answers.asker != APPROVAL or said is None:
            return decision
        try:
            text = str(planned_rule(said, "deny", ""))
        except RuleError:
            return decision
        planned = (rule for rule in gate.book.rules if rule.planned and rule.verdict == "deny")
        rule = next((rule for rule in planned if str(rule) == text), None)
        return decision if rule is None else replace(decision, rule=text, scope=rule.scope)

    def unless_refused(
        self, decision: GateDecision, tool: str, arguments: Mapping[str, Any]
    ) -> GateDecision:
        """Return a denial where a tool would refuse a call for its paths even after a yes.

        Called in a thread; for a call that goes unasked, whether it would refuse that.
        """
        refuses = getattr(self._tools.get(tool), "refused_place", None)
        if not callable(refuses):
            return decision
        by = "person" if decision.verdict == "ask" else ""
        places = self._allowed_outside(decision.description, by)
        try:
            with granted(Grant(by="person" if by else "rule", places=places)):
                said = refuses(copy_plain(arguments))
        except Exception:
            # Then the user is asked, and the tool says itself what is wrong.
            logger.exception("%s could not say whether it refuses a path", tool)
            return decision
        if not isinstance(said, str) or not said:
            return decision
        return replace(decision, verdict="deny", reason=said, rule="")

    @property
    def tools(self) -> tuple[str, ...]:
        """The names of the tools it stands before."""
        return tuple(self._tools)

    def confines(self, tool: str) -> bool:
        """Whether a tool offers to leave the sandbox, so that it is in one."""
        properties = self._schema(tool).get("properties")
        return isinstance(properties, dict) and OUTSIDE_SANDBOX in properties

    def _schema(self, tool: str) -> dict[str, Any]:
        schema = getattr(self._tools.get(tool), "input_schema", None)
        return schema if isinstance(schema, dict) else {}

    def _asked(
        self, result: HookResult, decision: GateDecision, data: dict[str, Any]
    ) -> HookResult:
        asked = HookResult(
            action="ask_user",
            reason=decision.reason,
            approval_prompt=decision.description.action,
            approval_options=list(_OPTIONS),
            # A hook does not know whether the call is asked about: once allowed, it counts.
            context_injections=injections_of(result, events.TOOL_PRE, "unknown"),
        )
        return changed(asked, data=data)

    def asked(self, result: HookResult) -> ApprovalQuestion | None:
        """Return the question behind a result of an emit, once; None when it is another's."""
        _, question = self._asking.pop(id(result), (None, None))
        return question

    def answered(self, question: ApprovalQuestion, answer: ApprovalAnswer) -> None:
        """Let a call through that was asked about, if that is the answer."""
        decision = self._open.pop(id(question), None)
        if answer.outcome != "allowed" and not answer.by_default:
            return
        person = "person" if answer.by == "user" else ""
        if decision is not None and person and answer.lasting and decision.lends:
            self._gate.lent.add(decision.lends)
        if decision is not None:
            by = "" if answer.by_default or answer.by == "mode" else "rule"
            self._let_through(question, decision, person or by)
        elif person and question.tool:
            self._approved[call_key(question.tool, question.arguments)] = answer.touched

    def changed(self, question: ApprovalQuestion, arguments: Mapping[str, Any]) -> None:
        """Run a call with the arguments that were decided about in place of those it came with."""
        self._grants.change(question.tool, question.arguments, question.call_id, arguments)

    def _let_through(self, question: ApprovalQuestion, decision: GateDecision, by: str) -> None:
        ruled = bool(decision.rule)
        described = question.description or decision.description
        grant = Grant(
            by="person" if by == "person" else "rule" if ruled or by == "rule" else "mode",
            reading=decision.act in ("read", "look"),
            network=decision.network and (ruled or by != ""),
            places=self._allowed_outside(described, by),
            left_out=self._gate.book.left_out(self._gate.workspace, asked=by == "person"),
        )
        self._grants.add(
            question.tool, question.arguments, question.call_id, grant, described.touched
        )

    def _allowed_outside(self, described: Description, by: str) -> frozenset[Path]:
        """Return what is outside of the workspace and the user allowed, now or by a rule.

        A rule of a bundle's and a mode let a call through, and open no place.
        """
        outside = described.outside
        if by == "person" or not outside:
            return outside
        match = self._gate.book.match(described.parts)
        return outside if match is not None and match.verdict == "allow" else frozenset()


def _uncopied(coordinator: ModuleCoordinator) -> str:
    """Say why no copies are kept of what commands change; empty where they are, and for no hook."""
    says: Callable[[], str] | None = coordinator.get_capability(UNCOPIED)
    return says() if says is not None else ""


async def _unbound(result: Any) -> Any:
    return result
