"""Runs a file in a process of its own, so that no benchmark disturbs the next."""

import os
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Callable
from pathlib import Path

from tests.bench import held_memory, sampler
from tests.bench.catalog import Bench
from tests.bench.hot_lines import report
from tests.bench.table import Row, Section
from tests.homes import home_variables

ROOT = Path(__file__).parents[2]
PATIENCE = 1800.0
"""Seconds a file may take."""
GRACE = 10.0
"""Seconds it gets to end the programs it has started."""
TAIL = 12
"""Lines of its last words that are kept when it fails."""


def run(bench: Bench, *, quick: bool, say: Callable[[str], None] = lambda _: None) -> Section:
    """Run a file and return what it found; a failure is part of that.

    Args:
        bench: The file.
        quick: Measure less.
        say: Gets what the file writes to stderr, line by line, as it comes.
    """
    with tempfile.TemporaryDirectory(prefix="bench-home-") as folder:
        return _run(bench, quick, say, _own_home(Path(folder)))


def profile(
    bench: Bench, *, quick: bool, say: Callable[[str], None] = lambda _: None
) -> tuple[str, str]:
    """Run a file under the sampler.

    Returns:
        Where its processes spent their time, in words, and what went wrong, empty for nothing.
    """
    with tempfile.TemporaryDirectory(prefix="bench-profile-") as folder:
        env = _own_home(Path(folder) / "home") | {sampler.VARIABLE: folder}
        section = _run(bench, quick, say, env)
        # A program is either traced or sampled.
        found = held_memory.report(Path(folder)) or report(Path(folder))
        return found, section.problem


def _own_home(home: Path) -> dict[str, str]:
    """Return variables with which nothing is read or written that is the user's own."""
    home.mkdir(exist_ok=True)
    env = home_variables(home)
    # What was downloaded for other benchmarks stays, and so do the settings of pip.
    real = Path.home()
    env["XDG_CACHE_HOME"] = os.environ.get("XDG_CACHE_HOME") or str(real / ".cache")
    settings = Path(os.environ.get("XDG_CONFIG_HOME") or real / ".config") / "pip" / "pip.conf"
    return {"PIP_CONFIG_FILE": str(settings), **env} if settings.exists() else env


def _run(bench: Bench, quick: bool, say: Callable[[str], None], env: dict[str, str]) -> Section:
    command = [sys.executable, "-m", "tests.bench.one", bench.name, *(["--quick"] * quick)]
    began = time.perf_counter()
    words: list[str] = []
    expired = threading.Event()

    def expire() -> None:
        expired.set()
        _end(process)

    def listen() -> None:
        for line in process.stderr or ():
            words.append(line.rstrip())
            say(words[-1])

    with subprocess.Popen(
        command,
        cwd=ROOT,
        env={**os.environ, **env},
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    ) as process:
        listener = threading.Thread(target=listen, daemon=True)
        listener.start()
        patience = threading.Timer(PATIENCE, expire)
        patience.start()
        try:
            rows = [Row.from_json(line) for line in process.stdout or ()]
            status = process.wait()
        finally:
            patience.cancel()
            if process.poll() is None:
                _end(process)
        listener.join(5)
    problem = ""
    if expired.is_set():
        problem = f"It took more than {PATIENCE:.0f} s and was ended."
    elif status:
        problem = "\n".join(words[-TAIL:]) or f"It ended with status {status}, without a word."
    elif not rows:
        problem = "It measured nothing."
    return Section(
        name=bench.name,
        title=bench.title,
        rows=tuple(rows),
        problem=problem,
        seconds=time.perf_counter() - began,
    )


def _end(process: subprocess.Popen[str]) -> None:
    # Not killed at once: it ends the programs it has started.
    process.terminate()
    try:
        process.wait(GRACE)
    except subprocess.TimeoutExpired:
        process.kill()
