"""What a program may write to `amplifier-tui run --input jsonl`: one JSON object a line."""

import threading
from collections import deque
from collections.abc import Callable
from typing import Annotated, BinaryIO, Final, Literal

from pydantic import BaseModel, ConfigDict, Field, TypeAdapter, ValidationError

from amplifier_tui.base.capabilities.questions import Question
from amplifier_tui.host.events import ApprovalRequested, HostEvent, QuestionsAsked

LONGEST: Final = 16 * 1024 * 1024
"""Bytes of a line."""


class _Line(BaseModel):
    # Strict: a yes is `true`, and nothing that only looks like it.
    model_config = ConfigDict(extra="forbid", frozen=True, strict=True)


class PromptLine(_Line):
    """A prompt. While a turn runs it waits for the end of that.

    Its attachments are paths of files, or images as `data:` addresses.
    """

    type: Literal["prompt"]
    text: str = Field(min_length=1)
    attachments: tuple[str, ...] = ()


class SteerLine(_Line):
    """A message to the running turn, at its next step; without a turn it is a prompt."""

    type: Literal["steer"]
    text: str = Field(min_length=1)


class DecideLine(_Line):
    """The answer to an `ApprovalRequested`; `scope` is one of those that it offers."""

    type: Literal["decide"]
    request_id: str
    allow: bool
    scope: Literal["once", "session", "project", "always"] = "once"
    reason: str = ""


class ChosenAnswer(_Line):
    """The answer to one question: places of its options, from 0, or words."""

    chosen: tuple[int, ...] = ()
    text: str = ""


class AnswerLine(_Line):
    """The answers to a `QuestionsAsked`, in their order; without any they are declined.

    Those that are missing at the end count as not answered.
    """

    type: Literal["answer"]
    request_id: str
    answers: tuple[ChosenAnswer, ...] = ()


class LimitLine(_Line):
    """The answer to a `LimitAsked`: let the request go this once, or stop the turn."""

    type: Literal["limit"]
    request_id: str
    go: bool


class CarryOutLine(_Line):
    """Do what a turn in plan mode has proposed, in another mode."""

    type: Literal["carry_out"]
    mode: Literal["ask", "edits"] = "ask"


class StopLine(_Line):
    """Stop the running turn: after its step, or at once."""

    type: Literal["stop"]
    now: bool = False


Line = PromptLine | SteerLine | DecideLine | AnswerLine | LimitLine | CarryOutLine | StopLine
LINE: Final[TypeAdapter[Line]] = TypeAdapter(Annotated[Line, Field(discriminator="type")])


def mismatch(line: DecideLine | AnswerLine | LimitLine, asked: HostEvent) -> str:
    """Return why a line is no answer to what it names; empty where it is one."""
    match line, asked:
        case DecideLine(allow=True, scope=scope), ApprovalRequested(scopes=scopes):
            return "" if scope in ("once", *scopes) else f"scope: {_one_of('once', *scopes)}"
        case AnswerLine(answers=answers), QuestionsAsked(questions=questions):
            if len(answers) > len(questions):
                return f"answers: {len(answers)} for {len(questions)} questions"
            found = enumerate(map(_misfit, answers, questions))
            return next((f"answers.{at}.chosen: {why}" for at, why in found if why), "")
    return ""


def _misfit(answer: ChosenAnswer, question: Question) -> str:
    if len(answer.chosen) > 1 and not question.multi_select:
        return "only one may be chosen"
    places = range(len(question.options))
    if all(place in places for place in answer.chosen):
        return ""
    return f"{_one_of(*places)}, counted from 0" if places else "there is nothing to choose"


def _one_of(*known: object) -> str:
    return f"it is one of {', '.join(map(str, known))}"


class RefusedLine(_Line):
    """What is said of a line that is no such object, or answers nothing; `line` counts from 1."""

    type: Literal["InputRefused"] = "InputRefused"
    line: int
    message: str


class InputLines:
    """Reads lines in a thread of its own.

    Args:
        stream: Where they come from; it is read to its end.
        longest: Bytes of a line; longer ones are refused.
    """

    def __init__(self, stream: BinaryIO, longest: int = LONGEST) -> None:
        self._stream = stream
        self._longest = longest
        self._read: deque[tuple[int, Line | RefusedLine]] = deque()
        self._at_end = False
        self._wake: Callable[[], None] = lambda: None

    @property
    def ended(self) -> bool:
        """Whether no line will come any more."""
        return self._at_end and not self._read

    def start(self, wake: Callable[[], None]) -> None:
        """Begin to read; `wake` is called, in that thread, when there is something to take."""
        self._wake = wake
        threading.Thread(target=self._work, name="read the input", daemon=True).start()

    def take(self) -> list[tuple[int, Line | RefusedLine]]:
        """Return what came since the last time, each with its number."""
        return [self._read.popleft() for _ in range(len(self._read))]

    def _work(self) -> None:
        number = 0
        try:
            while raw := self._stream.readline(self._longest + 1):
                number += 1
                whole = raw
                while len(whole) > self._longest and not whole.endswith(b"\n"):
                    if not (whole := self._stream.readline(self._longest + 1)):
                        break
                if raw.strip():
                    self._read.append((number, self._line(number, raw)))
                    self._wake()
        except OSError as error:
            unread = RefusedLine(line=number + 1, message=f"It can't be read: {error}")
            self._read.append((unread.line, unread))
        finally:
            self._at_end = True
            self._wake()

    def _line(self, number: int, raw: bytes) -> Line | RefusedLine:
        if len(raw) > self._longest:
            message = f"It is longer than {self._longest} bytes"
            return RefusedLine(line=number, message=message)
        try:
            return LINE.validate_json(raw)
        except ValidationError as error:
            return RefusedLine(line=number, message=_words(error))


def _words(error: ValidationError) -> str:
    first = error.errors(include_url=False, include_input=False)[0]
    if first["type"] == "union_tag_not_found":
        return "It has no `type`"
    # The first part of the place is the kind of line, where that was recognised.
    place = ".".join(str(part) for part in first["loc"][1:])
    return f"{place}: {first['msg']}" if place else first["msg"]
