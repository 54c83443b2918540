"""The result of a command, for the model."""

import re
from collections.abc import Sequence
from typing import Final

from amplifier_tui.base.commands.run import CommandRun, Output
from amplifier_tui.base.messages.sub_sessions import ending_note, exit_words
from amplifier_tui.kernel.models import ToolResult

_NOT_SET: Final = re.compile(
    r"could not (?:write|lock) config file|update of config-file failed", re.IGNORECASE
)
"""What git says where its configuration is read-only; it goes on, and ends with 0."""
_NOT_SET_NOTE: Final = (
    "git could not write its configuration, which is read-only in the sandbox: what it should have "
    "set there, such as the upstream of a branch, is not set, whatever its exit code"
)


_NOT_WRITTEN: Final = re.compile(r"\.git/\S*: Read-only file system")
"""What git says where a repository is read-only; a line may go on, and end with 0."""


def said_of_sandbox(terms: str, exit_code: int | None, output: Output) -> list[str]:
    """Return what to tell the model of the sandbox that a command ran in.

    Args:
        terms: What the sandbox keeps it from; empty without one.
    """
    if not terms:
        return []
    text = output.text()
    not_set = _NOT_SET.search(text) is not None
    told = bool(exit_code) or not_set or _NOT_WRITTEN.search(text) is not None
    return [*([_NOT_SET_NOTE] if not_set else []), *([terms] if told else [])]


def result_of_run(
    run: CommandRun, output: Output, seconds: float, notes: Sequence[str]
) -> ToolResult:
    """Return the result of a command that ran here."""
    code = run.exit_code
    if run.timed_out:
        kind, state = "timeout", f"timed out after {run.timeout or 0:g} s and was ended"
    else:
        kind, state = ("exit_code" if code else ""), exit_words(code)
    left = (
        f"Processes of this command still run in the background (process group {run.process.pid}). "
        "What they print is not kept."
    )
    return result_of(output, state, kind, seconds, [left, *notes] if run.left_running else notes)


def so_far(output: Output) -> ToolResult:
    """Return what a command that was stopped had printed; whoever stopped it says why."""
    return ToolResult(success=False, output=output.text().rstrip("\n"))


def result_of(
    output: Output, state: str, kind: str, seconds: float, notes: Sequence[str]
) -> ToolResult:
    """Return a result.

    Args:
        state: How the command ended, in words.
        kind: The type of the error; empty where it succeeded.
        notes: What else the model should know.
    """
    lines = [output.text().rstrip("\n"), ending_note(state, seconds)]
    lines += [f"[{note}]" for note in notes]
    text = "\n".join(line for line in lines if line)
    if not kind:
        return ToolResult(output=text)
    return ToolResult(success=False, output=text, error={"type": kind, "message": state})
