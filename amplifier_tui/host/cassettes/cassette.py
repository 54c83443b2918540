"""A cassette: a conversation in a file that people can read, and that may be a stranger's.

A line is an object. The first says what was recorded; the others have a `kind` and an `id`, which
says where they belong: prompt `3`, the second answer to it `3.2`, the first tool call of that
answer `3.2.1`, and the first answer of the agent that this call ran `3.2.1/1`.
"""

import re
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Annotated, Any, Final, Literal

from pydantic import AfterValidator, BaseModel, ConfigDict, Field, TypeAdapter, ValidationError

from amplifier_tui.base.files import MOST_BYTES, read_regular
from amplifier_tui.base.jsonl import decode_row, encode_row
from amplifier_tui.base.messages.sub_sessions import INTERRUPTED
from amplifier_tui.host.events import ApprovalOutcome, Mode, Scope

VERSION: Final = 1
MOST_LINES: Final = 200_000
MOST_TOKENS: Final = 1_000_000_000
"""Of one request; larger numbers are no counts, and some can't even be printed."""

_LONGEST_NAME: Final = 200

Id = Annotated[str, Field(max_length=300)]
Word = Annotated[str, Field(max_length=300)]


class CassetteError(ValueError):
    """The file is no cassette, or none that this program can play."""


_FILE: Final = re.compile(r"(?:[/\\:]bundle)?\.(?:yaml|yml|md)$")


def _name(text: str) -> str:
    if _FILE.search(text) or text in (".", ".."):
        raise ValueError("the name of a bundle, not of a file")
    return text


def bundle_name(written: str) -> str:
    """Return the name of a bundle as a header takes it: of a path or an address the last part."""
    place = _FILE.sub("", written.partition("#")[0].rstrip("/"))
    last = re.split(r"[/\\:]", place)[-1].partition("@")[0]
    return re.sub(r"[^\w. -]", "-", last)[:_LONGEST_NAME].strip(".")


class CassettePart(BaseModel):
    """What every line is made of."""

    model_config = ConfigDict(extra="forbid", frozen=True)


class TapedModel(CassettePart):
    """What a provider says of its model."""

    model: Word = ""
    context_window: int = Field(200_000, ge=1, le=MOST_TOKENS)
    max_output_tokens: int = Field(16_000, ge=1, le=MOST_TOKENS)


class CassetteHeader(CassettePart):
    """The first line.

    Attributes:
        bundle: Its name; which one that is, is looked up where it is played.
        mode: The mode the session was in.
        providers: Who answered, by the name it was mounted under.
    """

    cassette: Literal[1] = 1
    program: Word = ""
    recorded: Word = ""
    bundle: Annotated[str, AfterValidator(_name)] = Field(
        "", max_length=_LONGEST_NAME, pattern=r"^[\w. -]*$"
    )
    mode: Mode = "ask"
    providers: dict[Word, TapedModel] = Field({}, max_length=50)


class TapedPrompt(CassettePart):
    """A turn begins. Without a text, the turn before it is gone on with."""

    kind: Literal["prompt"] = "prompt"
    id: Id
    text: str
    mode: Mode | None = None
    attachments: list[str] = []


class TapedSteer(CassettePart):
    """What the user said before the request of that id."""

    kind: Literal["steer"] = "steer"
    id: Id
    text: str


class TapedFault(CassettePart):
    """What went wrong with a request or a call."""

    type: Word
    msg: str = ""
    status_code: int | None = None


class TapedAnswer(CassettePart):
    """What a provider answered; with `interrupted`, the turn was stopped before it did."""

    kind: Literal["answer"] = "answer"
    id: Id
    provider: Word = ""
    content: list[dict[str, Any]] = []
    finish: str | None = None
    usage: dict[str, int | float | str | None] = {}
    error: TapedFault | None = None
    interrupted: bool = False
    seconds: float = 0.0


class TapedSide(CassettePart):
    """What a provider answered on the side, such as a summary or a title."""

    kind: Literal["side"] = "side"
    id: Id
    text: str = ""


