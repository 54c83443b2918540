"""What waits for the user's answer, and the rules that answer in place of the user."""

from amplifier_tui.host.door.commands.holder import SessionHolder
from amplifier_tui.host.door.commands.passing import asked, told
from amplifier_tui.host.gate.approvals.queue import ApprovalQueue
from amplifier_tui.host.questions import UserQuestions
from amplifier_tui.host.session.permissions import Permissions


class PermissionCommands(SessionHolder):
    """Passes on answers and rules to the open session."""

    decide = told(ApprovalQueue.decide, lambda live: live.approvals, quiet=True)
    hold = told(ApprovalQueue.hold, lambda live: live.approvals, quiet=True)
    answer_questions = told(UserQuestions.answer, lambda live: live.questions, quiet=True)
    rules = asked(Permissions.rules, lambda live: live.gating.permissions)
    add_rule = asked(Permissions.add, lambda live: live.gating.permissions)
    change_rule = asked(Permissions.change, lambda live: live.gating.permissions)
    remove_rule = asked(Permissions.remove, lambda live: live.gating.permissions)
    explain_call = asked(Permissions.explain, lambda live: live.gating.permissions)
    audit = asked(Permissions.audit, lambda live: live.gating.permissions)

    async def call_arguments(self, request_id: str) -> str:
        """Return the arguments of a call that waits, as JSON."""
        return self._live.approvals.arguments(request_id) if self._live is not None else ""

    async def change_call(self, request_id: str, arguments: str) -> str:
        """Put other arguments in place of a call's; return what is wrong with them."""
        if self._live is None:
            return self._missing
        return self._live.approvals.change(request_id, arguments)

    async def rule_reach(self, request_id: str) -> int:
        """Count the calls a request's rule would also have allowed."""
        return await self._live.gating.permissions.reach(request_id) if self._live else 0
