"""Places that stay read-only in a sandbox that runs, whoever replaces them from outside."""

import contextlib
import logging
import os
import subprocess
import sys
import threading
from collections.abc import Iterable
from pathlib import Path
from typing import Final

from amplifier_tui.base.commands.held import mounting
from amplifier_tui.base.commands.programs import INTERPRETER

logger = logging.getLogger(__name__)

_PATIENCE: Final = 5.0
"""Seconds it may take to end."""


class HeldPlaces:
    """Mounts anew what is replaced from outside, until `close`; only on Linux.

    Args:
        pid: The number of the process that made the sandbox.
        places: Absolute paths of what is mounted there, or is to be.
    """

    def __init__(self, pid: int, places: Iterable[Path]) -> None:
        self._pid = pid
        self._places = [*places]
        self._process: subprocess.Popen[bytes] | None = None
        self._lock = threading.Lock()
        self._closed = False

    def begin(self) -> None:
        """Start. Blocking, some hundredths of a second."""
        with self._lock:
            if self._closed or self._process is not None or sys.platform != "linux":
                return
            try:
                self._process = subprocess.Popen(
                    [INTERPRETER, "-I", "-S", mounting.__file__, str(self._pid)],
                    stdin=subprocess.PIPE,
                    stdout=subprocess.DEVNULL,
                    stderr=subprocess.DEVNULL,
                    start_new_session=True,
                )
            except OSError as error:
                logger.warning("What is replaced in a sandbox is not held: %s", error)
            else:
                self._write(self._places)

    def add(self, places: Iterable[Path]) -> None:
        """Hold more of them, once `begin` has come. Blocking, but for a moment only."""
        with self._lock:
            self._places += places
            if self._process is not None and not self._closed:
                self._write(places)

    def close(self) -> None:
        """End it. Blocking."""
        with self._lock:
            self._closed = True
            process, self._process = self._process, None
        if process is None:
            return
        assert process.stdin is not None
        with contextlib.suppress(OSError):
            process.stdin.close()
        try:
            process.wait(_PATIENCE)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()

    def _write(self, places: Iterable[Path]) -> None:
        process = self._process
        assert process is not None and process.stdin is not None
        try:
            process.stdin.write(b"".join(os.fsencode(each) + b"\0" for each in places))
            process.stdin.flush()
        except OSError:
            # The command has ended, or this system does not allow it: looks tell what is changed.
            logger.info("What is replaced in the sandbox of %s is not held", self._pid)
