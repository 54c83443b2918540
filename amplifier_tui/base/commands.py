"""Command lines of the user's own settings, such as `$EDITOR`.

What a model wants to run is read by `base.shell`, which knows what a shell would do with it.
"""

import shlex


def command_words(line: str) -> list[str]:
    """Return a command line's words, without quotes and backslashes.

    Raises:
        ValueError: A quote is not closed.
    """
    return shlex.split(line)
