"""The `/` commands that modules bring: how they offer them to whoever runs their session.

A module registers a contributor on `CHANNEL` whose callback returns a list of `PromptCommand`. The
host lists them, and puts what a command expands to in the place of `/name words` in a prompt. When
its list has changed, a module emits `COMMANDS_CHANGED` without data.
"""

from collections.abc import Awaitable, Callable
from typing import Final

from amplifier_tui.base.lazy.dataclass import dataclass

CHANNEL: Final = "prompt.commands"
COMMANDS_CHANGED: Final = "prompt:commands_changed"


@dataclass(frozen=True, slots=True)
class PromptCommand:
    """A command that expands to a prompt.

    Attributes:
        group: What it belongs to, such as `skill` or the name of a server. `/group:name` means it
            also where another command has its name.
        name: Letters, digits, `-` and `_`.
        takes: What the words after it are, in a word; empty where it needs none.
        expand: Gets these words and returns the prompt. A `ValueError` says why it can't.
    """

    group: str
    name: str
    description: str
    takes: str
    expand: Callable[[str], Awaitable[str]]

    @property
    def full_name(self) -> str:
        """The name that no command of another group has."""
        return f"{self.group}:{self.name}"
