"""Rules a person can read: which calls go, ask or are denied whatever the mode is.

`bash(git status)` is that command and no other; `bash(npm run test *)` what begins so;
`write(src/**)` files; `web(docs.python.org)` a server; `tool_name` any call of a tool;
`tool_name({"a": 1})` a call with exactly these arguments. `write`, `read` and `web` speak of every
tool of that kind.

A `*` behind a command covers further operands inside the workspace and the options that stand in
the rule; any other option asks, and so do redirections, substitutions, assignments and programs
that run others. Nothing critical is ever covered, and nothing that configures a program by a `*`.
Rules that ask or deny catch a command whatever wraps it, and what follows.
"""

import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from fnmatch import fnmatchcase
from functools import lru_cache
from pathlib import Path
from typing import Any, Final, Literal

from pathspec import GitIgnoreSpec

from amplifier_tui.base.shell import (
    SHELLS,
    ShellCommand,
    ShellLine,
    programs_of,
    read_places,
    read_shell_line,
    readings,
)
from amplifier_tui.base.shell import covers as covers_command
from amplifier_tui.host.events import Risk, Scope
from amplifier_tui.host.gate.guarded import arguments_text
from amplifier_tui.host.gate.modes import COMMAND_TOOLS, GROUPS, Verdict
from amplifier_tui.host.gate.programs import rule_prefix
from amplifier_tui.host.gate.risk import (
    Judgement,
    PathPlace,
    Whereabouts,
    judge_script,
    severity,
)

_RUNS_ANYTHING: Final = SHELLS | {"eval", "source", ".", "xargs", "env", "ssh"}


class RuleError(ValueError):
    """A text is no rule.

    Attributes:
        column: Where, from 1.
    """

    def __init__(self, message: str, column: int) -> None:
        super().__init__(message)
        self.column = column


@dataclass(frozen=True, slots=True)
class Rule:
    """One standing rule.

    Attributes:
        tool: Name of a tool, with `*` for any characters, or of a kind of tools; empty for a
            question outside of a tool call.
        inside: What stands in the parentheses; empty for any arguments.
        verdict: What happens to the calls it speaks of.
        scope: How long it holds.
        ceiling: The highest risk an `allow` with a `*`, or for any arguments, covers.
        asker: Whose question it is, outside of a tool call; `inside` is the question.
        origin: Where it comes from, in words; empty for an answer of this session.
        planned: A bundle brought it: it answers no question of a hook.
    """

    tool: str
    inside: str = ""
    verdict: Verdict = "allow"
    scope: Scope = "session"
    ceiling: Risk = "high"
    asker: str = ""
    origin: str = ""
    planned: bool = False

    def __str__(self) -> str:
        if self.asker:
            return f"the same question of {self.asker}"
        return f"{self.tool}({self.inside})" if self.inside else self.tool

    @property
    def starred(self) -> bool:
        """Whether it covers more than one call."""
        return not self.inside or self.inside.endswith("*")


def parse_rule(text: str, verdict: Verdict = "allow", **more: Any) -> Rule:
    """Read a rule.

    Raises:
        RuleError: It is none.
    """
    stripped = text.strip()
    start = len(text) - len(text.lstrip()) + 1
    name, opened, rest = stripped.partition("(")
    if not name:
        raise RuleError("a rule begins with the name of a tool", start)
    bad = next((at for at, char in enumerate(name) if char.isspace() or char == ")"), None)
    if bad is not None:
        raise RuleError("the name of a tool has no blanks or brackets", start + bad)
    if not opened:
        return Rule(name, "", verdict, **more)
    if not rest.endswith(")"):
        raise RuleError("the bracket is not closed", start + len(stripped))
    inside = rest[:-1].strip()
    at = start + len(name) + 1
    if not inside:
        raise RuleError("nothing stands in the brackets", at)
    ceiling: Risk = "high"
    if name in COMMAND_TOOLS:
        inside = inside.replace(":*", " *")
        inside, ceiling = _checked_command(inside, at)
    elif inside.startswith("{"):
        inside = _checked_arguments(inside, at)
    elif inside[0] in "!#":
        raise RuleError(f"a path does not begin with `{inside[0]}`", at)
    return Rule(name, inside, verdict, ceiling=ceiling, **more)


