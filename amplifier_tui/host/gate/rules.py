"""Standing rules: what the user allowed or refused for longer than one call.

A rule is words a person can check: the program a command line begins with, one exact command
line, a tool inside the workspace. For a compound command line there is one rule per simple
command, and every one of them needs its rule. A rule with a wildcard carries a ceiling: what is
riskier than the call it was made for is asked about again, whatever its words are.
"""

import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any, Final, Literal

from amplifier_tui.base.shell import SHELLS, ShellCommand, programs_of
from amplifier_tui.host.events import Risk, Scope
from amplifier_tui.host.gate.programs import rule_prefix
from amplifier_tui.host.gate.risk import Judgement, severity

RuleKind = Literal["command", "prefix", "workspace", "path", "tool", "arguments", "prompt"]

_RUNS_ANYTHING: Final = SHELLS | {"eval", "source", ".", "xargs", "env", "find", "awk", "ssh"}


@dataclass(frozen=True, slots=True)
class ApprovalRule:
    """One standing rule.

    Attributes:
        kind: What `words` are: a whole simple command (`command`), the words one begins with
            (`prefix`), nothing (`workspace`: any file in it; `tool`: any arguments), one `path`,
            the exact `arguments`, or asker and `prompt` of a question outside of a tool call.
        tool: The tool's name; empty for `prompt`.
        words: See `kind`.
        ceiling: The highest risk it covers.
        allow: Grant or refuse.
        scope: How long it holds.
    """

    kind: RuleKind
    tool: str
    words: tuple[str, ...] = ()
    ceiling: Risk = "medium"
    allow: bool = True
    scope: Scope = "session"

    def __str__(self) -> str:
        match self.kind:
            case "command":
                return " ".join(self.words)
            case "prefix":
                return f"{' '.join(self.words)} *"
            case "workspace":
                return f"{self.tool} in the workspace"
            case "path":
                return f"{self.tool} {self.words[0]}"
            case "tool":
                return f"{self.tool} with any arguments"
            case "arguments":
                return f"{self.tool} with exactly these arguments"
            case "prompt":
                return f"the same question of {self.words[0]}"


@dataclass(frozen=True, slots=True)
class Part:
    """One thing a rule can be about.

    `text` is exactly what would be allowed: a simple command, a path, arguments as JSON, a prompt.
    `words` are those of a command, as far as they are literal; `asker` is who asks a prompt;
    `wraps` says that the command runs others.
    """

    kind: Literal["command", "path", "arguments", "prompt"]
    tool: str
    text: str
    judgement: Judgement
    words: tuple[str, ...] = ()
    asker: str = ""
    wraps: bool = False


@dataclass(frozen=True, slots=True)
class Match:
    """A standing answer: the rules that gave it in words, and the shortest of their scopes."""

    allow: bool
    rule: str
    scope: Scope


def command_parts(
    tool: str, commands: Iterable[ShellCommand], judgements: Iterable[Judgement]
) -> tuple[Part, ...]:
    """Return a part for each simple command of a command line."""
    return tuple(
        _command_part(tool, command, judgement)
        for command, judgement in zip(commands, judgements, strict=True)
    )


def _command_part(tool: str, command: ShellCommand, judgement: Judgement) -> Part:
    found = programs_of(command)
    first = found[0] if found else None
    # As far as the words are literal: `git $x` is no `git`.
    unknown = command.known.index(False) if False in command.known else len(command.words)
    literal = not command.assignments
    wraps = len(found) != 1 or first is None or bool(first.wrappers)
    wraps = wraps or first is None or first.program in _RUNS_ANYTHING
    return Part(
        kind="command",
        tool=tool,
        text=" ".join(command.text.split()),
        judgement=judgement,
        words=command.words[:unknown] if literal else (),
        wraps=wraps,
    )


def argument_part(tool: str, arguments: Mapping[str, Any], judgement: Judgement) -> Part:
    """Return the part for a call that is neither a command nor about files."""
    # Equal for equal arguments.
    text = json.dumps(arguments, sort_keys=True, ensure_ascii=False, default=str)
    return Part("arguments", tool, text, judgement)


