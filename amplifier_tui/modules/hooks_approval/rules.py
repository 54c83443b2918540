"""Rules: which calls they speak of."""

from __future__ import annotations

import re
from dataclasses import dataclass
from fnmatch import fnmatchcase
from typing import Any, Final

from amplifier_tui.modules.hooks_approval.command_line import Command

_FORM: Final = re.compile(r"\s*([^()\s]+)\s*(?:\((.*)\))?\s*", re.DOTALL)


@dataclass(frozen=True)
class Rule:
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
    def parse(cls, text: Any) -> Rule:
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

    def allows(self, command: Command) -> bool:
        """Whether it speaks of this command as written: with its path, and no assignments."""
        return not command.assigns and self.covers(command.words)

    def catches(self, command: Command) -> bool:
        """Whether it speaks of this command, whatever wraps it."""
        return any(map(self.covers, command.readings()))
