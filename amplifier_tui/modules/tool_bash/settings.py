"""What a bundle may say about the shell: what is refused, and the variables a command sees.

The refusals are a net for accidents, not a wall: there are many ways to write a command.
"""

import re
import shutil
from collections.abc import Iterable, Mapping
from typing import ClassVar, Final, NamedTuple

from pydantic import Field, field_validator

from amplifier_tui.base.commands.environment import quiet_environment, without_secrets
from amplifier_tui.base.commands.programs import find_program
from amplifier_tui.base.config import ModuleSettings, PathText, Seconds, Texts, TextsByName
from amplifier_tui.base.lazy.pattern import lazy_pattern


class Denial(NamedTuple):
    """A pattern that is looked for in a command line, and why it is refused."""

    pattern: re.Pattern[str]
    reason: str


# A command stands at the beginning, or after what ends another one.
_GAP: Final = r"[ \t]+"
_WORD: Final = r"[^\s;&|]+"
_WORDS: Final = rf"(?:{_WORD}{_GAP})*?"
_START: Final = (
    rf"(?:^|[\n;&|({{`])[ \t]*(?:(?:sudo|doas|exec|command|nohup|env){_GAP}(?:-{_WORD}{_GAP})*)*"
)
_ROOT: Final = r"""["']?(?:/|/\*|~|~/|~/\*|\$HOME/?|\$\{HOME\}/?|\$HOME/\*)["']?"""
_END: Final = r"(?=\s|$|[;&|)])"
_DISK: Final = r"/dev/(?:sd|hd|vd|xvd|nvme|mmcblk|disk|mapper/)"


def _denial(pattern: str, reason: str) -> Denial:
    return Denial(lazy_pattern(pattern), reason)


CATASTROPHIC: Final = (
    _denial(
        rf"{_START}rm{_GAP}(?={_WORDS}(?:-[a-zA-Z]*[rR]|--recursive)){_WORDS}{_ROOT}{_END}",
        "it deletes everything in the root or home folder",
    ),
    _denial(rf"{_START}rm{_GAP}{_WORDS}--no-preserve-root", "it deletes the root folder"),
    _denial(
        rf"{_START}(?:chmod|chown|chgrp){_GAP}(?={_WORDS}-[a-zA-Z]*R){_WORDS}{_ROOT}{_END}",
        "it changes the rights of everything in the root or home folder",
    ),
    _denial(rf"{_START}mkfs(?:\.\w+)?{_GAP}", "it formats a disk"),
    _denial(rf"{_START}dd{_GAP}{_WORDS}of={_DISK}", "it overwrites a disk"),
    _denial(rf">\s*{_DISK}", "it overwrites a disk"),
    _denial(
        r":\s{0,9}\(\s{0,9}\)\s{0,9}\{[^}]{0,99}:\s{0,9}\|\s{0,9}:\s{0,9}&", "it is a fork bomb"
    ),
    _denial(rf"{_START}(?:shutdown|reboot|halt|poweroff){_END}", "it shuts the computer down"),
)
"""What no session should run by accident."""


def refusal(command: str, denials: Iterable[Denial]) -> str | None:
    """Return why a command line is refused, or None if it is not."""
    joined = command.replace("\\\n", " ")
    for denial in denials:
        if denial.pattern.search(joined):
            return denial.reason
    return None


class BashSettings(ModuleSettings):
    """The module's configuration; see the package's docstring."""

    module: ClassVar[str] = "tool-bash"

    timeout: Seconds = Field(120.0, ge=0.1)
    max_timeout: Seconds = Field(600.0, ge=0.1)
    max_output_chars: int = Field(30_000, ge=1_000, description="a number")
    max_jobs: int = Field(8, ge=0, le=100, description="a number of commands")
    shell: str | None = None
    persist: bool = False
    denied_commands: Texts = ()
    builtin_denials: bool = True
    keep_env: Texts = ()
    pass_secrets: bool = False
    env: TextsByName = Field({})
    working_dir: PathText | None = None

    @field_validator("denied_commands")
    @classmethod
    def _readable(cls, texts: tuple[str, ...]) -> tuple[str, ...]:
        for text in texts:
            try:
                re.compile(text)
            except re.error as error:
                raise ValueError(
                    f"has {text!r}, which is no regular expression: {error}"
                ) from error
        return texts

    @property
    def longest(self) -> float:
        """The most seconds a call may ask for."""
        return max(self.timeout, self.max_timeout)

    def denials(self) -> tuple[Denial, ...]:
        """What is refused whoever allows it."""
        return (
            *(CATASTROPHIC if self.builtin_denials else ()),
            *(
                Denial(re.compile(text), f"it matches the denied pattern {text}")
                for text in self.denied_commands
            ),
        )

    def find_shell(self) -> str:
        """Return the path of the shell.

        Raises:
            ValueError: There is none.
        """
        names = [self.shell] if self.shell else ["bash", "sh"]
        for name in names:
            # One that is set may be the project's: whether it counts was asked about.
            found = shutil.which(name) if self.shell else find_program(name)
            if found is not None:
                return found
        raise ValueError(
            f"tool-bash finds no shell ({' or '.join(names)}): install it, or set `shell`"
        )


def command_environment(own: Mapping[str, str], settings: BashSettings) -> dict[str, str]:
    """Return the variables of a command: this program's, without secrets, and those to be set."""
    kept = ("*",) if settings.pass_secrets else settings.keep_env
    return {**quiet_environment(without_secrets(own, kept)), **settings.env}
