"""Whether a line of shell only looks, at which files, and whether a rule with a `*` covers it."""

import posixpath
import re
from collections.abc import Sequence
from dataclasses import replace
from itertools import pairwise
from typing import Final

from amplifier_tui.base.lazy.pattern import lazy_pattern
from amplifier_tui.base.shell.line import ShellCommand, ShellLine
from amplifier_tui.base.shell.looks import EXPANDED, looks, named, tells_names, writes_nothing
from amplifier_tui.base.shell.options import option_tables
from amplifier_tui.base.shell.unwrap import SHELLS, WRAPPERS, programs_of, runner_length


def only_reads(line: ShellLine) -> bool:
    """Whether a line does nothing but look at files and say what is in them.

    Where the files lie is not judged; see `read_places`.
    """
    if not line.complete or line.hidden or not line.commands:
        return False
    return all(looks(command) is not None for command in line.commands)


_SAYS: Final = frozenset({"cd", "echo", "false", "pwd", "true"})


def tells_names_alone(line: ShellLine) -> bool:
    """Whether a line says of files what they are called and how large, and nothing in them."""
    return only_reads(line) and all(
        tells_names(command) or command.words[0] in _SAYS for command in line.commands
    )


def reads_here(line: ShellLine) -> bool:
    """Whether a line only looks, and names nothing outside of the folder it runs in."""
    places = read_places(line)
    return places is not None and not any(
        place.startswith(("/", "~")) or ".." in place.split("/") for place in places
    )


_MOST_FOLDERS: Final = 8


def read_places(line: ShellLine) -> tuple[str, ...] | None:
    """Return the files and folders that a line which only reads looks at, as written.

    Patterns stay patterns. Behind a `cd` a place stands twice, as the `cd` may have failed: as
    written, and below the folder. Resolve the links in a place before its `..`, as the system does.
    None when the line does something else, or they can't be told.
    """
    if not only_reads(line):
        return None
    folders = [""]
    places: dict[str, None] = {}
    for command in line.commands:
        seen = looks(command)
        if seen is None or not seen.told:
            return None
        places.update(
            (posixpath.join(base, place), None) for base in folders for place in seen.places
        )
        if command.words[0] in ("cd", "pushd"):
            if len(seen.places) != 1 or len(folders) > _MOST_FOLDERS:
                return None
            folders += [posixpath.join(base, seen.places[0]) for base in folders]
    return tuple(places)


def only_looks(words: tuple[str, ...]) -> bool:
    """Whether a program with its arguments, all of them known, only looks at files."""
    return looks(ShellCommand("", words, (True,) * len(words), words)) is not None


# What runs whatever it is given; a rule has to say which script.
_INTERPRETERS: Final = lazy_pattern(
    r"(?:.*/)?(?:python|pypy|perl|ruby|node|nodejs|deno|bun|php|lua|luajit|[gmn]?awk|original-awk"
    r"|Rscript|julia|java|tclsh|guile|expect|gdb|ssh|ed|ex|vi|vim|nvim|emacs|make|just)[-\d.]*\w?"
)
_ASSIGNS: Final = lazy_pattern(r"[A-Za-z_]\w*(?:\[.*\])?\+?=", re.DOTALL)
_MARKS: Final = ("+", ":", "@")
"""Before a word they make it a command, a branch to be forced or deleted, a file of options."""
_SCOPING: Final = frozenset({"npm", "pnpm", "yarn", "bun", "turbo", "nx", "lerna"})
"""Programs to which `@name` is a package."""
_EVALUATES: Final = frozenset(
    {"declare", "typeset", "local", "export", "readonly", "unset", "read", "mapfile", "readarray"}
    | {"let", "getopts", "wait"}
)


