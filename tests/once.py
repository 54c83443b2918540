"""What is made once a run, by whichever worker needs it first."""

import fcntl
import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest


@contextmanager
def once_a_run(factory: pytest.TempPathFactory, name: str) -> Iterator[tuple[Path, bool]]:
    """Yield a folder that the workers share, and whether it is still to be filled."""
    base = factory.getbasetemp()
    shared = base.parent if "PYTEST_XDIST_WORKER" in os.environ else base
    with (shared / f"{name}.lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        folder, done = shared / name, shared / f"{name}.done"
        folder.mkdir(exist_ok=True)
        yield folder, not done.exists()
        done.touch()
