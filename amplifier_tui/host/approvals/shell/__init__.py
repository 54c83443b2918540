"""Shell command lines, read without running them."""

from amplifier_tui.host.approvals.shell.model import WRITING, Command, Redirect, Script
from amplifier_tui.host.approvals.shell.reader import split_commands
from amplifier_tui.host.approvals.shell.unwrap import ROOT_WRAPPERS, SHELLS, Run, runs

__all__ = [
    "ROOT_WRAPPERS",
    "SHELLS",
    "WRITING",
    "Command",
    "Redirect",
    "Run",
    "Script",
    "runs",
    "split_commands",
]
