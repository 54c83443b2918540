"""What is asked of the user, and the rules and modes that answer without."""

from concurrent.futures import Future
from typing import Protocol

from amplifier_tui.base.capabilities.questions import QuestionsReply
from amplifier_tui.foundation.trust.items import TrustDecision
from amplifier_tui.host.cards import AuditCard, CallExplanation, RuleCard, SetAsideCard
from amplifier_tui.host.events import Mode, Scope
from amplifier_tui.host.requests import Decision


class PermissionClient(Protocol):
    """Answers requests, and changes what goes through unasked."""

    def decide(self, request_id: str, decision: Decision) -> None:
        """Answer an approval request; a request that is gone is ignored."""

    def answer_questions(self, request_id: str, reply: QuestionsReply) -> None:
        """Answer a `QuestionsAsked`, or decline to; one that is gone is ignored.

        Leads to `QuestionsResolved`. A front end that can't ask anybody says `unavailable`.
        """

    def answer_trust(self, request_id: str, decision: TrustDecision) -> None:
        """Answer a `TrustAsked`; one that is gone is ignored."""

    def set_mode(self, mode: Mode) -> None:
        """Change what goes through unasked; holds where the conversation goes on, too.

        Leads to `ModeChanged`, and to `ApprovalResolved` for what need not be asked any more.
        """

    def carry_out(self, mode: Mode) -> None:
        """Leave the plan mode for another one and have the agent do what it proposed.

        Leads to `ModeChanged` and `TurnStarted`, or to a `Notice` where there is no plan.
        """

    def ask_trust_again(self, *, shown: bool = False) -> None:
        """Forget what was refused when the session was opened, and open its bundle anew.

        Where another could not be opened since, for what was refused of it, or none is open, that
        one is opened again.

        Args:
            shown: The session on screen is meant, whatever was tried since.
        """

    def call_arguments(self, request_id: str) -> "Future[str]":
        """Return the arguments of the call a request is about, as JSON; empty when it is gone."""

    def change_call(self, request_id: str, arguments: str) -> "Future[str]":
        """Answer a request with other arguments, as JSON: a new call that is judged anew.

        Leads to `ApprovalResolved` when the new call is decided about. What is asked about it comes
        before that, and has the place of what it was.

        Returns:
            What is wrong with them, the request waiting on; empty when they were taken.
        """

    def whole_diff(self, diff: str, *, made: bool) -> "Future[str]":
        """Return a diff with all lines of its files around the changes.

        Args:
            made: The change was made already.

        Raises:
            ValueError: Its files have changed since, or cannot be read; the message says which.
        """

    def hold(self, request_id: str) -> None:
        """Stop a request's clock: the user is reading it."""

    def rule_reach(self, request_id: str) -> "Future[int]":
        """Count the calls of the last 30 days that a request's rule would also have allowed."""

    def rules(self) -> "Future[tuple[RuleCard, ...]]":
        """List the rules that hold in the session, and what is wrong with their files."""

    def add_rule(self, line: str, scope: Scope) -> "Future[str]":
        """Add a rule, and write it down where it holds longer than the session.

        Args:
            line: Its text, with `ask` or `deny` before it where it does not allow.
            scope: `session`, `project` or `always`.

        Returns:
            What is wrong with it, with the column, or why it can't be kept; else nothing.
        """

    def change_rule(self, key: str, line: str) -> "Future[str]":
        """Put another rule in place of one; see `add_rule`."""

    def remove_rule(self, key: str) -> "Future[str]":
        """Take a rule out of force, and out of its file; returns why that is not possible."""

    def explain_call(self, text: str) -> "Future[CallExplanation]":
        """Say what would happen to a call.

        The future raises `ValueError` for a text that is no call.

        Args:
            text: A command line, or `tool(arguments)` as in a rule.
        """

    def audit(self) -> "Future[tuple[AuditCard, ...]]":
        """List what was decided in the project in the last 30 days, the newest first."""

    def set_aside(self) -> "Future[tuple[SetAsideCard, ...]]":
        """List what was moved aside in this folder, as commands in the sandbox may have made it.

        The newest first; what the user has moved away is not listed.
        """

    def put_back(self, key: str) -> "Future[str]":
        """Move something that was moved aside back to where it was: from now on it is the user's.

        Args:
            key: As in `SetAsideCard`.

        Returns:
            Why that is not possible, one sentence; empty where it was done.
        """
