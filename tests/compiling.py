"""The bytecode of the suite and of the program, made once where the workers would each make it."""

import compileall
import sys
from pathlib import Path

import pytest
from _pytest.assertion import rewrite

_ROOT = Path(__file__).parents[1]


def compile_a_share(config: pytest.Config) -> None:
    """Compile what this worker is to, before it and the others import all of it.

    In a new checkout five workers that start at the same time compiled the same 1 700 files, one
    after the other in the same order: half of what finding the tests took. No worker waits for the
    others: what one of them has not come to is compiled by whoever needs it.
    """
    worker: dict[str, object] = getattr(config, "workerinput", {})
    if not worker or sys.dont_write_bytecode:
        return
    number, workers = int(str(worker["workerid"])[2:]), int(str(worker["workercount"]))
    for path in _share(_ROOT / "amplifier_tui", number, workers):
        compileall.compile_file(path, quiet=2)
    for path in _share(_ROOT / "tests", number, workers):
        if path.name.startswith(("test_", "conftest")) or not {"bench", "fixtures"} & {*path.parts}:
            _rewrite(path, config)


def _share(folder: Path, number: int, workers: int) -> list[Path]:
    # The largest first and in turn, so that the shares take equally long.
    files = sorted(folder.rglob("*.py"), key=lambda path: (-path.stat().st_size, path))
    return files[number::workers]


def _rewrite(path: Path, config: pytest.Config) -> None:
    """Keep the file's code with its assertions rewritten, as pytest does at its import."""
    state = config.stash[rewrite.assertstate_key]
    cache = rewrite.get_cache_dir(path)
    kept = cache / f"{path.stem}{rewrite.PYC_TAIL}"
    if rewrite._read_pyc(path, kept, state.trace) is None and rewrite.try_makedirs(cache):
        source, code = rewrite._rewrite_test(path, config)
        rewrite._write_pyc(state, code, source, kept)
