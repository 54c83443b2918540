"""The rules in force, and the rules that remembering an answer would add."""

from collections.abc import Callable, Iterable
from dataclasses import replace
from pathlib import Path
from threading import Lock
from typing import Final, Literal

from amplifier_tui.base.lazy.dataclass import dataclass
from amplifier_tui.host.events import Scope
from amplifier_tui.host.gate.modes import Verdict
from amplifier_tui.host.gate.places import locate
from amplifier_tui.host.gate.programs import rule_prefix
from amplifier_tui.host.gate.risk import (
    severity,
)
from amplifier_tui.host.gate.rules.matching import (
    Part,
    covers,
    is_guarded,
    may_run,
    names_path,
    names_tool,
    speaks_of_files,
)
from amplifier_tui.host.gate.rules.paths import is_pattern
from amplifier_tui.host.gate.rules.text import Rule, rule_words
from amplifier_tui.host.gate.rules.touching import is_about, may_touch, touches
from amplifier_tui.host.gate.rules.words import starred_rule


@dataclass(frozen=True, slots=True)
class Match:
    """A standing answer: the rules that gave it in words, and the shortest of their scopes."""

    verdict: Verdict
    rule: str
    scope: Scope
    origin: str = ""


class RuleBook:
    """The rules in force.

    Args:
        rules: Those that are known.
        reread: Returns the rules of files when these have changed, else None.

    Attributes:
        changed: Called when rules were added or taken out by hand or by an answer.
    """

    def __init__(
        self,
        rules: Iterable[Rule] = (),
        reread: Callable[[], tuple[Rule, ...] | None] = lambda: None,
    ) -> None:
        self._rules = list(dict.fromkeys(rules))
        self._reread = reread
        self.changed: Callable[[], object] = lambda: None
        self._lock = Lock()

    @property
    def rules(self) -> tuple[Rule, ...]:
        """Every rule, oldest first."""
        return tuple(self._rules)

    def add(self, rules: Iterable[Rule]) -> None:
        """Take rules into force; those known already count once."""
        with self._lock:
            self._rules = list(dict.fromkeys((*self._rules, *rules)))
        self.changed()

    def remove(self, *rules: Rule) -> None:
        """Take rules out of force; those that are gone are ignored."""
        with self._lock:
            self._rules = [rule for rule in self._rules if rule not in rules]
        self.changed()

    def refresh(self) -> None:
        """Take up what changed in the files of rules; looks at the disk."""
        with self._lock:
            found = self._reread()
            if found is None:
                return
            written = {(rule.verdict, str(rule), rule.root) for rule in found}
            # An answer that is kept is in the book before it is in its file.
            kept = [
                rule
                for rule in self._rules
                if rule.planned
                or rule.scope == "session"
                or (not rule.origin and (rule.verdict, str(rule), rule.root) not in written)
            ]
            self._rules = list(dict.fromkeys((*found, *kept)))

    def rule_for(
        self, part: Part, verdict: Verdict = "allow", *, planned: bool = False
    ) -> Rule | None:
        """Return the rule that covers a part, or None.

        Args:
            planned: Let rules of bundles count that allow.
        """
        for rule in self._rules:
            counts = planned or not rule.planned or rule.verdict != "allow"
            if rule.verdict == verdict and counts and covers(rule, part):
                return rule
        return None

    def restricting(self, tool: str) -> Rule | None:
        """Return a rule that denies some of a tool's calls, or asks about them; None for none."""
        found = (rule for rule in self._rules if rule.verdict != "allow" and rule.inside)
        return next((rule for rule in found if names_tool(rule, tool)), None)

    def _rule_of_files(self, part: Part, verdict: Verdict) -> Rule | None:
        """Return the rule about files that a command is caught by for what it reads or writes."""
        found = (rule for rule in self._rules if rule.verdict == verdict and touches(rule, part))
        return next(found, None) if part.command is not None else None

    def doubt(
        self, parts: tuple[Part, ...], workspace: Path, leaves_out: bool = False
    ) -> tuple[Rule, str] | None:
        """Return a rule that a call may go round, and what it may do that the rule is about.

        Args:
            parts: Of the call.
            workspace: Where a search begins that names no folder.
            leaves_out: A search by a tool leaves out what rules are about.
        """
        for rule in self._rules:
            for part in parts:
                named = part.place is not None and is_about(rule, part.place)
                if leaves_out and part.kind != "command" and not (named and rule.verdict == "ask"):
                    continue
                if may_run(rule, part):
                    return rule, "run"
                if verb := may_touch(rule, part, workspace):
                    return rule, verb
        return None

    def left_out(self, workspace: Path, *, asked: bool) -> Callable[[Path], bool] | None:
        """Return what tells the files that a search leaves out; None where there are none.

        Args:
            workspace: Where paths of rules begin.
            asked: A person was asked, so that what rules ask about is left in.
        """
        rules = [rule for rule in self._rules if speaks_of_files(rule, "read")]
        holding = [rule for rule in rules if rule.verdict == "deny" or not asked]

        def is_left_out(path: Path) -> bool:
            place = locate(str(path), workspace)
            return any(names_path(rule, place) for rule in holding)

        return is_left_out if holding else None

    def match(self, parts: tuple[Part, ...], *, planned: bool = False) -> Match | None:
        """Return the standing answer to a request, or None when no rule speaks of it.

        One refused part refuses the whole; one that asks has the whole asked about; it is allowed
        if every part is, those left out that only read.
        """
        for verdict in ("deny", "ask"):
            for part in parts:
                rule = self.rule_for(part, verdict) or self._rule_of_files(part, verdict)
                if rule is not None:
                    return Match(verdict, str(rule), rule.scope, rule.origin)
        rules: list[Rule] = []
        for part in parts:
            rule = self.rule_for(part, planned=planned)
            if rule is not None:
                rules.append(rule)
            elif not part.reads:
                return None
        if not rules:
            return None
        scope = min((rule.scope for rule in rules), key=_SCOPES.index)
        return Match("allow", rule_words(rules), scope, rules[0].origin)


