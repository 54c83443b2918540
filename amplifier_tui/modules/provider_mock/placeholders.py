"""Filling the gaps of a script's texts."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any, Final

from amplifier_tui.modules.provider_mock.seen import Result, Seen

_GAP: Final = re.compile(r"\{\{(prompt|turn|n|output(?::\d+)?|tail|reason|file)\}\}")
_LONGEST: Final = 2_000
_TAIL_LINES: Final = 6


class Filler:
    """Fills in what is known at one step.

    Args:
        seen: The conversation.
    """

    def __init__(self, seen: Seen) -> None:
        self._seen = seen
        self._results: Sequence[Result] = seen.rounds[-1] if seen.rounds else ()

    def text(self, text: str, n: int = 1) -> str:
        """Return a text with its gaps filled; what is no gap stays as it is.

        Args:
            text: The text.
            n: The repetition.
        """
        return _GAP.sub(lambda gap: self._value(gap.group(1), n), text)

    def data(self, value: Any) -> Any:
        """Return arguments with the gaps of their texts filled."""
        if isinstance(value, str):
            return self.text(value)
        if isinstance(value, dict):
            return {key: self.data(item) for key, item in value.items()}
        if isinstance(value, list):
            return [self.data(item) for item in value]
        return value

    def _value(self, name: str, n: int) -> str:
        match name:
            case "prompt":
                return _short(" ".join(self._seen.prompt.split()), 120)
            case "turn":
                return str(self._seen.turn)
            case "n":
                return str(n)
            case "tail":
                return "\n".join(self._output(-1).rstrip().splitlines()[-_TAIL_LINES:])
            case "reason":
                denied = (result for result in self._results if result.outcome == "denied")
                found = next(denied, None)
                return _short(found.reason, 200) if found is not None else "no reason given"
            case "file":
                return _first_file(self._output(0))
        place = int(name.partition(":")[2] or 1) - 1
        return _short(self._output(place), _LONGEST)

    def _output(self, place: int) -> str:
        try:
            return self._results[place].text
        except IndexError:
            return ""


def _short(text: str, length: int) -> str:
    return text if len(text) <= length else f"{text[: length - 1]}…"


def _first_file(listing: str) -> str:
    """The first entry of a folder's listing that is a file."""
    for line in listing.splitlines():
        name, gap, size = line.rpartition("  ")
        if gap and size.endswith("bytes"):
            return name
    return "README.md"
