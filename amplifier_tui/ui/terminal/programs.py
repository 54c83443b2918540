"""Programs beside this one: the user's editor, and what copies where the terminal cannot."""

import base64
import logging
import os
import shlex
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Mapping
from pathlib import Path

from amplifier_tui.ui.terminal.foreground import run_in_terminal
from amplifier_tui.ui.terminal.guard import through_screen, through_tmux

_log = logging.getLogger(__name__)

_COPY_SECONDS = 2.0
_SCREEN_TAKES = 512
"""Bytes of a string that GNU screen hands on."""


class EditorError(Exception):
    """The editor could not be used; the message says why and what helps."""


def editor_command() -> list[str]:
    """Return `$VISUAL`, `$EDITOR` or `vi`; raises EditorError where that is no command line."""
    return _command("VISUAL", "EDITOR") or ["vi"]


def edit_text(text: str, suffix: str = ".md") -> str:
    """Open `text` in the editor and return what was saved; the caller has given the terminal back.

    `suffix` ends the file's name, which tells the editor what the text is.

    Raises:
        EditorError: The editor is missing or failed, or what it saved cannot be read.
    """
    command = editor_command()
    with tempfile.TemporaryDirectory(prefix="amplifier-") as folder:
        path = Path(folder) / f"text{suffix}"
        _show_file(command, path, text, "$EDITOR")
        try:
            return path.read_text("utf-8", errors="replace").rstrip("\n")
        except OSError as error:
            raise EditorError(
                f"What {Path(command[0]).name} saved cannot be read ({error.strerror})."
            ) from error


def page_text(text: str) -> None:
    """Show `text` in `$PAGER`, or `less`; the caller has given the terminal back.

    Raises:
        EditorError: The pager is missing or failed.
    """
    command = _command("PAGER") or ["less"]
    with tempfile.TemporaryDirectory(prefix="amplifier-") as folder:
        _show_file(command, Path(folder) / "text.md", text, "$PAGER")


def _command(*variables: str) -> list[str]:
    """Return the words of the first of these variables that is set."""
    value = next(filter(None, map(os.environ.get, variables)), "")
    try:
        # Words and quotes alone, no shell: nothing in it is expanded or run besides the program.
        return shlex.split(value)
    except ValueError as error:
        raise EditorError(f"${variables[-1]} is not a command line: {error}.") from error


def _show_file(command: list[str], path: Path, text: str, variable: str) -> None:
    path.write_text(text, "utf-8", "surrogatepass")
    try:
        status = run_in_terminal([*command, str(path)])
    except OSError as error:
        raise EditorError(
            f"{command[0]} cannot be started ({error.strerror}); set {variable}."
        ) from error
    if status:
        raise EditorError(f"{Path(command[0]).name} ended with status {status}.")


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
    return next((command for command in commands if shutil.which(command[0])), None)


def copy_natively(command: list[str], text: str) -> None:
    """Give text to a copy command. Blocks for up to two seconds; a failure is only logged, for
    the terminal has been asked as well.
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
