"""The terminal: its size, colours, characters and keys, and what stands between it and us."""

import locale
import shutil
import sys
from collections.abc import Callable, Iterator, Mapping
from typing import Final

from rich.console import Console

from amplifier_tui.cli.doctor.findings import Diagnosis
from amplifier_tui.cli.layout import is_terminal
from amplifier_tui.ui.app.preferences import Preferences
from amplifier_tui.ui.images.showing import INSTALL, NO_LIBRARY, why_text
from amplifier_tui.ui.terminal.asking import EXTENDED_KEYS, ask_tmux, tmux_tells_keys_apart

_LEAST: Final = (40, 12)
_SLOW_ESCAPE: Final = 100
"""Milliseconds that tmux may hold an escape back."""

_TMUX_OPTIONS: Final = {
    "extended-keys": (
        "-sv",
        EXTENDED_KEYS,
        "shift+enter and ctrl+enter do not arrive",
        ("set -s extended-keys on", "set -as terminal-features 'xterm*:extkeys'"),
    ),
    "focus-events": (
        "-gv",
        ("on",),
        "the program is not told when you look elsewhere",
        ("set -g focus-events on",),
    ),
    "set-clipboard": (
        "-sv",
        ("on", "external"),
        "copying over ssh does not reach your clipboard",
        ("set -s set-clipboard on",),
    ),
    "allow-passthrough": (
        "-gv",
        ("on", "all"),
        "notifications and the clipboard do not reach the terminal outside",
        ("set -g allow-passthrough on",),
    ),
}
"""Options of tmux: how to ask for one, what is good, what is lost otherwise, and what to add."""

Ask = Callable[[], bool | None]


def look_at_terminal(
    environ: Mapping[str, str], tells_keys_apart: Ask, is_light: Ask
) -> Iterator[Diagnosis]:
    """Yield what is found out about the terminal.

    Args:
        tells_keys_apart: Asks the terminal whether it does; None for no answer.
        is_light: Asks it whether its background is; None for no answer.
    """
    if not is_terminal(sys.stdout):
        yield Diagnosis(
            what="terminal",
            state="note",
            said="the output goes to no terminal, so little can be told of it",
            remedy="Run it where you run the program.",
        )
    yield from _kind(environ)
    yield from _colours(environ)
    yield from _background(is_light)
    yield _images(environ)
    yield _characters()
    yield from _keys(environ, tells_keys_apart)
    yield from _tmux(environ)
    yield from _ssh(environ)


def _kind(environ: Mapping[str, str]) -> Iterator[Diagnosis]:
    name = environ.get("TERM", "")
    program = environ.get("TERM_PROGRAM") or environ.get("LC_TERMINAL") or ""
    if name in ("", "dumb"):
        yield Diagnosis(
            what="kind",
            state="error",
            said=f"TERM is {name or 'not set'}: no screen can be drawn",
            remedy="Use another terminal, or say which one this is.",
            lines=("export TERM=xterm-256color",),
        )
    else:
        yield Diagnosis(what="kind", said=" · ".join(filter(None, (name, program))))
    if is_terminal(sys.stdout):
        columns, rows = shutil.get_terminal_size()
        small = columns < _LEAST[0] or rows < _LEAST[1]
        yield Diagnosis(
            what="size",
            state="warning" if small else "ok",
            said=f"{columns}x{rows}",
            remedy=f"Make it at least {_LEAST[0]}x{_LEAST[1]}." if small else "",
        )


def _colours(environ: Mapping[str, str]) -> Iterator[Diagnosis]:
    if environ.get("NO_COLOR"):
        yield Diagnosis(
            what="colours",
            state="note",
            said="NO_COLOR is set: everything is grey",
            remedy="Unset it to have colours.",
            lines=("unset NO_COLOR",),
        )
    elif environ.get("COLORTERM") in ("truecolor", "24bit") or "TMUX" in environ:
        yield Diagnosis(what="colours", said="24 bit")
    else:
        many = "256" if "256" in environ.get("TERM", "") else "16"
        yield Diagnosis(
            what="colours",
            state="note",
            said=f"{many}: the terminal does not say that it has 24 bit",
            remedy="If it has them, say so in the shell's start-up file.",
            lines=("export COLORTERM=truecolor",),
        )


