"""Where code is, in words: for modules that do not stop or do not give the engine back."""

import sys
import threading
import traceback
from collections.abc import Iterator
from pathlib import PurePath
from types import FrameType
from typing import Any

_OWN_LOOP = ("/asyncio/", "\\asyncio\\", "threading.py")

_TRIAL = ("validation", "module_validator.py")
"""Of the program: mounts a module once before the session does, to look at it."""

Place = tuple[str, str, int]
"""Function, file and line."""


def thread_places(thread_id: int | None) -> list[Place]:
    """Return where a thread is, outermost first, without the event loop's own frames."""
    frame: FrameType | None = sys._current_frames().get(thread_id or 0)
    if frame is None:
        return []
    return [
        (summary.name, summary.filename, summary.lineno or 0)
        for summary in traceback.extract_stack(frame, limit=60)
        if not _is_loop(summary.filename)
    ]


def coroutine_places(coroutine: Any) -> list[Place]:
    """Return where a suspended coroutine is, outermost first."""
    return [place for place in _chain(coroutine) if not _is_loop(place[1])]


def described(places: list[Place]) -> str:
    """Return places as lines with the whole path."""
    return "\n".join(f"{name} ({file}:{line})" for name, file, line in places)


def innermost(places: list[Place]) -> str:
    """Return the last place with the end of its path: enough to know whose it is."""
    if not places:
        return "a module"
    name, file, line = places[-1]
    return f"{name} ({'/'.join(PurePath(file).parts[-2:])}:{line})"


def module_at(places: list[Place]) -> str:
    """Return the id of the module whose code is the innermost; empty where there is none."""
    from amplifier_tui.host.gate.calls.guarded import module_of_code

    for _, file, _ in reversed(places):
        name = ".".join(PurePath(file).parts)
        at = max(name.rfind("amplifier_module_"), name.rfind("amplifier_tui.modules."))
        if at >= 0 and (module := module_of_code(name[at:])):
            return module
    return ""


def running_module() -> tuple[str, bool]:
    """Return the id of the module whose code runs now, and whether it is mounted for trial only.

    The id is empty where none does.
    """
    places = thread_places(threading.get_ident())
    return module_at(places), any(PurePath(file).parts[-2:] == _TRIAL for _, file, _ in places)


def _chain(coroutine: Any) -> Iterator[Place]:
    while coroutine is not None:
        frame = getattr(coroutine, "cr_frame", None) or getattr(coroutine, "gi_frame", None)
        if frame is not None:
            yield frame.f_code.co_qualname, frame.f_code.co_filename, frame.f_lineno
        coroutine = getattr(coroutine, "cr_await", None) or getattr(coroutine, "gi_yieldfrom", None)


def _is_loop(filename: str) -> bool:
    return any(part in filename for part in _OWN_LOOP)
