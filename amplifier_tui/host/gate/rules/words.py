"""Which commands a rule speaks of, in words: what a `*` covers, and what it does not.

A `*` covers further operands, the options that stand in the rule, and of a program that is known to
only read those that do so, too. Where the words leave open what is run, it covers nothing.
"""

from collections.abc import Sequence
from functools import lru_cache
from typing import Final

from amplifier_tui.base.shell import SHELLS, is_open, only_reading_program, read_shell_line
from amplifier_tui.base.shell.runners import runner_length
from amplifier_tui.host.gate.modes import Verdict

RUNS_ANYTHING: Final = (
    SHELLS
    | {"eval", "source", ".", "xargs", "env", "ssh", "script", "tmux", "screen", "runuser"}
    | {"setpriv", "nsenter", "perf", "valgrind", "lldb", "entr", "nodemon", "asdf", "nix"}
    | {"nix-shell", "sqlite3", "psql", "mysql", "duckdb", "osascript", "at", "batch"}
)
"""Programs that run what their words, a file or a script of their own say."""
_NAME: Final = "NAME"


def without_options(words: Sequence[str]) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """Return the words a rule with a `*` has to begin with, and the options a call may have."""
    end = len(words)
    while end > 1 and words[end - 1].startswith("-"):
        end -= 1
    return tuple(words[:end]), tuple(words[end:])


@lru_cache(maxsize=512)
def rule_begin(inside: str) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """Return the words that a rule for commands begins with, and the options behind them."""
    commands = read_shell_line(inside.removesuffix(" *")).commands
    return without_options(commands[0].words if commands else ())


def covers_nothing(tool: str, inside: str) -> str:
    """Return why a rule with a `*` covers no command, and which would; empty where it covers some.

    Args:
        tool: Which runs the commands.
        inside: What the rule says of them.
    """
    begin, options = rule_begin(inside)
    if not _leaves_open(inside):
        return ""
    named = " ".join(begin)
    for words in ((*begin, *options, _NAME), (*begin, _NAME, *options)):
        better = " ".join((*words, "*"))
        if not _leaves_open(better):
            return f"{named} runs what is named behind it: name that too, as in {tool}({better})"
    return f"{named} runs what stands behind it: only a whole command, without `*`, can be allowed"


def _leaves_open(inside: str) -> bool:
    rest, _ = rule_begin(inside)
    if is_open(rest):
        return True
    while length := runner_length(rest):
        rest = rest[length:]
    return rest[0].rpartition("/")[2] in RUNS_ANYTHING


def commands_meant(tool: str, inside: str, verdict: Verdict) -> str:
    """Return the commands a rule speaks of, in words."""
    words = inside.removesuffix(" *")
    if verdict != "allow":
        return f"commands that begin with {words}"
    if words == inside:
        return f"the command {words}"
    if why := covers_nothing(tool, inside):
        return f"no command: {why}"
    begin, options = rule_begin(inside)
    reads = only_reading_program(begin)
    if options:
        more = "and of others those that only read" if reads else "no other options"
        more = f"with or without {' '.join(options)}, {more}"
    else:
        more = "with options that only read" if reads else "without options"
    return f"commands that begin with {' '.join(begin)}, {more}"
