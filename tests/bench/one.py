"""Runs one file, for the table: `python -m tests.bench.one NAME [--quick]`.

The rows go to stdout, one JSON object per line; whatever else is printed goes to stderr.
"""

import os
import signal
import sys

from tests.bench import sampler
from tests.bench.catalog import bench


def main() -> int:
    """Measure, and write the rows."""
    name, *options = sys.argv[1:]
    # As an exception, so that the programs it has started are ended.
    signal.signal(signal.SIGTERM, lambda *_: sys.exit("It was ended."))
    with os.fdopen(os.dup(1), "w") as rows:
        os.dup2(2, 1)
        sampler.start_if_asked("the benchmark's own process")
        for row in bench(name).load()("--quick" in options):
            print(row.as_json(), file=rows)
    sampler.finish()
    return 0


if __name__ == "__main__":
    sys.exit(main())
