"""Copying where the terminal cannot: by tmux, GNU screen, or the desktop's own command."""

import base64
import logging
import subprocess
import sys
from collections.abc import Mapping

from amplifier_tui.base.commands.programs import find_program
from amplifier_tui.ui.terminal.asking import ask_tmux
from amplifier_tui.ui.terminal.guard import through_screen, through_tmux

_log = logging.getLogger(__name__)

_COPY_SECONDS = 2.0
_SCREEN_TAKES = 512
"""Bytes of a string that GNU screen hands on."""


def handed_on(text: str, environ: Mapping[str, str]) -> str:
    """Return what has tmux or GNU screen hand a copy (OSC 52) to the terminal outside.

    Empty without them. screen takes a few hundred bytes at a time, and hands them on one by one.
    """
    multiplexed = environ.get("STY") or environ.get("TMUX")
    if not multiplexed:
        return ""
    payload = base64.b64encode(text.encode("utf-8", errors="replace")).decode("ascii")
    sequence = f"\x1b]52;c;{payload}\x07"
    if environ.get("STY"):
        cuts = range(0, len(sequence), _SCREEN_TAKES)
        return "".join(through_screen(sequence[at : at + _SCREEN_TAKES]) for at in cuts)
    return through_tmux(sequence)


def native_command(environ: Mapping[str, str]) -> list[str] | None:
    """Return the desktop's own copy command; None without one, and over SSH."""
    if environ.get("SSH_CONNECTION"):
        return None
    candidates = {
        "pbcopy": sys.platform == "darwin",
        "wl-copy": environ.get("WAYLAND_DISPLAY"),
        "xclip -selection clipboard": environ.get("DISPLAY"),
        "xsel -ib": environ.get("DISPLAY"),
    }
    commands = (line.split() for line, fits in candidates.items() if fits)
    return next((command for command in commands if find_program(command[0])), None)


def copy_to_tmux(text: str) -> None:
    """Give text to tmux itself: its own buffer, and the terminal outside.

    As tmux is set up at first (`set-clipboard external`), it takes no copy (OSC 52) that a program
    writes. Blocks like `copy_natively`.
    """
    if ask_tmux("show-options", "-sv", "set-clipboard") == "on":
        return  # It has taken the terminal's way: a second buffer would hold the same.
    # Versions before 3.2 don't know the option that tells the terminal outside.
    for options in (["-w"], []):
        if copy_natively(["tmux", "load-buffer", *options, "-"], text):
            return


def copy_natively(command: list[str], text: str) -> bool:
    """Give text to a copy command; returns whether it took it.

    Blocks for up to two seconds; a failure is only logged, for the terminal has been asked as well.
    """
    try:
        subprocess.run(
            command,
            input=text.encode("utf-8", errors="replace"),
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            timeout=_COPY_SECONDS,
            check=True,
        )
    except (OSError, subprocess.SubprocessError) as error:
        _log.info("%s did not copy: %s", command[0], error)
        return False
    return True
