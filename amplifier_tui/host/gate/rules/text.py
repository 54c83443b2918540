"""Rules a person can read: which calls go, ask or are denied whatever the mode is.

`bash(git status)` is that command and no other; `bash(npm run test *)` what begins so, without
options;
`write(src/**)` files, `write(src/a.txt)` that one; `web(docs.python.org)` a server; `tool_name` any
call of a tool; `tool_name({"a": 1})` a call with exactly these arguments. `write`, `read` and `web`
speak of every tool of that kind.

A `*` behind a command covers further operands inside the workspace. The options that stand in the
rule have to be given, wherever among them, as without one a command may do more; any other option
asks, and so do redirections, substitutions, assignments and programs that run others. What only
reads may be given other options that do so. Nothing critical is ever covered, and nothing that
configures a program by a `*`.
Rules that ask or deny catch a command whatever wraps it, and what follows.
"""

import json
from collections.abc import Collection, Iterable
from pathlib import Path
from typing import Any, Final

from amplifier_tui.base.lazy.dataclass import dataclass
from amplifier_tui.base.nearest import nearest
from amplifier_tui.base.tool_names import (
    COMMAND_TOOLS,
    FILE_TOOLS,
    SERVER_TOOLS,
    WITHOUT_BRACKETS,
    in_brackets,
    meant_tool,
    server_of,
    spelt,
)
from amplifier_tui.host.events import Risk, Scope
from amplifier_tui.host.gate.calls.grants import arguments_text
from amplifier_tui.host.gate.modes import VERDICTS, Verdict
from amplifier_tui.host.gate.risk import (
    judge_script,
    severity,
)
from amplifier_tui.host.gate.rules.paths import is_pattern, matches_nothing
from amplifier_tui.host.gate.rules.words import commands_meant, covers_nothing

