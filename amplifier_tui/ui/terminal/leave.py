"""What stays when the program ends: the last answer, the way back, and after a fault a report."""

from __future__ import annotations

import platform
import sys
import time
import traceback
from itertools import count
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from amplifier_tui import __version__
from amplifier_tui.paths import user_log_dir

if TYPE_CHECKING:
    from textual.app import App

_BEGAN = time.time()


class Farewell(NamedTuple):
    """How the program ended: the agent's last words, how to open the session again (empty when
    nothing was said in it), and why, when not because the user wanted to. `also` opens the other
    sessions of the window again. `ends` says what does not hold in it then, `aside` what was moved
    aside in it.
    """

    last_answer: str = ""
    resume_command: str = ""
    problem: str = ""
    also: tuple[str, ...] = ()
    ends: str = ""
    aside: str = ""


def farewell_text(farewell: Farewell, columns: int = 80, rows: int = 24) -> str:
    """Return the lines to print on the normal screen; empty when there is nothing to say.

    They fit a terminal of so many columns and rows with the shell's own line below them: of the
    answer its end, wrapped at words.
    """
    from amplifier_tui.base.commands.as_typed import as_typed
    from amplifier_tui.base.text import clean

    after = [clean(farewell.problem)] if farewell.problem else []
    if farewell.aside:
        back = ". Resumed, /aside puts it back" if farewell.resume_command else ""
        after.append("\n".join(_wrapped(f"{clean(farewell.aside)}{back}.", columns)))
    if farewell.resume_command:
        ends = f"\n{clean(farewell.ends)}." if farewell.ends else ""
        after.append(f"Resume with: {clean(as_typed(farewell.resume_command))}{ends}")
    if farewell.also:
        others = (clean(as_typed(command)) for command in farewell.also)
        after.append("\n".join(("The others:", *others)))
    lines = _wrapped(clean(farewell.last_answer).strip(), columns)
    if not lines:
        return "\n\n".join(after)
    # An empty row before each part, and the shell's two below.
    room = max(3, rows - 2 - sum(1 + len(_wrapped(part, columns)) for part in after))
    if len(lines) > room:
        left_out = len(lines) - room + 1
        lines = [f"… {left_out} lines more in the session"[:columns], *lines[1 - room :]]
    return "\n\n".join(("\n".join(lines), *after))


def _wrapped(text: str, columns: int) -> list[str]:
    from amplifier_tui.ui.transcript.lines import Span, wrap

    lines = wrap([Span(text.expandtabs(8))], max(1, columns)) if text else []
    return [line.text.rstrip() for line in lines]


def write_report(error: BaseException, folder: Path | None = None) -> Path | None:
    """Write a traceback, without values, to a file and return it; None where the disk refuses."""
    folder = folder if folder is not None else user_log_dir()
    name = f"crash-{time.strftime('%Y%m%d-%H%M%S')}"
    head = f"amplifier-tui {__version__}\nPython {platform.python_version()}, {platform.platform()}"
    try:
        folder.mkdir(parents=True, exist_ok=True)
        # One fault often brings another on its way out, which is not to hide it.
        paths = (folder / f"{name}{f'-{n}' if n else ''}.txt" for n in count())
        path = next(path for path in paths if not path.exists())
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
    if was_replaced():
        lines.insert(1, "Its files were replaced while it ran, as by an update: start it again.")
    if report is not None:
        lines.append(f"Report: {report}")
    return "\n".join(lines)


def was_replaced() -> bool:
    """Whether files of this program have changed since it began.

    What it imports later is then of another version than what it has.
    """
    own = [module for name, module in sys.modules.items() if name.startswith("amplifier_tui.")]
    files = [Path(file) for module in own if (file := getattr(module, "__file__", None))]
    try:
        return any(file.stat().st_mtime > _BEGAN for file in files)
    except OSError:
        return True  # One of them is gone.


def end_with_report(app: App[Any]) -> None:
    """End after a fault with a report; `App._fatal_error` shows the variables of every frame."""
    error = sys.exc_info()[1] or app._exception or RuntimeError("unknown fault")
    app.exit(return_code=1, message=crash_words(error, write_report(error)))
