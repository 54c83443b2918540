"""Asking the terminal what it can do and how it looks, before or after an app has it, and tmux."""

import os
import re
import select
import subprocess
import sys
import termios
import tty
from collections.abc import Mapping
from time import monotonic
from typing import Final

from amplifier_tui.ui.terminal.background import light_of, question

_ATTRIBUTES: Final = "\x1b[c"
"""What every terminal answers: asked last, so that a silent one is not waited for."""
KEYBOARD: Final = f"\x1b[?u{_ATTRIBUTES}"
"""Asks for the kitty keyboard protocol."""
EXTENDED_KEYS: Final = ("on", "always")
"""Values of tmux's option `extended-keys` with which shift+enter arrives."""
_TMUX_SECONDS: Final = 2.0
_END: Final = re.compile(rb"\x1b\[\?[0-9;]*c")
_COLOUR: Final = re.compile(rb"\x1b\]11;[^\x07\x1b]*(?:\x07|\x1b\\)")


def ask_terminal(asked: str, end: re.Pattern[bytes] = _END, seconds: float = 0.5) -> bytes:
    """Return what the terminal answers to a control sequence; empty where it says nothing.

    Args:
        end: What the answer ends with.
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
        sys.stdout.write(asked)
        sys.stdout.flush()
        while not end.search(answer) and (left := until - monotonic()) > 0:
            if select.select([source], [], [], left)[0]:
                answer += os.read(source, 256)
    finally:
        # An answer that comes later is none for the shell.
        termios.tcsetattr(source, termios.TCSAFLUSH, before)
    return answer


def tells_keys_apart(answer: bytes) -> bool | None:
    """Say whether an answer to `KEYBOARD` is of a terminal that tells shift+enter from enter.

    None where the terminal said nothing at all.
    """
    return None if not answer else b"u" in answer.partition(b"\x1b[?")[2].partition(b"\x1b")[0]


def is_light(environ: Mapping[str, str]) -> bool | None:
    """Return whether the terminal's background is light; None when it does not say."""
    if environ.get("TMUX") or environ.get("STY"):
        # What is handed on is answered after what they answer themselves.
        answer = ask_terminal(question(environ), _COLOUR)
    else:
        answer = ask_terminal(f"{question(environ)}{_ATTRIBUTES}")
    return light_of(answer.decode("ascii", "replace"))


def ask_tmux(*arguments: str) -> str:
    """Return what a command of tmux prints; empty where tmux can't be asked. Blocks."""
    try:
        done = subprocess.run(
            ["tmux", *arguments],
            stdin=subprocess.DEVNULL,
            capture_output=True,
            timeout=_TMUX_SECONDS,
            check=False,
        )
    except (OSError, subprocess.TimeoutExpired):
        return ""
    return done.stdout.decode("utf-8", "replace").strip()


def tmux_tells_keys_apart() -> bool:
    """Say whether tmux tells shift+enter from enter, where the terminal outside does. Blocks."""
    return ask_tmux("show-options", "-sv", "extended-keys") in EXTENDED_KEYS