class RuleBook:
    """The rules in force."""

    def __init__(self, rules: Iterable[ApprovalRule] = ()) -> None:
        self._rules = list(dict.fromkeys(rules))

    @property
    def rules(self) -> tuple[ApprovalRule, ...]:
        """Every rule, oldest first."""
        return tuple(self._rules)

    def add(self, rules: Iterable[ApprovalRule]) -> None:
        """Take rules into force; those known already count once."""
        self._rules = list(dict.fromkeys((*self._rules, *rules)))

    def remove(self, rule: ApprovalRule) -> None:
        """Take a rule out of force; one that is gone is ignored."""
        self._rules = [other for other in self._rules if other != rule]

    def rule_for(self, part: Part, *, allow: bool = True) -> ApprovalRule | None:
        """Return the rule that covers a part, or None."""
        for rule in self._rules:
            if rule.allow is allow and covers(rule, part):
                return rule
        return None

    def match(self, parts: tuple[Part, ...]) -> Match | None:
        """Return the standing answer to a request, or None when the user has to be asked.

        One refused part refuses the whole; only if every part is allowed the whole is.
        """
        for part in parts:
            refusal = self.rule_for(part, allow=False)
            if refusal is not None:
                return Match(False, str(refusal), refusal.scope)
        found = [self.rule_for(part) for part in parts]
        rules = [rule for rule in found if rule is not None]
        if not parts or len(rules) < len(parts):
            return None
        return Match(True, rule_words(rules), min((r.scope for r in rules), key=_SCOPES.index))


_SCOPES: Final[tuple[Scope, ...]] = ("once", "session", "project", "always")


def covers(rule: ApprovalRule, part: Part) -> bool:
    """Return whether a rule is about a part."""
    if part.kind == "prompt":
        return rule.kind == "prompt" and rule.words == (part.asker, part.text)
    if rule.tool != part.tool or rule.kind == "prompt":
        return False
    match rule.kind:
        case "command":
            return part.kind == "command" and rule.words == (part.text,)
        case "path":
            return part.kind == "path" and rule.words == (part.text,)
        case "arguments":
            return part.kind == "arguments" and rule.words == (part.text,)
    # The rules with a wildcard.
    if rule.allow and (severity(part.judgement.risk) > severity(rule.ceiling) or part.wraps):
        return False
    if rule.kind == "prefix":
        return part.kind == "command" and part.words[: len(rule.words)] == rule.words
    if rule.kind == "workspace":
        return part.kind == "path" and not part.judgement.outside
    return rule.kind == "tool" and part.kind == "arguments"


def propose(
    parts: tuple[Part, ...], book: RuleBook, *, allow: bool = True
) -> tuple[ApprovalRule, ...]:
    """Return the rules that remembering an answer would store, one for each part.

    Parts the book covers need none; there are none when the request must not be remembered.
    """
    if allow and any(part.judgement.risk == "critical" for part in parts):
        return ()
    proposed = [
        _proposal(part, allow) for part in parts if book.rule_for(part, allow=allow) is None
    ]
    return tuple(dict.fromkeys(proposed))


def _proposal(part: Part, allow: bool) -> ApprovalRule:
    mild = severity(part.judgement.risk) <= severity("medium")
    ceiling = part.judgement.risk
    match part.kind:
        case "command":
            prefix = rule_prefix(part.words)
            if allow and mild and prefix and not part.wraps and not part.judgement.outside:
                return ApprovalRule("prefix", part.tool, prefix, ceiling)
            return ApprovalRule("command", part.tool, (part.text,), ceiling, allow)
        case "path":
            if allow and mild and not part.judgement.outside:
                return ApprovalRule("workspace", part.tool, (), ceiling)
            return ApprovalRule("path", part.tool, (part.text,), ceiling, allow)
        case "arguments":
            if allow and mild:
                return ApprovalRule("tool", part.tool, (), ceiling)
            return ApprovalRule("arguments", part.tool, (part.text,), ceiling, allow)
        case "prompt":
            return ApprovalRule("prompt", "", (part.asker, part.text), ceiling, allow)


def rule_words(rules: Iterable[ApprovalRule]) -> str:
    """Return rules as one line."""
    return ", ".join(dict.fromkeys(str(rule) for rule in rules))
