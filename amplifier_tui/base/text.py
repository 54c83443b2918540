"""Makes text from models, tools, files and users harmless and short.

| to | use |
|---|---|
| draw text on a screen | `clean`, or `one_line` where it must stay on one row |
| write text that others lay out: a pipe, a file, a browser | `portable` |
| take what a person writes or pastes | `written`, and `left_out` to say what that leaves out |
| draw text that arrives in fragments | `StreamCleaner` |
| show what a person decides on | `reveal` |
| read what a command printed | `printed` |
| put a file's or a branch's name into a line of its own | `printable` |
| put text into a request to a model | `encodable` |
| cut a text to a number of characters | `shortened` |
| say how long something takes | `span` |
| say why a limit in dollars is asked about | `spent_of` |

Nothing here parses markup: `[red]` is text. Every function takes time in proportion to the text.
"""

import math
import re
from decimal import Decimal
from typing import Final

from amplifier_tui.base.lazy.pattern import lazy_pattern

_NEWLINES = "\x0b\x0c\x85\u2028\u2029"

# Characters that take no cell and change how their neighbours read: joiners, bidi controls,
# fillers, variation selectors, tags. Without them the width of a text is the sum of its cells
# in every terminal.
_INVISIBLE = (
    "\u00ad\u034f\u061c\u115f\u1160\u17b4\u17b5\u180b-\u180f\u200b-\u200f\u202a-\u202e"
    "\u2060-\u206f\u3164\ufe00-\ufe0f\ufeff\uffa0\ufff9-\ufffb"
    "\U0001d173-\U0001d17a\U000e0000-\U000e0fff"
)
JOINERS: Final = "\u200c\u200d\ufe0e\ufe0f"
"""What Persian, Hindi and emoji that are made of several are written with, and nobody sees."""
_JOINERS = lazy_pattern(f"([{JOINERS}]+)")
# Where words and signs need them.
_JOINING = lazy_pattern("((?<=[^\0-\x7f])[\u200c\u200d](?=[^\0-\x7f])|(?<=\\S)[\ufe0e\ufe0f])")
_CONTROLS = "\x00-\x08\x0b-\x1f\x7f-\x9f"
_SURROGATES = "\ud800-\udfff"

_SUSPECT = re.compile(f"[{_CONTROLS}{_INVISIBLE}{_SURROGATES}\u2028\u2029]")
_UNPRINTED = lazy_pattern(f"[{_CONTROLS}]")
_NOT_ENCODABLE = lazy_pattern("[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f\ud800-\udfff]")

# A string sequence (OSC, DCS, SOS, PM, APC) counts only when it ends on its own line and holds
# no beginning of another; otherwise just its introducer goes, so that an unfinished one cannot
# hide the words behind it. All lengths are bounded: a stream holds back no more than that.
_STRING = r"(?:\x1b[\]PX^_]|[\x90\x98\x9d-\x9f])[^\x07\x1b\x9c\n\x90\x98\x9d-\x9f]{0,4096}"
_CSI = r"(?:\x1b\[|\x9b)[0-?]{0,256}[ -/]{0,16}"
_ESCAPE = r"\x1b[ -/]{0,16}"
_SEQUENCE = lazy_pattern(rf"{_STRING}(?:\x07|\x1b\\|\x9c)|{_CSI}[@-~]?|{_ESCAPE}[0-~]?")
_UNFINISHED = lazy_pattern(rf"(?:{_STRING}\x1b?|{_CSI}|{_ESCAPE})\Z")
_SPACES = lazy_pattern(r"\s+")


def clean(text: str) -> str:
    """Return `text` without control sequences, control characters and invisible characters.

    Newlines and tabs stay; every other way to start a line becomes a newline. Lone surrogates,
    which no terminal can be sent, become U+FFFD.
    """
    if not _SUSPECT.search(text):
        return text
    return _drawable(_SEQUENCE.sub("", text))


