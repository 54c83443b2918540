"""A command in a terminal of the session's client."""

import os
import time
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Final

from amplifier_tui.base.capabilities.client_terminals import ClientTerminals, TerminalCommand
from amplifier_tui.base.commands.run import Output
from amplifier_tui.base.messages.sub_sessions import exit_words
from amplifier_tui.base.secrets import LONGEST_PRIVATE_KEY
from amplifier_tui.base.text import one_line
from amplifier_tui.kernel.correlation import current_tool_call_id
from amplifier_tui.kernel.models import ToolResult
from amplifier_tui.modules._shared.tool import ToolProblem
from amplifier_tui.modules.tool_bash.results import result_of

_MOST_BYTES: Final = 1024 * 1024
"""Bytes of output that the client keeps: far more than the model gets."""


async def run_in_client(
    terminals: ClientTerminals,
    command: Sequence[str],
    folder: Path,
    environment: Mapping[str, str],
    timeout: float,
    output: Output,
) -> ToolResult:
    """Run a command in the client and return its result, as of one that runs here.

    Args:
        environment: All of its variables; those of this program that are not in it are emptied.
        output: Takes what it prints.

    Raises:
        ToolProblem: The client failed. The command is not run again: it may have done a part.
    """
    began, own = time.monotonic(), os.environ
    changed = {name: value for name, value in environment.items() if own.get(name) != value}
    withheld = {name: "" for name in own if name not in environment}
    call_id, variables = current_tool_call_id() or "", {**withheld, **changed}
    asked = TerminalCommand(command, folder, variables, call_id, timeout, _MOST_BYTES)
    try:
        end = await terminals.run(asked)
    except OSError as error:
        raise ToolProblem(
            f"The client's terminal failed: {error}. The command may have run in part: look before "
            "you run it again.",
            "client_terminal",
        ) from error
    # What was cut off may be the first half of a secret, whose second half nobody would know.
    kept = end.output[LONGEST_PRIVATE_KEY:] if end.truncated else end.output
    output.feed(kept.encode("utf-8", "replace"))
    output.feed(b"")
    if end.timed_out:
        kind, state = "timeout", f"timed out after {timeout:g} s and was ended"
    elif end.exit_code is not None:
        kind, state = ("exit_code" if end.exit_code else ""), exit_words(end.exit_code)
    else:
        kind, state = "exit_code", f"ended by signal {one_line(end.signal, 40) or 'unknown'}"
    notes = ["The beginning of the output was left out by the client"] if end.truncated else []
    return result_of(output, state, kind, time.monotonic() - began, notes)