def _checked_command(inside: str, at: int) -> tuple[str, Risk]:
    words = inside.removesuffix("*")
    if words != inside and not words.endswith(" "):
        raise RuleError("a `*` stands alone, behind a blank", at + len(words))
    if "*" in words and words != inside:
        raise RuleError("only one `*`, at the end", at + words.index("*"))
    line, _, _, whole = judge_script(words, Path("/"), Path("/"))
    if words == inside:
        return " ".join(inside.split()), "high"
    if not line.complete or line.hidden or len(line.commands) != 1:
        raise RuleError("a rule with a `*` is one plain command", at)
    (command,) = line.commands
    if command.assignments or command.redirections or not all(command.known):
        raise RuleError("a rule with a `*` has no variables and no redirections", at)
    ceiling: Risk = "medium" if severity(whole.risk) < severity("medium") else whole.risk
    return f"{' '.join(words.split())} *", ceiling


def _checked_arguments(inside: str, at: int) -> str:
    try:
        return arguments_text(json.loads(inside))
    except json.JSONDecodeError as error:
        raise RuleError(f"the arguments are no JSON: {error.msg}", at + error.pos) from error


def planned_rule(text: Any, bundle: str) -> Rule:
    """Read a rule of hooks-approval: there, words in brackets are those a command begins with.

    Raises:
        RuleError: It is none.
    """
    if not isinstance(text, str):
        raise RuleError("it is no text", 1)
    name, opened, rest = text.strip().partition("(")
    if opened and rest.endswith(")"):
        words = rest[:-1].replace(":*", " *").removesuffix("*").strip()
        text = f"{name}({words} *)" if words else name
    return parse_rule(text, origin=bundle, planned=True)


@dataclass(frozen=True, slots=True)
class Part:
    """One thing a rule can be about.

    `text` is exactly what would be allowed: a simple command, a path, a server, arguments as JSON,
    a prompt. `asker` is who asks a prompt. Of a command `wraps` says that a rule with a `*` can't
    cover it, `here` where it runs. `reads` says that it only reads, inside the workspace.
    """

    kind: Literal["command", "path", "server", "arguments", "prompt"]
    tool: str
    text: str
    judgement: Judgement
    asker: str = ""
    place: PathPlace | None = None
    command: ShellCommand | None = None
    here: Whereabouts | None = None
    wraps: bool = False
    reads: bool = False


@dataclass(frozen=True, slots=True)
class Match:
    """A standing answer: the rules that gave it in words, and the shortest of their scopes."""

    verdict: Verdict
    rule: str
    scope: Scope
    origin: str = ""


def command_parts(
    tool: str,
    line: ShellLine,
    judgements: Iterable[Judgement],
    heres: Iterable[Whereabouts],
) -> tuple[Part, ...]:
    """Return a part for each simple command of a command line."""
    parts: list[Part] = []
    been: list[Whereabouts] = []
    for command, judgement, here in zip(line.commands, judgements, heres, strict=True):
        been = [*been, here] if here not in been else been
        parts.append(
            Part(
                kind="command",
                tool=tool,
                text=" ".join(command.text.split()),
                judgement=judgement,
                command=command,
                here=here,
                wraps=bool(line.hidden) or _wraps(command),
                reads=_only_reads(command, line, been),
            )
        )
    return tuple(parts)


def _only_reads(command: ShellCommand, line: ShellLine, heres: Sequence[Whereabouts]) -> bool:
    """Whether it only reads inside the workspace, whichever `cd` before it may have failed."""
    places = read_places(replace(line, commands=(command,)))
    if places is None or any(here.elsewhere for here in heres):
        return False
    return all(here.holds(place) for here in heres for place in places)


def _wraps(command: ShellCommand) -> bool:
    found = programs_of(command)
    if command.assignments or len(found) != 1:
        return True
    (run,) = found
    if run.wrappers or not run.readable or run.program in _RUNS_ANYTHING:
        return True
    return any(
        (each.writes and each.target != "/dev/null") or each.operator.startswith("<<")
        for each in command.redirections
    )


def argument_part(
    tool: str, arguments: Mapping[str, Any], judgement: Judgement, *, reads: bool = False
) -> Part:
    """Return the part for a call that is neither a command nor about files it names."""
    return Part("arguments", tool, arguments_text(arguments), judgement, reads=reads)


class RuleBook:
    """The rules in force."""

    def __init__(self, rules: Iterable[Rule] = ()) -> None:
        self._rules = list(dict.fromkeys(rules))

    @property
    def rules(self) -> tuple[Rule, ...]:
        """Every rule, oldest first."""
        return tuple(self._rules)

    def add(self, rules: Iterable[Rule]) -> None:
        """Take rules into force; those known already count once."""
        self._rules = list(dict.fromkeys((*self._rules, *rules)))

    def remove(self, rule: Rule) -> None:
        """Take a rule out of force; one that is gone is ignored."""
        self._rules = [other for other in self._rules if other != rule]

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

    def match(self, parts: tuple[Part, ...], *, planned: bool = False) -> Match | None:
        """Return the standing answer to a request, or None when no rule speaks of it.

        One refused part refuses the whole; one that asks has the whole asked about; it is allowed
        if every part is, those left out that only read.
        """
        for verdict in ("deny", "ask"):
            for part in parts:
                rule = self.rule_for(part, verdict)
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


