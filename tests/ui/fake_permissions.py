"""What a scripted session answers of rules and of calls that wait."""

from concurrent.futures import Future
from dataclasses import dataclass, field
from typing import Any

from amplifier_tui.host.client import (
    AuditCard,
    CallExplanation,
    RuleCard,
)
from amplifier_tui.host.events import (
    Scope,
)
from tests.ui.fake_imported import answer, done


@dataclass
class FakePermissions:
    """Implements most of `PermissionClient`.

    Attributes:
        calls: Every call with its arguments, in order.
        arguments: What `call_arguments` answers.
        wrong: What `change_call`, `add_rule` and `change_rule` answer.
        whole: What `whole_diff` answers; an exception makes it fail.
        reach: What `rule_reach` answers; an exception makes it fail.
        standing: What `rules` answers; an exception makes it fail.
        explained: What `explain_call` answers; an exception makes it fail.
        audited: What `audit` answers; an exception makes it fail.
    """

    calls: list[tuple[Any, ...]] = field(default_factory=list)
    arguments: str | Exception = '{"command": "rm -rf build"}'
    wrong: str | Exception = ""
    whole: str | Exception = ""
    reach: int | Exception = 0
    standing: tuple[RuleCard, ...] | Exception = ()
    explained: CallExplanation | Exception = field(
        default_factory=lambda: CallExplanation(tool="bash")
    )
    audited: tuple[AuditCard, ...] | Exception = ()

    def call_arguments(self, request_id: str) -> Future[str]:
        self.calls.append(("call_arguments", request_id))
        return answer(self.arguments)

    def change_call(self, request_id: str, arguments: str) -> Future[str]:
        self.calls.append(("change_call", request_id, arguments))
        return answer(self.wrong)

    def rule_reach(self, request_id: str) -> Future[int]:
        self.calls.append(("rule_reach", request_id))
        return answer(self.reach)

    def rules(self) -> Future[tuple[RuleCard, ...]]:
        self.calls.append(("rules",))
        return answer(self.standing)

    def add_rule(self, line: str, scope: Scope) -> Future[str]:
        self.calls.append(("add_rule", line, scope))
        return done(self.wrong)

    def change_rule(self, key: str, line: str) -> Future[str]:
        self.calls.append(("change_rule", key, line))
        return done(self.wrong)

    def remove_rule(self, key: str) -> Future[str]:
        self.calls.append(("remove_rule", key))
        return done("")

    def explain_call(self, text: str) -> Future[CallExplanation]:
        self.calls.append(("explain_call", text))
        return answer(self.explained)

    def audit(self) -> Future[tuple[AuditCard, ...]]:
        self.calls.append(("audit",))
        return answer(self.audited)

    def whole_diff(self, diff: str, *, made: bool) -> Future[str]:
        self.calls.append(("whole_diff", diff, made))
        return answer(self.whole)

    def hold(self, request_id: str) -> None:
        self.calls.append(("hold", request_id))
