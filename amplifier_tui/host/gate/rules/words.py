"""Which commands a rule speaks of, in words: what a `*` covers, and what it does not.

A `*` covers further operands where the options that stand in the rule are given, and of a program
that is known to only read what does so. Where the words leave open what is run, it covers nothing.
"""

from collections.abc import Sequence
from functools import lru_cache
from itertools import pairwise
from typing import Final

from amplifier_tui.base.shell import (
    SHELLS,
    is_open,
    may_take_value,
    only_reading_program,
    read_shell_line,
)
from amplifier_tui.base.shell.unwrap import runner_length
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
    """Return the words a rule with a `*` has to begin with, and the options a call has to have."""
    end = len(words)
    while end > 1 and words[end - 1].startswith("-"):
        end -= 1
    return tuple(words[:end]), tuple(words[end:])


@lru_cache(maxsize=512)
def rule_begin(inside: str) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """Return the words that a rule for commands begins with, and the options behind them."""
    commands = read_shell_line(inside.removesuffix(" *")).commands
    return without_options(commands[0].words if commands else ())


def starred_rule(words: Sequence[str], begin: int) -> str:
    """Return what a rule with a `*` for commands like this one says, without other operands.

    An operand behind an option may be its value. Without it the next option would stand there and
    be taken for the value, as in `-i --check` for `-i hosts --check`. So such an option comes last,
    and where there is more than one the words stay as they are up to the last option.

    Args:
        words: Of the command.
        begin: How many of them are what it has to begin with.
    """
    rest = words[begin:]
    options = list(dict.fromkeys(word for word in rest if word.startswith("-")))
    valued = {word for word, behind in pairwise(rest) if may_take_value(word) and behind[:1] != "-"}
    if valued - set(options[-1:]):
        if len(valued) > 1 or "--" in options:
            last = max(at for at, word in enumerate(rest) if word.startswith("-"))
            options = list(rest[: last + 1])
        else:
            options.sort(key=valued.__contains__)
    return " ".join((*words[:begin], *options, "*"))


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
        more = "or with options that only read" if reads else "and no other options"
        more = f"with {' '.join(options)} {more}"
    else:
        more = "with options that only read" if reads else "without options"
    return f"commands that begin with {' '.join(begin)}, {more}"
