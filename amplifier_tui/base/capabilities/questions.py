"""Questions an agent asks the user, and what comes back.

Whoever has a user to ask registers the capability `session.ask_user`: an async function that takes
questions and returns a `QuestionsReply`.
"""

import json
from collections.abc import Mapping
from typing import Any, Final, Literal

from amplifier_tui.base.lazy.dataclass import dataclass
from amplifier_tui.base.text import shortened

CAPABILITY: Final = "session.ask_user"

MOST_QUESTIONS: Final = 4
LEAST_OPTIONS, MOST_OPTIONS = 2, 8
LONGEST: Final = {"question": 600, "header": 24, "label": 80, "description": 300}
"""Characters of each text."""
LONGEST_ANSWER: Final = 2_000
"""Characters of what the user writes to one question."""

QuestionsOutcome = Literal["answered", "declined", "unavailable", "withdrawn"]


@dataclass(frozen=True, slots=True)
class QuestionOption:
    """One answer to choose, and what it means."""

    label: str
    description: str = ""


@dataclass(frozen=True, slots=True)
class Question:
    """One question; the user may always answer in their own words.

    Attributes:
        header: One or two words that name it.
        options: What may be chosen; empty where only words answer it.
        multi_select: Several may be chosen.
    """

    question: str
    header: str = ""
    options: tuple[QuestionOption, ...] = ()
    multi_select: bool = False


@dataclass(frozen=True, slots=True)
class QuestionAnswer:
    """The places of the options that were chosen, from 0, and the user's own words.

    Both are empty where it was not answered.
    """

    chosen: tuple[int, ...] = ()
    text: str = ""


@dataclass(frozen=True, slots=True)
class QuestionsReply:
    """What came of the questions of one call.

    Attributes:
        outcome: `declined` by the user, `unavailable` where nobody can be asked, `withdrawn` when
            the turn was stopped.
        answers: One for each question, in their order; empty where they were not answered.
        reason: Why they were not, in words.
    """

    outcome: QuestionsOutcome
    answers: tuple[QuestionAnswer, ...] = ()
    reason: str = ""


def read_questions(value: Any) -> tuple[Question, ...]:
    """Return questions as they came from a model: a list, or the same as JSON.

    Raises:
        ValueError: They are something else; says what is wrong with which of them.
    """
    if isinstance(value, str):
        try:
            value = json.loads(value)
        except (ValueError, RecursionError) as error:
            raise ValueError("`questions` must be a list, not a text.") from error
    if not isinstance(value, list) or not value:
        raise ValueError("`questions` must be a list of {question, header, options}.")
    if len(value) > MOST_QUESTIONS:
        raise ValueError(f"{len(value)} questions are too many at once; at most {MOST_QUESTIONS}.")
    return tuple(_question(entry, f"Question {n}") for n, entry in enumerate(value, start=1))


def _question(entry: Any, name: str) -> Question:
    if not isinstance(entry, Mapping):
        raise ValueError(f"{name} must be {{question, header, options}}.")
    given = dict(entry)
    several = given.pop("multi_select", given.pop("multiSelect", False))
    given.pop("multiSelect", None)
    _check_names(given, ("question", "header", "options"), name)
    if not isinstance(several, bool):
        raise ValueError(f"{name}: `multi_select` must be true or false.")
    options = given.get("options") or []
    if not isinstance(options, list):
        raise ValueError(f"{name}: `options` must be a list of {{label, description}}.")
    if options and not LEAST_OPTIONS <= len(options) <= MOST_OPTIONS:
        raise ValueError(
            f"{name} has {len(options)} options; give {LEAST_OPTIONS} to {MOST_OPTIONS}, or none "
            "for an answer in the user's own words."
        )
    read = tuple(_option(each, f"{name}, option {n}") for n, each in enumerate(options, start=1))
    labels = [option.label.casefold() for option in read]
    if len(set(labels)) < len(labels):
        raise ValueError(f"{name} has two options with the same label.")
    return Question(
        _text(given, "question", name, needed=True), _text(given, "header", name), read, several
    )


def _option(entry: Any, name: str) -> QuestionOption:
    if isinstance(entry, str):
        entry = {"label": entry}
    if not isinstance(entry, Mapping):
        raise ValueError(f"{name} must be {{label, description}}.")
    _check_names(entry, ("label", "description"), name)
    return QuestionOption(
        _text(entry, "label", name, needed=True), _text(entry, "description", name)
    )


def _check_names(given: Mapping[str, Any], known: tuple[str, ...], name: str) -> None:
    unknown = [str(key) for key in given if key not in known]
    if unknown:
        raise ValueError(
            f"{name} has `{shortened(unknown[0], 40)}`, which is unknown; it takes "
            f"{', '.join(known)}."
        )


def _text(given: Mapping[str, Any], key: str, name: str, *, needed: bool = False) -> str:
    value = given.get(key)
    if value is not None and not isinstance(value, str):
        raise ValueError(f"{name}: `{key}` must be a text.")
    text = " ".join((value or "").split())
    if needed and not text:
        raise ValueError(f"{name} has no `{key}`.")
    if len(text) > LONGEST[key]:
        raise ValueError(
            f"{name}: `{key}` has {len(text)} characters; it is shown in a dialog, so at most "
            f"{LONGEST[key]}."
        )
    return text