_IN_BRACKETS: Final = COMMAND_TOOLS | FILE_TOOLS | SERVER_TOOLS


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
        root: The project above the workspace that it was made for, where its paths begin; None
            where they begin in the workspace.
    """

    tool: str
    inside: str = ""
    verdict: Verdict = "allow"
    scope: Scope = "session"
    ceiling: Risk = "high"
    asker: str = ""
    origin: str = ""
    planned: bool = False
    root: Path | None = None

    def __str__(self) -> str:
        if self.asker:
            return f"the same question of {self.asker}"
        return f"{self.tool}({self.inside})" if self.inside else self.tool

    @property
    def meaning(self) -> str:
        """What it speaks of, in words: `write_file on any path in the workspace`."""
        tool, inside = self.tool, self.inside
        if self.asker:
            return str(self)
        if not inside and (tool not in FILE_TOOLS or self.verdict != "allow"):
            return f"any call of {tool}"
        if tool in COMMAND_TOOLS:
            return commands_meant(tool, inside, self.verdict)
        if tool in FILE_TOOLS:
            if why := self.matches_nothing:
                return f"no path: {why}"
            if inside in ("", "**", "*"):
                return f"{tool} on any path in {self.root or 'the workspace'}"
            words = f"{tool} on {'paths like' if is_pattern(inside) else 'the path'} {inside}"
            if wide := self.in_every_folder:
                top = self.root or "the top folder"
                return f"{words} in {top}; {wide} is about every folder"
            return words
        of = "servers like" if "*" in inside else "the server"
        return f"{tool} on {of} {inside}" if tool in SERVER_TOOLS else f"{tool} with {inside}"

    @property
    def where(self) -> str:
        """Where it comes from, and for which project it was made if that is one above."""
        return f"{self.origin}, for {self.root}" if self.root else self.origin

    @property
    def covers_nothing(self) -> str:
        """Why it lets no command through, and which would; empty where it may let some through."""
        if self.tool in COMMAND_TOOLS and self.verdict == "allow" and self.inside.endswith(" *"):
            return covers_nothing(self.tool, self.inside)
        return ""

    @property
    def matches_nothing(self) -> str:
        """Why it is about no file at all; empty where it may be about some."""
        about_paths = self.tool in FILE_TOOLS and self.inside[:1] not in ("", "{")
        exact = self.verdict == "allow"
        return matches_nothing(self.inside, exact=exact) if about_paths else ""

    def doubt(self, tools: Collection[str] = (), *, typed: bool = False) -> str:
        """Return why it may never hold, and which rule does; empty where it may.

        A rule that allows a tool by its name is what the dialog writes for the tool of a module,
        which other sessions do not have.

        Args:
            tools: Those that are there; what the program has no tool for may be one of a module.
            typed: A person wrote it just now, and no dialog.
        """
        if self.asker or self.tool in tools:
            return ""
        if self.verdict == "allow" and self.inside[:1] in ("", "{") and not typed:
            return ""
        if near := meant_tool(self.tool):
            better = spelt(near, self.inside)
            return f"no tool of the program is called {self.tool}; write {better}"
        if typed and self._is_strange and (like := nearest(self.tool, _IN_BRACKETS)):
            return f"no tool of the program is called {self.tool}; write {spelt(like, self.inside)}"
        if self.tool in WITHOUT_BRACKETS and self.inside[:1] not in ("", "{"):
            return f"it matches no call; write {self.tool}, or its arguments as JSON"
        return ""

    @property
    def _is_strange(self) -> bool:
        """Whether it has words in brackets, and is of a tool that the program does not know."""
        known = _IN_BRACKETS | WITHOUT_BRACKETS
        return self.inside[:1] not in ("", "{") and self.tool not in known and "*" not in self.tool

    @property
    def in_every_folder(self) -> str:
        """The rule about these names in every folder, where it is about the top one alone."""
        name = self.inside.removesuffix("/")
        plain = not name or "/" in name or name.startswith("~") or not name.strip(".*")
        meant = is_pattern(self.inside) or self.verdict != "allow"
        if self.tool not in FILE_TOOLS or plain or name.startswith("{") or not meant:
            return ""
        return f"{self.tool}(**/{self.inside})"

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
    elif name in SERVER_TOOLS:
        _check_server(name, inside, at)
    elif inside[0] in "!#":
        raise RuleError(f"a path does not begin with `{inside[0]}`", at)
    return Rule(name, inside, verdict, ceiling=ceiling, **more)


_NOWHERE: Final = Path("/amplifier-tui has no such folder")
"""Where a rule is read: a search in its words would meet the files of any folder that is there."""


def _checked_command(inside: str, at: int) -> tuple[str, Risk]:
    words = inside.removesuffix("*")
    if words != inside and not words.endswith(" "):
        raise RuleError("a `*` stands alone, behind a blank", at + len(words))
    if "*" in words and words != inside:
        raise RuleError("only one `*`, at the end", at + words.index("*"))
    line, _, _, whole = judge_script(words, Path("/"), _NOWHERE)
    if words == inside:
        return " ".join(inside.split()), "high"
    if not line.complete or line.hidden or len(line.commands) != 1:
        raise RuleError("a rule with a `*` is one plain command", at)
    (command,) = line.commands
    if command.assignments or command.redirections or not all(command.known):
        raise RuleError("a rule with a `*` has no variables and no redirections", at)
    ceiling: Risk = "medium" if severity(whole.risk) < severity("medium") else whole.risk
    return f"{' '.join(words.split())} *", ceiling


def _check_server(name: str, inside: str, at: int) -> None:
    """Refuse an address: calls are matched by the name of their server."""
    server = server_of(inside)
    if server != inside:
        example = f": {name}({server})" if server else ""
        raise RuleError(f"a server has no https://, no port and no path here{example}", at)


def _checked_arguments(inside: str, at: int) -> str:
    try:
        return arguments_text(json.loads(inside))
    except json.JSONDecodeError as error:
        raise RuleError(f"the arguments are no JSON: {error.msg}", at + error.pos) from error


def read_rule_line(line: str, **more: Any) -> Rule:
    """Read a rule with what happens before it: `deny bash(git push *)`; without that it allows.

    Raises:
        RuleError: It is none.
    """
    verdict, _, rest = line.lstrip().partition(" ")
    for known in VERDICTS:
        if verdict == known and rest.strip():
            try:
                return parse_rule(rest, known, **more)
            except RuleError as error:
                raise RuleError(str(error), error.column + len(line) - len(rest)) from error
    return parse_rule(line, **more)


def planned_rule(text: Any, verdict: Verdict, bundle: str) -> Rule:
    """Read a rule of hooks-approval: of a command it says what that begins with.

    Raises:
        RuleError: It is none.
    """
    if not isinstance(text, str):
        raise RuleError("it is no text", 1)
    name, opened, rest = text.strip().partition("(")
    if opened and rest.endswith(")") and not in_brackets(text):
        words = rest[:-1].replace(":*", " *").removesuffix("*").strip()
        text = f"{name}({words} *)" if words else name
    return parse_rule(text, verdict, origin=bundle, planned=True)


def rule_words(rules: Iterable[Rule]) -> str:
    """Return rules as one line."""
    return ", ".join(dict.fromkeys(str(rule) for rule in rules))
