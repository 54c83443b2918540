"""Copying where the terminal's own way does not reach: through tmux, and with native tools."""

import base64
import logging
import shutil
import subprocess
import sys
from collections.abc import Mapping

_log = logging.getLogger(__name__)

_SECONDS = 2.0


def tmux_passthrough(text: str) -> str:
    """Return the OSC 52 sequence wrapped so that tmux hands it to the terminal outside."""
    payload = base64.b64encode(text.encode("utf-8", errors="replace")).decode("ascii")
    return f"\x1bPtmux;\x1b\x1b]52;c;{payload}\x07\x1b\\"


def native_command(environ: Mapping[str, str]) -> list[str] | None:
    """Return the desktop's own copy command; None without one, and over SSH."""
    if environ.get("SSH_CONNECTION"):
        return None
    candidates: list[list[str]] = []
    if sys.platform == "darwin":
        candidates.append(["pbcopy"])
    if environ.get("WAYLAND_DISPLAY"):
        candidates.append(["wl-copy"])
    if environ.get("DISPLAY"):
        candidates += [["xclip", "-selection", "clipboard"], ["xsel", "-ib"]]
    return next((command for command in candidates if shutil.which(command[0])), None)


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
            timeout=_SECONDS,
            check=True,
        )
    except (OSError, subprocess.SubprocessError) as error:
        _log.info("%s did not copy: %s", command[0], error)
