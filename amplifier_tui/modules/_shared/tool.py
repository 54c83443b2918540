"""What tools are made of: a schema, and an answer to every call, also to one that can't be done."""

from abc import ABC, abstractmethod
from collections.abc import Mapping
from typing import Any, ClassVar

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


def argument(kind: str, description: str, **more: Any) -> dict[str, Any]:
    """Return the JSON schema of an argument of a JSON type."""
    return {"type": kind, "description": description, **more}


class DescribedTool(ABC):
    """A tool that tells its schema under both of its names: the library's and the spec's."""

    @property
    @abstractmethod
    def input_schema(self) -> dict[str, Any]:
        """JSON schema of the input."""

    def get_schema(self) -> dict[str, Any]:
        """Return the JSON schema of the input (spec 000, Tool Schema)."""
        return self.input_schema


class ModuleTool(DescribedTool):
    """A tool (spec 000, Tool contract) whose calls may end in a `ToolProblem`."""

    name: ClassVar[str]
    required: ClassVar[tuple[str, ...]] = ()
    """The arguments a call must have."""

    @property
    @abstractmethod
    def description(self) -> str:
        """What it does, for the model."""

    @property
    @abstractmethod
    def parameters(self) -> Mapping[str, Any]:
        """JSON schema of each argument."""

    @property
    def input_schema(self) -> dict[str, Any]:
        """JSON schema of the input."""
        return {
            "type": "object",
            "properties": dict(self.parameters),
            "required": list(self.required),
        }

    async def execute(self, input: dict[str, Any]) -> ToolResult:
        """Carry out a call; what is wrong with it is its answer.

        Raises:
            asyncio.CancelledError: The call was cancelled; what it started has ended.
        """
        try:
            return await self.run(input)
        except ToolProblem as problem:
            return problem.result()

    @abstractmethod
    async def run(self, given: Mapping[str, Any]) -> ToolResult:
        """Do what the call asks for.

        Raises:
            ToolProblem: It can't be done.
        """
