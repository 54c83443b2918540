"""What the user is shown of a question, its secrets taken out."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from time import time
from typing import TYPE_CHECKING, Final

from amplifier_tui.base.lazy.dataclass import dataclass
from amplifier_tui.host.events import ApprovalRequested, Scope, Segment
from amplifier_tui.host.gate.approvals.question import ApprovalQuestion, Default
from amplifier_tui.host.redaction import Redactor

if TYPE_CHECKING:
    from amplifier_tui.host.gate.approvals.describe import Description
    from amplifier_tui.host.gate.risk import Judgement
    from amplifier_tui.host.gate.rules.book import RuleBook
    from amplifier_tui.host.gate.rules.matching import Part
    from amplifier_tui.host.gate.rules.text import Rule

_USUAL_OPTIONS: Final = frozenset({"allow", "allow once", "allow always", "deny"})


def describe(question: ApprovalQuestion, workspace: Path) -> Description:
    """Describe what a question is about that the gate has not looked at; not for an event loop."""
    from amplifier_tui.host.gate.approvals.describe import describe_call, describe_question

    if question.tool:
        return describe_call(question.tool, question.arguments, workspace)
    return describe_question(question.asker, question.prompt)


def rules_to_offer(
    question: ApprovalQuestion, description: Description, judgement: Judgement, book: RuleBook
) -> tuple[Rule, ...]:
    """Return the rules that remembering a grant would keep; none where it must not be."""
    from amplifier_tui.host.gate.rules.book import RuleBook, propose

    once = description.unclear or not description.complete
    if question.by_person or judgement.risk == "critical" or once:
        return ()
    # Rules that cover it are no answer to that, one for this session is.
    rules = propose(description.parts, book) or (
        propose(description.parts, RuleBook()) if question.lends else ()
    )
    found = RuleBook((*book.rules, *rules)).match(description.parts)
    # What would be asked about all the same the next time is not offered.
    return rules if found is not None and found.verdict == "allow" else ()


@dataclass(frozen=True, slots=True)
class ApprovalRequestMaker:
    """Makes the requests of one session.

    Attributes:
        workspace: Its working directory, absolute.
        keeps: Rules can be written down that hold longer than the session.
        book: Returns the standing rules.
    """

    session_id: str
    workspace: Path
    redactor: Redactor
    keeps: bool
    book: Callable[[], RuleBook]

    def make(
        self,
        request_id: str,
        question: ApprovalQuestion,
        description: Description,
        judgement: Judgement,
        rules: tuple[Rule, ...],
    ) -> ApprovalRequested:
        """Return the request; `rules` are those that may be remembered."""
        from amplifier_tui.host.gate.gate import OUTSIDE_SANDBOX
        from amplifier_tui.host.gate.risk import severity
        from amplifier_tui.host.gate.rules.file import user_rules_path
        from amplifier_tui.host.gate.rules.near import nearly
        from amplifier_tui.host.gate.rules.text import rule_words

        risky = severity(judgement.risk) >= severity("high")
        default: Default = "deny" if risky else question.default
        own_options = {option.casefold() for option in question.options} - _USUAL_OPTIONS
        text, scopes = self.redactor.text, self._scopes(question, description, rules)
        is_command = description.kind == "command"
        leaves = bool(question.arguments.get(OUTSIDE_SANDBOX)) and is_command
        # In the head, which is on the screen at every size.
        action = f"{question.tool} wants to leave the sandbox" if leaves else description.action
        # A reason that says so says why, too.
        told = leaves or (question.pressing and "the sandbox" in question.why)
        return ApprovalRequested(
            session_id=self.session_id,
            agent=question.lane,
            at=time(),
            request_id=request_id,
            call_id=question.call_id,
            tool=question.tool,
            event=question.event,
            asker=question.asker,
            action=text(action),
            prompt=text(question.prompt),
            payload=text(description.payload),
            payload_kind=description.payload_kind,
            segments=self._segments(description),
            diff=text(description.diff),
            problem=text(description.problem),
            risk=judgement.risk,
            reasons=_reasons(judgement, text(question.why) if question.pressing else ""),
            cwd=description.cwd or str(self.workspace),
            paths=tuple(place.shown for place in judgement.places),
            outside=judgement.outside,
            why=text(question.why),
            options=question.options if own_options else (),
            timeout=question.timeout,
            began=question.began,
            default=default,
            unconfined=question.leaves and is_command and not told,
            scopes=scopes,
            kept_in=str(user_rules_path()) if "always" in scopes else "",
            rule=text(rule_words(rules)),
            near="" if question.by_person else text(nearly(description.parts, self.book())),
            network=question.network and bool(rules),
            meaning=text("; ".join(dict.fromkeys(rule.meaning for rule in rules))),
            # What is masked on the screen must not be written back as its mask.
            editable=question.schema is not None
            and self.redactor.fields(question.arguments) == question.arguments,
        )

    def _scopes(
        self, question: ApprovalQuestion, description: Description, rules: tuple[Rule, ...]
    ) -> tuple[Scope, ...]:
        if not rules:
            return ("once",)
        if question.lends:
            # Longer no rule answers what else would have the network.
            return ("once", "session")
        # What is risky or elsewhere is allowed for this session at most.
        longer = self.keeps and description.judgement.can_be_kept
        if longer and not any(rule.asker for rule in rules):
            return ("once", "session", "project", "always")
        return ("once", "session")

    def _segments(self, description: Description) -> tuple[Segment, ...]:
        commands = [part for part in description.parts if part.kind == "command"]
        if len(commands) < 2:
            return ()
        return tuple(self._segment(part) for part in commands)

    def _segment(self, part: Part) -> Segment:
        from amplifier_tui.host.gate.rules.matching import exact_text

        rule = self.book().rule_for(part)
        if rule is not None:
            note = f"allowed by rule {rule}"
        else:
            note = " · ".join(("no rule", *part.judgement.reasons))
        text = self.redactor.text
        # A rule for it may have to repeat all that is around it; the row is the command itself.
        own = part.text if part.command is None else exact_text(part.command)
        return Segment(
            text=text(own),
            note=text(note),
            allowed=rule is not None,
            risk=part.judgement.risk,
        )


def _reasons(judgement: Judgement, why: str) -> tuple[str, ...]:
    """Return what is risky about a call and `why` it is asked about, neither of them twice."""
    reasons = judgement.reasons
    if not why or {*why.removeprefix("it ").split(" and ")} <= {*reasons}:
        return reasons
    return (*(reason for reason in reasons if reason not in why), why)
