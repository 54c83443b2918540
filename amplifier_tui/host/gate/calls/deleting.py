"""Whether what a command deletes is all that is in a folder."""

import os
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from fnmatch import fnmatchcase
from itertools import chain, islice
from pathlib import Path
from typing import Final

from amplifier_tui.base.commands.git_lines.words import git_words
from amplifier_tui.base.shell import ProgramRun, ShellCommand, programs_of
from amplifier_tui.base.shell.looks import git_folders
from amplifier_tui.host.gate.calls.option_words import option_names
from amplifier_tui.host.gate.calls.whereabouts import Whereabouts
from amplifier_tui.host.gate.places import PathPlace, is_root_like

_ALL: Final = re.compile(r"\.?(?:\[!\.\])?[*?]*\*[*?]*")
"""A pattern that any name fits, or any that begins with a dot."""
_BRACES: Final = re.compile(r"\{([^{}]*)\}")
_VARIABLE: Final = re.compile(r"\$(?:(\w+)|\{(\w+)[^{}]*\})")
_MOST_WORDS: Final = 200
_MOST_NAMES: Final = 10_000


def names_all(words: Sequence[str], here: Whereabouts) -> PathPlace | None:
    """Return the folder of which words name all that shows in it; None where something is left.

    Only a folder that nobody means to empty: the workspace, or one as high up as the home folder.

    Args:
        words: As written, patterns and braces too.
        here: Where the shell reads them.
    """
    patterns: dict[Path, tuple[PathPlace, list[str]]] = {}
    for word in islice(chain.from_iterable(map(in_braces, words)), _MOST_WORDS):
        if not _is_pattern(word):
            continue
        *before, last = word.rstrip("/").split("/")
        last = last.replace("[^", "[!")
        if "[[:" in last:
            last = last.partition("[[:")[0] + "*"
        while before and _ALL.fullmatch(last) and _ALL.fullmatch(before[-1]):
            before.pop()
        folder = "/".join(before) or ("/" if word.startswith("/") else ".")
        if _is_pattern(folder):
            continue
        place = here.locate(folder)
        if place.shown != "." and not is_root_like(place):
            continue
        if _ALL.fullmatch(last):
            return place
        patterns.setdefault(place.path, (place, []))[1].append(last)
    literal = [here.locate(word).path for word in words if not _is_pattern(word)]
    for path, (place, found) in patterns.items():
        shown = _shown(path)
        if shown and all(
            path / name in literal or any(fnmatchcase(name, each) for each in found)
            for name in shown
        ):
            return place
    return None


def _is_pattern(word: str) -> bool:
    return not {"*", "?", "["}.isdisjoint(word)


def in_braces(word: str) -> Iterator[str]:
    """Yield what a word with braces becomes; a variable in a pattern may be empty."""
    found = _BRACES.search(word)
    if found is None or word[: found.start()].endswith("$"):
        yield _VARIABLE.sub("*", word) if _is_pattern(word) else word
        return
    for each in found[1].split(","):
        yield from in_braces(word[: found.start()] + each + word[found.end() :])


def _shown(folder: Path) -> list[str]:
    """Return the names in a folder that a `*` stands for."""
    try:
        with os.scandir(folder) as entries:
            names = [entry.name for entry in islice(entries, _MOST_NAMES)]
    except OSError:
        return []
    return [name for name in names if not name.startswith(".")]


_TAKES_AWAY: Final = re.compile(
    r"0*[0-3]?[0-7]{1,2}|(?:[go]*[ua][ugoa]*)?(?:-[wxXst]*r\w*|=(?:,.*)?)"
)
"""A mode that leaves the owner of files without reading them."""
_TOPS: Final = frozenset({":/", ":/.", ":/*", ":(top)", ":(top).", "*"})
"""How git is told of all of a checkout, or of all in its folder."""


def takes_all(run: ProgramRun, here: Whereabouts) -> str:
    """Say how a program takes away all that is in the workspace, or higher up, given as such.

    Empty where it does not. `rm` and `find` are another matter.
    """
    words = [here.named(word) or word for word in run.command.written[1:]]
    if run.program == "git":
        return _git_takes_all(tuple(words), here)
    operands = [word for word in words if not word.startswith("-")]
    match run.program:
        case "mv":
            # Behind `-t` the first is where it goes; outside it is gone, or out of reach.
            moved = any(here.locate(each).outside for each in (*operands[:1], *operands[-1:]))
            return "moves the whole workspace away" if moved and names_all(operands, here) else ""
        case "rsync" if any(word.startswith("--del") for word in words):
            return "deletes from the whole workspace" if _is_all(operands[-1:], here) else ""
        case "chmod" if option_names(tuple(words)) & {"R", "recursive"}:
            taken = any(map(_TAKES_AWAY.fullmatch, words))
            return "locks the whole workspace" if taken and _is_all(operands, here) else ""
    return ""


