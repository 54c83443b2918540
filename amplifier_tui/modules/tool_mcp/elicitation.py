"""What a server asks the user (elicitation), in the dialog of an agent's questions."""

import math
from collections import deque
from collections.abc import Callable, Mapping
from itertools import islice
from time import monotonic
from typing import Any, Final, Literal
from urllib.parse import urlsplit

from amplifier_tui.base.capabilities.questions import (
    LONGEST,
    MOST_OPTIONS,
    MOST_QUESTIONS,
    Question,
    QuestionAnswer,
    QuestionOption,
)
from amplifier_tui.base.lazy.dataclass import dataclass
from amplifier_tui.base.text import one_line
from amplifier_tui.modules.tool_mcp.callbacks import AskUser

MOST_FIELDS: Final = 12
MOST_A_MINUTE: Final = 10
"""How often a server may ask in a minute."""
_TRIES: Final = 3
Value = str | int | float | bool | list[str] | None


@dataclass(frozen=True, slots=True)
class Elicited:
    """What came of it: what the user did, and the fields they filled in."""

    action: Literal["accept", "decline", "cancel"]
    content: dict[str, Value] | None = None


class AskingLimit:
    """Whether one server may ask again: a few times a minute, as people answer.

    Args:
        clock: Gives the time in seconds.
    """

    def __init__(self, clock: Callable[[], float] = monotonic) -> None:
        self._clock = clock
        self._asked: deque[float] = deque(maxlen=MOST_A_MINUTE)

    def take(self) -> bool:
        """Whether it may ask now; then that counts."""
        now = self._clock()
        if len(self._asked) == MOST_A_MINUTE and now - self._asked[0] < 60:
            return False
        self._asked.append(now)
        return True


async def ask_form(server: str, message: str, schema: Any, ask: AskUser) -> Elicited:
    """Ask for the fields of a schema.

    Args:
        schema: That of an object whose fields are plain values, as the protocol has it.
    """
    fields = _fields(schema)
    required = schema.get("required") if isinstance(schema, Mapping) else None
    needed = [str(name) for name in required] if isinstance(required, list) else []
    if not fields or len(fields) > MOST_FIELDS:
        if fields:
            return Elicited("cancel")
        return await _confirm(server, message, ask)
    content: dict[str, Value] = {}
    problems: dict[str, str] = {}
    left = dict(fields)
    for _ in range(_TRIES):
        again: dict[str, Mapping[str, Any]] = {}
        names = iter(left)
        while group := list(islice(names, MOST_QUESTIONS)):
            questions = tuple(
                _question(server, message, name, left[name], problems.get(name, ""))
                for name in group
            )
            reply = await ask(questions)
            if reply.outcome != "answered":
                return Elicited("decline" if reply.outcome == "declined" else "cancel")
            for name, question, answer in zip(group, questions, reply.answers, strict=False):
                try:
                    value = _value(left[name], question, answer)
                except ValueError as error:
                    problems[name], again[name] = str(error), left[name]
                    continue
                if value is not None:
                    content[name] = value
                elif name in needed:
                    problems[name], again[name] = "It is needed.", left[name]
        if not again:
            return Elicited("accept", content)
        left = again
    return Elicited("cancel")


async def ask_to_open(server: str, message: str, url: str, ask: AskUser) -> Elicited:
    """Ask whether the user has opened an address that a server wants them to go to."""
    # The address first: no message is so long that it is cut off.
    words = f"open this address yourself if you trust it: {url} — {message}"
    options = (QuestionOption("I have opened it"), QuestionOption("No"))
    return await _chosen(server, words, options, ask)


async def may_sign_in(server: str, url: str, ask: AskUser) -> bool:
    """Ask whether the user's browser may be opened for signing in at a server."""
    # A name before an `@` is not where the browser goes.
    place = one_line(urlsplit(url).netloc.rpartition("@")[2], 300)
    words = f"may your browser be opened, to sign in at {place}? The address is in its log, too."
    options = (QuestionOption("Open the browser"), QuestionOption("No"))
    return (await _chosen(server, words, options, ask)).action == "accept"


