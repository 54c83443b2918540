"""One difference, in words: what it was, what it is, and where two long texts part."""

import json
from typing import Any, Final, NamedTuple

from amplifier_tui.base.text import one_line
from amplifier_tui.host.cassettes.names import steady

_SHOWN: Final = 160
"""Characters of a value that are shown."""
NONE: Final = "nothing"


class CassetteDifference(NamedTuple):
    """One difference.

    Attributes:
        place: Where it is, such as `turn 3, call 3.2.1 (bash)`.
        what: What differs, such as `arguments`.
        before: As it was.
        after: As it is now.
        times: How often it comes, from that place on.
    """

    place: str
    what: str
    before: str
    after: str
    times: int = 1

    def __str__(self) -> str:
        more = "" if self.times == 1 else f" (and {self.times - 1} more times)"
        more = " (and once more)" if self.times == 2 else more
        return f"{self.place}: {self.what}: {self.before} → {self.after}{more}"


def as_text(value: Any) -> str:
    """Return a text as it is, other data as JSON, and nothing as an empty text."""
    if value is None:
        return ""
    if isinstance(value, str):
        return value
    return json.dumps(value, ensure_ascii=False, sort_keys=True)


def steady_text(value: Any) -> str:
    """Return data as text that is the same in every run."""
    return steady(as_text(value))


def difference_of(place: str, what: str, before: Any, after: Any) -> CassetteDifference:
    """Return a difference of two texts, of longer ones the first line that differs."""
    texts = [as_text(before), as_text(after)]
    if max(map(len, texts)) <= _SHOWN and not any("\n" in text for text in texts):
        return CassetteDifference(place, what, quoted(texts[0]), quoted(texts[1]))
    # What makes no difference may take more lines now than it did.
    lines = [steady(text).split("\n") for text in texts]
    most = min(map(len, lines))
    at = next((n for n in range(most) if lines[0][n] != lines[1][n]), most)
    # What one text has more may begin with empty lines.
    while at + 1 < max(map(len, lines)) and not any("".join(each[at : at + 1]) for each in lines):
        at += 1
    first, second = (each[at] if at < len(each) else "" for each in lines)
    begin = _differs_at(first, second)
    mark = "…" if begin else ""
    where = f"line {at + 1}: " if max(map(len, lines)) > 1 else ""
    return CassetteDifference(
        place, what, f"{where}{quoted(first[begin:], mark)}", quoted(second[begin:], mark)
    )


def _differs_at(before: str, after: str) -> int:
    """Return where two long lines begin to differ, with some of what is before that."""
    if max(len(before), len(after)) <= _SHOWN:
        return 0
    pairs = enumerate(zip(before, after, strict=False))
    at = next((n for n, (old, new) in pairs if old != new), min(len(before), len(after)))
    return max(0, at - 20)


def quoted(text: str, begin: str = "") -> str:
    """Return a text on one line in quotes, cut; `begin` says that its beginning is left out."""
    return f"“{begin}{one_line(text, _SHOWN)}”" if text else NONE
