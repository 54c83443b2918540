"""The approval queue: every question to the user goes through it, and every answer comes back.

A standing rule answers at once. Else `ApprovalRequested` goes up and the asker waits for the
user, for the clock, or for a stop of the turn, whichever comes first.
"""

from __future__ import annotations

import asyncio
import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property
from pathlib import Path
from time import time
from typing import TYPE_CHECKING, Any, Final, Literal
from uuid import uuid4

from amplifier_tui.host.client import Decision
from amplifier_tui.host.events import (
    MAIN_LANE,
    ApprovalOutcome,
    ApprovalRequested,
    ApprovalResolved,
    HostEvent,
    Risk,
    Scope,
    Segment,
)
from amplifier_tui.host.redaction import Redactor

if TYPE_CHECKING:
    from amplifier_tui.host.gate.describe import Description
    from amplifier_tui.host.gate.gate import GateDecision
    from amplifier_tui.host.gate.risk import Judgement
    from amplifier_tui.host.gate.rules.book import Match, RuleBook
    from amplifier_tui.host.gate.rules.matching import Part
    from amplifier_tui.host.gate.rules.text import Rule

By = Literal["user", "rule", "mode", "timeout", "stop"]
Default = Literal["allow", "deny"]

STOPPED: Final = "the turn was stopped"
_USUAL_OPTIONS: Final = frozenset({"allow", "allow once", "allow always", "deny"})
# A hook with a clock of its own cancels the question a moment before or after ours runs out.
_CLOCK_SLACK: Final = 0.1


@dataclass(frozen=True, slots=True)
class ApprovalQuestion:
    """What the user is asked.

    `prompt` is the asker's own words, `why` what made it ask, `risk` its own opinion; `tool` is
    empty outside of a tool call. After `timeout` seconds (None: never) the asker does `default`.
    `description` is the gate's, which has looked at the rules; `by_person` says that no rule may
    answer and the answer must not be remembered. `schema` is that of the
    tool, where the arguments may be changed. `judge` has the gate decide anew; it gives None where
    the mode is still the same.
    """

    asker: str
    prompt: str = ""
    tool: str = ""
    call_id: str = ""
    arguments: Mapping[str, Any] = field(default_factory=dict)
    why: str = ""
    options: tuple[str, ...] = ()
    timeout: float | None = None
    default: Default = "deny"
    risk: Risk | None = None
    lane: str = MAIN_LANE
    description: Description | None = None
    by_person: bool = False
    schema: Mapping[str, Any] | None = None
    judge: Callable[[], GateDecision | None] | None = None


@dataclass(frozen=True, slots=True)
class ApprovalAnswer:
    """What came of a question.

    `reason` is the user's words, or why it was not answered; `default` what the asker should do
    after a timeout: never `allow` for what is risky; with the outcome
    `changed`, `arguments` are judged anew in place of the call's.
    """

    outcome: ApprovalOutcome
    by: By = "user"
    reason: str = ""
    default: Default = "deny"
    arguments: Mapping[str, Any] | None = None


@dataclass(slots=True)
class _Pending:
    question: ApprovalQuestion
    request: ApprovalRequested
    parts: tuple[Part, ...]
    judgement: Judgement
    future: asyncio.Future[ApprovalAnswer]
    deadline: float | None = None
    clock: asyncio.TimerHandle | None = None
    rules: tuple[Rule, ...] = ()


