"""What every test gets: a home of its own, no keys, no animations."""

import gc
import logging
import os
import signal
import sys
from collections.abc import Generator, Iterator
from contextlib import suppress
from pathlib import Path

# Read once at Textual's import, so they must be set before it.
os.environ.setdefault("TEXTUAL_ANIMATIONS", "none")

import pytest
from hypothesis import settings

from amplifier_tui.base import homes
from amplifier_tui.base.commands import programs
from tests.compiling import compile_a_share
from tests.homes import home_variables

# Compiled once, not by each worker and in each program that a test starts.
sys.dont_write_bytecode = False
os.environ.pop("PYTHONDONTWRITEBYTECODE", None)

# A shell that runs the suite in the background has ctrl+c ignored, and so would every program that
# a test starts.
if signal.getsignal(signal.SIGINT) == signal.SIG_IGN:
    signal.signal(signal.SIGINT, signal.default_int_handler)

# How long an example takes says nothing on a machine that does something else as well. Most of them
# are drawn in the benchmark (`tests.bench.properties`), where a property has time for them.
settings.register_profile("suite", deadline=None, max_examples=20)
settings.register_profile("deep", deadline=None, max_examples=1_000)
settings.load_profile("suite")

_KEYS = ("ANTHROPIC_API_KEY", "OPENAI_API_KEY", "ANTHROPIC_BASE_URL", "OPENAI_BASE_URL")
_PLUGINS = ("hypothesispytest", "anyio", "xdist", "xdist.looponfail")


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_auto_num_workers() -> int:
    """Three more than there are cores: many tests wait for a program in a terminal.

    With two more the suite took 8:30 in place of 7:00, though each worker costs a collection.
    """
    return (os.cpu_count() or 1) + 3


def pytest_configure(config: pytest.Config) -> None:
    compile_a_share(config)


@pytest.hookimpl(wrapper=True)
def pytest_collection() -> Generator[None, object, object]:
    """Leave the garbage collector out while tests are found: it took a third of the time."""
    gc.disable()
    try:
        return (yield)
    finally:
        gc.freeze()
        # With the usual thresholds a twentieth of the time went into looking at imported modules.
        gc.set_threshold(10_000, 10, 100)
        gc.enable()


_unused_homes: list[Path] = []
"""Folders that the tests before left as empty as they were."""


@pytest.fixture(autouse=True)
def own_home(
    tmp_path_factory: pytest.TempPathFactory, monkeypatch: pytest.MonkeyPatch
) -> Iterator[Path]:
    home = _unused_homes.pop() if _unused_homes else tmp_path_factory.mktemp("home")
    for name, folder in home_variables(home).items():
        monkeypatch.setenv(name, folder)
    # Each test is a program of its own, which keeps its homes.
    monkeypatch.setattr(homes, "_kept", None)
    # Nor does it know the projects of those before: each call of git looked through thousands.
    monkeypatch.setattr(programs, "_projects", set())
    # A pytest that a test runs would spend most of its time importing plugins it has no use for.
    monkeypatch.setenv("PYTEST_ADDOPTS", " ".join(f"-p no:{name}" for name in _PLUGINS))
    for name in _KEYS:
        monkeypatch.delenv(name, raising=False)
    # Every colour, as in most terminals: whoever is to do without says so.
    monkeypatch.setenv("COLORTERM", "truecolor")
    monkeypatch.setenv("TERM", "xterm-256color")
    for name in ("NO_COLOR", "SSH_CONNECTION", "TMUX", "AMPLIFIER_MODULES"):
        monkeypatch.delenv(name, raising=False)
    yield home
    with suppress(OSError):  # Making and removing one for each test took a tenth of the time.
        if not os.listdir(home):
            _unused_homes.append(home)


@pytest.fixture(autouse=True)
def own_logging() -> Iterator[None]:
    root, ours = logging.getLogger(), logging.getLogger("amplifier_tui")
    handlers, levels = list(root.handlers), (root.level, ours.level)
    yield
    for handler in set(root.handlers) - set(handlers):
        root.removeHandler(handler)
        handler.close()
    root.setLevel(levels[0])
    ours.setLevel(levels[1])