def portable(text: str) -> str:
    """Return `text` as `clean` does, with the joiners and variation selectors it is written with.

    For what is laid out elsewhere: by a terminal behind a pipe, by a browser.
    """
    return _cleaned_between(_JOINING.split(text))


def written(text: str) -> str:
    """Return `text` as `clean` does, with all joiners and variation selectors that are in it.

    For what a person writes, which is sent as it was written. `clean` it before drawing it.
    """
    return _cleaned_between(_JOINERS.split(text))


def left_out(text: str) -> tuple[str, ...]:
    """Return each kind of character that `written` takes out of `text`, as `U+202E`."""
    found = dict.fromkeys(_SUSPECT.findall(text))
    kept = f"{JOINERS}{_NEWLINES}\r"
    return tuple(f"U+{ord(each):04X}" for each in found if each not in kept)


def printed(text: str) -> str:
    """Return the output of a command as a terminal would have left it standing.

    Control sequences, control characters and whatever a carriage return overwrote are gone.
    Invisible characters stay: they may be part of what was read. `clean` it before drawing it.
    """
    if not _UNPRINTED.search(text):
        return text
    text = _SEQUENCE.sub("", text).replace("\r\n", "\n")
    if "\r" in text:
        text = "\n".join(map(_last_write, text.split("\n")))
    return _UNPRINTED.sub("", text)


def one_line(text: str, limit: int = 400) -> str:
    """Return `text` cleaned and on one line of at most `limit` characters."""
    line = _SPACES.sub(" ", clean(text[: limit * 4])).strip()
    if len(line) <= limit and len(text) <= limit * 4:
        return line
    return line[: limit - 1].rstrip() + "…"


def reveal(text: str) -> str:
    """Return `text` with every control and invisible character written out, as `‹U+202E›`.

    Newlines and tabs stay. For payloads that a person approves: nothing is removed.
    """
    return _SUSPECT.sub(lambda match: f"‹U+{ord(match[0]):04X}›", text)


def printable(text: str) -> str:
    """Return `text` with a `?` for every character that is not printable, newlines included.

    For names, which are data too: they can neither end a line nor begin one.
    """
    if text.isprintable():
        return text
    return "".join([character if character.isprintable() else "?" for character in text])


def encodable(text: str) -> str:
    """Return `text` without the characters no API accepts: controls and lone surrogates.

    Tabs, newlines and carriage returns stay.
    """
    return _NOT_ENCODABLE.sub("", text)


def shortened(text: str, limit: int) -> str:
    """Return `text` in at most `limit` characters, the last an ellipsis where some are missing."""
    return text if len(text) <= limit else f"{text[: limit - 1]}…"


class StreamCleaner:
    """Cleans a text that arrives in fragments exactly as `clean` does the whole of it.

    What a later fragment may change is held back: the beginning of a control sequence, and a
    carriage return, which is half a line end when a newline follows (behind sequences, too).

    Args:
        invisible: Leave invisible characters in it: who takes them out says so.
    """

    def __init__(self, *, invisible: bool = False) -> None:
        self._finish = _without_controls if invisible else _drawable
        self._sequence = ""
        self._return = ""

    def feed(self, fragment: str) -> str:
        """Return what is known to be text after `fragment` arrived."""
        text = self._sequence + fragment
        unfinished = _UNFINISHED.search(text)
        end = len(text) if unfinished is None else unfinished.start()
        self._sequence = text[end:]
        text = self._return + _SEQUENCE.sub("", text[:end])
        self._return = "\r" if text.endswith("\r") else ""
        return self._finish(text.removesuffix("\r"))

    def finish(self) -> str:
        """Return what was held back, cleaned."""
        text = self._return + _SEQUENCE.sub("", self._sequence)
        self._sequence = self._return = ""
        return self._finish(text)


def _cleaned_between(parts: list[str]) -> str:
    """Return the parts of a text in one, every second as it is and the others cleaned."""
    return "".join([part if at % 2 else clean(part) for at, part in enumerate(parts)])


