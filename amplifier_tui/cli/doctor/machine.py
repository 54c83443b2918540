"""The machine: Python, system, clock, memory, speed, and the programs that are used."""

import hashlib
import os
import platform
import shutil
import subprocess
import sys
from collections.abc import Iterator, Mapping
from pathlib import Path
from time import perf_counter, strftime, time
from typing import Final

from amplifier_tui import __version__
from amplifier_tui.cli.doctor.findings import Diagnosis

_MEBIBYTE: Final = 1024 * 1024
_LEAST_MEMORY: Final = 300
"""Mebibytes that should be free."""
_SLOW: Final = 0.25
"""Seconds; the sample takes 0.02 to 0.06 on the machines of today."""
_SECONDS: Final = 5.0


def look_at_machine(now: float | None = None) -> Iterator[Diagnosis]:
    """Yield what is found out about the machine.

    Args:
        now: Unix time in seconds; None for the time it is.
    """
    yield Diagnosis(what="amplifier-tui", said=__version__)
    implementation = platform.python_implementation()
    python = f"{implementation} {platform.python_version()} in {sys.prefix}"
    yield Diagnosis(what="python", said=python)
    system = (platform.system(), platform.release(), platform.machine())
    yield Diagnosis(what="system", said=" ".join(system))
    yield _clock(time() if now is None else now)
    yield from _memory()
    yield _speed()


def look_at_programs(environ: Mapping[str, str]) -> Iterator[Diagnosis]:
    """Yield what is found out about other programs."""
    from amplifier_tui.base.commands.sandbox import sandbox_problem

    yield _program("git", "repositories can't be fetched and changes not be shown", "Install git.")
    if shutil.which("uv"):
        yield _program("uv", "", "")
    else:
        yield Diagnosis(
            what="uv", state="note", said="not there: pip installs modules, more slowly"
        )
    problem = sandbox_problem()
    yield Diagnosis(
        what="sandbox",
        state="warning" if problem else "ok",
        said=problem or "commands that nobody approved run in it",
        remedy="Without it the mode `auto` asks about every command." if problem else "",
    )
    editor = environ.get("VISUAL") or environ.get("EDITOR") or ""
    if editor.strip() and shutil.which(editor.split()[0]):
        yield Diagnosis(what="editor", said=editor)
    else:
        yield Diagnosis(
            what="editor",
            state="note",
            said=f"{editor} is not there" if editor else "EDITOR is not set",
            remedy="Set EDITOR to the editor that is to open your prompts.",
        )


def _program(name: str, lost: str, remedy: str) -> Diagnosis:
    if shutil.which(name) is None:
        return Diagnosis(what=name, state="error", said=f"not there: {lost}", remedy=remedy)
    try:
        done = subprocess.run(
            [name, "--version"],
            stdin=subprocess.DEVNULL,
            capture_output=True,
            timeout=_SECONDS,
            check=False,
        )
    except (OSError, subprocess.TimeoutExpired) as error:
        return Diagnosis(what=name, state="error", said=f"can't be run: {error}", remedy=remedy)
    return Diagnosis(what=name, said=done.stdout.decode("utf-8", "replace").strip())


def _clock(now: float) -> Diagnosis:
    # No file of the program is from the future.
    made = Path(__file__).stat().st_mtime
    if now < made - 86_400:
        return Diagnosis(
            what="clock",
            state="error",
            said="it is behind: secure connections fail",
            remedy="Set the clock, or let the system keep it.",
        )
    return Diagnosis(what="clock", said=strftime("%Y-%m-%d %H:%M %z"))


def _memory() -> Iterator[Diagnosis]:
    try:
        page = os.sysconf("SC_PAGE_SIZE")
        names = ("SC_PHYS_PAGES", "SC_AVPHYS_PAGES")
        whole, unused = (os.sysconf(name) * page // _MEBIBYTE for name in names)
    except (OSError, ValueError):
        return  # the system does not say
    free = max(unused, _reclaimable())
    short = free < _LEAST_MEMORY
    yield Diagnosis(
        what="memory",
        state="warning" if short else "ok",
        said=f"{free} of {whole} MiB free",
        remedy="End other programs: a session takes about 100 MiB." if short else "",
    )


def _reclaimable() -> int:
    """Return the mebibytes that Linux gives to whoever asks, its caches among them; else 0."""
    try:
        lines = Path("/proc/meminfo").read_text(encoding="ascii").splitlines()
    except OSError:
        return 0
    found = (line.split()[1] for line in lines if line.startswith("MemAvailable:"))
    return int(next(found, "0")) // 1024


def _speed() -> Diagnosis:
    data, began = b"\0" * 4 * _MEBIBYTE, perf_counter()
    hashlib.sha256(data).digest()
    sum(number * number for number in range(200_000))
    seconds = perf_counter() - began
    slow = seconds > _SLOW
    return Diagnosis(
        what="speed",
        state="note" if slow else "ok",
        said=f"a sample of work takes {seconds * 1000:.0f} ms on one of {os.cpu_count()} cores",
        remedy="It is busy or slow: the screen may lag behind." if slow else "",
    )