def _background(is_light: Ask) -> Iterator[Diagnosis]:
    if not (is_terminal(sys.stdin) and is_terminal(sys.stdout)):
        return
    light = is_light()
    if light is not None:
        said = "light" if light else "dark"
        yield Diagnosis(what="background", said=f"{said}: the theme is chosen by it")
        return
    yield Diagnosis(
        what="background",
        state="note",
        said="the terminal does not tell it, so the dark theme is used",
        remedy="Choose another one with /theme.",
    )


def _images(environ: Mapping[str, str]) -> Diagnosis:
    why = why_text(
        environ, Console(force_terminal=True, _environ=environ).color_system, Preferences().images
    )
    if not why:
        return Diagnosis(what="images", said="drawn small in the conversation, in half blocks")
    missing = why == NO_LIBRARY
    return Diagnosis(
        what="images",
        state="note",
        said=f"shown as a line of text: {why}",
        remedy="Install it to see them." if missing else "",
        lines=(INSTALL,) if missing else (),
    )


def _characters() -> Diagnosis:
    encoding = (getattr(sys.stdout, "encoding", "") or locale.getpreferredencoding(False)).upper()
    if encoding.replace("-", "") == "UTF8":
        return Diagnosis(what="characters", said="UTF-8")
    return Diagnosis(
        what="characters",
        state="warning",
        said=f"the locale's characters are {encoding}: lines and marks can't be shown",
        remedy="Choose a UTF-8 locale.",
        lines=("export LANG=C.UTF-8",),
    )


def _keys(environ: Mapping[str, str], tells_keys_apart: Ask) -> Iterator[Diagnosis]:
    if not (is_terminal(sys.stdin) and is_terminal(sys.stdout)):
        return
    arrive = "shift+enter and ctrl+enter arrive"
    if "TMUX" in environ and tmux_tells_keys_apart():
        yield Diagnosis(what="keys", said=f"{arrive}, where the terminal outside tells them apart")
        return
    apart = tells_keys_apart()
    if apart:
        yield Diagnosis(what="keys", said=f"{arrive} (kitty protocol)")
        return
    why = "the terminal does not answer" if apart is None else "no kitty protocol"
    yield Diagnosis(
        what="keys",
        state="note",
        said=f"{why}: shift+enter may arrive as enter",
        remedy="alt+enter and ctrl+j begin a new line in every terminal.",
    )


def _tmux(environ: Mapping[str, str]) -> Iterator[Diagnosis]:
    if "STY" in environ:
        yield Diagnosis(
            what="screen",
            state="note",
            said="GNU screen has no 24-bit colours, and no keys beyond the plain ones",
            remedy="tmux has both.",
        )
    if "TMUX" not in environ:
        return
    version = ask_tmux("-V")
    if not version:
        said = "TMUX is set, and tmux can't be asked"
        yield Diagnosis(what="tmux", state="note", said=said, remedy="Put tmux on the PATH.")
        return
    yield Diagnosis(what="tmux", said=version)
    for option, (_, good, lost, lines) in _TMUX_OPTIONS.items():
        value = _option(option)
        if value and value not in good:
            yield Diagnosis(
                what=option,
                state="note",
                said=f"{value}: {lost}",
                remedy="Add to ~/.tmux.conf, then restart tmux.",
                lines=lines,
            )
    escape = ask_tmux("show-options", "-sv", "escape-time")
    if escape.isdigit() and int(escape) > _SLOW_ESCAPE:
        yield Diagnosis(
            what="escape-time",
            state="note",
            said=f"{escape} ms pass before esc arrives",
            remedy="Add to ~/.tmux.conf.",
            lines=("set -sg escape-time 20",),
        )


def _option(name: str) -> str:
    return ask_tmux("show-options", _TMUX_OPTIONS[name][0], name)


def _ssh(environ: Mapping[str, str]) -> Iterator[Diagnosis]:
    if not (environ.get("SSH_CONNECTION") or environ.get("SSH_TTY")):
        return
    yield Diagnosis(what="ssh", said="copying goes through the terminal (OSC 52)")
    if not environ.get("COLORTERM") and "TMUX" not in environ:
        yield Diagnosis(
            what="ssh colours",
            state="note",
            said="ssh does not pass on that your terminal has 24-bit colours",
            remedy="Add the first line to ~/.ssh/config there, the second to sshd_config here.",
            lines=("SendEnv COLORTERM", "AcceptEnv COLORTERM"),
        )