async def _confirm(server: str, message: str, ask: AskUser) -> Elicited:
    answered = await _chosen(server, message, (QuestionOption("Yes"), QuestionOption("No")), ask)
    return Elicited(answered.action, {} if answered.action == "accept" else None)


async def _chosen(
    server: str, message: str, options: tuple[QuestionOption, ...], ask: AskUser
) -> Elicited:
    reply = await ask((Question(_words(server, message), _header(server), options),))
    if reply.outcome != "answered":
        return Elicited("decline" if reply.outcome == "declined" else "cancel")
    chosen = reply.answers[0].chosen if reply.answers else ()
    return Elicited("accept" if chosen == (0,) else "decline")


def _fields(schema: Any) -> dict[str, Mapping[str, Any]]:
    properties = schema.get("properties") if isinstance(schema, Mapping) else None
    if not isinstance(properties, Mapping):
        return {}
    return {str(name): each for name, each in properties.items() if isinstance(each, Mapping)}


def _words(server: str, *parts: str) -> str:
    words = " ".join(part.strip() for part in parts if part.strip())
    return one_line(f"The MCP server {server} asks: {words}", LONGEST["question"])


def _header(server: str) -> str:
    return one_line(server, LONGEST["header"])


def _question(
    server: str, message: str, name: str, field: Mapping[str, Any], problem: str
) -> Question:
    title = str(field.get("title") or name)
    about = str(field.get("description") or "")
    labels = [label for label, _ in _choices(field)]
    listed = ""
    if len(labels) > MOST_OPTIONS:
        listed = f"(One of {', '.join(labels)}.)"
        labels = []
    words = _words(server, problem, message, f"— {title}.", about, listed)
    options = tuple(QuestionOption(one_line(label, LONGEST["label"])) for label in labels)
    return Question(words, _header(title), options, field.get("type") == "array")


def _choices(field: Mapping[str, Any]) -> list[tuple[str, Value]]:
    """Return the values to choose from, with their labels."""
    if field.get("type") == "boolean":
        return [("Yes", True), ("No", False)]
    items = field.get("items")
    source = items if field.get("type") == "array" and isinstance(items, Mapping) else field
    titled = source.get("oneOf") or source.get("anyOf")
    if isinstance(titled, list):
        rows = [each for each in titled if isinstance(each, Mapping) and "const" in each]
        return [(str(each.get("title") or each["const"]), str(each["const"])) for each in rows]
    values = source.get("enum")
    if not isinstance(values, list):
        return []
    names = source.get("enumNames")
    labels = names if isinstance(names, list) and len(names) == len(values) else values
    return [(str(label), str(value)) for label, value in zip(labels, values, strict=True)]


def _value(field: Mapping[str, Any], question: Question, answer: QuestionAnswer) -> Value:
    """Return what was answered to a field; None for nothing.

    Raises:
        ValueError: It is no such value; says what it must be.
    """
    choices = _choices(field)
    chosen = [choices[at][1] for at in answer.chosen if at < len(choices)]
    text = answer.text.strip()
    if field.get("type") == "array":
        by_words = {each.strip().casefold() for each in text.split(",")}
        chosen += [value for label, value in choices if label.casefold() in by_words]
        return [str(value) for value in chosen] or None
    if chosen and question.options:
        return chosen[0]
    if not text:
        return field.get("default") if isinstance(field.get("default"), str | int | float) else None
    if choices:
        for label, value in choices:
            if text.casefold() in (label.casefold(), str(value).casefold()):
                return value
        raise ValueError("It must be one of the choices.")
    if field.get("type") not in ("integer", "number"):
        return text
    try:
        number = float(text)
        if not math.isfinite(number):
            raise ValueError
    except ValueError as error:
        raise ValueError("It must be a number.") from error
    if field.get("type") == "integer":
        if number != int(number):
            raise ValueError("It must be a whole number.")
        return int(number)
    return number