def _drawable(text: str) -> str:
    """Return text without sequences as `clean` leaves it."""
    return _SUSPECT.sub(_harmless, text.replace("\r\n", "\n").replace("\r", "\n"))


def _without_controls(text: str) -> str:
    return _NOT_ENCODABLE.sub(_harmless, text.replace("\r\n", "\n").replace("\r", "\n"))


def _harmless(match: re.Match[str]) -> str:
    character = match[0]
    if character in _NEWLINES:
        return "\n"
    return "\ufffd" if "\ud800" <= character <= "\udfff" else ""


def _last_write(line: str) -> str:
    return next((part for part in reversed(line.split("\r")) if part), "")


def with_remedy(problem: str, remedy: str, between: str = " ") -> str:
    """Return what is wrong as a sentence, and what to do about it, if anything is known."""
    if not problem or not remedy:
        return problem or remedy
    end = "" if problem.endswith((".", "!", "?", "…")) else "."
    return f"{problem}{end}{between}{remedy}"


_MARKED = lazy_pattern(r"(?<!`)`([^`\n]+)`(?!`)")


def without_marks(text: str) -> str:
    """Return a message with what stands in a pair of backticks bare; a single one stays."""
    return _MARKED.sub(r"\1", text) if "`" in text else text


def unsaid(problem: str, remedy: str, said: str) -> str:
    """Return what of a problem and its remedy does not stand in `said` yet, as one sentence."""
    return with_remedy(*("" if part in said else part for part in (problem, remedy)))


def minute_of(stamp: str) -> str:
    """Return a stored time of UTC to its minute, as people read it; any other text as it is."""
    day, _, clock = stamp.partition("T")
    return f"{day} {clock[:5]} UTC" if clock.endswith(("+00:00", "Z")) else stamp


def short_count(count: int) -> str:
    """Return a count of tokens: `812`, `10.3k`, `200k`, `1.2M`. Never longer than six cells."""
    if count < 0:
        return "-" + short_count(-count)
    if count < 1000:
        return str(count)
    value, unit = (count / 1000, "k") if count < 999_950 else (count / 1_000_000, "M")
    text = f"{value:.1f}" if value < 1000 else f"{value:.0f}"
    return text.removesuffix(".0") + unit


def span(seconds: float) -> str:
    """Return a duration in prose: `8 s`, `2 min 5 s`, `1 h 12 min`. Negative reads as zero."""
    whole = max(0, int(seconds + 0.5)) if math.isfinite(seconds) else 0
    if whole < 60:
        return f"{whole} s"
    minutes, second = divmod(whole, 60)
    if minutes < 60:
        return f"{minutes} min {second} s" if second else f"{minutes} min"
    hours, minute = divmod(minutes, 60)
    return f"{hours} h {minute} min" if minute else f"{hours} h"


def spent_of(limit: str, used: str | None, more: str | None) -> str:
    """Return `$4.92 of $5 used, about $0.31 more`, with the digits it takes to see why it passes.

    Args:
        more: What is expected; None where that is not known.
    """
    most, now, then = Decimal(limit or 0), Decimal(used or 0), Decimal(more or 0)

    def passes(used: Decimal, more: Decimal) -> tuple[bool, bool]:
        return used >= most, used + more > most

    least = max(2, len(f"{most.normalize():f}".partition(".")[2]))
    enough = (
        digits
        for digits in range(least, least + 10)
        if passes(round(now, digits), round(then, digits)) == passes(now, then)
    )
    digits = next(enough, least + 10)
    set_to = f"{most:,.{0 if most == most.to_integral_value() else least}f}"
    shown = f"${now:,.{digits}f} of ${set_to} used"
    if more is None:
        return f"{shown}, an unknown amount more"
    tiny = then > 0 == round(then, digits)
    unit = Decimal(1).scaleb(-digits)
    return f"{shown}, {f'less than ${unit}' if tiny else f'about ${then:,.{digits}f}'} more"
