"""The gate of a session and its sandbox: from plan, rules and settings, changed by the user."""

from __future__ import annotations

import asyncio
from collections.abc import Collection, Mapping
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from amplifier_tui.base.capabilities.client_files import ClientFiles
from amplifier_tui.base.commands.programs import keep_out
from amplifier_tui.base.commands.sandbox import sandbox_problem
from amplifier_tui.base.tool_names import in_brackets, is_known_tool
from amplifier_tui.foundation.settings.settings import Scope as SettingsScope
from amplifier_tui.foundation.settings.settings import SettingsProblem
from amplifier_tui.foundation.workspace import Workspace
from amplifier_tui.host.events import (
    MAIN_LANE,
    AnsweredBy,
    ApprovalOutcome,
    Level,
    Mode,
    ModeChanged,
    Scope,
)
from amplifier_tui.host.events.turn import wanted_of
from amplifier_tui.host.gate.approvals.question import ApprovalAnswer, ApprovalQuestion
from amplifier_tui.host.gate.approvals.queue import ApprovalQueue
from amplifier_tui.host.gate.calls.guarded import Execute, run_tool
from amplifier_tui.host.gate.calls.result_limit import bounded
from amplifier_tui.host.gate.gate import Gate, GateDecision
from amplifier_tui.host.gate.modes import read_policy
from amplifier_tui.host.gate.seen import SeenFiles
from amplifier_tui.host.gate.session_gate import SessionGate
from amplifier_tui.host.session.permissions import Permissions
from amplifier_tui.host.session.places.set_aside import SetAsideFiles, aside_folder
from amplifier_tui.host.session.places.workspaces import is_scratch
from amplifier_tui.host.stream.sender import Sender
from amplifier_tui.host.turns.abandoned import is_abandoned
from amplifier_tui.kernel.session.grant import SandboxTerms
from amplifier_tui.paths import amplifier_home, user_config_dir, user_log_dir, user_state_dir

if TYPE_CHECKING:
    from amplifier_tui.host.gate.rules.book import RuleBook
    from amplifier_tui.host.gate.rules.file import RuleProblem
    from amplifier_tui.host.gate.rules.text import Rule

_RULES_AFTER: Final = 0.3
"""Seconds after which an open session reads its rules unasked."""
_ENDS: Final = "What was allowed for this session alone is asked about again when it is resumed"