def covers(rule: Rule, part: Part) -> bool:
    """Return whether a rule is about a part."""
    if part.kind == "prompt" or rule.asker:
        return part.kind == "prompt" and (rule.asker, rule.inside) == (part.asker, part.text)
    if not _names(rule.tool, part.tool):
        return False
    if rule.verdict != "allow":
        return not rule.inside or _catches(rule, part)
    risk = part.judgement.risk
    if risk == "critical":
        return False
    if rule.starred and (severity(risk) > severity(rule.ceiling) or _guarded(part)):
        return False
    if not rule.inside:
        return True
    match part.kind:
        case "command":
            if part.here is not None and part.here.elsewhere:
                return False
            if rule.inside == part.text:
                return True
            return rule.inside.endswith(" *") and _continues(rule, part)
    return _speaks_of(rule, part)


def _speaks_of(rule: Rule, part: Part) -> bool:
    match part.kind:
        case "path":
            return part.place is not None and _leads_to(rule.inside, part.place)
        case "server":
            return fnmatchcase(part.text.lower(), rule.inside.lower())
    return rule.inside == part.text


def _names(pattern: str, tool: str) -> bool:
    return pattern == tool or tool in GROUPS.get(pattern, ()) or fnmatchcase(tool, pattern)


def _guarded(part: Part) -> bool:
    """Whether it touches what no `*` covers: what configures programs, and secrets."""
    return any(place.configures or place.secret for place in part.judgement.places)


def _catches(rule: Rule, part: Part) -> bool:
    if part.command is None:
        return _speaks_of(rule, part)
    words = tuple(rule.inside.removesuffix("*").split())
    return any(found[: len(words)] == words for found in readings(part.command))


@lru_cache(maxsize=512)
def _rule_words(inside: str) -> tuple[tuple[str, ...], frozenset[str]]:
    """The words a rule with a `*` begins with, and the options behind them."""
    commands = read_shell_line(inside.removesuffix(" *")).commands
    words = list(commands[0].words) if commands else []
    options: list[str] = []
    while len(words) > 1 and words[-1].startswith("-"):
        options.append(words.pop())
    return tuple(words), frozenset(options)


def _continues(rule: Rule, part: Part) -> bool:
    command, here = part.command, part.here
    if command is None or here is None or part.wraps:
        return False
    begin, options = _rule_words(rule.inside)
    if not all(command.known) or not covers_command(begin, options, command):
        return False
    places = read_places(ShellLine((command,)))
    if places is None:
        places = tuple(
            word.partition("=")[2] if word.startswith("-") else word
            for word in command.words[len(begin) :]
        )
    return not any("://" in place or here.locate(place).outside for place in places)


def _leads_to(pattern: str, place: PathPlace) -> bool:
    if pattern.startswith(("/", "~")):
        return _spec(str(Path(pattern).expanduser())).match_file(str(place.path).lstrip("/"))
    return not place.outside and _spec(f"/{pattern}").match_file(place.shown)


@lru_cache(maxsize=512)
def _spec(pattern: str) -> GitIgnoreSpec:
    return GitIgnoreSpec.from_lines([pattern])


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
    return tuple(dict.fromkeys(proposed))


def _proposal(part: Part, verdict: Literal["allow", "deny"]) -> Rule:
    exact = Rule(part.tool, part.text, verdict, ceiling=part.judgement.risk, asker=part.asker)
    judgement = part.judgement
    mild = verdict == "allow" and severity(judgement.risk) <= severity("medium")
    if not mild or judgement.outside or _guarded(part):
        return exact
    match part.kind:
        case "command" if part.command is not None and not part.wraps:
            words = part.command.words
            prefix = rule_prefix(words) if all(part.command.known) else ()
            if not prefix:
                return exact
            options = [word for word in words[len(prefix) :] if word.startswith("-")]
            wide = replace(exact, inside=" ".join((*prefix, *dict.fromkeys(options), "*")))
            return wide if covers(wide, part) else exact
        case "path":
            return replace(exact, inside="**")
        case "arguments":
            return replace(exact, inside="")
    return exact


def rule_words(rules: Iterable[Rule]) -> str:
    """Return rules as one line."""
    return ", ".join(dict.fromkeys(str(rule) for rule in rules))
