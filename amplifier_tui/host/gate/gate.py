"""The gate: what happens to a tool call, whatever a bundle mounts.

It decides in this order: rules that deny, what can never go through unasked, rules that ask, rules
that allow, a hook's question, the mode. Mode plan comes before rules that ask or allow: what may
change something does not go through in it.
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Mapping
from dataclasses import field
from pathlib import Path
from threading import Lock
from typing import TYPE_CHECKING, Any, Final, NamedTuple

from amplifier_tui.base.lazy.dataclass import dataclass
from amplifier_tui.base.text import one_line
from amplifier_tui.base.tool_names import READ_TOOLS, WEB_TOOLS
from amplifier_tui.host.events import Mode, Scope
from amplifier_tui.host.gate.modes import (
    Act,
    Verdict,
    mode_verdict,
    mode_words,
)
from amplifier_tui.host.gate.seen import SeenFiles

if TYPE_CHECKING:
    from amplifier_tui.host.gate.approvals.describe import Description
    from amplifier_tui.host.gate.calls.grants import Touched
    from amplifier_tui.host.gate.risk import Judgement
    from amplifier_tui.host.gate.rules.book import Match, RuleBook
    from amplifier_tui.host.gate.rules.matching import Part
    from amplifier_tui.host.gate.rules.text import Rule

logger = logging.getLogger(__name__)

_MOST_PATHS: Final = 50
_MOST_TEXT: Final = 80

OUTSIDE_SANDBOX: Final = "outside_sandbox"
"""Argument of a command that wants to run without the sandbox; a person decides about that."""


@dataclass(frozen=True, slots=True)
class GateDecision:
    """What happens to a call.

    Attributes:
        verdict: Go, ask, or not at all.
        reason: Why, in words.
        rule: The rule that decided, as text; empty when none did.
        scope: How long that rule holds.
        by_person: Only a person can let it through, for this time.
        hook_only: It would go through if no hook asked.
        mode: The mode in which it was decided.
        by_mode: The mode alone decided.
        by_hook: A hook did, before the gate.
        lends: By what is known what would have the network as well; empty for nothing.
    """

    verdict: Verdict
    reason: str
    description: Description
    act: Act
    rule: str = ""
    scope: Scope = "session"
    by_person: bool = False
    hook_only: bool = False
    mode: Mode = "ask"
    by_mode: bool = False
    by_hook: bool = False
    lends: str = ""

    @property
    def is_critical(self) -> bool:
        """Whether it is so risky that only a person can let it through."""
        return self.description.judgement.risk == "critical"

    @property
    def network(self) -> bool:
        """Whether what it was found to do needs the network."""
        return _needs_network(self.description.judgement)


class _Lent(NamedTuple):
    """Why rules don't grant the network, what that is known by, and whether it always is so."""

    why: str = ""
    known_by: str = ""
    each_time: bool = False


