"""The envelope between orchestrators and providers: messages, requests, responses (spec 000).

Every model keeps fields it does not know (``extra="allow"``): a provider may carry what its
API needs for a round trip.
"""

from decimal import Decimal
from typing import Annotated, Any, Literal

from pydantic import BaseModel, BeforeValidator, ConfigDict, Field, PlainSerializer


def _no_float(value: Any) -> Any:
    if isinstance(value, float):
        raise ValueError("cost_usd must be a Decimal, an int or a string: a float is not exact")
    return value


def _as_text(value: Decimal | None) -> str | None:
    return None if value is None else str(value)


Cost = Annotated[
    Decimal | None, BeforeValidator(_no_float), PlainSerializer(_as_text, return_type=str | None)
]
"""US dollars. Dumps to a string in every mode, so that no digit is lost on the way."""


Role = Literal["system", "developer", "user", "assistant", "function", "tool"]
"""Who speaks in a message."""

Visibility = Literal["internal", "developer", "user"]
"""Who may see a block."""


class _Envelope(BaseModel):
    # Built when first used: it halves what importing this module costs.
    model_config = ConfigDict(extra="allow", defer_build=True)


class TextBlock(_Envelope):
    """Plain text."""

    type: Literal["text"] = "text"
    text: str
    visibility: Visibility | None = None


class ThinkingBlock(_Envelope):
    """Reasoning shown by the model; ``signature`` must survive the round trip unchanged."""

    type: Literal["thinking"] = "thinking"
    thinking: str
    signature: str | None = None
    content: list[Any] | None = None
    visibility: Visibility | None = None


class RedactedThinkingBlock(_Envelope):
    """Reasoning the API encrypted; ``data`` must survive the round trip unchanged."""

    type: Literal["redacted_thinking"] = "redacted_thinking"
    data: str
    visibility: Visibility | None = None


class ToolCallBlock(_Envelope):
    """A tool call inside a message."""

    type: Literal["tool_call"] = "tool_call"
    id: str
    name: str
    input: dict[str, Any]
    visibility: Visibility | None = None


class ToolResultBlock(_Envelope):
    """The answer to a tool call inside a message."""

    type: Literal["tool_result"] = "tool_result"
    tool_call_id: str
    output: Any
    visibility: Visibility | None = None


class ImageBlock(_Envelope):
    """An image, or a PDF by its media type ``application/pdf``.

    ``source`` is ``{"type": "base64", "media_type": ..., "data": ...}`` or a URL.
    """

    type: Literal["image"] = "image"
    source: dict[str, Any]
    visibility: Visibility | None = None


class ReasoningBlock(_Envelope):
    """Reasoning items of the OpenAI Responses API."""

    type: Literal["reasoning"] = "reasoning"
    content: list[Any]
    summary: list[Any]
    visibility: Visibility | None = None


ContentBlockUnion = Annotated[
    TextBlock
    | ThinkingBlock
    | RedactedThinkingBlock
    | ToolCallBlock
    | ToolResultBlock
    | ImageBlock
    | ReasoningBlock,
    Field(discriminator="type"),
]
"""Any content block, told apart by ``type``."""


class Message(_Envelope):
    """One message of a conversation."""

    role: Role
    content: str | list[ContentBlockUnion]
    name: str | None = None
    tool_call_id: str | None = None
    metadata: dict[str, Any] | None = None


class ToolSpec(_Envelope):
    """A tool as the model is told about it; ``parameters`` is a JSON schema."""

    name: str
    parameters: dict[str, Any]
    description: str | None = None


class ResponseFormatText(_Envelope):
    """Ask for plain text."""

    type: Literal["text"] = "text"


class ResponseFormatJson(_Envelope):
    """Ask for any JSON object."""

    type: Literal["json"] = "json"


class ResponseFormatJsonSchema(_Envelope):
    """Ask for JSON of a schema; the field ``json_schema`` is called ``schema`` in dumps."""

    model_config = ConfigDict(populate_by_name=True, serialize_by_alias=True)

    type: Literal["json_schema"] = "json_schema"
    json_schema: dict[str, Any] = Field(alias="schema")
    strict: bool | None = None


ResponseFormat = ResponseFormatText | ResponseFormatJson | ResponseFormatJsonSchema
"""The shape a response is asked to have."""


class ChatRequest(_Envelope):
    """What a provider is asked to complete.

    ``timeout`` is in seconds; ``tool_choice`` is a word of the API or its object form.
    """

    messages: list[Message]
    tools: list[ToolSpec] | None = None
    response_format: ResponseFormat | None = None
    temperature: float | None = None
    top_p: float | None = None
    max_output_tokens: int | None = None
    conversation_id: str | None = None
    stream: bool | None = False
    metadata: dict[str, Any] | None = None
    model: str | None = None
    tool_choice: str | dict[str, Any] | None = None
    stop: list[str] | None = None
    reasoning_effort: str | None = None
    timeout: float | None = None


class ToolCall(_Envelope):
    """A tool call the model asks for."""

    id: str
    name: str
    arguments: dict[str, Any]

    @property
    def input(self) -> dict[str, Any]:
        """The arguments, under the name spec 000 reads them by."""
        return self.arguments


class Usage(_Envelope):
    """Tokens of one response; ``input_tokens`` counts cache reads too."""

    input_tokens: int
    output_tokens: int
    total_tokens: int
    reasoning_tokens: int | None = None
    cache_read_tokens: int | None = None
    cache_write_tokens: int | None = None
    cost_usd: Cost = None


class Degradation(_Envelope):
    """What was asked for, what was given instead, and why."""

    requested: str
    actual: str
    reason: str


class ChatResponse(_Envelope):
    """What a provider answered."""

    content: list[ContentBlockUnion]
    tool_calls: list[ToolCall] | None = None
    usage: Usage | None = None
    degradation: Degradation | None = None
    finish_reason: str | None = None
    metadata: dict[str, Any] | None = None
