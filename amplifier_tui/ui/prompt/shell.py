"""What a draft that begins with `!` means."""

from typing import Final, NamedTuple

HINT: Final = "shell: runs as you, not asked"
QUIET_HINT: Final = "shell, agent not told: runs as you, not asked"


class ShellDraft(NamedTuple):
    """A command line, and whether the agent is told of it."""

    command: str
    tell: bool


def shell_draft(text: str) -> ShellDraft | None:
    """Return what a draft runs; None for one that is no command.

    Args:
        text: As it stands in the prompt: what is folded into a label there is not looked at.
    """
    if not text.startswith("!"):
        return None
    quiet = text.startswith("!!")
    return ShellDraft(text[2 if quiet else 1 :].strip(), not quiet)