@dataclass(slots=True)
class Gate:
    """Decides about the calls of a session and its sub-agents.

    Attributes:
        workspace: Where the session works, absolute.
        load: Returns the rules; called with the first call, or before, in a thread. What reads
            rules and commands takes longer to import than a session to open.
        mode: The mode that is applied.
        careful: Ask about commands that only read, too.
        sandbox: Says why commands can't run in a sandbox; empty where they can. It may take a
            moment.
        timeout: Seconds the user has; None for as long as it takes.
        seen: What the agent has read and written.
        unread: Why rules that deny or ask may be missing; empty where all could be read. Else
            neither a mode nor a rule lets anything through, not even reading, which one of them may
            deny; only what was answered since does.
        asked_by_hook: Rules of the bundle by which its hook asks; known with the other rules.
        uncopied: Says why no copies are kept of what commands change; empty where they are. It may
            take a moment.
        lent: Hooks of git that may have the network for as long as the session lasts.
    """

    workspace: Path
    load: Callable[[], RuleBook]
    mode: Mode = "ask"
    careful: bool = False
    sandbox: Callable[[], str] = lambda: "commands are not run in a sandbox"
    timeout: float | None = None
    unread: str = ""
    seen: SeenFiles = field(default_factory=SeenFiles)
    asked_by_hook: tuple[Rule, ...] = ()
    uncopied: Callable[[], str] = lambda: ""
    lent: set[str] = field(default_factory=set)
    _book: RuleBook | None = None
    _loading: Lock = field(default_factory=Lock)

    @property
    def book(self) -> RuleBook:
        """The rules."""
        with self._loading:
            if self._book is None:
                self._book = self.load()
            return self._book

    def decide(
        self,
        tool: str,
        arguments: Mapping[str, Any],
        *,
        hooked: bool = False,
        failed: tuple[str, ...] = (),
        confines: bool = False,
        leaves_out: bool = False,
        diffs: bool = True,
    ) -> GateDecision:
        """Decide about a call; looks at files, so not for an event loop.

        Args:
            hooked: A hook asks.
            failed: Which modules' hooks failed while they judged the call, and how.
            confines: The tool runs its commands in a sandbox, where there is one.
            leaves_out: The tool leaves out of a search what rules deny; see `Grant.left_out`.
            diffs: Describe the changes it would make.
        """
        from amplifier_tui.host.gate.approvals.describe import act_of, describe_call, is_of_stranger

        mode = self.mode
        description = describe_call(tool, arguments, self.workspace, diffs=diffs, seen=self.seen)
        act = act_of(description, tool, arguments)
        doubt = description.doubt
        if act == "look" and (more := self._may_do_more(description, confines)):
            act, doubt = "other", more

        def decision(verdict: Verdict, reason: str, **more: Any) -> GateDecision:
            return GateDecision(verdict, reason, description, act, mode=mode, **more)

        def by_rule(match: Match, reason: str) -> GateDecision:
            return decision(match.verdict, reason, rule=match.rule, scope=match.scope)

        book = self.book
        book.refresh()
        match = book.match(description.every_part)
        if match is not None and match.verdict == "deny":
            return by_rule(match, f"The rule {match.rule} denies this.")
        by_mode = self._by_mode(mode, description, act, confines)
        opens = _reads_for_rules(tool, description)
        reason = mode_words(
            *(mode, act, by_mode, doubt, _forbidden(description)),
            opens=opens,
            strange=is_of_stranger(description, tool),
        )
        alone = _only_by_person(arguments, description, act)
        if not alone and confines and act != "look" and not self.sandbox():
            alone = self._beyond_sandbox(description)
        if failed or alone:
            if by_mode == "deny":
                return decision("deny", reason)
            return decision("ask", "; ".join(failed) or alone, by_person=True)
        if by_mode == "deny" and not opens:
            idle = match or book.match(description.every_part, planned=True)
            passed = f"; the rule {idle.rule} does not count in this mode" if idle else ""
            return decision("deny", f"{reason}{passed}")
        if match is not None and match.verdict == "ask":
            return by_rule(match, f"the rule {match.rule} asks")
        if round_it := book.doubt(description.every_part, self.workspace, leaves_out):
            rule, verb = round_it
            done = "denies" if rule.verdict == "deny" else "asks about"
            reason = f"it may {verb} what the rule {rule} {done}"
            return decision("ask", reason, rule=str(rule), scope=rule.scope)
        if stale := self._stale(description):
            return decision("ask", stale)
        bare = (
            match is not None and match.scope == "always" and not (confines and not self.sandbox())
        )
        if others := self._of_others(description, bare=bare):
            told = by_mode == "ask" and (match or book.match(description.every_part, planned=True))
            match, reason = None, others if told else reason
        strict = bool(self.unread)
        # Only rules grant it, and a command line has it as a whole.
        lends = self._lent(description) if confines and not self.sandbox() else _Lent()
        asked = {"lends": lends.known_by, "by_person": lends.each_time}
        if match is not None and not (strict and match.scope != "session"):
            if lends.why:
                return decision("ask", lends.why, **asked)
            return by_rule(match, f"by the rule {match.rule}")
        unread = _unread(description, book.restricting(tool)) if by_mode == "allow" else ""
        # Without a copy nothing brings it back, and no rule of a bundle's makes up for that.
        lost = self._lost(description) if by_mode == "allow" or mode == "edits" else ""
        if why := unread or self._unsigned(description) or lost:
            return decision("ask", why, **asked)
        match = None if strict or others else book.match(description.every_part, planned=True)
        goes = match is not None or by_mode == "allow"
        if hooked and (goes or by_mode == "ask"):
            return decision("ask", "a hook asks", hook_only=goes, **asked)
        if match is not None or ((lends.known_by or lends.each_time) and by_mode == "ask"):
            if match is None or lends.why:
                return decision("ask", lends.why, **asked)
            return by_rule(match, f"by the rule {match.rule}")
        unread = self.unread if by_mode == "ask" else ""
        return decision(by_mode, unread or reason, by_mode=not unread)

    def _lent(self, description: Description) -> _Lent:
        """Why rules don't grant a command line the network: something else would have it too."""
        needing = _needing_network(description)
        if not needing:
            return _Lent()
        if by_line := _lent_network(description, needing[0]):
            return _Lent(by_line, each_time=True)
        from amplifier_tui.host.gate.verdicts.lent.hooked import lent_to_hooks
        from amplifier_tui.host.gate.verdicts.lent.installs import never_lent

        if own := never_lent(needing):
            return _Lent(own, each_time=True)
        return _Lent(*lent_to_hooks(needing, self.lent))

    def touched(self, tool: str, arguments: Mapping[str, Any]) -> Touched:
        """Return what a call's arguments are about now; looks at the files."""
        from amplifier_tui.host.gate.approvals.describe import describe_call

        return describe_call(tool, arguments, self.workspace, diffs=False).touched

    def ran(self, tool: str, arguments: Mapping[str, Any]) -> None:
        """Take note of the files a call has read or written; looks at them."""
        from amplifier_tui.host.gate.approvals.subject import read_subject
        from amplifier_tui.host.gate.places import locate

        try:
            subject = read_subject(tool, arguments)
            if subject.kind in ("read", "write", "edit", "patch"):
                for path in subject.paths[:_MOST_PATHS]:
                    self.seen.note(locate(path, self.workspace).path)
        except Exception:
            # Arguments may be anything; what the call gave must not be lost for it.
            logger.exception("The files of a call of %s could not be looked at", tool)

    def _may_do_more(self, description: Description, confines: bool) -> str:
        """Say what a command that seems to only read may do besides; empty for nothing."""
        from amplifier_tui.host.gate.verdicts.others import may_do_more

        sandboxed = confines and not self.sandbox()
        where = description.cwd, self.workspace
        return may_do_more(description.every_part, *where, confines=confines, sandboxed=sandboxed)

    def _of_others(self, description: Description, *, bare: bool) -> str:
        """Why no rule lets a command of git through: what its repository has it run."""
        if description.payload_kind != "command" or "git" not in description.payload:
            return ""
        from amplifier_tui.host.gate.verdicts.others import works_for_others

        where = description.cwd, self.workspace
        return works_for_others(description.payload, description.every_part, *where, bare=bare)

    def _lost(self, description: Description) -> str:
        """Why what a command takes away would not come back when the user goes back; else empty."""
        if description.kind != "command":
            return ""
        from amplifier_tui.host.gate.verdicts.lost.ignored import deletes_ignored
        from amplifier_tui.host.gate.verdicts.lost.unkept import takes_unkept

        parts = description.parts
        return deletes_ignored(parts) or takes_unkept(parts, self.uncopied)

    def _stale(self, description: Description) -> str:
        """Why a file would be written over that holds what the agent has not read."""
        found = sorted(path for path, _ in description.replaced if self.seen.changed(path))
        if not found:
            return ""
        path, root = found[0], self.workspace
        name = one_line(str(path.relative_to(root) if path.is_relative_to(root) else path), 200)
        return f"{name} has changed since the agent read it, and would be written over as a whole"

    def _beyond_sandbox(self, description: Description) -> str:
        """Why a command would fail in the sandbox, or work by half, for what git does in it."""
        from amplifier_tui.host.gate.verdicts.beyond import beyond_sandbox

        return self._of_git(beyond_sandbox, description)

    def _unsigned(self, description: Description) -> str:
        """Why what a command has git make would lack a signature."""
        from amplifier_tui.host.gate.verdicts.signing import leaves_unsigned

        return self._of_git(leaves_unsigned, description)

    def _of_git(self, why: Callable[[str, Path, Path], str], description: Description) -> str:
        if description.payload_kind != "command" or "git" not in description.payload:
            return ""
        return why(description.payload, self.workspace, Path(description.cwd))

    def _by_mode(self, mode: Mode, description: Description, act: Act, confines: bool) -> Verdict:
        sandboxed = (
            confines
            and mode == "auto"
            and act == "other"
            and description.kind == "command"
            and not self.sandbox()
        )
        verdict = mode_verdict(mode, act, careful=self.careful, sandboxed=sandboxed)
        return "ask" if self.unread and verdict == "allow" else verdict


