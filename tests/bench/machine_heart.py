"""How late a process that does nothing gets round to a timer: what the machine itself costs."""

import atexit
import select
import subprocess
import sys
import time
from typing import ClassVar

BEAT = 0.005


class MachineHeart:
    """Beats in a process of its own, at rest until it is asked to."""

    _one: ClassVar["MachineHeart | None"] = None

    def __init__(self) -> None:
        self._process = subprocess.Popen(
            [sys.executable, "-S", __file__],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
            bufsize=1,
        )
        atexit.register(self._process.kill)

    @classmethod
    def shared(cls) -> "MachineHeart":
        """Return the only one of this process."""
        if cls._one is None:
            cls._one = cls()
        return cls._one

    def begin(self) -> None:
        """Begin to watch."""
        self._send("begin")

    def end(self) -> float:
        """Return the longest stall since `begin`, in milliseconds."""
        self._send("end")
        if self._process.stdout is None:
            return 0.0
        return float(self._process.stdout.readline() or 0.0)

    def _send(self, word: str) -> None:
        if self._process.stdin is not None:
            self._process.stdin.write(f"{word}\n")
            self._process.stdin.flush()


def beat() -> None:
    """Be the process: obey stdin until it is closed."""
    worst, running = 0.0, False
    while True:
        due = time.perf_counter() + BEAT
        asked, _, _ = select.select([0], [], [], BEAT if running else None)
        if running:
            worst = max(worst, time.perf_counter() - due)
        if asked:
            word = sys.stdin.readline()
            if not word:
                return
            running = word == "begin\n"
            if running:
                worst = 0.0
            else:
                print(max(0.0, worst * 1000), flush=True)


if __name__ == "__main__":
    beat()
