"""Shell command lines, read without running them."""

from amplifier_tui.base.shell.line import Redirection, ShellCommand, ShellLine
from amplifier_tui.base.shell.reader import read_shell_line
from amplifier_tui.base.shell.unwrap import (
    ROOT_WRAPPERS,
    SHELLS,
    ProgramRun,
    programs_of,
    readings,
)

__all__ = [
    "ROOT_WRAPPERS",
    "SHELLS",
    "ProgramRun",
    "Redirection",
    "ShellCommand",
    "ShellLine",
    "programs_of",
    "read_shell_line",
    "readings",
]
