"""Which files a command reads and writes as its words say, for rules about files.

It is no wall: what a program does that is none of the table, and names no file, does not show.
"""

import os
import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import field, replace
from pathlib import Path
from typing import Final

from amplifier_tui.base.files.nearby import nearby
from amplifier_tui.base.lazy.dataclass import dataclass
from amplifier_tui.base.shell import ProgramRun, ShellCommand, programs_of, search_of
from amplifier_tui.base.shell.git_contents import git_keeps_files
from amplifier_tui.base.shell.looks import EXPANDED, looks, named
from amplifier_tui.base.shell.options import option_tables
from amplifier_tui.host.gate.calls.in_place import files_in_place
from amplifier_tui.host.gate.calls.whereabouts import Whereabouts
from amplifier_tui.host.gate.places import PathPlace, locate
from amplifier_tui.host.gate.risk import CHANGES_ARGUMENTS, MOST_PLACES
from amplifier_tui.host.gate.rules.git_files import git_places
from amplifier_tui.host.gate.rules.matching import Part, names_path, speaks_of_files
from amplifier_tui.host.gate.rules.paths import begins_at, is_pattern
from amplifier_tui.host.gate.rules.text import Rule
from amplifier_tui.host.gate.verdicts.moves import after_command

_SHOWS: Final = frozenset(
    {"files", "pattern", "first", "sed", "jq", "revisions", "awk", "date", "tar"}
)
"""Kinds of operands, in the table of programs, of those that show what is in files."""
_NAMES_ONLY: Final = frozenset(
    {"ls", "stat", "cd", "pushd", "df", "du", "realpath", "readlink", "file"}
)
_COPIES: Final = frozenset({"cp", "ln", "install"})
_SEARCH_TOOLS: Final = frozenset({"grep", "search_files"})
_MOST_FOLDERS: Final = 32
_ANY: Final = "any"
_LINKING: Final = re.compile(r"-[a-zA-Z]*[ls]|--(?:sym|li)")
_OPTION_FOLDER: Final = re.compile(r"(?:--t[a-z-]*=|-[a-su-zA-Z]*t)(.+)")
_LINE: Final = re.compile(r"(?::\d+){1,2}:?$", re.ASCII)


@dataclass(slots=True)
class TouchedFiles:
    """What a command does with files.

    Attributes:
        read: Files it reads, and folders it reads as a whole.
        listed: Files and folders of which it says no more than that they are there.
        written: What it writes, or makes.
        given: Files that a program gets to which the table of programs says nothing.
        changed: Files and folders that a program may change, as it does more than read.
        searched: Folders that it looks through, and whether at hidden names, too.
        shown: Files and folders of which git may print what they hold, or held once.
        unclear: It reads files that are only known when it runs.
        writes_unclear: It writes such.
    """

    read: list[PathPlace] = field(default_factory=list)
    listed: list[PathPlace] = field(default_factory=list)
    written: list[PathPlace] = field(default_factory=list)
    given: list[PathPlace] = field(default_factory=list)
    changed: list[PathPlace] = field(default_factory=list)
    searched: list[tuple[PathPlace, bool]] = field(default_factory=list)
    shown: list[PathPlace] = field(default_factory=list)
    unclear: bool = False
    writes_unclear: bool = False


def touched_files(command: ShellCommand, heres: Sequence[Whereabouts]) -> TouchedFiles:
    """Return what a command does with files; looks at folders where it names patterns.

    Args:
        command: The command.
        heres: Where it may run: a `cd` before it may have failed.
    """
    found, runs = TouchedFiles(), programs_of(command)
    written = [*command.redirections, *(each for run in runs for each in run.command.redirections)]
    for run in runs:
        if run.command.words:
            _add(run, heres, found)
            if run.wrappers and len(heres) <= _MOST_FOLDERS:
                # In a script of its own.
                moved = (after_command(run.command, here) for here in heres)
                heres = tuple(dict.fromkeys((*heres, *moved)))
    lost = _are_lost(heres)
    for redirection in dict.fromkeys(written):
        if redirection.writes:
            found.writes_unclear |= not redirection.known or lost
            found.written += _located((redirection.target,), heres, found)
        elif redirection.operator == "<":
            found.unclear |= not redirection.known or lost
            found.read += _located((redirection.target,), heres, found)
    return found


def _are_lost(heres: Sequence[Whereabouts]) -> bool:
    """Whether it may run in a folder that is only known when it does."""
    return len(heres) > _MOST_FOLDERS or not all(here.known for here in heres)


