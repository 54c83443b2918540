"""How a tool says that a call can't be carried out."""

from amplifier_tui.kernel.models import ToolResult


class ToolProblem(Exception):
    """A call can't be carried out.

    Args:
        message: Why, and what to do: the model reads it.
        kind: The same in a word, for programs.
    """

    def __init__(self, message: str, kind: str) -> None:
        super().__init__(message)
        self.kind = kind

    def result(self) -> ToolResult:
        """Return it as a tool's result."""
        return failed(str(self), self.kind)


def failed(message: str, kind: str) -> ToolResult:
    """Return the result of a call that failed; arguments as of `ToolProblem`."""
    return ToolResult(success=False, output=message, error={"type": kind, "message": message})
