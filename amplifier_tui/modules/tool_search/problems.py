"""What can go wrong with a search, said so that a model knows what to do next."""

from __future__ import annotations

from amplifier_tui.kernel.models import ToolResult


class SearchProblem(Exception):
    """A call can't be carried out.

    Args:
        message: Why, and what to do.
        kind: The same in a word, for programs.
    """

    def __init__(self, message: str, kind: str) -> None:
        super().__init__(message)
        self.kind = kind


def failed(problem: SearchProblem) -> ToolResult:
    """Return a problem as a tool's result."""
    message = str(problem)
    return ToolResult(
        success=False, output=message, error={"type": problem.kind, "message": message}
    )
