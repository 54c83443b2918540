"""The questions that wait for the user: one is shown at a time, and only that one is answered."""

from collections import deque
from collections.abc import Callable
from time import monotonic
from typing import Final

from amplifier_tui.cli.plain.choices import NumberedQuestion
from amplifier_tui.cli.plain.lines import TypedLine

EARLY: Final = 0.4
"""Seconds in which a person can't have read a question."""
TOO_EARLY: Final = "That came before the question could be read. Please answer it again."


class WaitingQuestions:
    """Questions in the order in which they are asked; true while there is one.

    Args:
        say: Writes a line.
        hold: Gives the user more time for the request of this id.
        person: Somebody reads them at a terminal: what comes with a question does not answer it.
    """

    def __init__(
        self, say: Callable[[str], None], hold: Callable[[str], None], *, person: bool
    ) -> None:
        self._say = say
        self._hold = hold
        self._person = person
        self._waiting: deque[NumberedQuestion] = deque()
        self._shown: NumberedQuestion | None = None
        self._shown_at = 0.0

    def __bool__(self) -> bool:
        return bool(self._waiting)

    def add(self, question: NumberedQuestion) -> None:
        """Ask after the others; before those of calls that came later, unless they were shown."""
        first = bool(self._waiting) and self.is_shown
        at = len(self._waiting)
        while at > first and _came_later(self._waiting[at - 1], question):
            at -= 1
        self._waiting.insert(at, question)

    def add_first(self, question: NumberedQuestion | None) -> None:
        """Ask before the others, if there is something to ask."""
        if question is not None:
            self._waiting.appendleft(question)

    @property
    def first(self) -> NumberedQuestion | None:
        """The one to be answered now; None without any."""
        return self._waiting[0] if self._waiting else None

    @property
    def is_shown(self) -> bool:
        """Whether the user was shown what is to be answered now."""
        return self._shown is self.first

    @property
    def hint(self) -> str:
        """The line that ends what the user was shown to answer; empty where there is nothing."""
        return self._shown.text[-1] if self._shown is not None and self.is_shown else ""

    def show(self) -> None:
        """Say the first one, unless it was said."""
        if self._waiting and not self.is_shown:
            self._shown = self._waiting[0]
            for line in self._shown.text:
                self._say(line)
            self._shown_at = monotonic()

    def too_early(self, line: TypedLine) -> bool:
        """Tell whether a line came before the question could be read, and say so."""
        if not self._waiting or not self._person or line.at - self._shown_at >= EARLY:
            return False
        self._say(TOO_EARLY)
        return True

    def answer(self, text: str) -> None:
        """Answer the first one; what follows from it is asked next."""
        question = self._waiting[0]
        answered, follow_up = question.answer(text)
        if not answered:
            if text.strip():
                self._say("That is none of the answers. An empty line says the question again.")
            else:
                # Whoever listens may need longer than there is.
                self._hold(question.request_id)
                self._shown = None
            return
        self._waiting.popleft()
        self._shown = None
        self.add_first(follow_up)

    def withdraw(self, request_id: str, outcome: str) -> None:
        """Take away what asks for this; `outcome` says how it was answered elsewhere."""
        kept = [each for each in self._waiting if each.request_id != request_id]
        if len(kept) < len(self._waiting):
            self._waiting = deque(kept)
            self._say(f"The question is no longer open{f': {outcome}' if outcome else ''}.")

    def give_up(self) -> bool:
        """Answer all of them as where nobody can; returns whether there were any."""
        waiting, self._waiting = self._waiting, deque()
        for question in waiting:
            question.given_up()
        return bool(waiting)


def _came_later(one: NumberedQuestion, other: NumberedQuestion) -> bool:
    return one.began is not None and other.began is not None and one.began > other.began
