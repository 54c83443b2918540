"""The background colour of a terminal, asked of the terminal itself (OSC 11)."""

import os
import re
import select
import sys
from time import monotonic
from typing import Final

_QUESTION: Final = b"\x1b]11;?\x07\x1b[c"
"""The colour, and then what every terminal answers: so that a silent one is not waited for."""
_ANSWER: Final = re.compile(rb"\x1b\]11;rgba?:([0-9a-fA-F]+)/([0-9a-fA-F]+)/([0-9a-fA-F]+)")
_LAST: Final = re.compile(rb"\x1b\[\?[0-9;]*c")


def is_light(seconds: float = 0.3) -> bool | None:
    """Return whether the terminal's background is light; None when it does not say.

    Args:
        seconds: How long an answer is waited for.
    """
    if not (sys.stdin.isatty() and sys.stdout.isatty()):
        return None
    import termios
    import tty

    before = termios.tcgetattr(0)
    try:
        tty.setcbreak(0)
        os.write(1, _QUESTION)
        return light_of(_read(monotonic() + seconds))
    except OSError:
        return None
    finally:
        termios.tcsetattr(0, termios.TCSADRAIN, before)


def light_of(answer: bytes) -> bool | None:
    """Return whether the colour in a terminal's answer is light; None when there is none."""
    found = _ANSWER.search(answer)
    if found is None:
        return None
    red, green, blue = (int(part, 16) / (16 ** len(part) - 1) for part in found.groups())
    brightness: float = 0.2126 * red + 0.7152 * green + 0.0722 * blue
    return brightness > 0.5


def _read(until: float) -> bytes:
    answer = b""
    while not _LAST.search(answer) and (left := until - monotonic()) > 0:
        if not select.select([0], [], [], left)[0]:
            break
        answer += os.read(0, 1024)
    return answer
