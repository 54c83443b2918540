"""A crash leaves a report in the log directory, not a traceback with values on the screen."""

import platform
import time
import traceback
from pathlib import Path

from amplifier_tui import __version__
from amplifier_tui.paths import user_log_dir


def write_report(error: BaseException, folder: Path | None = None) -> Path | None:
    """Write the error's traceback to a file, without the values of variables.

    Returns:
        The file, or None when the log directory cannot be written.
    """
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