def covers(rule_words: tuple[str, ...], options: tuple[str, ...], command: ShellCommand) -> bool:
    """Whether a rule that ends with a `*` covers a command of a line that hides nothing.

    It covers further operands, wherever they lead, where all of its options are given; and what
    only looks, with the options that the table lists as harmless for the program.

    Args:
        rule_words: What the command begins with.
        options: Those behind them in the rule, as written there.
        command: The command.
    """
    count = len(rule_words)
    if is_open(rule_words) or command.words[:count] != rule_words or not all(command.known[:count]):
        return False
    if command.assignments or not all(map(writes_nothing, command.redirections)):
        return False
    if length := runner_length(rule_words):
        # What it runs is what the rule is about; without that it would be any program.
        command = replace(
            command,
            words=command.words[length:],
            known=command.known[length:],
            written=command.written[length:],
        )
        return covers(rule_words[length:], options, command)
    runs = programs_of(command)
    name = rule_words[0].rpartition("/")[2]
    if len(runs) != 1 or runs[0].wrappers:
        return False
    other = frozenset(word for word in (*rule_words, *options) if word.startswith("-"))
    reading = named(command)[0] in option_tables()
    if reading and looks(command) is not None:
        return True
    if options_missing(options, command.written[count:]):
        return False
    if reading:
        return looks(command, other) is not None
    if any(each.operator.startswith("<") for each in command.redirections):
        return False
    if _runs_anything(rule_words):
        return False
    rest = zip(command.written[count:], command.known[count:], strict=True)
    if any(
        word[:1] in _MARKS and not (word[0] == "@" and name in _SCOPING) for word in command.words
    ):
        return False
    return all(_is_operand(word, known, other) for word, known in rest) and not (
        name in _EVALUATES and any("[" in word for word in command.written)
    )


def options_missing(options: Sequence[str], words: Sequence[str]) -> tuple[str, ...]:
    """Return the options of a rule that a command is not sure to be given.

    A program may take an option for the value of the one before it, and what stands behind a `--`
    for something else: such a word counts only where it stands so in the rule.

    Args:
        options: In the order of the rule.
        words: Of the command, behind those that the rule begins with.
    """
    behind = options.index("--") if "--" in options else len(options)
    given = _options_given(words, frozenset(pairwise(options)))
    return tuple(option for at, option in enumerate(options) if (option, at > behind) not in given)


def _options_given(
    words: Sequence[str], neighbours: frozenset[tuple[str, str]]
) -> set[tuple[str, bool]]:
    """Return the options that are no values, and whether they stand behind a `--`."""
    found: set[tuple[str, bool]] = set()
    behind = False
    for before, word in pairwise(("", *words)):
        if not may_take_value(before) or (before, word) in neighbours:
            found.add((word, behind))
        behind = behind or word == "--"
    return found


def may_take_value(word: str) -> bool:
    """Whether a word is an option to which the next word may belong."""
    return word.startswith("-") and "=" not in word and word not in ("-", "--")


def is_open(rule_words: tuple[str, ...]) -> bool:
    """Whether a rule's words leave open what is run, so that with a `*` it covers no command."""
    if not rule_words or rule_words[0].startswith("-"):
        return True
    if length := runner_length(rule_words):
        return is_open(rule_words[length:])
    name = rule_words[0].rpartition("/")[2]
    if name in WRAPPERS | SHELLS or name in (".", "source"):
        return True
    return rule_words[0] not in option_tables() and _runs_anything(rule_words)


def _runs_anything(rule_words: tuple[str, ...]) -> bool:
    script = rule_words[2:3] if rule_words[1:2] == ("-m",) else rule_words[1:2]
    runs = _INTERPRETERS.fullmatch(rule_words[0].rpartition("/")[2])
    return runs is not None and (not script or script[0].startswith("-"))


def only_reading_program(words: tuple[str, ...]) -> bool:
    """Whether words are a program, or a command of git, that does nothing but read with a `*`."""
    return named(ShellCommand("", words, (True,) * len(words), words))[0] in option_tables()


def _is_operand(word: str, known: bool, other: frozenset[str]) -> bool:
    if word in other:
        return known
    if word.startswith("-") or _ASSIGNS.match(word):
        return False
    return known or not (EXPANDED.search(word) or "=" in word or word[:1] in ("", *"*?[{!"))
