"""The background of the terminal: whether it is light, as the terminal answers or reports."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Final

from textual.message import Message

from amplifier_tui.ui.terminal.guard import through_screen, through_tmux

QUESTION: Final = "\x1b]11;?\x07"
"""OSC 11: which colour is the background?"""
CAN_REPORT: Final = "\x1b[?2031$p"
"""DECRQM: does the terminal report when its colours change?"""
REPORTS_ON: Final = "\x1b[?2031h"

_COLOUR: Final = re.compile(r"\]11;rgba?:([0-9a-fA-F]{1,4})/([0-9a-fA-F]{1,4})/([0-9a-fA-F]{1,4})")
_ANSWER: Final = re.compile(r"\x1b\]11;[^\x07\x1b]{0,40}(?:\x07|\x1b\\)")
_BEGUN: Final = re.compile(r"\x1b\](?:1(?:1(?:;[^\x07\x1b]{0,40}\x1b?)?)?)?\Z")
_REPORT: Final = re.compile(r"\x1b\[\?(?:997;(\d)n|2031;(\d)\$y)")


class BackgroundTold(Message):
    """The terminal has told of its background: `light` is whether it is, None for no colour."""

    def __init__(self, light: bool | None) -> None:
        super().__init__()
        self.light = light


class ReportsOffered(Message):
    """The terminal reports changes of its colours where it is asked to."""


def question(environ: Mapping[str, str]) -> str:
    """Return what asks the terminal. GNU screen, and tmux before 3.4, have to hand it on."""
    if environ.get("STY"):
        return through_screen(QUESTION)
    return f"{QUESTION}{through_tmux(QUESTION)}" if environ.get("TMUX") else QUESTION


def light_of(answer: str) -> bool | None:
    """Return whether the colour in an answer to `QUESTION` is light; None without a colour."""
    found = _COLOUR.search(answer)
    if found is None:
        return None
    red, green, blue = (int(part, 16) / (16 ** len(part) - 1) for part in found.groups())
    brightness: float = 0.2126 * red + 0.7152 * green + 0.0722 * blue
    return brightness > 0.5


def message_of(sequence: str) -> Message | None:
    """Return what a sequence of the terminal tells; None where it is no report of this kind."""
    found = _REPORT.fullmatch(sequence)
    if found is None:
        return None
    scheme, setting = found.groups()
    if setting is not None:
        # 0 is for a mode that is not known, 4 for one that can't be set.
        return ReportsOffered() if setting in "123" else BackgroundTold(None)
    return BackgroundTold({"1": False, "2": True}.get(scheme))


class AnswerReader:
    """Turns answers to `QUESTION` into reports of one form, wherever the input is cut.

    Textual's parser takes no such answer for one: it would press its characters as keys.
    """

    def __init__(self) -> None:
        self._held = self._passed = ""

    def feed(self, data: str) -> str:
        """Return the input; the beginning of an answer is held back until the rest comes."""
        # An escape was passed on at once, for it may be a key.
        text = _ANSWER.sub(_as_report, self._passed + self._held + data)
        begun = _BEGUN.search(text)
        end = max(begun.start() if begun else len(text), len(self._passed))
        found, self._held = text[len(self._passed) : end], text[end:]
        if found:
            self._passed = "\x1b" if found.endswith("\x1b") else ""
        return found

    def release(self) -> str:
        """Return what is held back: no more comes."""
        held, self._held, self._passed = self._held, "", ""
        return held


def _as_report(answer: re.Match[str]) -> str:
    light = light_of(answer[0])
    return f"\x1b[?997;{0 if light is None else 2 if light else 1}n"
