"""The program: `amplifier-tui`, or `python -m amplifier_tui`."""

import gc

# Before every other import: collecting while modules load costs a fifth of the start.
gc.disable()

import os  # noqa: E402
import sys  # noqa: E402

# `python -m` looks for every module in the current folder first: it may be anybody's.
try:
    _here = os.getcwd()
except OSError:
    sys.exit("The working directory is no longer there. Change into another one.")
if sys.path and sys.path[0] in ("", _here) and not sys.flags.safe_path:
    del sys.path[0]


def main() -> int:
    """Start the screen, or run the command that was asked for.

    Returns:
        The exit status.
    """
    from amplifier_tui.cli.launch import launch, parse_launch

    # The usual start goes without click; everything unusual, errors included, goes with it.
    completing = "_AMPLIFIER_TUI_COMPLETE" in os.environ
    options = None if completing else parse_launch(sys.argv[1:])
    if options is not None:
        return launch(options)
    gc.enable()
    from amplifier_tui.cli.group import run

    return run(sys.argv[1:])


if __name__ == "__main__":
    sys.exit(main())