class TapedDecision(CassettePart):
    """Who allowed or refused what was asked about.

    Attributes:
        order: Which of the user's decisions about calls it was; 0 for all others.
    """

    outcome: ApprovalOutcome
    by: Word = "user"
    rule: str = ""
    mode: Mode | None = None
    scope: Scope = "once"
    reason: str = ""
    changed_to: dict[str, Any] | None = None
    order: int = 0


class TapedCall(CassettePart):
    """A tool call.

    Attributes:
        became: The arguments as hooks left them; None where they are the model's.
        hooks: What judged it otherwise than `continue`: verdict by name.
        result: What the tool gave, as hooks are shown it.
        seen: What hooks made of that; None for the same.
        files: The changes of files, as diffs by path.
    """

    kind: Literal["call"] = "call"
    id: Id
    tool: Word
    arguments: dict[str, Any] = {}
    became: dict[str, Any] | None = None
    hooks: dict[str, str] = {}
    decision: TapedDecision | None = None
    result: dict[str, Any] | None = None
    seen: dict[str, Any] | None = None
    error: TapedFault | None = None
    files: dict[str, str] = {}
    seconds: float = 0.0

    @property
    def interrupted(self) -> bool:
        """Whether something was stopped while it ran; it may have a part of a result."""
        if self.error is not None:
            return self.error.type == "interrupted"
        given = (self.result or {}).get("error")
        return isinstance(given, dict) and given.get("message") == INTERRUPTED

    @property
    def ended(self) -> bool:
        """Whether it came to an end of its own, be it that it was denied."""
        if self.interrupted or (self.error is not None and self.error.type == "stopped"):
            return False
        return self.error is not None or self.result is not None


class TapedHook(CassettePart):
    """What hooks did at an event: verdict by name. The id is place and event.

    Attributes:
        asker: Whose question was put to the user: its module, or its name where it is of none.
        decision: What came of that.
    """

    kind: Literal["hook"] = "hook"
    id: Id
    hooks: dict[str, str]
    asker: Word = ""
    decision: TapedDecision | None = None

    @property
    def during(self) -> tuple[str, str]:
        """What ran then, the turn or the call of the agent, and the event."""
        place, _, event = self.id.partition(" ")
        run = place.rpartition("/")[0] or place.partition(".")[0]
        return run, event.partition("#")[0]


class TapedAgent(CassettePart):
    """What an agent was asked by the call of that id."""

    kind: Literal["agent"] = "agent"
    id: Id
    name: Word = ""
    instruction: str = ""
    status: Word = ""


class TapedCompaction(CassettePart):
    """The conversation was made smaller before the request of that id."""

    kind: Literal["compaction"] = "compaction"
    id: Id
    facts: dict[str, int | float | str | bool | None] = {}


class TapedEnd(CassettePart):
    """A turn has ended."""

    kind: Literal["end"] = "end"
    id: Id
    status: Word = ""
    text: str = ""
    seconds: float = 0.0


class TapedStop(CassettePart):
    """A turn or an agent was stopped in stages: it went no further than what the id names.

    That is an answer whose calls did not run, or the last call of those that did. Before the first
    answer it is the one with the number 0.
    """

    kind: Literal["stop"] = "stop"
    id: Id


class TapedSystem(CassettePart):
    """A system prompt; requests name it by its id."""

    kind: Literal["system"] = "system"
    id: Id
    text: str


class TapedTools(CassettePart):
    """The tools that were offered: digest of what the model is told of each, by name."""

    kind: Literal["tools"] = "tools"
    id: Id
    tools: dict[str, str]


class TapedRequest(CassettePart):
    """What a request held that the one before it did not.

    Attributes:
        told: The texts of users and hooks.
        seen: Digests of answers and results, by their ids.
        tokens: The whole request, as estimated.
    """

    kind: Literal["request"] = "request"
    id: Id
    system: str = ""
    tools: str = ""
    told: list[str] = []
    seen: dict[str, str] = {}
    tokens: int = Field(0, ge=0, le=MOST_TOKENS)


