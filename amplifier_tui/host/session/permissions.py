"""What may run without a question, for the user: rules listed and changed, calls explained."""

from __future__ import annotations

import asyncio
import hashlib
from collections.abc import Callable, Collection, Iterator
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Final

from amplifier_tui.host.cards import RuleOwner
from amplifier_tui.host.client import AuditCard, CallExplanation, RuleCard
from amplifier_tui.host.events import Scope
from amplifier_tui.host.gate.approvals.queue import ApprovalQueue
from amplifier_tui.host.gate.gate import Gate
from amplifier_tui.host.gate.session_gate import SessionGate
from amplifier_tui.host.redaction import Redactor
from amplifier_tui.host.session.places.workspaces import is_scratch

if TYPE_CHECKING:
    from amplifier_tui.host.gate.rules.text import Rule

# What reads rules, commands and audits takes longer to import than a session to open: it is
# imported where it is used, in a thread.

GONE: Final = "This rule is gone: it was changed elsewhere."
MASKED: Final = "A secret of it is not shown here: change it in its file."


class Permissions:
    """The rules of a session, and what was decided.

    Args:
        project: The folder whose rules hold: where it works in a copy of a bundle's, that.
        audited: The folder in whose sessions decisions are looked up.
        trusted: The texts of those of the project's own rules that may allow.
        main: What stands before the session's tools, once it is there.
        session_id: Whose rules they are.
    """

    def __init__(
        self,
        gate: Gate,
        approvals: ApprovalQueue,
        project: Path,
        audited: Path,
        trusted: Collection[str],
        redactor: Redactor,
        main: Callable[[], SessionGate | None],
        session_id: str,
    ) -> None:
        self._gate = gate
        self._approvals = approvals
        self._project = project
        self._audited = audited
        self._trusted = trusted
        self._redactor = redactor
        self._main = main
        self._session_id = session_id
        self._removed: dict[str, Rule] = {}
        """Rules that were taken out, by the line that shows them; that may hide a secret."""

    async def rules(self) -> tuple[RuleCard, ...]:
        """Return the rules that hold here, those of the session first, and what holds not."""
        return await asyncio.to_thread(lambda: tuple(self._cards()))

    def _cards(self) -> Iterator[RuleCard]:
        from amplifier_tui.host.gate.audit import read_audit, uses

        self._gate.book.refresh()
        audit = read_audit(None)
        order: tuple[Scope, ...] = ("session", "project", "always")
        rules = (*self._gate.book.rules, *self._gate.asked_by_hook)
        for rule in sorted(rules, key=lambda rule: (rule.planned, order.index(rule.scope))):
            card = self._card(rule)
            count, last = uses(audit, card, self._audited, self._session_id)
            yield replace(card, uses=count, last_use=last)
        yield from self._that_do_not_count()

    def _card(self, rule: Rule) -> RuleCard:
        from amplifier_tui.host.gate.rules.file import project_rules_path

        theirs = rule.origin.startswith(f"{project_rules_path(self._project)}:")
        mine = not rule.planned and not theirs
        owner: RuleOwner = "session" if rule.scope == "session" else "user"
        main = self._main()
        doubt = rule.doubt(main.tools if main is not None else ())
        return RuleCard(
            key=_key(rule),
            text=self._redactor.text(str(rule)),
            meaning=self._redactor.text(doubt or rule.meaning),
            verdict=rule.verdict,
            scope=rule.scope,
            owner="bundle" if rule.planned else "project" if theirs else owner,
            where=rule.where,
            editable=mine,
            doubtful=bool(doubt),
        )

    def _that_do_not_count(self) -> Iterator[RuleCard]:
        """Yield what the project allows and the user did not let, and what can't be read."""
        from amplifier_tui.host.gate.rules.file import (
            load_rules,
            project_rules_path,
            read_rules,
        )

        for rule in read_rules(project_rules_path(self._project), None)[0]:
            if rule.verdict == "allow" and str(rule) not in self._trusted:
                problem = "it does not count: the project wrote it, and you did not let it"
                yield replace(self._card(rule), problem=problem, editable=False)
        problems = (wrong for wrong in load_rules(self._project)[1] if wrong.rule is None)
        for number, wrong in enumerate(problems):
            where = f"{wrong.path}:{wrong.line}:{wrong.column}" if wrong.line else str(wrong.path)
            yield RuleCard(key=f"problem {number}", where=where, problem=wrong.message)

    async def add(self, line: str, scope: Scope) -> str:
        """Add a rule; return what is wrong with it, or why it is not kept."""
        return await self._added(line, scope)

    async def _added(self, line: str, scope: Scope, root: Path | None = None) -> str:
        problem = await asyncio.to_thread(self._add, line, scope, root)
        if not problem:
            self._approvals.look_again()
        return problem

    def _add(self, line: str, scope: Scope, root: Path | None) -> str:
        from amplifier_tui.host.gate.rules.file import RulesFileError, add_rules, user_rules_path
        from amplifier_tui.host.gate.rules.text import RuleError, read_rule_line

        if scope == "project" and is_scratch(self._project):
            # The copy of a bundle's goes with its session: no other one works there.
            scope = "session"
        try:
            removed = self._removed.get(line)
            rule = replace(removed, scope=scope, origin="") if removed else None
            rule = rule or read_rule_line(line, scope=scope, root=root)
            if scope != "session":
                add_rules(user_rules_path(), (rule,), self._part(rule))
        except RuleError as error:
            return f"Column {error.column}: {error}."
        except (OSError, RulesFileError) as error:
            return str(error)
        if scope == "session":
            self._gate.book.add((rule,))
        self._gate.book.refresh()
        return ""

    async def change(self, key: str, line: str) -> str:
        """Put another rule in place of one; return why that is not possible."""
        rule = self._rule(key)
        if rule is None:
            return GONE
        if self._redactor.text(str(rule)) != str(rule):
            return MASKED
        problem = await self._added(line, rule.scope, rule.root)
        if problem or self._rule(key) is None or self._same(line, rule):
            return problem
        return await self.remove(key)

    def _same(self, line: str, rule: Rule) -> bool:
        from amplifier_tui.host.gate.rules.text import read_rule_line

        written = read_rule_line(line)
        return (written.verdict, str(written)) == (rule.verdict, str(rule))

    async def remove(self, key: str) -> str:
        """Take a rule out of force and out of its file; return why that is not possible."""
        rule = self._rule(key)
        if rule is None:
            return GONE
        if rule.scope != "session":
            problem = await asyncio.to_thread(self._unwrite, rule)
            if problem:
                return problem
        self._gate.book.remove(rule)
        self._removed[self._redactor.text(f"{rule.verdict} {rule}")] = rule
        return ""

    def _unwrite(self, rule: Rule) -> str:
        from amplifier_tui.host.gate.rules.file import RulesFileError, remove_rule, user_rules_path

        try:
            path, part = user_rules_path(), self._part(rule)
            there = remove_rule(path, str(rule), part, rule.verdict)
        except (OSError, RulesFileError) as error:
            return str(error)
        return "" if there else GONE

    def _part(self, rule: Rule) -> Path | None:
        return rule.root or (self._project if rule.scope == "project" else None)

    def _rule(self, key: str) -> Rule | None:
        found = (rule for rule in self._gate.book.rules if _key(rule) == key)
        return next((rule for rule in found if self._card(rule).editable), None)

    async def explain(self, text: str) -> CallExplanation:
        """Say what happens to a call.

        Raises:
            ValueError: The text is no call.
        """
        return await asyncio.to_thread(self._explain, text)

    def _explain(self, text: str) -> CallExplanation:
        from amplifier_tui.host.gate.audit import read_audit
        from amplifier_tui.host.gate.explain import explain, read_call

        main, past = self._main(), read_audit(self._audited)
        tool, arguments = read_call(text, main.tools if main is not None else ())
        if main is None:
            found = explain(self._gate, tool, arguments, past)
        else:
            judging = (main.confines, main.unless_refused)
            found = explain(self._gate, tool, arguments, past, *judging)
        return replace(found, arguments=self._redactor.fields(arguments))

    async def audit(self) -> tuple[AuditCard, ...]:
        """Return what was decided in the project in the last 30 days, the newest first."""
        from amplifier_tui.host.gate.audit import read_audit

        return tuple(await asyncio.to_thread(read_audit, self._audited))

    async def reach(self, request_id: str) -> int:
        """Count the calls of the last 30 days that a request's rules would also have allowed."""
        rules = self._approvals.rules_of(request_id)
        return await asyncio.to_thread(partial(self._reach, rules)) if rules else 0

    def _reach(self, rules: tuple[Rule, ...]) -> int:
        from amplifier_tui.host.gate.audit import read_audit
        from amplifier_tui.host.gate.explain import reach

        return reach(self._gate, rules, read_audit(self._audited))


def _key(rule: Rule) -> str:
    text = f"{rule.scope} {rule.verdict} {rule.planned} {rule.root} {rule}"
    return hashlib.sha256(text.encode()).hexdigest()[:16]
