"""The approval queue: every question to the user goes through it, and every answer comes back.

A standing rule answers at once. Else `ApprovalRequested` goes up and the asker waits for the
user, for the clock, or for a stop of the turn, whichever comes first.
"""

from __future__ import annotations

import asyncio
import json
import logging
from collections.abc import Callable, Container
from dataclasses import replace
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any
from uuid import uuid4

from amplifier_tui.host.client import Decision
from amplifier_tui.host.events import AnsweredBy, ApprovalOutcome, HostEvent, Mode, Scope
from amplifier_tui.host.gate.approvals.pending import PendingApproval
from amplifier_tui.host.gate.approvals.question import (
    STOPPED,
    ApprovalAnswer,
    ApprovalQuestion,
)
from amplifier_tui.host.gate.approvals.record import DecisionRecord
from amplifier_tui.host.gate.approvals.request import ApprovalRequestMaker, describe, rules_to_offer
from amplifier_tui.host.redaction import Redactor

if TYPE_CHECKING:
    from amplifier_tui.host.gate.approvals.describe import Description
    from amplifier_tui.host.gate.risk import Judgement
    from amplifier_tui.host.gate.rules.book import Match, RuleBook
    from amplifier_tui.host.gate.rules.text import Rule

_log = logging.getLogger(__name__)


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

    Attributes:
        record: Where every decision is noted.
    """

    def __init__(
        self,
        session_id: str,
        workspace: Path,
        send: Callable[[HostEvent], None],
        *,
        rules: Callable[[], RuleBook] | None = None,
        redactor: Redactor | None = None,
        audit: Callable[[dict[str, Any]], None] = lambda _: None,
        keep: Callable[[tuple[Rule, ...], Scope], None] | None = None,
    ) -> None:
        redactor = redactor if redactor is not None else Redactor({})
        self.record = DecisionRecord(session_id, send, redactor, audit)
        self._requests = ApprovalRequestMaker(
            session_id, workspace, redactor, keep is not None, lambda: self.book
        )
        self._workspace = workspace
        self._send = send
        self._keep = keep
        self._rules = rules
        self._pending: dict[str, PendingApproval] = {}
        self._changed: dict[tuple[str, str], PendingApproval] = {}
        """What stands for calls that are judged anew, by their lane and call id."""
        self._looking: set[asyncio.Task[None]] = set()

    @cached_property
    def book(self) -> RuleBook:
        """The standing rules."""
        from amplifier_tui.host.gate.rules.book import RuleBook

        return self._rules() if self._rules is not None else RuleBook()

    @property
    def waiting(self) -> tuple[str, ...]:
        """Ids of the unanswered requests, in the order of their calls."""
        return tuple(sorted(self._pending, key=lambda each: self._pending[each].question.began))

    def rules_of(self, request_id: str) -> tuple[Rule, ...]:
        """Return the rules that remembering a grant would keep; none for a request that is gone."""
        pending = self._pending.get(request_id)
        return pending.rules if pending is not None else ()

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
            description = await asyncio.to_thread(describe, question, self._workspace)
        judgement = description.judgement.with_opinion(question.risk, of_call=bool(question.tool))
        match = self.book.match(description.parts) if judged is None else None
        if match is not None and match.verdict != "ask":
            answer = _by_match(match)
            self.record.note(question, answer, judgement, scope=match.scope, rule=match.rule)
            return answer
        pending = self._put_up(question, description, judgement)
        # A rule may have been made while the gate decided.
        self._look_at(pending)
        try:
            # It may have been decided in a mode that was left since.
            await self._judge(pending)
            return replace(await pending.answer, touched=description.touched)
        except asyncio.CancelledError:
            if pending.request.request_id in self._pending:
                answer = (
                    ApprovalAnswer("timed_out", "timeout", "nobody answered in time")
                    if pending.is_late
                    else ApprovalAnswer("cancelled", "stop", STOPPED)
                )
                self._finish(pending, answer)
            self.judged_anew(question)
            raise

    def judged_anew(self, question: ApprovalQuestion) -> None:
        """A call that the user changed is decided about, or asked about again, or given up.

        Only now its request goes: no other one comes up where the user waits for this.
        """
        changed = self._changed.pop((question.lane, question.call_id), None)
        if changed is not None:
            self._tell(changed, changed.answer.result())

    def _put_up(
        self, question: ApprovalQuestion, description: Description, judgement: Judgement
    ) -> PendingApproval:
        rules = rules_to_offer(question, description, judgement, self.book)
        request_id = uuid4().hex[:12]
        changed = self._changed.get((question.lane, question.call_id))
        if changed is not None:
            question = replace(question, began=changed.question.began)
        request = self._requests.make(request_id, question, description, judgement, rules)
        answer = asyncio.get_running_loop().create_future()
        pending = PendingApproval(
            question, request, description.parts, judgement, rules, answer=answer
        )
        self._pending[request_id] = pending
        pending.start_clock(self._expire)
        self._send(request)
        self.judged_anew(question)
        return pending

    # --- answering -------------------------------------------------------------------------

    def decide(self, request_id: str, decision: Decision) -> None:
        """Take the user's answer; a request that is gone is ignored."""
        pending = self._pending.get(request_id)
        if pending is None:
            return
        if decision.expired:
            self._expire(request_id)
            return
        reason = decision.reason.strip()
        if decision.unasked:
            self._finish(pending, ApprovalAnswer("denied", "nobody", reason))
            return
        scope: Scope = decision.scope if decision.scope in pending.request.scopes else "once"
        if scope != "once":
            rules = pending.rules_to_keep(decision.allow, scope, self.book)
            self.book.add(rules)
            if scope != "session" and self._keep is not None:
                self._keep(rules, scope)
        outcome: ApprovalOutcome = "allowed" if decision.allow else "denied"
        answer = ApprovalAnswer(outcome, "user", reason, lasting=scope != "once")
        self._finish(pending, answer, scope)
        if scope != "once":
            self.look_again()

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
        del self._pending[request_id]
        pending.stop_clock()
        pending.answer.set_result(ApprovalAnswer("changed", arguments=arguments))
        self._changed[pending.question.lane, pending.question.call_id] = pending
        return ""

    def hold(self, request_id: str) -> None:
        """Stop a request's clock; it now waits for as long as it takes."""
        if (pending := self._pending.get(request_id)) is not None:
            pending.stop_clock()

    def cancel_all(self, reason: str = STOPPED, lanes: Container[str] | None = None) -> None:
        """Withdraw every request, or those of some lanes: what asked is being stopped."""
        for pending in tuple(self._pending.values()):
            if lanes is None or pending.question.lane in lanes:
                self._finish(pending, ApprovalAnswer("cancelled", "stop", reason))

    def look_again(self) -> None:
        """Answer what waits and is covered by a rule now."""
        for pending in tuple(self._pending.values()):
            self._look_at(pending)

    def _look_at(self, pending: PendingApproval) -> None:
        match = self.book.match(pending.parts)
        if match is None or match.verdict == "ask":
            return
        if match.verdict == "deny" or pending.question.judge_anew is None:
            self._finish(pending, _by_match(match), match.scope, match.rule)
        elif not pending.question.by_person:
            looking = asyncio.create_task(self._let_go(pending, match))
            self._looking.add(looking)
            looking.add_done_callback(self._looking.discard)

    async def _let_go(self, pending: PendingApproval, match: Match) -> None:
        """Answer what a rule allows, if it is what the gate goes by: others may ask before it."""
        judge = pending.question.judge_anew
        try:
            decision = await asyncio.to_thread(judge) if judge is not None else None
        except Exception:
            _log.exception("%s can't be judged again", pending.question.tool)
            return
        if decision is not None and decision.verdict == "allow" and not pending.answer.done():
            self._finish(pending, _by_match(match), match.scope, match.rule)

    async def judge_again(self) -> tuple[str, ...]:
        """Have the gate decide anew about what waits: its mode has changed.

        Returns:
            What was answered, in words.
        """
        waiting = tuple(self._pending.values())
        for pending in waiting:
            await self._judge(pending)
        # One that was just put up may have been judged in the new mode by the one who asks.
        ended = [each for each in waiting if each.answer.done() and not each.answer.cancelled()]
        answers = [(each.question.tool, each.answer.result()) for each in ended]
        judged = [(tool, answer) for tool, answer in answers if answer.by in ("mode", "rule")]
        return tuple(f"{tool} {answer.outcome}" for tool, answer in judged)

    async def _judge(self, pending: PendingApproval) -> bool:
        """Answer a request that need not be asked in the mode there is now; whether it was."""
        judge = pending.question.judge
        try:
            decision = await asyncio.to_thread(judge) if judge is not None else None
        except Exception:
            # Without a judgement it is the user who decides, as before.
            _log.exception("%s can't be judged again", pending.question.tool)
            return False
        if decision is None or decision.verdict == "ask" or pending.answer.done():
            return False
        outcome: ApprovalOutcome = "allowed" if decision.verdict == "allow" else "denied"
        by: AnsweredBy = "rule" if decision.rule else "mode"
        answer = ApprovalAnswer(outcome, by, decision.reason)
        self._finish(pending, answer, rule=decision.rule, mode=decision.mode)
        return True

    def _expire(self, request_id: str) -> None:
        pending = self._pending.get(request_id)
        if pending is not None:
            default = pending.request.default
            answer = ApprovalAnswer("timed_out", "timeout", "nobody answered in time", default)
            self._finish(pending, answer)

    def _finish(
        self,
        pending: PendingApproval,
        answer: ApprovalAnswer,
        scope: Scope = "once",
        rule: str = "",
        mode: Mode | None = None,
    ) -> None:
        self._pending.pop(pending.request.request_id, None)
        pending.stop_clock()
        self._tell(pending, answer, scope, rule, mode)
        if not pending.answer.done():
            pending.answer.set_result(answer)

    def _tell(
        self,
        pending: PendingApproval,
        answer: ApprovalAnswer,
        scope: Scope = "once",
        rule: str = "",
        mode: Mode | None = None,
    ) -> None:
        request = pending.request
        if scope != "once" and not rule:
            rule = request.rule
        self.record.note(
            pending.question,
            answer,
            pending.judgement,
            request_id=request.request_id,
            scope=scope,
            rule=rule,
            mode=mode if answer.by == "mode" else None,
            payload=request.payload,
        )


def _by_match(match: Match) -> ApprovalAnswer:
    outcome: ApprovalOutcome = "allowed" if match.verdict == "allow" else "denied"
    return ApprovalAnswer(outcome, "rule", f"by the rule {match.rule}")