class TapedModules(CassettePart):
    """The modules that were mounted: kinds by id."""

    kind: Literal["modules"] = "modules"
    id: Id = "modules"
    modules: dict[str, str]


class TapedFiles(CassettePart):
    """What real tools changed in the workspace: digests by path, empty for what is gone."""

    kind: Literal["files"] = "files"
    id: Id = "files"
    files: dict[str, str]


TapedRow = Annotated[
    TapedPrompt
    | TapedSteer
    | TapedAnswer
    | TapedSide
    | TapedCall
    | TapedHook
    | TapedAgent
    | TapedCompaction
    | TapedEnd
    | TapedStop
    | TapedSystem
    | TapedTools
    | TapedRequest
    | TapedModules
    | TapedFiles,
    Field(discriminator="kind"),
]
ROW: Final[TypeAdapter[TapedRow]] = TypeAdapter(TapedRow)


class Cassette(CassettePart):
    """A conversation.

    Attributes:
        rows: In the order in which it happened.
    """

    header: CassetteHeader
    rows: tuple[TapedRow, ...]

    def of(self, kind: type[Any]) -> Iterator[Any]:
        """Yield the rows of one kind."""
        return (row for row in self.rows if isinstance(row, kind))

    def encoded(self) -> bytes:
        """Return it as the bytes of a file."""
        data: Iterable[CassettePart] = (self.header, *self.rows)
        dumped = (each.model_dump(mode="json", exclude_defaults=True) for each in data)
        lines = [_named(each, line) for each, line in zip(data, dumped, strict=True)]
        return b"".join(map(encode_row, lines))


def _named(part: CassettePart, line: dict[str, Any]) -> dict[str, Any]:
    """Return a line with what tells it apart first."""
    if isinstance(part, CassetteHeader):
        return {"cassette": VERSION, **line}
    return {"kind": getattr(part, "kind", ""), "id": getattr(part, "id", ""), **line}


def read_cassette(path: Path) -> Cassette:
    """Read a cassette.

    Raises:
        CassetteError: It is none, of another version, or too large.
        OSError: It can't be read.
    """
    lines = [line for line in read_regular(path, MOST_BYTES).split(b"\n") if line.strip()]
    if not lines:
        raise CassetteError("it is empty")
    if len(lines) > MOST_LINES:
        raise CassetteError(f"it has more than {MOST_LINES:,} lines")
    first = decode_row(lines[0])
    version = None if first is None else first.get("cassette")
    if version is None:
        raise CassetteError("line 1 does not say that it is a cassette")
    if version != VERSION:
        raise CassetteError(
            f"line 1: it is of version {version!r}, and this program plays version {VERSION}"
        )
    header = _checked(1, lines[0], CassetteHeader)
    rows: list[Any] = []
    known: set[tuple[str, str]] = set()
    for number, line in enumerate(lines[1:], start=2):
        row = _checked(number, line, None)
        if (row.kind, row.id) in known:
            raise CassetteError(f"line {number}: there is a {row.kind} {row.id} already")
        known.add((row.kind, row.id))
        rows.append(row)
    if not any(isinstance(row, TapedPrompt) for row in rows):
        raise CassetteError("it has no prompt")
    return Cassette.model_construct(header=header, rows=tuple(rows))


def _checked(number: int, line: bytes, kind: type[CassetteHeader] | None) -> Any:
    try:
        return ROW.validate_json(line) if kind is None else kind.model_validate_json(line)
    except ValidationError as error:
        raise CassetteError(f"line {number}: {first_mistake(error)}") from error


def first_mistake(error: ValidationError) -> str:
    """Return the first thing that is wrong with a line, after the place where it is."""
    first = error.errors(include_url=False, include_input=False)[0]
    place = ".".join(map(str, first["loc"]))
    return f"{place}: {first['msg']}" if place else first["msg"]
