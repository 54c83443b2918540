"""The terminals of a client that shows commands to its user while they run, such as an editor.

The host registers the capability `client.terminals` (`ClientTerminals`) where the client offers it.
A command there is in no sandbox of this program.
"""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Final, Protocol

from amplifier_tui.base.lazy.dataclass import dataclass

CAPABILITY: Final = "client.terminals"


@dataclass(frozen=True, slots=True)
class TerminalCommand:
    """A command for a client to run.

    Attributes:
        words: Program and arguments.
        environment: Variables that are set beside the client's own.
        call_id: The tool call that it is shown with.
        timeout: Seconds it may take.
        most: Bytes of output that are kept; the beginning of more is left out.
    """

    words: Sequence[str]
    folder: Path
    environment: Mapping[str, str]
    call_id: str
    timeout: float
    most: int


@dataclass(frozen=True, slots=True)
class TerminalEnd:
    """What came of a command.

    Attributes:
        output: What it printed, as it came.
        truncated: The beginning of the output is missing.
        exit_code: None where a signal ended it, or it is not known.
        signal: The name of that signal.
        timed_out: It ran for too long and was ended.
    """

    output: str
    truncated: bool = False
    exit_code: int | None = None
    signal: str = ""
    timed_out: bool = False


class ClientTerminals(Protocol):
    """Runs commands in the client."""

    async def run(self, command: TerminalCommand) -> TerminalEnd:
        """Run a command to its end.

        Raises:
            OSError: The client failed; the command may have run in part.
            asyncio.CancelledError: This was cancelled; the client is told to end the command.
        """