def _needs_network(judgement: Judgement) -> bool:
    from amplifier_tui.host.gate.verdicts.words import INSTALLS, NETWORK, REMOTE

    words = (NETWORK, INSTALLS, REMOTE)
    return any(word in each for word in words for each in judgement.reasons)


def _needing_network(description: Description) -> list[Part]:
    parts = [part for part in description.parts if part.command is not None and not part.reads]
    return [part for part in parts if _needs_network(part.judgement)]


def _lent_network(description: Description, needing: Part) -> str:
    """Why a part of a command line would have the network for nothing; else empty."""
    parts = [part for part in description.parts if part.command is not None and not part.reads]
    other = next((part for part in parts if not _needs_network(part.judgement)), None)
    if other is None:
        return ""
    return (
        f"the network that `{needing.text[:_MOST_TEXT]}` needs would be there for "
        f"`{other.text[:_MOST_TEXT]}` too"
    )


def _unread(description: Description, rule: Rule | None) -> str:
    """Why a rule that restricts may be about a command although that does not show; else empty."""
    from amplifier_tui.base.shell import may_hide
    from amplifier_tui.host.gate.risk import UNREADABLE

    if rule is None or description.kind != "command":
        return ""
    hides = UNREADABLE in description.judgement.reasons or any(
        part.command is not None and may_hide(part.command) for part in description.every_part
    )
    return f"it {UNREADABLE}, and the rule {rule} may be about it" if hides else ""


