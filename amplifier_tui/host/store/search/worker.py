"""The indexing process: says in lines of JSON on its output how far it is, and what went wrong."""

import json
import os
import sqlite3
import sys

from amplifier_tui.host.store.search.indexing import update_index


def main() -> None:
    """Index what is new; the argument `anew` throws away what is there."""
    if hasattr(os, "nice"):
        os.nice(10)

    def report(part: str, done: int, changed: int) -> None:
        # It ends here once the window that wants to know is gone.
        _say(part=part, done=done, changed=changed)

    try:
        update_index(report, anew="anew" in sys.argv)
    except BrokenPipeError:
        sys.exit(0)
    except (OSError, sqlite3.Error) as error:
        _say(problem=str(error))


def _say(**said: int | str) -> None:
    sys.stdout.write(json.dumps(said) + "\n")
    sys.stdout.flush()