_SCOPES: Final[tuple[Scope, ...]] = ("once", "session", "project", "always")


def propose(
    parts: tuple[Part, ...], book: RuleBook, verdict: Literal["allow", "deny"] = "allow"
) -> tuple[Rule, ...]:
    """Return the rules that remembering an answer would store, one for each part.

    Parts the book covers need none, and those that only read; there are none when the request must
    not be remembered.
    """
    allow = verdict == "allow"
    if allow and any(part.judgement.risk == "critical" for part in parts):
        return ()
    proposed = [
        _proposal(part, verdict)
        for part in parts
        if book.rule_for(part, verdict) is None and not (allow and part.reads)
    ]
    rules = tuple(dict.fromkeys(rule for rule in proposed if rule is not None))
    return rules if None not in proposed else ()


def _proposal(part: Part, verdict: Literal["allow", "deny"]) -> Rule | None:
    """Return the rule for a part; None where it could not be about that alone, or is of no tool."""
    if not (part.tool or part.asker):
        return None
    exact = Rule(part.tool, part.text, verdict, ceiling=part.judgement.risk, asker=part.asker)
    judgement = part.judgement
    mild = verdict == "allow" and severity(judgement.risk) <= severity("medium")
    if not mild or judgement.outside or is_guarded(part):
        # A file may be named like a pattern.
        many = verdict == "allow" and part.kind == "path" and is_pattern(part.text)
        return None if many else exact
    match part.kind:
        case "command" if part.command is not None and not part.wraps:
            words = part.command.words
            prefix = rule_prefix(words) if all(part.command.known) else ()
            if not prefix:
                return exact
            wide = replace(exact, inside=starred_rule(words, len(prefix)))
            return wide if covers(wide, part) else exact
        case "path":
            return replace(exact, inside="**")
        case "arguments":
            return replace(exact, inside="")
    return exact
