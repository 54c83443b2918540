"""What a scripted model answers: parts, failures, and the script that hands them out."""

import re
import threading
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal, TypeAlias

from tests.servers.flags import Gate

_WORDS = re.compile(r"\s*\S+|\s+\Z")


@dataclass(frozen=True)
class Pause:
    """The server waits this many seconds."""

    seconds: float


@dataclass(frozen=True)
class Cut:
    """The server drops the connection here, in the middle of the body."""


@dataclass(frozen=True)
class Stall:
    """The server sends nothing more and keeps the connection open."""


@dataclass(frozen=True)
class Malformed:
    """The server sends an event whose data is not JSON."""

    data: str = '{"type": "content_block_delta", "index":'


@dataclass(frozen=True)
class StreamFailure:
    """The vendor's error event inside a stream that had begun with status 200."""

    kind: Literal["overloaded", "server_error", "rate_limited", "context_too_long"] = "overloaded"


Step: TypeAlias = Gate | Pause | Cut | Stall | Malformed | StreamFailure
Chunks: TypeAlias = Sequence["str | Step"]


def words(text: str) -> list[str]:
    """The text in word-sized pieces; joined they are the text again."""
    return _WORDS.findall(text)


def _chunks(content: "str | Chunks") -> list["str | Step"]:
    return list(words(content)) if isinstance(content, str) else list(content)


def _joined(content: "str | Chunks") -> str:
    return "".join(piece for piece in _chunks(content) if isinstance(piece, str))


@dataclass(frozen=True)
class Text:
    """Visible answer text; a plain string is sent word by word."""

    content: "str | Chunks"

    def chunks(self) -> list["str | Step"]:
        return _chunks(self.content)

    def joined(self) -> str:
        return _joined(self.content)


@dataclass(frozen=True)
class Thinking:
    """Reasoning text. `signature` is Anthropic's signature or OpenAI's encrypted content."""

    content: "str | Chunks"
    signature: str = "sig-1"

    def chunks(self) -> list["str | Step"]:
        return _chunks(self.content)

    def joined(self) -> str:
        return _joined(self.content)


@dataclass(frozen=True)
class RedactedThinking:
    data: str = "opaque"


@dataclass(frozen=True)
class Refusal:
    """OpenAI's refusal content."""

    content: str


@dataclass(frozen=True)
class ToolUse:
    """One tool call. `arguments` may be raw text, valid JSON or not."""

    name: str
    arguments: "dict[str, Any] | str" = field(default_factory=dict)
    id: str | None = None
    pieces: int = 3


Part: TypeAlias = Text | Thinking | RedactedThinking | Refusal | ToolUse


@dataclass(frozen=True)
class Usage:
    """Token counts. `input` is gross: cache reads and writes are part of it."""

    input: int = 20
    output: int = 10
    cache_read: int = 0
    cache_write: int = 0
    reasoning: int = 0


@dataclass(frozen=True)
class Reply:
    """A successful answer.

    `stop` overrides the reason that follows from the parts. `before` delays the first byte.
    `pace` is the pause after every chunk, in seconds.
    """

    parts: "Sequence[Part | Step]" = ()
    usage: Usage | None = field(default_factory=Usage)
    stop: Literal["length", "refusal", "context_window", "pause"] | None = None
    before: Gate | Pause | None = None
    pace: float = 0.0

    @property
    def has_tools(self) -> bool:
        return any(isinstance(part, ToolUse) for part in self.parts)


FailureKind: TypeAlias = Literal[
    "unauthorized",
    "forbidden",
    "unknown_model",
    "rate_limited",
    "quota",
    "overloaded",
    "unavailable",
    "server_error",
    "context_too_long",
    "bad_request",
    "html",
]


@dataclass(frozen=True)
class Failure:
    """An HTTP error answer in the vendor's shape.

    `retry_after` is in seconds; `param` names the field at fault, where the vendor does.
    """

    kind: FailureKind
    retry_after: float | None = None
    message: str | None = None
    before: Gate | Pause | None = None
    param: str | None = None


@dataclass(frozen=True)
class Raw:
    """An HTTP answer of just these bytes, chunk by chunk, whatever was asked.

    `chunks` may be endless: the server stops when the client goes away.
    """

    chunks: "Iterable[bytes | Step]" = ()
    status: int = 200
    headers: dict[str, str] = field(default_factory=dict)


Answer: TypeAlias = Reply | Failure | Raw
Scripted: TypeAlias = Answer | Callable[[dict[str, Any]], "Answer | str"] | str


def reply(*parts: "str | Part | Step", **options: Any) -> Reply:
    """A reply from parts; strings become text."""
    return Reply([Text(part) if isinstance(part, str) else part for part in parts], **options)


class Script:
    """The answers of one server, handed out in order, one per completion request.

    An entry may be an answer, a string (text) or a callable that gets the request's JSON. When
    the script is used up, `otherwise` answers; without it the server answers with a clear 400.
    """

    def __init__(
        self, entries: Iterable[Scripted] = (), *, otherwise: Scripted | None = None
    ) -> None:
        self._entries = list(entries)
        self._otherwise = otherwise
        self._lock = threading.Lock()

    def add(self, *entries: Scripted) -> None:
        with self._lock:
            self._entries.extend(entries)

    @property
    def left(self) -> int:
        with self._lock:
            return len(self._entries)

    def next(self, request: dict[str, Any]) -> Answer:
        with self._lock:
            entry = self._entries.pop(0) if self._entries else self._otherwise
        if entry is None:
            return Failure("bad_request", message="The test script has no reply left.")
        answer = entry(request) if callable(entry) else entry
        return reply(answer) if isinstance(answer, str) else answer
