"""The result of a command, for the model."""

from collections.abc import Sequence

from amplifier_tui.base.commands.run import CommandRun, Output
from amplifier_tui.base.messages.sub_sessions import ending_note
from amplifier_tui.kernel.models import ToolResult


def result_of_run(
    run: CommandRun, output: Output, seconds: float, notes: Sequence[str]
) -> ToolResult:
    """Return the result of a command that ran here."""
    code = run.exit_code
    if run.timed_out:
        kind, state = "timeout", f"timed out after {run.timeout or 0:g} s and was ended"
    elif code < 0:
        kind, state = "exit_code", f"ended by signal {-code}"
    else:
        kind, state = ("exit_code" if code else ""), f"exit code {code}"
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
