"""Places that stay read-only in a sandbox that runs, whoever replaces them from outside."""

import contextlib
import logging
import os
import subprocess
import sys
import threading
from collections.abc import Sequence
from pathlib import Path

from amplifier_tui.base.commands.held import changes, mounting
from amplifier_tui.base.commands.programs import INTERPRETER

logger = logging.getLogger(__name__)


class HeldPlaces:
    """Mounts anew what is replaced from outside, from `begin` until `close`; only on Linux.

    Attributes:
        is_told: Whether the kernel says what is replaced; else it is found a moment later.
    """

    def __init__(self) -> None:
        self.is_told = True
        self._begun = self._closed = False
        self._waiting: list[str] = []
        self._process: subprocess.Popen[bytes] | None = None
        self._lock = threading.Lock()

    def add(self, places: Sequence[Path]) -> None:
        """Hold places, absolute ones, that are mounted there or are to be.

        Blocking, but for a moment only.
        """
        with self._lock:
            self._waiting += map(str, places)
            if places and self._process is None and not self._closed and sys.platform == "linux":
                # Before the sandbox, which would run ahead of it.
                self._start()
            self._write()

    def begin(self, pid: int) -> None:
        """Hold them in the sandbox that a process makes, the first of its group. Blocking."""
        with self._lock:
            self._waiting.insert(0, str(pid))
            self._begun = True
            self._write()

    def close(self) -> None:
        """End it. Blocking, but for a moment only."""
        with self._lock:
            self._closed = True
            process, self._process = self._process, None
        if process is not None:
            process.kill()
            assert process.stdin is not None
            with contextlib.suppress(OSError):
                process.stdin.close()
            process.wait()

    def __del__(self) -> None:
        """Leave nothing running: a command may be stopped before it begins."""
        self.close()

    def _start(self) -> None:
        told = changes.inotify()
        self.is_told = told != changes.NONE_LEFT
        try:
            self._process = subprocess.Popen(
                [INTERPRETER, "-I", "-S", mounting.__file__, str(told)],
                stdin=subprocess.PIPE,
                stdout=subprocess.DEVNULL,
                stderr=subprocess.DEVNULL,
                start_new_session=True,
                pass_fds=[told] if self.is_told else [],
            )
        except OSError as error:
            logger.warning("What is replaced in a sandbox is not held: %s", error)
        finally:
            if self.is_told:
                os.close(told)

    def _write(self) -> None:
        if self._process is None or not self._begun:
            return
        assert self._process.stdin is not None
        waiting, self._waiting = self._waiting, []
        try:
            self._process.stdin.write(b"".join(os.fsencode(each) + b"\0" for each in waiting))
            self._process.stdin.flush()
        except OSError:
            # The command has ended, or this system does not allow it: looks tell what is changed.
            logger.info("What is replaced in a sandbox is not held")
