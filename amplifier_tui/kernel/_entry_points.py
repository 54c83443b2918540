"""Installed modules: the entry points of the group ``amplifier.modules``.

Reading them walks every installed distribution, some milliseconds each time. So the result is
kept for the process and read again when a directory of ``sys.path`` changed, as it does when
something is installed.
"""

from __future__ import annotations

import importlib.metadata
import os
import sys
from importlib.metadata import EntryPoint
from typing import Final

from amplifier_tui.kernel._packages import ENTRY_POINT_GROUP

_original: Final = importlib.metadata.entry_points
_Stamp = tuple[tuple[str, int], ...]
_cache: dict[str, EntryPoint] = {}
_stamp: _Stamp | None = None


def installed_modules() -> dict[str, EntryPoint]:
    """Return the entry points by module id; of two with one id, the first on ``sys.path``."""
    global _cache, _stamp
    if importlib.metadata.entry_points is not _original:
        # Somebody replaced the lookup, a test most likely: believe it every time.
        return _read()
    stamp = _path_stamp()
    if stamp != _stamp:
        _cache, _stamp = _read(), stamp
    return _cache


def _read() -> dict[str, EntryPoint]:
    found: dict[str, EntryPoint] = {}
    for entry_point in importlib.metadata.entry_points(group=ENTRY_POINT_GROUP):
        found.setdefault(entry_point.name, entry_point)
    return found


def _path_stamp() -> _Stamp:
    return tuple((path, _changed_at(path)) for path in sys.path)


def _changed_at(path: str) -> int:
    try:
        return os.stat(path or ".").st_mtime_ns
    except OSError:
        return 0
