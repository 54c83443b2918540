"""What a bundle may say about approvals, and the rules it may write."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping
from fnmatch import fnmatchcase
from typing import TYPE_CHECKING, Annotated, Any, ClassVar, Final, Literal

from pydantic import BeforeValidator, Field

from amplifier_tui.base.config import ModuleSettings, Seconds, SettingProblem
from amplifier_tui.base.lazy.dataclass import dataclass
from amplifier_tui.base.tool_names import (
    SERVER_TOOLS,
    WITHOUT_BRACKETS,
    in_brackets,
    is_known_tool,
    meant_tool,
    server_of,
    spelt,
)

if TYPE_CHECKING:
    from amplifier_tui.base.shell import ShellCommand

Policy = Literal["careful", "standard", "relaxed"]

_FORM: Final = re.compile(r"\s*([^()\s]+)\s*(?:\((.*)\))?\s*", re.DOTALL)


@dataclass(frozen=True)
class ToolRule:
    """A tool's name, and for commands the words they begin with.

    Attributes:
        text: As written.
        tool: Pattern of the tool's name.
        words: Patterns of the command's first words; None for a rule about the tool as a whole.
    """

    text: str
    tool: str
    words: tuple[str, ...] | None = None

    @classmethod
    def parse(cls, text: Any) -> ToolRule:
        """Read a rule.

        Raises:
            ValueError: It is not one.
        """
        found = _FORM.fullmatch(text) if isinstance(text, str) else None
        if found is None:
            raise ValueError(f"{text!r} is not a rule; write `tool` or `tool(first words)`")
        tool, words = found.groups()
        # `bash(git *)` and `bash(git:*)` are how others write `bash(git)`.
        inner = None if words is None else tuple(words.replace(":*", " *").split())
        while inner and inner[-1] == "*":
            inner = inner[:-1]
        return cls(text.strip(), tool, inner or None)

    def names(self, tool: str) -> bool:
        """Whether it speaks of this tool."""
        return fnmatchcase(tool, self.tool)

    def covers(self, words: tuple[str, ...]) -> bool:
        """Whether a command with these words begins as the rule says."""
        if self.words is None:
            return True
        return len(words) >= len(self.words) and all(
            fnmatchcase(word, pattern) for word, pattern in zip(words, self.words, strict=False)
        )

    def allows(self, command: ShellCommand) -> bool:
        """Whether it speaks of this command as written: with its path, and no assignments."""
        return not command.assignments and self.covers(command.written)

    def catches(self, command: ShellCommand) -> bool:
        """Whether it speaks of this command, whatever wraps it."""
        from amplifier_tui.base.shell import readings

        return any(map(self.covers, readings(command)))


def _parsed(value: Any) -> tuple[ToolRule, ...]:
    listed = [value] if isinstance(value, str) else value
    if not isinstance(listed, list | tuple):
        raise ValueError(f"must be a list of rules, not {value!r}")
    try:
        return tuple(ToolRule.parse(text) for text in listed)
    except ValueError as error:
        raise ValueError(f"has a mistake: {error}") from error


Rules = Annotated[tuple[ToolRule, ...], BeforeValidator(_parsed)]


class ApprovalSettings(ModuleSettings):
    """The module's configuration; see the package's docstring."""

    module: ClassVar[str] = "hooks-approval"

    policy: Policy = "standard"
    allow: Rules = ()
    ask: Rules = ()
    deny: Rules = ()
    timeout: Seconds = Field(300.0, gt=0)
    priority: int = 90

    @classmethod
    def problems(cls, config: Mapping[str, Any] | None) -> list[SettingProblem]:
        """Return what is wrong, and which rules name no tool though they are like one."""
        return [*super().problems(config), *_doubtful(config or {})]


def _doubtful(config: Mapping[str, Any]) -> Iterator[SettingProblem]:
    for key in ("allow", "ask", "deny"):
        try:
            rules = _parsed(config.get(key) or ())
        except ValueError:
            continue  # It is told as a mistake.
        for rule in rules:
            if words := _doubt(rule):
                said = f"`{key}` of {ApprovalSettings.module}: {rule.text!r}: {words}"
                yield SettingProblem(key, said, known=False)


def _doubt(rule: ToolRule) -> str:
    """Why a rule may never hold as it is meant; empty where it may."""
    inside = in_brackets(rule.text)
    # A tool that is known by its kind may come with the same bundle.
    if not is_known_tool(rule.tool) and (near := meant_tool(rule.tool)):
        _, opened, _ = rule.text.partition("(")
        rest = rule.text[len(rule.tool) + 1 : -1] if opened else ""
        return f"no tool of the program is called {rule.tool}; write {spelt(near, rest)}"
    if rule.tool in WITHOUT_BRACKETS and rule.words and not inside:
        return f"it matches no call: write `{rule.tool}`, or its arguments as JSON in the brackets"
    if inside.startswith("{"):
        try:
            json.loads(inside)
        except (ValueError, RecursionError):
            return "the arguments are no JSON"
    elif rule.tool in SERVER_TOOLS and (server := server_of(inside)) != inside:
        example = f": `{rule.tool}({server})`" if server else ""
        return f"a server has no https://, no port and no path here{example}"
    elif inside[:1] in ("!", "#"):
        return "a path does not begin with `!` or `#`"
    return ""
