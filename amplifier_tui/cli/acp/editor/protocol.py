"""What an editor is asked for over the protocol, and what comes of a request that fails."""

from typing import Any, Final, Protocol

from acp import RequestError, schema

from amplifier_tui.base.text import one_line

PATIENCE: Final = 30.0
"""Seconds for an answer of the editor."""
EDITOR_ERRORS: Final = (RequestError, ValueError, ConnectionError)
"""What a request to an editor raises."""


class Editor(Protocol):
    """What a session asks of an editor; `acp.AgentSideConnection` does it."""

    async def session_update(self, session_id: str, update: Any) -> None:
        """Send an update."""

    async def request_permission(
        self, session_id: str, tool_call: Any, options: list[Any]
    ) -> schema.RequestPermissionResponse:
        """Ask the user."""

    async def create_elicitation(self, message: str, mode: Any) -> Any:
        """Ask the user to fill in a form."""

    async def read_text_file(self, session_id: str, path: str) -> schema.ReadTextFileResponse:
        """Read a file as the editor has it."""

    async def write_text_file(self, session_id: str, path: str, content: str) -> Any:
        """Replace a file's text in the editor."""

    async def create_terminal(
        self,
        session_id: str,
        command: str,
        args: list[str],
        env: list[schema.EnvVariable],
        cwd: str,
        output_byte_limit: int,
    ) -> schema.CreateTerminalResponse:
        """Start a command in a terminal."""

    async def wait_for_terminal_exit(
        self, session_id: str, terminal_id: str
    ) -> schema.WaitForTerminalExitResponse:
        """Wait for the end of its command."""

    async def terminal_output(
        self, session_id: str, terminal_id: str
    ) -> schema.TerminalOutputResponse:
        """Return what its command printed."""

    async def kill_terminal(self, session_id: str, terminal_id: str) -> Any:
        """End its command."""

    async def release_terminal(self, session_id: str, terminal_id: str) -> Any:
        """Say that the agent asks about it no more."""


def words_of(error: Exception) -> str:
    """Return what went wrong where an editor was asked for something."""
    if isinstance(error, TimeoutError):
        return f"the editor gave no answer in {PATIENCE:.0f} s"
    if isinstance(error, ConnectionError):
        return "the editor is gone"
    said = [str(error), str(getattr(error, "data", None) or "")]
    return f"the editor says: {one_line(' '.join(said), 300)}"
