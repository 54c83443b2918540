"""Questions whose answers are numbered, one at a time."""

from collections.abc import Callable, Sequence
from typing import NamedTuple, TypeAlias

from amplifier_tui.base.text import reveal

Next: TypeAlias = "NumberedQuestion | None"
"""What is to be asked before anything else."""
Then = Callable[[], Next]
Words = Callable[[str], Next]
"""Takes an answer in the user's own words, as it was written."""


def quoted(text: str) -> list[str]:
    """Return the lines of foreign text, so marked that none looks like an answer to choose."""
    return [f"| {line}" for line in text.removesuffix("\n").split("\n")] if text else []


def as_one(line: str) -> str:
    """Return a line of a question with all of its characters to be seen.

    What stands behind a line break of a name or a path must not look like a line of ours.
    """
    return reveal(line).replace("\n", "\n| ")


class NumberedChoice(NamedTuple):
    """One answer, in words, and what it does."""

    label: str
    then: Then


class NumberedQuestion:
    """A question to the user.

    Args:
        lines: What is said before the choices; characters that can't be seen are written out.
        choices: What can be chosen.
        request_id: What it answers; a question that is answered elsewhere is taken away.
        given_up: Answers where nobody can.
        words: None where only a number answers.
        several: Several numbers may be given: takes the places chosen, from 0.
        hint: What is to be written, in place of the usual words.
        began: When the call came that it is about: those of calls are asked in this order.
    """

    def __init__(
        self,
        lines: Sequence[str],
        choices: Sequence[NumberedChoice] = (),
        *,
        request_id: str,
        given_up: Callable[[], object],
        words: Words | None = None,
        several: Callable[..., Next] | None = None,
        hint: str = "",
        began: float | None = None,
    ) -> None:
        self.began = began
        self._lines = lines
        self._choices = choices
        self.request_id = request_id
        self.given_up = given_up
        self._words = words
        self._several = several
        self._own_hint = hint

    @property
    def takes_words(self) -> bool:
        """Whether an answer may be more than a number."""
        return self._words is not None

    @property
    def text(self) -> list[str]:
        """The lines that ask it."""
        numbered = [f"  {n}  {choice.label}" for n, choice in enumerate(self._choices, start=1)]
        return [as_one(line) for line in (*self._lines, *numbered, self._hint)]

    @property
    def _hint(self) -> str:
        if self._own_hint:
            return self._own_hint
        if not self._choices:
            return "Write your answer; an empty line for none."
        numbers = "Numbers, such as 1 2" if self._several else "A number"
        return f"{numbers}, or your own words:" if self._words is not None else f"{numbers}:"

    def answer(self, line: str) -> tuple[bool, Next]:
        """Take a line; returns whether it was an answer, and what is asked next."""
        known = {str(at + 1): at for at in range(len(self._choices))}
        # What was pasted chooses nothing.
        numbers = [] if "\n" in line else line.replace(",", " ").split()
        if numbers and all(number in known for number in numbers):
            if self._several is not None:
                return True, self._several(*(known[number] for number in numbers))
            if len(numbers) == 1:
                return True, self._choices[known[numbers[0]]].then()
        # A number beside the choices is a slip, not an answer in words.
        slipped = bool(self._choices and numbers) and all(number.isdecimal() for number in numbers)
        if self._words is not None and not slipped and (line.strip() or not self._choices):
            return True, self._words(line)
        return False, None
