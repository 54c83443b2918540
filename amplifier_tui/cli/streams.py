"""The standard streams of a command that reads and writes them, and may have been given none."""

import os
import sys

import click


def open_missing() -> None:
    """Put an empty input, and an error output that goes nowhere, where there is none.

    Else the next file that is opened would take their place.

    Raises:
        UsageError: There is no standard output.
    """
    if sys.stdin is None:
        _open(0, os.O_RDONLY)
        sys.stdin = os.fdopen(0, encoding="utf-8", closefd=False)
    if sys.stdout is None:
        raise click.UsageError("standard output has to be open")
    if sys.stderr is None:
        _open(2, os.O_WRONLY)
        stream = os.fdopen(2, "w", encoding="utf-8", closefd=False)
        vars(sys).update(stderr=stream, __stderr__=stream)


def _open(number: int, flags: int) -> None:
    opened = os.open(os.devnull, flags)
    if opened != number:
        os.dup2(opened, number)
        os.close(opened)