def _add(run: ProgramRun, heres: Sequence[Whereabouts], found: TouchedFiles) -> None:
    # What is behind the operators was looked at.
    command = replace(run.command, redirections=(), assignments=())
    table = option_tables().get(named(command)[0])
    shows = table is not None and table.operands in _SHOWS and run.program not in _NAMES_ONLY
    words = command.written[1:]
    if run.program == "git":
        shown, told = git_places(command, heres)
        found.shown += shown
        found.read += told
        found.unclear |= bool(shown) and _are_lost(heres)
    if run.program in CHANGES_ARGUMENTS:
        _add_written(run.program, command, heres, found)
        return
    if files_in_place(run.program, words) is not None:
        # What it is told to do with the files may be to say what is in them.
        _add_written(run.program, command, heres, found)
    seen = looks(command)
    if seen is None:
        if shows and not all(command.known):
            found.unclear = True
        parts = [part for word in words for part in _parts(word)]
        given = _located(parts, heres, found)
        found.given += (each for each in given if each.exists)
        if run.program != "git":
            found.changed += given
        elif not git_keeps_files(command):
            # Without a file it is about all of them.
            there = [each for each in given if each.exists]
            found.changed += there or _located((".",), heres, found)
        return
    chosen = "xargs" in run.wrappers or any("{}" in word for word in words)
    found.unclear |= shows and (not seen.told or chosen or (_are_lost(heres) and bool(seen.places)))
    places = _located(seen.places, heres, found)
    (found.read if shows else found.listed).extend(places)
    search = search_of(command)
    folders = search.places if search else seen.places if run.program == "diff" else ()
    hidden = search is None or search.hidden
    found.searched += ((place, hidden) for place in _located(folders, heres, found))


def _add_written(
    program: str,
    command: ShellCommand,
    heres: Sequence[Whereabouts],
    found: TouchedFiles,
) -> None:
    words, known = command.written[1:], command.known[1:]
    pairs = zip(words, known, strict=True)
    unknown = any(not sure and EXPANDED.search(word) for word, sure in pairs)
    found.writes_unclear |= unknown or _are_lost(heres) or "{}" in words
    if program == "dd":
        named_by = {"if=": found.read, "of=": found.written}
        for start, places in named_by.items():
            texts = [word.removeprefix(start) for word in words if word.startswith(start)]
            places += _located(texts, heres, found)
        return
    operands = [word for word in words if word and not word.startswith("-")]
    last = program in _COPIES and not any(w.startswith(("-t", "--target")) for w in words)
    written = operands[-1:] if last else operands
    found.written += _located(written, heres, found)
    if program in (*_COPIES, "mv"):
        found.unclear |= unknown
        taken = _located(operands[:-1] if last else operands, heres, found)
        if program == "ln":
            taken += _located(_from_links(words), heres, found)
        found.read += taken
        # All that is in a folder can be read under the other name.
        found.searched += ((place, True) for place in taken)
        if _links(program, words):
            # By the other name it can be written.
            found.written += taken
            found.changed += taken


def _links(program: str, words: Sequence[str]) -> bool:
    """Whether what is named gets another name."""
    return program == "ln" or (program == "cp" and any(map(_LINKING.match, words)))


def _from_links(words: Sequence[str]) -> Iterator[str]:
    """Yield the operands of `ln` as seen from its links: there a symbolic one is read."""
    operands = [word for word in words if word and not word.startswith("-")]
    relative = [word for word in operands if not os.path.isabs(word)]
    options = (_OPTION_FOLDER.match(word) for word in words)
    places = (*operands[:1], *operands[-1:], *(found[1] for found in options if found))
    # A link is in the folder it is put into, or is named itself.
    folders = dict.fromkeys(each for place in places for each in (place, os.path.dirname(place)))
    for folder in filter(None, folders):
        yield from (f"{folder}/{word}" for word in relative)


def _parts(word: str) -> Iterator[str]:
    """Yield what may be a file in a word of a program nobody knows: `@file`, `--input=file`."""
    yield word
    for mark in "=:@":
        _, found, rest = word.partition(mark)
        if found and rest:
            yield rest
    if word.startswith("-") and not word.startswith("--") and len(word) > 2:
        yield word[2:]  # `-ofile`


