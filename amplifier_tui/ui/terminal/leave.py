"""What stays when the program ends: the last answer, the way back, and after a fault a report."""

from __future__ import annotations

import platform
import sys
import time
import traceback
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from amplifier_tui import __version__
from amplifier_tui.paths import user_log_dir

if TYPE_CHECKING:
    from textual.app import App

LINES = 40
"""Lines of the last answer that are printed; its end is what matters, so the head is cut."""


class Farewell(NamedTuple):
    """How the program ended: the agent's last words, how to open the session again (empty when
    nothing was said in it), and why, when not because the user wanted to.
    """

    last_answer: str = ""
    resume_command: str = ""
    problem: str = ""


def farewell_text(farewell: Farewell) -> str:
    """Return the lines to print on the normal screen; empty when there is nothing to say."""
    from amplifier_tui.base.text import clean

    parts: list[str] = []
    lines = clean(farewell.last_answer).strip().splitlines()
    if lines:
        cut = len(lines) - LINES
        if cut > 0:
            lines = [f"… {cut} lines more in the session", *lines[-LINES:]]
        parts.append("\n".join(line.rstrip() for line in lines))
    if farewell.problem:
        parts.append(clean(farewell.problem))
    if farewell.resume_command:
        parts.append(f"Resume with: {clean(farewell.resume_command)}")
    return "\n\n".join(parts)


def write_report(error: BaseException, folder: Path | None = None) -> Path | None:
    """Write a traceback, without values, to a file and return it; None where the disk refuses."""
    folder = folder if folder is not None else user_log_dir()
    path = folder / f"crash-{time.strftime('%Y%m%d-%H%M%S')}.txt"
    head = f"amplifier-tui {__version__}\nPython {platform.python_version()}, {platform.platform()}"
    try:
        folder.mkdir(parents=True, exist_ok=True)
        path.write_text(f"{head}\n\n{''.join(traceback.format_exception(error))}", "utf-8")
    except OSError:
        return None
    return path


def crash_words(error: BaseException, report: Path | None) -> str:
    """Return what the user is told: what happened, what was kept, where the report is."""
    kind = type(error).__name__
    lines = [
        f"amplifier-tui stopped because of a fault of its own ({kind}).",
        "The conversation is on disk up to the last row; --resume last opens it.",
    ]
    if report is not None:
        lines.append(f"Report: {report}")
    return "\n".join(lines)


def end_with_report(app: App[Any]) -> None:
    """End after a fault with a report; `App._fatal_error` shows the variables of every frame."""
    error = sys.exc_info()[1] or app._exception or RuntimeError("unknown fault")
    app.exit(return_code=1, message=crash_words(error, write_report(error)))
