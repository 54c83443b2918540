"""Asking the terminal what it can do, before or after an app has it."""

import os
import select
import sys
import termios
import tty
from time import monotonic
from typing import Final

KEYBOARD: Final = "\x1b[?u\x1b[c"
"""Asks for the kitty keyboard protocol, and then what every terminal answers."""


def ask_terminal(question: str, end: bytes, seconds: float = 0.5) -> bytes:
    """Return what the terminal answers to a control sequence; empty where it says nothing.

    Args:
        end: How the answer ends.
        seconds: How long to wait for it.
    """
    if not all(stream is not None and stream.isatty() for stream in (sys.stdin, sys.stdout)):
        return b""
    source = sys.stdin.fileno()
    try:
        before = termios.tcgetattr(source)
    except termios.error:
        return b""
    answer, until = b"", monotonic() + seconds
    try:
        tty.setcbreak(source, termios.TCSANOW)
        sys.stdout.write(question)
        sys.stdout.flush()
        while not answer.endswith(end) and (left := until - monotonic()) > 0:
            if select.select([source], [], [], left)[0]:
                answer += os.read(source, 256)
    finally:
        termios.tcsetattr(source, termios.TCSANOW, before)
    return answer


def tells_keys_apart(answer: bytes) -> bool | None:
    """Say whether an answer to `KEYBOARD` is of a terminal that tells shift+enter from enter.

    None where the terminal said nothing at all.
    """
    return None if not answer else b"u" in answer.partition(b"\x1b[?")[2].partition(b"\x1b")[0]