class ApprovalQueue:
    """The questions of one session.

    Args:
        session_id: Whose questions they are.
        workspace: Its working directory, absolute.
        send: Takes events on their way up.
        rules: Returns the standing rules; without it there are those that answers make.
        redactor: Keeps secrets out of what goes up and out of the audit.
        audit: Writes a line of the audit file.
        keep: Writes rules down that hold longer than the session; without it none do.
    """

    def __init__(
        self,
        session_id: str,
        workspace: Path,
        send: Callable[[HostEvent], None],
        *,
        rules: Callable[[], RuleBook] | None = None,
        redactor: Redactor | None = None,
        audit: Callable[[dict[str, Any]], None] | None = None,
        keep: Callable[[tuple[Rule, ...], Scope], None] | None = None,
    ) -> None:
        self.on_resolved: Callable[[ApprovalQuestion, ApprovalAnswer], None] | None = None
        """Told of every answer before the asker gets it."""
        self._session_id = session_id
        self._workspace = workspace
        self._send = send
        self._redactor = redactor if redactor is not None else Redactor({})
        self._audit = audit
        self._keep = keep
        self._rules = rules
        self._pending: dict[str, _Pending] = {}

    @cached_property
    def book(self) -> RuleBook:
        """The standing rules."""
        from amplifier_tui.host.gate.rules.book import RuleBook

        return self._rules() if self._rules is not None else RuleBook()

    @property
    def waiting(self) -> tuple[str, ...]:
        """Ids of the unanswered requests, oldest first."""
        return tuple(self._pending)

    # --- asking ----------------------------------------------------------------------------

    async def ask(self, question: ApprovalQuestion) -> ApprovalAnswer:
        """Get an answer.

        Raises:
            asyncio.CancelledError: The asking task was cancelled; the request is withdrawn.
        """
        judged = question.description
        if judged is not None:
            description = judged
        else:
            # What reads rules and commands takes long to import, so it is done in there.
            description = await asyncio.to_thread(self._describe, question)
        judgement = description.judgement.with_opinion(question.risk, of_call=bool(question.tool))
        request_id = uuid4().hex[:12]
        match = self.book.match(description.parts) if judged is None else None
        if match is not None and match.verdict != "ask":
            answer = _by_match(match)
            self._resolved(question, request_id, answer, match.scope, match.rule, judgement)
            return answer
        pending = self._put_up(question, request_id, description, judgement)
        try:
            # It may have been decided in a mode that was left since.
            await self._judge(pending)
            return await pending.future
        except asyncio.CancelledError:
            if request_id in self._pending:
                late = pending.deadline is not None and (
                    asyncio.get_running_loop().time() >= pending.deadline - _CLOCK_SLACK
                )
                answer = (
                    ApprovalAnswer("timed_out", "timeout", "nobody answered in time")
                    if late
                    else ApprovalAnswer("cancelled", "stop", STOPPED)
                )
                self._finish(pending, answer)
            raise

    def _describe(self, question: ApprovalQuestion) -> Description:
        from amplifier_tui.host.gate.describe import describe_call, describe_question

        if question.tool:
            return describe_call(question.tool, question.arguments, self._workspace)
        return describe_question(question.asker, question.prompt)

    def _put_up(
        self,
        question: ApprovalQuestion,
        request_id: str,
        description: Description,
        judgement: Judgement,
    ) -> _Pending:
        from amplifier_tui.host.gate.risk import severity
        from amplifier_tui.host.gate.rules.book import propose
        from amplifier_tui.host.gate.rules.text import rule_words

        loop = asyncio.get_running_loop()
        rules = propose(description.parts, self.book) if description.complete else ()
        if judgement.risk == "critical" or question.by_person:
            rules = ()
        # What is risky or elsewhere is allowed for this session at most.
        longer = self._keep is not None and description.judgement.can_be_kept
        longer = longer and not any(rule.asker for rule in rules)
        scopes: tuple[Scope, ...] = ("session", "project", "always") if longer else ("session",)
        risky = severity(judgement.risk) >= severity("high")
        default: Default = "deny" if risky else question.default
        options = question.options
        own_options = {option.casefold() for option in options} - _USUAL_OPTIONS
        text = self._redactor.text
        request = ApprovalRequested(
            session_id=self._session_id,
            agent=question.lane,
            at=time(),
            request_id=request_id,
            call_id=question.call_id,
            tool=question.tool,
            asker=question.asker,
            action=text(description.action),
            prompt=text(question.prompt),
            payload=text(description.payload),
            payload_kind=description.payload_kind,
            segments=self._segments(description),
            diff=text(description.diff),
            risk=judgement.risk,
            reasons=judgement.reasons,
            cwd=description.cwd or str(self._workspace),
            paths=tuple(place.shown for place in judgement.places),
            outside=judgement.outside,
            why=text(question.why),
            options=options if own_options else (),
            timeout=question.timeout,
            default=default,
            scopes=("once", *scopes) if rules else ("once",),
            rule=text(rule_words(rules)),
            # What is masked on the screen must not be written back as its mask.
            editable=question.schema is not None
            and self._redactor.fields(question.arguments) == question.arguments,
        )
        pending = _Pending(
            *(question, request, description.parts, judgement),
            future=loop.create_future(),
            rules=rules,
        )
        self._pending[request_id] = pending
        if question.timeout is not None:
            pending.deadline = loop.time() + question.timeout
            pending.clock = loop.call_later(question.timeout, self._expire, request_id)
        self._send(request)
        return pending

    def _segments(self, description: Description) -> tuple[Segment, ...]:
        commands = [part for part in description.parts if part.kind == "command"]
        if len(commands) < 2:
            return ()
        return tuple(self._segment(part) for part in commands)

    def _segment(self, part: Part) -> Segment:
        rule = self.book.rule_for(part)
        if rule is not None:
            note = f"allowed by rule {rule}"
        else:
            note = " · ".join(("no rule", *part.judgement.reasons))
        text = self._redactor.text
        return Segment(text=text(part.text), note=text(note), allowed=rule is not None)

    def note_rule(
        self, question: ApprovalQuestion, answer: ApprovalAnswer, scope: Scope, rule: str
    ) -> None:
        """Tell of an answer that a rule gave before anybody was asked."""
        if question.description is not None:
            judgement = question.description.judgement
            self._resolved(question, uuid4().hex[:12], answer, scope, rule, judgement)

    # --- answering -------------------------------------------------------------------------

    def decide(self, request_id: str, decision: Decision) -> None:
        """Take the user's answer; a request that is gone is ignored."""
        pending = self._pending.get(request_id)
        if pending is None:
            return
        scope: Scope = decision.scope if decision.scope in pending.request.scopes else "once"
        if scope != "once":
            rules = self._rules_to_keep(pending, decision.allow, scope)
            self.book.add(rules)
            if scope != "session" and self._keep is not None:
                self._keep(rules, scope)
        outcome: ApprovalOutcome = "allowed" if decision.allow else "denied"
        self._finish(pending, ApprovalAnswer(outcome, "user", decision.reason.strip()), scope)
        if scope != "once":
            self._look_again()

    def arguments(self, request_id: str) -> str:
        """Return the arguments of a call that waits and may be changed, as JSON; else nothing."""
        pending = self._pending.get(request_id)
        if pending is None or not pending.request.editable:
            return ""
        return json.dumps(pending.question.arguments, ensure_ascii=False, indent=2)

    def change(self, request_id: str, text: str) -> str:
        """Answer with other arguments for the call, as JSON.

        Returns:
            What is wrong with them, in words; empty when they were taken.
        """
        from amplifier_tui.host.gate.json_schema import read_object

        pending = self._pending.get(request_id)
        if pending is None or not pending.request.editable:
            return "This call no longer waits for an answer."
        try:
            arguments = read_object(text, pending.question.schema or {})
        except ValueError as error:
            return str(error)
        self._finish(pending, ApprovalAnswer("changed", arguments=arguments))
        return ""

    def hold(self, request_id: str) -> None:
        """Stop a request's clock; it now waits for as long as it takes."""
        pending = self._pending.get(request_id)
        if pending is not None and pending.clock is not None:
            pending.clock.cancel()
            pending.clock = pending.deadline = None

    def cancel_all(self, reason: str = STOPPED) -> None:
        """Withdraw every request: the turn is being stopped."""
        for pending in tuple(self._pending.values()):
            self._finish(pending, ApprovalAnswer("cancelled", "stop", reason))

    def _rules_to_keep(self, pending: _Pending, allow: bool, scope: Scope) -> tuple[Rule, ...]:
        from amplifier_tui.host.gate.rules.book import propose

        rules = pending.rules if allow else propose(pending.parts, self.book, "deny")
        return tuple(replace(rule, scope=scope) for rule in rules)

    def _look_again(self) -> None:
        """ApprovalAnswer what waits and is covered by a rule now."""
        for pending in tuple(self._pending.values()):
            match = self.book.match(pending.parts)
            if match is None or match.verdict == "ask":
                continue
            if match.verdict == "deny" or not pending.question.by_person:
                self._finish(pending, _by_match(match), match.scope, match.rule)

    async def judge_again(self) -> tuple[str, ...]:
        """Have the gate decide anew about what waits: its mode has changed.

        Returns:
            What was answered, in words.
        """
        return tuple(
            [
                f"{pending.question.tool} {pending.future.result().outcome}"
                for pending in tuple(self._pending.values())
                if await self._judge(pending)
            ]
        )

    async def _judge(self, pending: _Pending) -> bool:
        """Answer a request that need not be asked in the mode there is now; whether it was."""
        judge = pending.question.judge
        decision = await asyncio.to_thread(judge) if judge is not None else None
        if decision is None or decision.verdict == "ask" or pending.future.done():
            return False
        outcome: ApprovalOutcome = "allowed" if decision.verdict == "allow" else "denied"
        by: By = "rule" if decision.rule else "mode"
        self._finish(pending, ApprovalAnswer(outcome, by, decision.reason), rule=decision.rule)
        return True

    def _expire(self, request_id: str) -> None:
        pending = self._pending.get(request_id)
        if pending is not None:
            answer = ApprovalAnswer(
                "timed_out", "timeout", "nobody answered in time", pending.request.default
            )
            self._finish(pending, answer)

    def _finish(
        self, pending: _Pending, answer: ApprovalAnswer, scope: Scope = "once", rule: str = ""
    ) -> None:
        request = pending.request
        self._pending.pop(request.request_id, None)
        if pending.clock is not None:
            pending.clock.cancel()
        judgement = pending.judgement
        if scope != "once" and not rule:
            rule = request.rule
        self._resolved(
            pending.question, request.request_id, answer, scope, rule, judgement, request.payload
        )
        if not pending.future.done():
            pending.future.set_result(answer)

    def _resolved(
        self,
        question: ApprovalQuestion,
        request_id: str,
        answer: ApprovalAnswer,
        scope: Scope,
        rule: str,
        judgement: Judgement,
        payload: str = "",
    ) -> None:
        resolved = ApprovalResolved(
            session_id=self._session_id,
            agent=question.lane,
            at=time(),
            request_id=request_id,
            outcome=answer.outcome,
            by=answer.by,
            scope=scope,
            reason=self._redactor.text(answer.reason),
            call_id=question.call_id,
            tool=question.tool,
            rule=self._redactor.text(rule),
        )
        if self._audit is not None:
            entry = resolved.to_json() | {
                "asker": question.asker,
                "prompt": question.prompt,
                "arguments": dict(question.arguments),
                "payload": payload,
                "risk": judgement.risk,
                "reasons": list(judgement.reasons),
            }
            if answer.arguments is not None:
                entry["changed_to"] = dict(answer.arguments)
            self._audit(entry)
        if self.on_resolved is not None:
            self.on_resolved(question, answer)
        self._send(resolved)


def _by_match(match: Match) -> ApprovalAnswer:
    outcome: ApprovalOutcome = "allowed" if match.verdict == "allow" else "denied"
    return ApprovalAnswer(outcome, "rule", f"by the rule {match.rule}")
