"""Which lines allocated the memory a program has come to hold: the profile of a goal in MiB.

The program traces its allocations from the moment the benchmark tells it to, and says in the end
what it holds more of than half way: by then caches hold little that was not traced. Files in the
profile's folder carry question and answer, since a program in a pty has no other way. Tracing
makes it slower by a factor of ten or more.
"""

import json
import os
import threading
import time
import tracemalloc
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

from tests.bench import sampler

VARIABLE = f"{sampler.VARIABLE}_MEMORY"
"""Set for programs that are to be traced; begins as the sampler's, so it is handed on."""
FRAMES = 4
PATIENCE = 120.0
LOOK_EVERY = 0.2
LINES = 15
_OURS = "/amplifier_tui/"

Held = dict[str, tuple[int, int]]
"""Bytes and number of objects, by who allocated them."""


# --- in the benchmark --------------------------------------------------------------------------


def wanted() -> bool:
    """Return whether this benchmark is profiled; its programs are told to be ready for that."""
    if sampler.VARIABLE in os.environ:
        os.environ[VARIABLE] = "1"
        return True
    return False


def begin(pid: int, meanwhile: Callable[[], None]) -> None:
    """Have a program trace what it allocates from now on; arguments as of `end`."""
    _ask(pid, "begin", meanwhile)


def mark(pid: int, meanwhile: Callable[[], None]) -> None:
    """Have a program remember what it holds now; arguments as of `end`."""
    _ask(pid, "mark", meanwhile)


def end(pid: int, meanwhile: Callable[[], None]) -> None:
    """Have a program write what it holds more of than at `mark`.

    Args:
        pid: The program.
        meanwhile: Called until it has done so, again and again.

    Raises:
        TimeoutError: It does not answer.
    """
    _ask(pid, "end", meanwhile)


def report(folder: Path) -> str:
    """Return what was written, in words; empty for nothing."""
    found: list[str] = []
    for path in sorted(folder.glob("*.held")):
        held = json.loads(path.read_text())
        found.append(f"{held['all'] / 2**20:.1f} MiB more of Python objects, and who made them\n")
        found += [
            f"  {size / 2**20:6.2f} MiB  {count:9,}  {where}"
            for size, count, where in held["lines"]
        ]
    return "\n".join(found)


def _ask(pid: int, word: str, meanwhile: Callable[[], None]) -> None:
    question = Path(os.environ[sampler.VARIABLE]) / f"{pid}.{word}"
    question.touch()
    give_up = time.monotonic() + PATIENCE
    # It is taken away when all is done.
    while question.exists():
        if time.monotonic() > give_up:
            raise TimeoutError(f"the traced program does not answer to {word!r}")
        meanwhile()


# --- in the program ----------------------------------------------------------------------------


def obey_if_asked() -> bool:
    """Return whether the environment wants this process traced, and wait for the word to begin."""
    if VARIABLE not in os.environ:
        return False
    threading.Thread(target=_obey, name="bench-held-memory", daemon=True).start()
    return True


def _obey() -> None:
    path = Path(os.environ[sampler.VARIABLE]) / str(os.getpid())
    with _asked(path.with_suffix(".begin")):
        tracemalloc.start(FRAMES)
    with _asked(path.with_suffix(".mark")):
        before = _held()
    with _asked(path.with_suffix(".end")):
        path.with_suffix(".held").write_text(_growth(before, _held()))


@contextmanager
def _asked(question: Path) -> Iterator[None]:
    """Wait for a question, and take it away when all is done."""
    while not question.exists():
        time.sleep(LOOK_EVERY)
    yield
    question.unlink()


def _held() -> Held:
    held: Held = {}
    for statistic in tracemalloc.take_snapshot().statistics("traceback"):
        where = _where(statistic.traceback)
        size, count = held.get(where, (0, 0))
        held[where] = (size + statistic.size, count + statistic.count)
    return held


def _growth(before: Held, after: Held) -> str:
    rows = []
    for where, (size, count) in after.items():
        size_before, count_before = before.get(where, (0, 0))
        rows.append((size - size_before, count - count_before, where))
    rows.sort(reverse=True)
    return json.dumps({"all": sum(size for size, _, _ in rows), "lines": rows[:LINES]})


def _where(traceback: tracemalloc.Traceback) -> str:
    """Return the line that allocated, and the innermost one of ours that led there."""
    frames = list(reversed(traceback))
    leaf = f"{sampler.short_path(frames[0].filename)}:{frames[0].lineno}"
    for frame in frames:
        if _OURS in frame.filename:
            own = f"{sampler.short_path(frame.filename)}:{frame.lineno}"
            return leaf if own == leaf else f"{leaf}  ← {own}"
    return leaf