class Gating:
    """The gate of a session and its sub-agents.

    Args:
        project: The user's folder; `workspace` may be a scratch one.
        mode: The mode the user wants; None for the plan's.
        left_in: The mode in which a session that is opened again was left; it holds on.
        confined: Commands run in a sandbox, where there is one.
        trusted: The texts of those of the project's own rules that may allow.
        execute: Gives the result of a call that may run.
        client_files: The text files as the front end has them.

    Attributes:
        gate: Decides.
        approvals: The questions.
        permissions: The rules, for the user.
        set_aside: What was moved aside, for the user.
        main: Stands before the tools of the session itself.
    """

    def __init__(
        self,
        plan: Mapping[str, Any],
        bundle: str,
        project: Path,
        workspace: Path,
        sender: Sender,
        mode: Mode | None = None,
        *,
        left_in: Mode | None = None,
        confined: bool = True,
        trusted: Collection[str] = (),
        execute: Execute = run_tool,
        client_files: ClientFiles | None = None,
    ) -> None:
        # What is granted for a copy of a bundle's must not hold in the user's own project, nor what
        # is granted for that in the copy.
        keep_out(workspace)
        scratch = is_scratch(workspace)
        self._sender = sender
        self._project = workspace if scratch else project
        self._sandbox = self._uncopied = ""
        self._lost = ""
        """Why rules of the bundle or the session may be missing."""
        self._unkept: set[Rule] = set()
        self._wrong: set[tuple[str, str]] = set()
        self._allowing = False
        self._loop = asyncio.get_running_loop()
        self.main: SessionGate | None = None
        policy = read_policy(plan, bundle)
        self._policy = policy
        self._trusted = () if scratch else trusted
        self._execute = execute
        self._bundle = bundle
        own = mode or policy.mode
        carried = left_in not in (None, own)
        self._by = "session" if carried else "user" if mode else policy.by
        self.gate = Gate(
            workspace,
            self._load,
            left_in or own,
            careful=policy.careful,
            timeout=policy.timeout,
            sandbox=sandbox_problem if confined else lambda: "it is switched off in the settings",
            seen=SeenFiles(client_files),
        )
        sender.store.metadata.mode = self.gate.mode
        self.approvals = ApprovalQueue(
            sender.session_id,
            workspace,
            sender.send,
            rules=lambda: self.gate.book,
            redactor=sender.redactor,
            audit=sender.store.audit,
            keep=None if scratch else self._keep,
        )
        self.permissions = Permissions(
            *(self.gate, self.approvals, self._project, project, self._trusted, sender.redactor),
            *(lambda: self.main, sender.session_id),
        )
        self.set_aside = SetAsideFiles(workspace, sender.redactor)

    def before(self, lane: str = MAIN_LANE) -> SessionGate:
        """Return the gate before the tools of the session, or of a sub-agent."""

        async def bound(result: Any) -> Any:
            return await bounded(result, self._sender.store.folder, self._sender.redactor)

        def refused(tool: str, who: str) -> None:
            text = f"{who} tried to run {tool} without a decision about it; it was not run"
            self._sender.notice("error", text, "gate", lane)

        def wrong(who: str, problem: str, known: str) -> None:
            # A tool that answers so does it again at each call, and so does a hook.
            if (who, known) not in self._wrong:
                self._wrong.add((who, known))
                self._sender.notice("warning", problem, who, lane)

        made = SessionGate(
            self.gate,
            lane,
            refused=refused,
            decided=self._decided,
            bound=bound,
            execute=self._execute,
            wrong=wrong,
        )
        if lane == MAIN_LANE:
            self.main = made
        return made

    def turn_over(self) -> None:
        """A turn has ended; see `SessionGate.turn_over`."""
        if self.main is not None:
            self.main.turn_over()

    def announce_soon(self) -> asyncio.Task[None]:
        """Say which mode is applied; read the rules, and say what is wrong with them.

        What the machine offers is looked up first, and nothing waits for it. The session's end
        cancels it.
        """
        return asyncio.create_task(self._announce())

    async def _announce(self) -> None:
        self._sandbox = await asyncio.to_thread(self.gate.sandbox)
        self._send_mode()
        for problem in self._policy.problems:
            self._sender.notice("warning", problem, "rules")
        # The screen comes first; a call that is judged sooner reads the rules itself.
        await asyncio.sleep(_RULES_AFTER)
        await asyncio.to_thread(lambda: self.gate.book)
        self._uncopied = await asyncio.to_thread(self.gate.uncopied)
        if self._uncopied:
            self._send_mode()

    def _load(self) -> RuleBook:
        """Read the rules, in a thread."""
        from amplifier_tui.host.gate.rules.book import RuleBook
        from amplifier_tui.host.gate.rules.file import ALL_ASKS, RuleFiles, not_counting
        from amplifier_tui.host.gate.rules.text import Rule, RuleError, planned_rule

        files = RuleFiles(self._project, self._trusted, self._rules_read)
        rules, asked = list(files.read() or ()), list[Rule]()
        for verdict, text in self._policy.rules:
            by_hook = verdict == "ask" and not in_brackets(text)
            try:
                (asked if by_hook else rules).append(planned_rule(text, verdict, self._bundle))
            except RuleError as error:
                cost = "" if verdict == "allow" else f"; until it is corrected {ALL_ASKS}"
                self._warn(f"`{verdict}` of hooks-approval: {text!r} is no rule: {error}{cost}")
                # Who wrote it meant something: nearly everything asks until it is corrected.
                self.gate.careful = True
                if cost:
                    self._may_be_lost("a rule of hooks-approval can't be read, and may deny this")
        self.gate.asked_by_hook = tuple(asked)
        for rule in (each for each in (*rules, *asked) if each.planned):
            # The module itself tells of the other names.
            if is_known_tool(rule.tool) and (why := rule.doubt(self._tools)):
                self._warn(f"`{rule.verdict}` of hooks-approval: {rule}: {why}")
        for line in not_counting(self._project):
            self._say("info", line)
        book = RuleBook((*rules, *self._of_session()), files.read)
        book.changed = partial(self._loop.call_soon_threadsafe, self._rules_changed, book)
        return book

    def _of_session(self) -> list[Rule]:
        """Return the rules that the session was left with."""
        from amplifier_tui.host.gate.rules.file import ALL_ASKS
        from amplifier_tui.host.gate.rules.of_session import read_stored

        try:
            return read_stored(self._sender.store.metadata.rules)
        except (TypeError, ValueError) as error:
            self._warn(f"The rules of this session can't be read ({error}): {ALL_ASKS}")
            self._may_be_lost("a rule of this session can't be read, and may deny this")
            return []

    def _rules_changed(self, book: RuleBook) -> None:
        """Keep what the session's own rules deny and ask about for as long as there is it."""
        from amplifier_tui.host.gate.rules.of_session import as_stored, go_along

        own = (rule for rule in book.rules if rule.scope == "session" and not rule.planned)
        self._allowing = any(rule.verdict == "allow" for rule in own)
        store, mask = self._sender.store, self._sender.redactor.text
        rules = go_along(book.rules)
        secret = [rule for rule in rules if mask(rule.inside) != rule.inside]
        for rule in secret:
            if rule not in self._unkept:
                self._unkept.add(rule)
                text = f"{rule.verdict} {rule} holds until the session is closed"
                self._sender.notice("warning", f"{text}: a secret in it is not stored", "rules")
        kept = as_stored(rule for rule in rules if rule not in secret)
        if kept != store.metadata.rules:
            store.metadata.rules = kept
            store.save_metadata()

    @property
    def ends(self) -> str:
        """What does not hold when the session is opened again, as a sentence; empty for nothing."""
        return _ENDS if self._allowing else ""

    def _may_be_lost(self, why: str) -> None:
        self._lost = why
        self.gate.unread = self.gate.unread or why

    def _rules_read(self, problems: tuple[RuleProblem, ...]) -> None:
        """Say what is wrong with the files of rules; called in a thread."""
        lost = dict.fromkeys(problem.path.name for problem in problems if problem.restricts)
        words = f"{' and '.join(lost)} can't be read wholly, and may deny this"
        self.gate.unread = words if lost else self._lost
        for problem in problems:
            if problem.rule is None or problem.rule.doubt(self._tools):
                self._warn(problem.told)

    @property
    def _tools(self) -> tuple[str, ...]:
        return self.main.tools if self.main is not None else ()

    def _warn(self, text: str) -> None:
        """Show a warning about the rules; called in a thread."""
        self._say("warning", text)

    def _say(self, level: Level, text: str) -> None:
        """Show a line about the rules; called in a thread."""
        self._loop.call_soon_threadsafe(partial(self._sender.notice, level, text, "rules"))

    async def set_mode(self, mode: Mode) -> None:
        """Apply another mode, to the calls that wait for an answer as well."""
        self.gate.mode, self._by = mode, "user"
        self._send_mode()
        store = self._sender.store
        store.metadata.mode = mode
        answered = await self.approvals.judge_again()
        if answered:
            self._sender.notice("info", f"Mode {mode} answered: {', '.join(answered)}", "gate")
        store.save_metadata()

    def _send_mode(self) -> None:
        gate = self.gate
        self._sender.send(
            ModeChanged(
                **self._sender.stamp(),
                mode=gate.mode,
                by=self._by,
                sandbox=self._sandbox,
                careful=gate.careful,
                uncopied=self._uncopied,
            )
        )

    def _decided(self, question: ApprovalQuestion, decision: GateDecision) -> None:
        """Note what went through or was refused without a question; reading is not noted."""
        allowed = decision.verdict == "allow"
        if allowed and not decision.rule and decision.act in ("read", "look"):
            return
        if decision.by_hook and is_abandoned():
            # Its turn is over, and nothing of it counts any more.
            return
        outcome: ApprovalOutcome = "allowed" if allowed else "denied"
        by: AnsweredBy = "rule" if decision.rule else "hook" if decision.by_hook else "mode"
        answer = ApprovalAnswer(outcome, by, decision.reason)
        self.approvals.judged_anew(question)
        described = decision.description
        action, payload = described.action, described.payload
        said = wanted_of(question.tool, action, payload, described.payload_kind)
        self.approvals.record.note(
            question,
            answer,
            described.judgement,
            scope=decision.scope if decision.rule else "once",
            rule=decision.rule,
            mode=decision.mode if by == "mode" else None,
            wanted="" if allowed else said,
        )

    def _keep(self, rules: tuple[Rule, ...], scope: Scope) -> None:
        project = self._project if scope == "project" else None

        def write() -> None:
            from amplifier_tui.host.gate.rules.file import (
                RulesFileError,
                add_rules,
                kept_for,
                user_rules_path,
            )

            try:
                add_rules(user_rules_path(), rules, project)
            except (OSError, RulesFileError) as error:
                book = self.gate.book
                book.remove(*rules)
                book.add(replace(rule, scope="session") for rule in rules)
                self._warn(f"The rule holds for this session only: {error}")
            else:
                here = "for this project" if project else "everywhere"
                where = (project and kept_for(project)) or here
                names = ", ".join(map(str, rules))
                self._say("info", f"{rules[0].verdict} {names}: kept {where}")

        asyncio.get_running_loop().run_in_executor(None, write)


