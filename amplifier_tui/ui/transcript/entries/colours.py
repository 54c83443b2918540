"""Syntax colours of what tool calls show: made in a thread, and kept for what was seen last."""

import re
from collections.abc import Iterable, Mapping, Sequence
from typing import NamedTuple

from amplifier_tui.ui.diffs.syntax import MOST, diff_syntax, line_syntax
from amplifier_tui.ui.transcript.entries.diff import read_diff
from amplifier_tui.ui.transcript.layout.item import DrawnEntry
from amplifier_tui.ui.transcript.markdown.code import language_of
from amplifier_tui.ui.widgets.text_lines import Spans

Painted = Mapping[int, Spans]
"""Colours of rows or lines by their index."""

_KEPT = 128
_MOST_WANTED = 32
"""Texts that are coloured in one go: those that were drawn first, which are nearest to the eye."""
_MOST_ROWS = 1_000
_NUMBERED = re.compile(r" *(\d+)\t(.*)")


class Code(NamedTuple):
    """A text with code in it: the numbered lines of the file `path`, or, without one, a diff."""

    text: str
    path: str


class Colours:
    """Gives the colours that are known; of others it remembers by which items they are `wanted`."""

    def __init__(self) -> None:
        self._known: dict[Code, Painted] = {}
        self.wanted: dict[Code, DrawnEntry] = {}

    def of(self, item: DrawnEntry, text: str, path: str) -> Painted:
        """Return the colours of a text (see `Code`) of an item; none until they were made."""
        code = Code(text, path)
        found = self._known.get(code)
        if found is None and len(self.wanted) < _MOST_WANTED:
            self.wanted[code] = item
        return found or {}

    def keep(self, made: Mapping[Code, Painted]) -> None:
        """Take colours that were made; the oldest go."""
        self._known.update(made)
        for code in list(self._known)[: max(0, len(self._known) - _KEPT)]:
            del self._known[code]


def paint(codes: Iterable[Code]) -> dict[Code, Painted]:
    """Make colours; slow, for a thread."""
    return {code: _painted(code) for code in codes}


def _painted(code: Code) -> Painted:
    if not code.path:
        return diff_syntax(read_diff(code.text)[:_MOST_ROWS], _named)
    language = language_of(code.path)
    lines = [line.expandtabs(4) for _, line in numbered_lines(code.text) or ()]
    size, fitting = 0, 0
    while fitting < len(lines) and size + len(lines[fitting]) <= MOST // 4:
        size += len(lines[fitting])
        fitting += 1
    return dict(enumerate(line_syntax(lines[:fitting], language, _named))) if language else {}


def numbered_lines(text: str) -> Sequence[tuple[str, str]] | None:
    """Return the lines of a file as tools show them, each with its number; None for other text."""
    found = [_NUMBERED.fullmatch(line) for line in text.split("\n")]
    lines = [(match[1], match[2]) for match in found if match is not None]
    # A last line may say where the rest is.
    return lines if len(lines) >= max(1, len(found) - 1) and found[0] is not None else None


def _named(name: str) -> str:
    return name if name.startswith("syn-") else ""