def _git_takes_all(words: tuple[str, ...], here: Whereabouts) -> str:
    own, subcommand, rest = git_words(words)
    at = rest.index("--") if "--" in rest else len(rest)
    flags, operands = option_names(rest[:at]), list(rest[at + 1 :])
    before = ""
    for word in rest[:at]:
        # What `clean -e` keeps is little of all.
        if not word.startswith("-") and not _EXCLUDES.fullmatch(before):
            operands.append(word)
        before = word
    folder = here.folder.joinpath(*git_folders(own))
    if "n" in flags or "dry-run" in flags:
        return ""
    whole = _is_all(operands, replace(here, folder=folder))
    if subcommand == "clean" and {"d", "x"} <= flags and flags & {"f", "force"}:
        return "deletes all that git does not keep" if whole or not operands else ""
    if subcommand == "rm" and "r" in flags and "cached" not in flags:
        return "deletes all that git keeps" if whole else ""
    return ""


_EXCLUDES: Final = re.compile(r"-[a-zA-Z]*e|--exclude")


def _is_all(operands: Sequence[str], here: Whereabouts) -> bool:
    """Whether one of some operands is the workspace, or a place above it."""
    for word in operands:
        place = here.locate(word)
        if word in _TOPS or place.shown == "." or is_root_like(place):
            return True
    return False


_LOOP: Final = re.compile(r"\bfor\s+(\w+)\s+in\s+([^;\n]*)")
_CHOOSES: Final = re.compile(r"(?:^|[\s;&|(])(?:\[\[?|test|if|case|continue|grep)(?=\s)")


def loops_of(text: str) -> dict[str, str]:
    """Return the variables of the loops in a command line that run for each word, with those.

    Where the loop may choose among them nothing is said.
    """
    if _CHOOSES.search(text):
        return {}
    return {found[1]: found[2] for found in _LOOP.finditer(text)}


def with_loops(words: Sequence[str], loops: Mapping[str, str]) -> list[str]:
    """Return words with each variable of a loop replaced by what it runs for."""

    def named(found: re.Match[str]) -> str:
        listed = loops.get(found[1] or found[2])
        return found[0] if listed is None else "{" + ",".join(listed.split()) + "}"

    return [_VARIABLE.sub(named, word) if "$" in word else word for word in words]


_NARROWS: Final = re.compile(
    r"-(?:i?(?:name|path|regex|wholename)|newer\w*|[acm](?:min|time)|empty|size|prune"
    r"|perm|user|group|links|inum|samefile)"
)
_ANYTHING: Final = re.compile(r"(?:\./)?\.?\*+")
_PASSES: Final = frozenset({"sort", "tr", "cat", "tee", "tac", "uniq", "read", "echo", "printf"})
"""Programs behind which a list of files is as long as before."""


def finds_all(words: Sequence[str], here: Whereabouts) -> tuple[PathPlace, ...]:
    """Return the folders that `find` looks through where one is the workspace, or higher up.

    Empty where some test says what in it is meant.

    Args:
        words: What stands behind `find`.
    """
    first = next((at for at, word in enumerate(words) if word[:1] in ("-", "(", "!")), len(words))
    values = (*words[1:], "")
    for word, value in zip(words, values, strict=True):
        if _NARROWS.fullmatch(word) and not _ANYTHING.fullmatch(value):
            return ()
    places = tuple(here.locate(word) for word in words[:first] or (".",))
    high = any(place.shown == "." or is_root_like(place) for place in places)
    return places if high else ()


def lists_all(command: ShellCommand, here: Whereabouts) -> bool:
    """Whether a command prints the names of all that is in the workspace, or higher up."""
    return any(_lists_all(run, here) for run in programs_of(command))


def _lists_all(run: ProgramRun, here: Whereabouts) -> bool:
    words, program = run.arguments, run.program
    operands = [word for word in words if not word.startswith("-")]
    if program == "find":
        return bool(finds_all(words, here))
    if program == "git":
        _, subcommand, rest = git_words(words)
        plain = subcommand == "ls-files" and {*rest} <= {"-z", "-c", "--cached"}
        return plain and here.locate(".").shown == "."
    if program in ("echo", "printf"):
        return names_all(run.command.written[1:], here) is not None
    if program == "rg" and "--files" not in words:
        return False
    if program not in ("ls", "fd", "fdfind", "rg"):
        return False
    if program in ("fd", "fdfind", "rg") and len(operands) < len(words) - ("--files" in words):
        return False
    return all(here.locate(word).shown == "." for word in operands or (".",)) or (
        names_all(run.command.written[1:], here) is not None
    )


def lets_all_through(command: ShellCommand) -> bool:
    """Whether a command in a pipeline hands on each line that it reads."""
    return all(run.program in _PASSES for run in programs_of(command))
