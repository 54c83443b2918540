"""`python -m amplifier_tui.compat`: run something with `amplifier_core` being ours.

What follows is what would follow `python`: `script.py`, `-m module`, `-c text` or `-` for standard
input, and its arguments. With `--trust` before that, sources are fetched, installed and run
unasked.
"""

import sys

from amplifier_tui import compat
from amplifier_tui.compat import running
from amplifier_tui.compat.trusting import answer_trust

USAGE = (
    "usage: python -m amplifier_tui.compat [--trust] "
    "(SCRIPT | -m MODULE | -c TEXT | -) [ARGUMENT ...]"
)


def main(arguments: list[str]) -> int:
    """Run a program in this process; return the exit status when that can't be done."""
    trusting = arguments[:1] == ["--trust"]
    arguments = arguments[trusting:]
    if not arguments:
        return _refused(USAGE, 2)
    compat.install()
    answer_trust(arguments, everything=trusting)
    if trusting:
        sys.stderr.write("--trust: everything that is fetched counts in this run.\n")
    try:
        match arguments:
            case ["-m", name, *rest]:
                running.run_module(name, rest)
            case ["-c", text, *rest]:
                running.run_text(text, "<string>", rest)
            case ["-", *rest]:
                running.run_text(sys.stdin.buffer.read(), "<stdin>", rest)
            case [script, *rest] if not script.startswith("-"):
                running.run_script(script, rest)
            case _:
                return _refused(USAGE, 2)
    except running.CannotRunError as error:
        return _refused(str(error), error.status)
    return 0


def _refused(message: str, status: int) -> int:
    sys.stderr.write(f"{message}\n")
    return status


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