_SETTING: Final = "sandbox"
# YAML takes an unquoted `off` for false.
_MODES: Final[dict[Any, SandboxTerms]] = {
    None: SandboxTerms("auto"),
    True: SandboxTerms("auto"),
    "auto": SandboxTerms("auto"),
    "required": SandboxTerms("required"),
    False: SandboxTerms("off"),
    "off": SandboxTerms("off"),
}


def sandbox_terms(workspace: Workspace) -> tuple[SandboxTerms, SettingsProblem | None]:
    """Return the terms, and what is wrong with the setting.

    Only the user's own settings count. A value that means nothing is taken for `required`.
    """
    hidden = (amplifier_home(), user_config_dir(), user_state_dir(), user_log_dir())
    aside = aside_folder()
    value = workspace.settings.by_scope.get(SettingsScope.GLOBAL, {}).get(_SETTING)
    known = _MODES.get(value) if isinstance(value, str | bool | None) else None
    if known is not None:
        return SandboxTerms(known.mode, hidden, aside), None
    where = workspace.settings.files.path(SettingsScope.GLOBAL) or workspace.home
    problem = SettingsProblem(
        where, f"`{_SETTING}` must be auto, required or off, not {value!r}; it counts as required"
    )
    return SandboxTerms("required", hidden, aside), problem
