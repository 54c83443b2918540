"""What a request in any API's format has."""

from collections.abc import Iterable, Mapping
from dataclasses import field
from typing import Any, Final

from amplifier_tui.base.lazy.dataclass import dataclass
from amplifier_tui.kernel.message_models import Degradation, ImageBlock, ToolSpec
from amplifier_tui.kernel.utils.conversation import clean_name
from amplifier_tui.kernel.utils.turns import (
    AssistantTurn,
    Conversation,
    EphemeralText,
    InstructionTurn,
    ToolOutput,
    ToolTurn,
    UserTurn,
)

Wire = dict[str, Any]
"""One JSON object as the API takes it."""

BEGIN: Final = "(The conversation begins here.)"
GO_ON: Final = "Continue."


@dataclass
class PreparedRequest:
    """A request ready to be sent.

    Attributes:
        arguments: Keyword arguments of the SDK's `create`.
        conversation: What they were made of.
        tool_names: The tools' real names by the names the API knows.
        degradation: What the API can't do as asked.
    """

    arguments: Wire
    conversation: Conversation
    tool_names: dict[str, str] = field(default_factory=dict)
    degradation: Degradation | None = None

    @property
    def call_ids(self) -> set[str]:
        """The ids of all calls of the conversation."""
        turns = self.conversation.turns
        return {c.id for turn in turns if isinstance(turn, AssistantTurn) for c in turn.calls}

    @property
    def answers_results(self) -> bool:
        """Whether results of tools come last, beside what hooks add."""
        for turn in reversed(self.conversation.turns):
            if isinstance(turn, ToolTurn):
                return True
            added = isinstance(turn, InstructionTurn) or (
                isinstance(turn, UserTurn)
                and all(isinstance(block, EphemeralText) for block in turn.content)
            )
            if not added:
                return False
        return False


def tool_names(tools: Iterable[ToolSpec] | None) -> dict[str, str]:
    """Return the tools' real names by the names the API knows."""
    return {clean_name(tool.name): tool.name for tool in tools or []}


_CHOICES: Final = ("allOf", "anyOf", "oneOf")
_NOT_AT_TOP: Final = ("type", "enum", "not", *_CHOICES)


def input_schema(tool: ToolSpec) -> Wire:
    """Return a tool's schema as that of an object with properties, which is all that APIs take.

    For a choice at its top they refuse the whole request. What its parts describe may be given
    then; which of it goes together, the tool says.
    """
    given = tool.parameters
    schema = {name: value for name, value in given.items() if name not in _NOT_AT_TOP}
    properties, required = _fields(given)
    for kind in _CHOICES:
        parts = given.get(kind)
        for part in parts if isinstance(parts, list) else ():
            more, needed = _fields(part)
            properties = {**more, **properties}
            required += needed if kind == "allOf" else []
    if required:
        schema["required"] = list(dict.fromkeys(required))
    return {"type": "object", **schema, "properties": properties}


def _fields(schema: Any) -> tuple[Wire, list[str]]:
    """The properties of a schema, and the names of those that are needed."""
    given = schema if isinstance(schema, Mapping) else {}
    properties, required = given.get("properties"), given.get("required")
    return (
        dict(properties) if isinstance(properties, Mapping) else {},
        [name for name in required if isinstance(name, str)] if isinstance(required, list) else [],
    )


def output_text(output: ToolOutput) -> str:
    """Return a tool's output as text, of which every API wants some."""
    text = output.text
    return text if text and not text.isspace() else "(no output)"


def is_pdf(block: ImageBlock) -> bool:
    """Whether a block is a PDF, for which every API has a form of its own."""
    return block.source.get("media_type") == "application/pdf"


def sampling(temperature: float | None, top_p: float | None) -> Wire:
    """Return the sampling parameters that are set."""
    wanted = {"temperature": temperature, "top_p": top_p}
    return {name: value for name, value in wanted.items() if value is not None}


def chosen_tool(choice: str | Wire) -> str | None:
    """Return the name of the one tool that is to be called, from either vendor's shapes."""
    match choice:
        case str():
            return clean_name(choice)
        case {"function": {"name": str(name)}} | {"name": str(name)}:
            return clean_name(name)
        case _:
            return None
