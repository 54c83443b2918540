"""Whose a key is while a question waits: the prompt's, or the question's. Typing answers nothing.

Times are monotonic seconds, keys' those at which they arrived.
"""

from enum import Enum
from typing import Literal

QUIET = 1.5
"""Seconds without a key after which a question may open."""
LOOK_AGAIN = 0.25
"""Seconds after which to look whether the text that was begun is gone."""
GRACE = 0.4
"""Seconds after opening in which no key decides."""
ALONE = 0.4
"""Seconds without another letter, before and after, that a deciding key needs: a key among others
is typing. Three keys a second are 0.33 s apart."""
SEEN = 3.0
"""Seconds after which an open question was seen: a letter that opens a field of it is for that."""
BURST = 0.03
"""Keys that are not further apart than this many seconds were not pressed by a hand."""

LATE = 0.05
"""Seconds: when the loop was held up for longer, keys may be on their way."""

KeyRole = Literal["decides", "writes", "picks", "acts", "text", "moves"]
"""What a key is to an open question: an answer, a letter that opens a field to write in, one that
picks an option, one with another meaning there, one with none, or none of these: no letter at all,
or one that only moves about in a list."""


class OpeningRule:
    """Says when a question may open over the prompt."""

    def __init__(self) -> None:
        self._pressed = float("-inf")
        self._expected = False

    def pressed(self, at: float) -> None:
        """A key arrived."""
        self._pressed, self._expected = at, False

    def clicked(self) -> None:
        """The user went on with the mouse."""
        self._expected = False

    def expects(self) -> None:
        """The last key asked for the question that comes: it was not typing, nor in the prompt."""
        self._expected = True

    def wait(self, now: float, begun: bool) -> float:
        """Return the seconds after which to ask again, 0 when a question may open now.

        `begun`: a text is begun somewhere, and letters belong to it.
        """
        if self._expected:
            return 0
        left = max(0.0, self._pressed + QUIET - now)
        return max(left, LOOK_AGAIN) if begun else left


class Heard(Enum):
    """What becomes of a key."""

    KEPT = "the question keeps it; one that decides does so when it stays alone"
    ACTS = "it has its usual meaning"
    BACK = "the question gives way, `text` goes to the prompt"


class AnswerKeys:
    """The keys of one open question; `opened` is when it was.

    Once the user attends to it, an answer may follow other keys, and what is typed after a key
    that opens a field is for that; also where the question was open for a while before that key,
    but then what is typed in one go does not end in an answer. What comes in a burst is a text all
    the same.
    """

    def __init__(
        self, opened: float, grace: float = GRACE, alone: float = ALONE, *, attended: bool = False
    ) -> None:
        self._decides_from = opened + grace
        self._seen_from = opened + SEEN
        self._alone = alone
        self._last = float("-inf")
        self._held = self._word = self._letter = ""
        self._in_grace = self._burst = self._single = self._writes = self._guesses = False
        self._picking = True
        self.attended = attended
        """Whether the user came to it, or pressed a key of its own that is no typing."""
        self.text = ""
        """What was typed in one go up to now."""
        self.due = float("inf")
        """When a key that is held decides."""
        self.guessed = False
        """Whether a field is open by a key with which a text for the prompt may have begun."""
        self.came_early = False
        """Whether the last key that stayed alone decided nothing, since it came too early."""

    def ready(self, now: float) -> bool:
        """Return whether an answer counts already."""
        return now >= self._decides_from

    def is_for_field(self, at: float) -> bool:
        """Return whether a key is for a field that was open when the question was.

        One that comes before an answer counts, or goes on with what began then, is not.
        """
        if not self.ready(at) or self._held or (self.text and at - self._last < self._alone):
            return False
        self.text = self._word = ""
        return True

    def gap(self, at: float) -> float:
        """Note a key, and return the seconds since the one before."""
        gap, self._last = at - self._last, at
        self._burst = gap < min(BURST, self._alone)
        if self._guesses:
            self._guesses, self.guessed = False, gap < self._alone
        return gap

    def press(
        self, at: float, role: KeyRole, text: str = "", action: str = "", *, own: bool = False
    ) -> Heard:
        """Take a key, with what it types and the action it stands for.

        `own`: it has a meaning here, and decides nothing.
        """
        gap = self.gap(at)
        self._attend(gap, text, bool(action), own and self.ready(at) and not self._burst)
        in_one_go = gap < self._alone
        held, self._held = self._held, ""
        if role == "moves" and not text:
            self.text = self._word = ""
            return Heard.ACTS
        in_one_go = in_one_go or bool(held)
        # One letter and then enter is no word, nor are letters that move about.
        self._word = (self._word if in_one_go else "") + (text if role != "moves" else "")
        # Several options may be picked one after the other: nothing is decided by that.
        picks = not text or (role == "picks" and self.ready(at) and not self._burst)
        self._picking = picks and (self._picking or not in_one_go)
        word = in_one_go and len(self._word) > 1 and not (self.attended or self._picking)
        typing = bool(held) or word or self._burst
        self.text = self.text + text if typing or (in_one_go and text) else text
        # A key that is held repeats one letter; different ones at once are a text that came late.
        at_once = self._burst and text != "" and len(set(self._word)) > 1
        decides = role in ("decides", "writes")
        if role == "text" or at_once or (typing and (held or decides)):
            return Heard.BACK
        if not decides:
            return Heard.ACTS
        self._held, self._in_grace = action, not self.ready(at)
        self._writes = role == "writes" and (self.attended or at >= self._seen_from)
        self._writes = self._writes and not self._in_grace
        self.due = at + (min(BURST, self._alone) if self._writes else self._alone)
        return Heard.KEPT

    def _attend(self, gap: float, text: str, acts: bool, own: bool) -> None:
        """Note whether the user attends to it: no typing has a letter of its own alone or twice."""
        single, self._single = self._single, own and acts and gap >= self._alone
        letter, self._letter = self._letter, text
        if (single and gap >= self._alone) or (own and text in ("", letter)):
            self.attended = True

    def take_field(self, at: float) -> str:
        """Return the action that opens the field which a key is for, empty when there is none."""
        stood = at - self._last >= min(BURST, self._alone)
        return self.take_held() if self._held and self._writes and stood else ""

    def wait(self, now: float) -> float:
        """Return the seconds after which to ask again whether a key stayed alone, 0 for now."""
        if self._alone and now > self.due + LATE:
            # Asked too late: what was pressed meanwhile is heard first.
            self.due = now + LATE / 2
        return max(0.0, self.due - now)

    def take_held(self) -> str:
        """Return the action of a key that need not wait any more, empty when there is none."""
        self.due = float("-inf")
        return self.settle(0.0)

    def settle(self, now: float) -> str:
        """Return the action of a key that stayed alone, empty when there is none."""
        if not self._held or now < self.due:
            return ""
        action, self._held = self._held, ""
        self.came_early, self.guessed = self._in_grace, False
        # The next key tells whether it goes on with that letter.
        self._guesses = self._writes and not self.attended
        return "" if self._in_grace else action
