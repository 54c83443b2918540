"""Runs another module under the sampler: `python -m tests.bench.sampled MODULE [ARGUMENT …]`."""

import runpy
import sys

from tests.bench import held_memory, sampler


def main() -> None:
    """Become the module."""
    module = sys.argv[1]
    # The arguments of the sampled program are its own.
    del sys.argv[0]
    # Sampling a program that traces its allocations would show the tracing.
    if not held_memory.obey_if_asked():
        sampler.start_if_asked(f"python -m {module}")
    try:
        runpy.run_module(module, run_name="__main__", alter_sys=True)
    finally:
        sampler.finish()


if __name__ == "__main__":
    main()
