"""What a tool call does to files, as far as its tool and arguments tell: it changes or reads them.

Calls of one answer run side by side only where none can see or undo what another does.
"""

from typing import Literal

from amplifier_tui.base.shell.effects import only_reads
from amplifier_tui.base.shell.reader import read_shell_line
from amplifier_tui.base.tool_names import COMMAND_TOOLS, READ_TOOLS, WRITE_TOOLS
from amplifier_tui.kernel.message_models import ToolCall

Effect = Literal["changes", "reads", "none"]


def effect(call: ToolCall) -> Effect:
    """Return what a call does to files.

    "none" stands for a tool that has nothing to do with them, and for one of others, of which
    nothing is known: they run beside each other, as the contract of the loops has it.
    """
    if call.name in COMMAND_TOOLS:
        command = call.arguments.get("command")
        looks = isinstance(command, str) and only_reads(read_shell_line(command))
        return "reads" if looks else "changes"
    if call.name in WRITE_TOOLS:
        return "changes"
    return "reads" if call.name in READ_TOOLS else "none"


def waits_for(later: Effect, earlier: Effect) -> bool:
    """Whether a call has to wait until one before it in the same answer has ended."""
    if later == "changes":
        return earlier != "none"
    return later == "reads" and earlier == "changes"
