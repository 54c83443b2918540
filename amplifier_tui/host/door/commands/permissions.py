"""What waits for the user's answer, and the rules that answer in place of the user."""

from amplifier_tui.host.client import AuditCard, CallExplanation, Decision, QuestionsReply, RuleCard
from amplifier_tui.host.door.commands.holder import SessionHolder
from amplifier_tui.host.events import Scope
from amplifier_tui.host.session.permissions import Permissions


class PermissionCommands(SessionHolder):
    """Passes on answers and rules to the open session."""

    async def decide(self, request_id: str, decision: Decision) -> None:
        """Answer an approval request."""
        if self._live is not None:
            self._live.approvals.decide(request_id, decision)

    async def answer_questions(self, request_id: str, reply: QuestionsReply) -> None:
        """Answer what an agent asks."""
        if self._live is not None:
            self._live.questions.answer(request_id, reply)

    async def call_arguments(self, request_id: str) -> str:
        """Return the arguments of a call that waits, as JSON."""
        return self._live.approvals.arguments(request_id) if self._live is not None else ""

    async def change_call(self, request_id: str, arguments: str) -> str:
        """Put other arguments in place of a call's; return what is wrong with them."""
        if self._live is None:
            return self._missing
        return self._live.approvals.change(request_id, arguments)

    @property
    def _permissions(self) -> Permissions:
        return self._session.gating.permissions

    async def rule_reach(self, request_id: str) -> int:
        """Count the calls a request's rule would also have allowed."""
        return await self._permissions.reach(request_id) if self._live is not None else 0

    async def rules(self) -> tuple[RuleCard, ...]:
        """List the rules."""
        return await self._permissions.rules()

    async def add_rule(self, line: str, scope: Scope) -> str:
        """Add a rule; return what is wrong with it."""
        return await self._permissions.add(line, scope)

    async def change_rule(self, key: str, line: str) -> str:
        """Put another rule in place of one; return what is wrong with it."""
        return await self._permissions.change(key, line)

    async def remove_rule(self, key: str) -> str:
        """Take a rule out of force; return why that is not possible."""
        return await self._permissions.remove(key)

    async def explain_call(self, text: str) -> CallExplanation:
        """Say what would happen to a call."""
        return await self._permissions.explain(text)

    async def audit(self) -> tuple[AuditCard, ...]:
        """List what was decided."""
        return await self._permissions.audit()

    async def hold(self, request_id: str) -> None:
        """Stop the clock of an approval request."""
        if self._live is not None:
            self._live.approvals.hold(request_id)
