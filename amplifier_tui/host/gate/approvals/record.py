"""What is told and noted of every decision about a call, whoever made it."""

from __future__ import annotations

from collections.abc import Callable
from time import time
from typing import TYPE_CHECKING, Any
from uuid import uuid4

from amplifier_tui.host.events import ApprovalResolved, HostEvent, Mode, Scope
from amplifier_tui.host.gate.approvals.question import ApprovalAnswer, ApprovalQuestion
from amplifier_tui.host.redaction import Redactor

if TYPE_CHECKING:
    from amplifier_tui.host.gate.risk import Judgement


class DecisionRecord:
    """Writes the audit of one session, and tells the front end of every decision.

    Args:
        session_id: Whose decisions they are.
        send: Takes events on their way up.
        redactor: Keeps secrets out of what goes up.
        audit: Writes a line of the audit file.
    """

    def __init__(
        self,
        session_id: str,
        send: Callable[[HostEvent], None],
        redactor: Redactor,
        audit: Callable[[dict[str, Any]], None] = lambda _: None,
    ) -> None:
        self.on_resolved: Callable[[ApprovalQuestion, ApprovalAnswer], None] = lambda *_: None
        """Told of every answer before the asker gets it."""
        self._session_id = session_id
        self._send = send
        self._redactor = redactor
        self._audit = audit

    def note(
        self,
        question: ApprovalQuestion,
        answer: ApprovalAnswer,
        judgement: Judgement,
        *,
        request_id: str = "",
        scope: Scope = "once",
        rule: str = "",
        mode: Mode | None = None,
        payload: str = "",
        wanted: str = "",
    ) -> None:
        """Note an answer.

        Args:
            judgement: How risky it was found to be.
            request_id: Of the request the user saw; empty where nobody was asked.
            scope: How long the answer holds.
            rule: The rules that gave it, or that were kept of it.
            mode: The mode that gave it.
            payload: What the user saw.
            wanted: What was refused where nobody was asked.
        """
        # The kernel is told that the time is up, and goes by the default; here counts what that is.
        resolved = ApprovalResolved(
            session_id=self._session_id,
            agent=question.lane,
            at=time(),
            request_id=request_id or uuid4().hex[:12],
            outcome="allowed" if answer.by_default else answer.outcome,
            by=answer.by,
            scope=scope,
            reason=self._redactor.text(answer.reason),
            call_id=question.call_id,
            tool=question.tool,
            rule=self._redactor.text(rule),
            mode=mode,
            wanted=self._redactor.text(wanted),
        )
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
        self.on_resolved(question, answer)
        self._send(resolved)
