"""A real program in a pty of its own: what it writes, what it is sent, how it ends."""

import errno
import fcntl
import os
import pty
import re
import select
import signal
import struct
import subprocess
import termios
import time
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Self

_QUERY = re.compile(rb"\x1b\[\?(?:2026|2031|2048)\$p|\x1b\]11;\?\x07")
_ANSWERS = {b"\x1b[?2026$p": b"\x1b[?2026;2$y", b"\x1b[?2048$p": b"\x1b[?2048;0$y"}
"""A terminal that knows synchronised output and no in-band resizing."""
_KITTY = re.compile(rb"\x1b\[>\d+u")
_MODE = re.compile(rb"\x1b\[\?([\d;]+)([hl])")
MODES_AT_REST: Mapping[int, tuple[bool, str]] = {
    1049: (False, "the alternate screen"),
    25: (True, "the cursor"),
    7: (True, "line wrap"),
    1000: (False, "mouse clicks"),
    1002: (False, "mouse drags"),
    1003: (False, "mouse movement"),
    1004: (False, "focus events"),
    1006: (False, "SGR mouse"),
    1015: (False, "urxvt mouse"),
    1016: (False, "pixel mouse"),
    2004: (False, "bracketed paste"),
    2026: (False, "synchronised output"),
    2031: (False, "reports of other colours"),
    2048: (False, "in-band resizing"),
}


class PtyProcess:
    """Runs a program in a pty; use it with `with`.

    Args:
        argv: The command.
        env: Its whole environment.
        cwd: Its working directory.
        columns: Width in cells.
        rows: Height in cells.
    """

    def __init__(
        self,
        argv: Sequence[str],
        *,
        env: Mapping[str, str],
        cwd: Path,
        columns: int = 80,
        rows: int = 24,
    ) -> None:
        self.columns, self.rows = columns, rows
        self.raw = bytearray()
        """Everything the program has written."""
        self.answers = dict(_ANSWERS)
        """What is answered to which question."""
        self.sent: list[bytes] = []
        """Everything it was sent."""
        self.status: int | None = None
        """How it ended; negative after a signal."""
        self.ended = False
        """The program has closed its side."""
        self._seen = 0
        self._master, slave = pty.openpty()
        self._size()
        self._line_before = termios.tcgetattr(slave)
        self._process = subprocess.Popen(
            argv,
            stdin=slave,
            stdout=slave,
            stderr=slave,
            env=dict(env),
            cwd=cwd,
            start_new_session=True,
            preexec_fn=_take_terminal,
        )
        os.close(slave)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *exc: object) -> None:
        self.close()

    @property
    def pid(self) -> int:
        """The program's process id."""
        return self._process.pid

    # --- talking ---------------------------------------------------------------------------

    def read(self, patience: float) -> bytes:
        """Return what the program has written; wait for it at most `patience` seconds."""
        ready, _, _ = select.select([self._master], [], [], patience)
        if not ready:
            return b""
        try:
            data = os.read(self._master, 65536)
        except OSError as error:
            if error.errno != errno.EIO:  # nobody holds the other side any more
                raise
            data = b""
        if not data:
            self.ended = True
            return b""
        self.raw += data
        self._answer()
        self.took(data)
        return data

    def took(self, data: bytes) -> None:
        """Called with everything that was read, in order."""

    def watch(self, seconds: float) -> None:
        """Read for some seconds, whatever comes."""
        until = time.monotonic() + seconds
        while (left := until - time.monotonic()) > 0 and not self.ended:
            self.read(left)

    def write(self, data: bytes) -> None:
        """Send the program input."""
        self.sent.append(data)
        view = memoryview(data)
        while view:
            # A program that is busy writing does not read: take what it has meanwhile.
            _, ready, _ = select.select([], [self._master], [], 0.05)
            if ready:
                view = view[os.write(self._master, view[:1024]) :]
            else:
                self.read(0)

    def resize(self, columns: int, rows: int) -> None:
        """Give the window another size."""
        self.columns, self.rows = columns, rows
        self._size()

    def signal(self, number: signal.Signals) -> None:
        """Send the program a signal."""
        os.kill(self.pid, number)

    # --- the end ---------------------------------------------------------------------------

    def close(self) -> None:
        """End the program if it still runs, and release the pty."""
        if self._process.poll() is None:
            os.killpg(self.pid, signal.SIGKILL)
        self.status = self._process.wait()
        self.hang_up()
        self.ended = True

    def hang_up(self) -> None:
        """Take the terminal away."""
        if self._master >= 0:
            os.close(self._master)
            self._master = -1

    def reap(self, patience: float) -> int:
        """Return the exit status.

        Raises:
            subprocess.TimeoutExpired: The program goes on.
        """
        self.status = self._process.wait(patience)
        return self.status

    def modes(self) -> dict[int, bool]:
        """Return the DEC private modes the program has set or reset, as they are now."""
        found: dict[int, bool] = {}
        for match in _MODE.finditer(self.raw):
            for number in match[1].split(b";"):
                found[int(number)] = match[2] == b"h"
        return found

    def left_behind(self) -> list[str]:
        """Return what of the terminal is not as it was before the program."""
        modes = self.modes()
        wrong = [
            f"{what} {'off' if wanted else 'on'}"
            for number, (wanted, what) in MODES_AT_REST.items()
            if modes.get(number, wanted) is not wanted
        ]
        if len(_KITTY.findall(self.raw)) > self.raw.count(b"\x1b[<u"):
            wrong.append("the kitty keyboard protocol on")
        if self._master >= 0 and termios.tcgetattr(self._master)[:4] != self._line_before[:4]:
            wrong.append("echo or line editing not as before")
        return wrong

    # --- helpers ---------------------------------------------------------------------------

    def _answer(self) -> None:
        """Answer what a terminal is asked."""
        asked = [(match.end(), bytes(match[0])) for match in _QUERY.finditer(self.raw, self._seen)]
        self._seen = max(asked[-1][0] if asked else self._seen, len(self.raw) - 8)
        for _, question in asked:
            if question in self.answers:
                self.write(self.answers[question])

    def _size(self) -> None:
        packed = struct.pack("HHHH", self.rows, self.columns, 0, 0)
        fcntl.ioctl(self._master, termios.TIOCSWINSZ, packed)


def _take_terminal() -> None:
    """Make the pty the controlling terminal, so that resizing it sends SIGWINCH."""
    fcntl.ioctl(0, termios.TIOCSCTTY, 0)
