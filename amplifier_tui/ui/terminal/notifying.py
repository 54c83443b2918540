"""Telling a user who looks elsewhere: by the terminal, and by a command of the user's own."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Mapping, Sequence
from typing import Any, Final, Literal

from amplifier_tui.base.text import one_line
from amplifier_tui.ui.terminal.guard import through_screen, through_tmux

Manner = Literal["auto", "bell", "off"]
MANNERS: Final[tuple[Manner, ...]] = ("auto", "bell", "off")

_BELL: Final = "\x07"
_LONGEST: Final = 200
_PATIENCE: Final = 10.0
"""Seconds the user's command may take."""


def notification(title: str, body: str, environ: Mapping[str, str]) -> str:
    """Return what a terminal is sent to show a notification, or to ring where it shows none.

    Which form a terminal knows is seen by the variables it sets, which programs in tmux and
    screen inherit: OSC 99 (kitty), OSC 777 (Ghostty, WezTerm, foot, VTE, rxvt), OSC 9 (iTerm2,
    Windows Terminal, ConEmu). Inside tmux or screen it is passed on, and the bell rings as well.
    """
    title, body = one_line(title, _LONGEST), one_line(body, _LONGEST)
    sequence = _sequence(title, body, environ)
    if not sequence:
        return _BELL
    if environ.get("TMUX"):
        return f"{through_tmux(sequence)}{_BELL}"
    if environ.get("STY"):
        return f"{through_screen(sequence)}{_BELL}"
    return sequence


def _sequence(title: str, body: str, environ: Mapping[str, str]) -> str:
    program, term = environ.get("TERM_PROGRAM", ""), environ.get("TERM", "")
    if environ.get("KITTY_WINDOW_ID") or term == "xterm-kitty":
        return f"\x1b]99;i=1:d=0;{title}\x07\x1b]99;i=1:p=body;{body}\x07"
    known = ("GHOSTTY_RESOURCES_DIR", "WEZTERM_PANE", "VTE_VERSION")
    if any(environ.get(name) for name in known) or term.startswith(("foot", "rxvt")):
        return f"\x1b]777;notify;{title.replace(';', ',')};{body}\x07"
    iterm = program == "iTerm.app" or environ.get("LC_TERMINAL") == "iTerm2"
    if iterm or environ.get("WT_SESSION") or environ.get("ConEmuPID"):
        # A number there is another command of these terminals; ConEmu's 7 runs a program.
        name = f"Session {title}" if title[:1].isdecimal() else title
        return f"\x1b]9;{name}: {body}\x07"
    return ""


async def run_command(words: Sequence[str], facts: Mapping[str, Any]) -> str:
    """Run the user's own command with the facts as JSON on its standard input.

    It is ended when it takes long, and when this is cancelled.

    Returns:
        What went wrong, in words; empty for nothing.
    """
    null = asyncio.subprocess.DEVNULL
    try:
        process = await asyncio.create_subprocess_exec(
            *words, stdin=asyncio.subprocess.PIPE, stdout=null, stderr=null
        )
    except (OSError, ValueError) as error:
        return f"{words[0]} can't be run: {getattr(error, 'strerror', None) or error}"
    try:
        async with asyncio.timeout(_PATIENCE):
            await process.communicate(json.dumps(facts, ensure_ascii=False).encode() + b"\n")
    except TimeoutError:
        return f"{words[0]} took more than {_PATIENCE:g} s and was ended"
    finally:
        if process.returncode is None:
            process.kill()
            await process.wait()
    return f"{words[0]} ended with {process.returncode}" if process.returncode else ""