def _reads_for_rules(tool: str, description: Description) -> bool:
    """Whether a call only reads, so that a rule may let it through in mode plan: files, the web."""
    if description.unclear:
        return False
    if tool in WEB_TOOLS:
        return description.kind in ("network", "other")
    return tool in READ_TOOLS and description.kind == "read"


def _forbidden(description: Description) -> str:
    """Return what a call does where it changes nothing that one can tell; else empty."""
    from amplifier_tui.host.gate.risk import READS_OUTSIDE
    from amplifier_tui.host.gate.verdicts.words import MAY_TELL, SECRETS

    reasons, reads = description.judgement.reasons, {READS_OUTSIDE, SECRETS, MAY_TELL}
    if description.kind not in ("read", "command") or not {*reasons} <= reads:
        return ""
    return " and ".join(reasons)


def _only_by_person(arguments: Mapping[str, Any], description: Description, act: Act) -> str:
    """Why only a person can let a call through; empty when rules and modes can."""
    judgement = description.judgement
    if judgement.risk == "critical":
        return f"critical: {', '.join(judgement.reasons)}"
    if arguments.get(OUTSIDE_SANDBOX):
        return "it wants to run outside of the sandbox"
    if act == "guarded":
        from amplifier_tui.host.gate.verdicts.words import MAY_TELL, SECRETS

        if SECRETS in judgement.reasons or any(place.secret for place in judgement.places):
            # Reading those is asked about as well, and takes effect on nothing.
            settings = MAY_TELL in judgement.reasons and SECRETS not in judgement.reasons
            return f"it {MAY_TELL if settings else SECRETS}"
        whom = dict.fromkeys(place.configures for place in judgement.places if place.configures)
        return f"it {' and '.join(f'takes effect on {each}' for each in whom)}"
    return ""
