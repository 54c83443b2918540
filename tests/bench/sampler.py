"""A sampling profiler of all threads of a process, which explains a goal that was missed.

A thread looks at every other thread once a millisecond and books the processor time it has used
since then on the line it is at. What a thread used before it went to wait cannot be told apart
any more and is booked on "before a wait". It costs some per cent and changes nothing in the order
of things, which `cProfile` does. Linux only, where a thread's clock can be read from another one.
"""

import json
import os
import sys
import threading
import time
from collections import deque
from pathlib import Path
from types import FrameType

VARIABLE = "BENCH_PROFILE"
"""Names the folder for what is found; not set when nothing is to be profiled."""
INTERVAL = 0.001
DUMP_EVERY = 1.0
"""Seconds; the programs in ptys are killed, so they cannot write at their end."""
WORTH = 100_000
"""Nanoseconds a thread must have used to be looked at."""
DEEP = 200
BEFORE_A_WAIT = "(before a wait)"
STALLS = 3
"""How many of the longest stalls are kept."""
_WAITS = ("select", "wait", "_wait_for_tstate_lock", "poll", "_worker", "get")
_WAITING_FILES = ("selectors.py", "threading.py", "queue.py", "concurrent/futures/thread.py")

Spot = tuple[str, str]
"""Where a thread is, and the innermost line of our own that led there."""


class Sampler:
    """Samples this process until it ends.

    Args:
        label: What the process is, in the report.
        folder: Where to write what is found.
    """

    def __init__(self, label: str, folder: Path) -> None:
        self._label = label
        self._path = folder / f"{os.getpid()}.json"
        self._spots: dict[Spot, int] = {}
        self._below: dict[str, int] = {}
        self._clocks: dict[int, int] = {}
        self._recent: deque[tuple[float, int, Spot]] = deque(maxlen=20_000)
        self._stalls: list[tuple[float, float, list[tuple[float, str]]]] = []
        self._lock = threading.Lock()
        self._ended = threading.Event()
        self._thread = threading.Thread(target=self._run, name="bench-sampler", daemon=True)

    def start(self) -> None:
        """Begin."""
        # A busy thread hands the interpreter over only when it is asked to, after this time.
        sys.setswitchinterval(INTERVAL / 4)
        # What the interpreter needed to get here is nobody's.
        self._clocks[threading.get_native_id()] = time.thread_time_ns()
        self._thread.start()

    def finish(self) -> None:
        """End, and write what was found."""
        self._ended.set()
        self._thread.join()

    def stalled(self, began: float, milliseconds: float) -> None:
        """Keep what ran during a stall, if it is one of the longest.

        Args:
            began: `perf_counter` when the loop should have had its turn.
            milliseconds: How long it had to wait.
        """
        with self._lock:
            if len(self._stalls) == STALLS and milliseconds <= self._stalls[-1][0]:
                return
            used: dict[str, float] = {}
            for at, nanoseconds, (line, own) in self._recent:
                # The sample at the end of an interval speaks for the time before it.
                if at >= began - INTERVAL:
                    where = f"{line}  ← {own}" if own and own != line else line
                    used[where] = used.get(where, 0.0) + nanoseconds / 1e6
            lines = sorted(((ms, line) for line, ms in used.items()), reverse=True)[:5]
            self._stalls.append((milliseconds, sum(used.values()), lines))
            self._stalls = sorted(self._stalls, reverse=True)[:STALLS]

    # --- the thread ------------------------------------------------------------------------

    def _run(self) -> None:
        written = time.monotonic()
        while not self._ended.wait(INTERVAL):
            self._look()
            if time.monotonic() - written > DUMP_EVERY:
                self._write()
                written = time.monotonic()
        self._write()

    def _look(self) -> None:
        now = time.perf_counter()
        own = threading.get_ident()
        threads = {thread.ident: thread.native_id for thread in threading.enumerate()}
        for ident, frame in sys._current_frames().items():
            native = threads.get(ident)
            if native is None or ident == own:
                continue
            try:
                # The kernel's number of the clock of one thread.
                clock = time.clock_gettime_ns((~native << 3) | 6)
            except OSError:
                continue  # it has just ended
            used = clock - self._clocks.get(native, 0)
            if used < WORTH:
                continue
            self._clocks[native] = clock
            self._book(frame, used, now)

    def _book(self, frame: FrameType, used: int, now: float) -> None:
        code = frame.f_code
        waits = code.co_name in _WAITS and code.co_filename.endswith(_WAITING_FILES)
        line = BEFORE_A_WAIT if waits else _line(frame)
        own, seen = "", set()
        at: FrameType | None = frame
        for _ in range(DEEP):
            if at is None:
                break
            if _is_ours(at.f_code.co_filename):
                where = _line(at)
                own = own or where
                if where not in seen and not waits:
                    seen.add(where)
                    self._below[where] = self._below.get(where, 0) + used
            at = at.f_back
        spot = (line, "" if waits else own)
        self._spots[spot] = self._spots.get(spot, 0) + used
        with self._lock:
            self._recent.append((now, used, spot))

    def _write(self) -> None:
        with self._lock:
            stalls = list(self._stalls)
        found = {
            "label": self._label,
            "spots": [[line, own, used] for (line, own), used in self._spots.items()],
            "below": list(self._below.items()),
            "stalls": stalls,
        }
        part = self._path.with_suffix(".part")
        part.write_text(json.dumps(found))
        part.replace(self._path)


_current: Sampler | None = None


def start_if_asked(label: str) -> None:
    """Sample this process when the environment says so.

    Args:
        label: What the process is, in the report.
    """
    global _current
    folder = os.environ.get(VARIABLE)
    if folder:
        _current = Sampler(label, Path(folder))
        _current.start()


def finish() -> None:
    """Write what was found, if this process was sampled."""
    if _current is not None:
        _current.finish()


def stalled(began: float, milliseconds: float) -> None:
    """Tell the sampler of a stall, if there is one; see `Sampler.stalled`."""
    if _current is not None:
        _current.stalled(began, milliseconds)


def command(module: str) -> list[str]:
    """Return how to run a module with `python`: under the sampler when the environment says so."""
    wrapper = ["-m", "tests.bench.sampled"] if VARIABLE in os.environ else ["-m"]
    return [*wrapper, module]


def variables() -> dict[str, str]:
    """Return what a sampled process needs in its environment."""
    return {name: value for name, value in os.environ.items() if name.startswith(VARIABLE)}


def _is_ours(path: str) -> bool:
    return "/amplifier_tui/" in path


def short_path(path: str) -> str:
    """Return where a source file is within what it belongs to."""
    if "/site-packages/" in path:
        return path.rpartition("/site-packages/")[2]
    if "/lib/python3." in path:
        return path.rpartition("/lib/python3.")[2].partition("/")[2]
    for mark in ("/amplifier_tui/", "/tests/"):
        if mark in path:
            return mark[1:] + path.partition(mark)[2]
    return path


def _line(frame: FrameType) -> str:
    # A frame that has not begun has no line yet.
    line = frame.f_lineno or frame.f_code.co_firstlineno
    return f"{short_path(frame.f_code.co_filename)}:{line} {frame.f_code.co_name}"