def _readings(text: str, heres: Sequence[Whereabouts]) -> Iterator[str]:
    """Yield a path, also without a place in the file: `a.py::test_b`, `a.py:12`, `a.py:12:3`."""
    if not text or len(text) > 1_000 or "\n" in text:
        return
    yield text
    path = _LINE.sub("", text.partition("::")[0])
    if path and path != text and not any(here.locate(text).exists for here in heres):
        yield path


def _located(
    texts: Iterable[str], heres: Sequence[Whereabouts], found: TouchedFiles
) -> list[PathPlace]:
    places: list[PathPlace] = []
    for text in (each for word in texts for each in _readings(word, heres)):
        if len(places) > MOST_PLACES:
            # Among the rest there may be anything.
            found.unclear = found.writes_unclear = True
            break
        for here in heres:
            places.append(here.locate(text))
            matches = here.matches(text)
            if matches is None or (matches and "**" in text):
                found.unclear = found.writes_unclear = True
            places += map(here.locate, matches or ())
    return places


def touches(rule: Rule, part: Part) -> bool:
    """Whether a command reads, or writes, what a rule about files restricts."""
    reading, writing = speaks_of_files(rule, "read"), speaks_of_files(rule, "write")
    if part.command is None or not (reading or writing):
        return False
    found = touched_files(part.command, part.heres)
    searched = [place for place, _ in found.searched]
    places = [*([*found.read, *searched] if reading else ()), *(found.written if writing else ())]
    return any(is_about(rule, place) for place in places) or (
        reading and any(names_path(rule, place) for place in found.listed)
    )


def may_touch(rule: Rule, part: Part, workspace: Path) -> str:
    """Return what a call may do that a rule about files restricts, as a verb; empty for nothing.

    Args:
        rule: The rule.
        part: A command, or a search by a tool.
        workspace: Where a search begins that names no folder.
    """
    reading, writing = speaks_of_files(rule, "read"), speaks_of_files(rule, "write")
    if part.kind == "command" and (reading or writing):
        if part.command is None:
            return "read" if reading else "change"
        found = touched_files(part.command, part.heres)
        if reading and (found.unclear or any(is_about(rule, each) for each in found.given)):
            return "read"
        if reading and any(_may_have_held(rule, each) for each in found.shown):
            return "read"
        may_be_in = (*found.written, *found.changed)
        if writing and (found.writes_unclear or any(_holds(rule, p) for p in may_be_in)):
            return "change"
        searched = found.searched
    elif part.tool in _SEARCH_TOOLS:
        searched = [(part.place or locate(".", workspace), True)]
    else:
        return ""
    some = reading and any(holds_some(rule, place, hidden=hidden) for place, hidden in searched)
    return "read" if some else ""


def is_about(rule: Rule, place: PathPlace) -> bool:
    """Whether a rule that restricts is about a place, or about all that would be in it."""
    below = replace(place, path=place.path / _ANY, named=place.named / _ANY)
    return names_path(rule, place) or names_path(rule, below)


def _holds(rule: Rule, place: PathPlace) -> bool:
    """Whether a rule is about a place, or about what is in it."""
    return is_about(rule, place) or (place.path.is_dir() and holds_some(rule, place))


def _may_have_held(rule: Rule, place: PathPlace) -> bool:
    """Whether a rule is about a place, or about what may be below it, or may have been once."""
    if is_about(rule, place) or place.path.is_file():
        return is_about(rule, place)
    start = begins_at(rule.inside, rule.root or place.root)
    return start.is_relative_to(place.path) or (
        is_pattern(rule.inside) and place.path.is_relative_to(start)
    )


def holds_some(rule: Rule, folder: PathPlace, *, hidden: bool = True) -> bool:
    """Whether there is something in a folder that a rule is about, as far as a short look goes.

    Args:
        rule: One that restricts.
        folder: The folder.
        hidden: Whether names that begin with a dot count.
    """
    start = begins_at(rule.inside, rule.root or folder.root)
    within = folder.path if start in (folder.path, *folder.path.parents) else start
    if not within.is_relative_to(folder.path):
        return False
    if within != folder.path and is_about(rule, _at(within, folder)):
        return within.exists() and (hidden or not _is_hidden(within, folder.path))
    paths = (Path(entry) for entry, _ in nearby(within))
    return any(
        names_path(rule, _at(path, folder))
        for path in paths
        if hidden or not _is_hidden(path, folder.path)
    )


def _at(path: Path, folder: PathPlace) -> PathPlace:
    return replace(folder, path=path, named=path)


def _is_hidden(path: Path, folder: Path) -> bool:
    return any(name.startswith(".") for name in path.relative_to(folder).parts)
