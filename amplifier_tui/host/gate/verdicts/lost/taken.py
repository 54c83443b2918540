"""Which files that are there a command deletes or writes over, as far as its words tell.

What a program does that is none of these does not show: a script, a build, a formatter.
"""

import os
import re
from collections.abc import Iterable, Iterator, Sequence
from glob import escape
from itertools import pairwise
from pathlib import Path
from typing import Final, Literal, NamedTuple

from amplifier_tui.base.commands.git_lines.words import git_words
from amplifier_tui.base.files.nearby import is_passed_over
from amplifier_tui.base.shell import ProgramRun, Redirection, ShellCommand, programs_of
from amplifier_tui.base.shell.looks import EXPANDED, git_folders
from amplifier_tui.host.gate.calls.deleting import in_braces
from amplifier_tui.host.gate.calls.in_place import files_in_place
from amplifier_tui.host.gate.calls.option_words import option_names
from amplifier_tui.host.gate.calls.whereabouts import Whereabouts
from amplifier_tui.host.gate.places import PathPlace, resolved
from amplifier_tui.host.gate.verdicts.git import given, judge_git, with_files_told
from amplifier_tui.host.gate.verdicts.moves import after_command
from amplifier_tui.host.gate.verdicts.sweeping import named_operands
from amplifier_tui.host.gate.verdicts.words import LOSES

Which = Literal["all", "tracked", "new", "new and ignored", "ignored"]
"""Which of the files below a place: all, those that git tracks, those that it does not."""

DELETERS: Final = frozenset({"rm", "unlink", "shred"})
_EMPTIERS: Final = DELETERS | {"truncate", "sponge"}
_PUTTERS: Final = frozenset({"cp", "mv", "install", "ln", "rsync"})
"""Programs that put files where their last operand says."""
_FEEDERS: Final = frozenset({"xargs", "parallel"})
_ANEW: Final = frozenset({">", ">|", "&>", ">&"})
_FED: Final = "{}"
_LITERAL: Final = ":(literal)"
_LIKE: Final = ":(glob)"
_SORTED_INTO: Final = re.compile(r"(?:-o|--output=)(.+)")
_NEGATES: Final = frozenset({"!", "-not"})
_INTO: Final = "--target-directory="
_INTO_SHORT: Final = re.compile(r"-[a-su-zA-Z]*t.")
_AS_FILE: Final = re.compile(r"-[a-zA-Z]*T[a-zA-Z]*|--no-target-directory")
_INTO_NEXT: Final = ("-t", "--target-directory")
_MOST_FOLDERS: Final = 32
_WRITES_OVER: Final = {"read-tree": "u reset", "checkout-index": "f force"}
"""Options with which commands of git write over files of the worktree, whatever is in them."""


_Word = tuple[str, bool]
"""A word as it is written, and whether it is known."""


class Taken(NamedTuple):
    """Files that a command takes away, or what is in them.

    Attributes:
        folder: Where git is asked about them.
        which: Which of those that the words stand for.
        words: For git: how it is told of them, below the folder.
        shown: What they are called in a sentence.
    """

    folder: Path
    which: Which
    words: tuple[str, ...]
    shown: str


def taken_files(command: ShellCommand, heres: Iterable[Whereabouts]) -> Iterator[Taken]:
    """Yield what a command takes away in each folder that it may run in. Blocking."""
    runs = programs_of(command)
    redirections = (each for run in runs for each in run.command.redirections)
    written = dict.fromkeys((*command.redirections, *redirections))
    places = dict.fromkeys(heres)
    for run in runs:
        for here in [*places][:_MOST_FOLDERS]:
            yield from _taken_by(run, runs, here)
            if run.wrappers:
                # In a script of its own.
                places[after_command(run.command, here)] = None
    for here in [*places][:_MOST_FOLDERS]:
        for each in written:
            yield from _written(each, here)


def _taken_by(run: ProgramRun, runs: Sequence[ProgramRun], here: Whereabouts) -> Iterator[Taken]:
    if run.program == "git":
        yield from _by_git(run, here)
        return
    if run.program == "find":
        fed = any(_FED in word for each in _run_by_find(runs) for word, _ in _changed(each, here))
        if "-delete" in run.arguments or fed:
            yield from _found(run, here)
        return
    if not here.known or _FEEDERS.intersection(run.wrappers):
        if _changes(run):
            yield _whole(here)
        return
    follows = not (run.program in DELETERS | _PUTTERS or _in_place(run))
    for word, known in _changed(run, here):
        yield from _named(word, known, here, follows=follows)


def _run_by_find(runs: Iterable[ProgramRun]) -> Iterator[ProgramRun]:
    return (each for each in runs if "find" in each.wrappers)


def _in_place(run: ProgramRun) -> bool:
    return files_in_place(run.program, run.command.written[1:]) is not None


def _changes(run: ProgramRun) -> bool:
    """Whether a program takes away what it is given, or what is where it puts that."""
    flags = option_names(run.arguments)
    match run.program:
        case "tee":
            return not given(flags, "a append")
        case "ln":
            return given(flags, "f force")
        case program if program in _PUTTERS:
            return not given(flags, "n no-clobber dry-run")
    return run.program in _EMPTIERS | {"dd", "sort"} or _in_place(run)


def _changed(run: ProgramRun, here: Whereabouts) -> list[_Word]:
    """Return the words for what a program takes away, each with whether it is known."""
    if not _changes(run):
        return []
    pairs = list(zip(run.command.written[1:], run.command.known[1:], strict=True))
    if (places := files_in_place(run.program, run.command.written[1:])) is not None:
        return [pairs[at] for at in places]
    if run.program == "dd":
        return [(word[3:], known) for word, known in pairs if word.startswith("of=")]
    if run.program == "sort":
        return _sorted_into(pairs)
    if run.program in _PUTTERS:
        return _put(run.program, pairs, here)
    return _operands(pairs)


def _sorted_into(pairs: Sequence[_Word]) -> list[_Word]:
    """Return the file that `sort` writes."""
    apart = [pair for (option, _), pair in pairwise(pairs) if option in ("-o", "--output")]
    joined = ((found[1], known) for word, known in pairs if (found := _SORTED_INTO.fullmatch(word)))
    return [*apart, *joined]


def _operands(pairs: Sequence[_Word]) -> list[_Word]:
    words = [word for word, _ in pairs]
    at = words.index("--") if "--" in words else len(words)
    return [pair for pair in pairs[:at] if pair[0][:1] not in ("", "-")] + [*pairs[at + 1 :]]


def _put(program: str, pairs: list[_Word], here: Whereabouts) -> list[_Word]:
    """Return what a program that copies or moves may write over, or takes out of the workspace."""
    named = _operands(pairs)
    given_by = [(word.partition("=")[2], known) for word, known in pairs if word.startswith(_INTO)]
    given_by += (pair for (option, _), pair in pairwise(pairs) if option in _INTO_NEXT)
    short = (pair for pair in pairs if _INTO_SHORT.match(pair[0]) and program != "rsync")
    given_by += ((word.partition("t")[2], known) for word, known in short)
    *sources, target = (
        *(pair for pair in named if pair not in given_by),
        *given_by[:1],
    ) or (("", True),)
    folder = here.locate(here.named(target[0]) or target[0])
    if program == "mv" and folder.outside:
        return sources
    plain = all(known and _FED not in word for word, known in (*sources, target))
    whole = program == "rsync" or any(_AS_FILE.fullmatch(word) for word, _ in pairs)
    if not sources or whole or not plain or not folder.path.is_dir():
        return [target] if sources else []
    names = (os.path.basename(word.rstrip("/")) for word, _ in sources)
    return [(os.path.join(target[0], name), True) for name in names if name]


def _written(redirection: Redirection, here: Whereabouts) -> Iterator[Taken]:
    if not redirection.writes or redirection.operator not in _ANEW:
        return
    word = redirection.written or redirection.target
    yield from _named(word, redirection.known, here, follows=True)


def _named(
    word: str, known: bool, here: Whereabouts, *, follows: bool, below: bool = False
) -> Iterator[Taken]:
    """Yield what is there in the workspace under a word.

    Args:
        follows: Of a link, what it leads to is meant.
        below: Of a folder, what is in it is meant.
    """
    place = here.named(word)
    chosen = not (known or place) and EXPANDED.search(word)
    if chosen or not here.known:
        yield _whole(here)
        return
    for each in (place or word,) if known else in_braces(place or word):
        matches = [] if known else here.matches(each)
        if matches is None:
            yield from _like(each, here)
        for name in matches or (each,):
            yield from _there(here.locate(name), follows=follows, below=below)


def _there(place: PathPlace, *, follows: bool, below: bool) -> Iterator[Taken]:
    path = place.path if follows else resolved(place.named.parent) / place.named.name
    root = place.root
    if not path.is_relative_to(root) or not os.path.lexists(path) or _is_installed(path, root):
        return
    # A workspace may hold repositories, each of which has its own files alone.
    start = path if below or path == root else path.parent
    inside = (each for each in (start, *start.parents) if each.is_relative_to(root))
    top = next((each for each in inside if os.path.lexists(each / ".git")), root)
    word = "." if path == top else f"{_LITERAL}{path.relative_to(top)}"
    yield Taken(top, "all", (word,), str(path.relative_to(root)))


def _is_installed(path: Path, root: Path) -> bool:
    inside = (each for each in (path, *path.parents) if each != root and each.is_relative_to(root))
    return any(map(is_passed_over, inside))


def _like(pattern: str, here: Whereabouts) -> Iterator[Taken]:
    """Yield what a pattern stands for that stands for very much."""
    place = here.locate(pattern)
    if place.named.is_relative_to(place.root):
        like = str(place.named.relative_to(place.root))
        yield Taken(place.root, "all", (f"{_LIKE}{like}", f"{_LIKE}{like}/**"), like)


def _whole(here: Whereabouts, which: Which = "all") -> Taken:
    return Taken(here.locate(".").root, which, (".",), "the workspace")


def _found(run: ProgramRun, here: Whereabouts) -> Iterator[Taken]:
    """Yield where `find` deletes or changes what it finds, with the names that it looks for."""
    folders, names = searched(run.command.written[1:])
    for word in folders:
        for each in _named(word, False, here, follows=False, below=True):
            like = each.words[0].removeprefix(_LIKE)
            if like.startswith(_LITERAL):
                like = escape(like.removeprefix(_LITERAL))
            below = "" if like == "." else f"{like}/"
            found = [f":(glob,icase){below}**/{name}" for name in names]
            words = tuple(f"{name}{end}" for name in found for end in ("", "/**"))
            yield each._replace(words=words or each.words)


def searched(words: Sequence[str]) -> tuple[tuple[str, ...], list[str]]:
    """Return the folders that `find` looks through, and the patterns it has for names.

    No pattern stands for all names.
    """
    first = next((at for at, word in enumerate(words) if word[:1] in ("-", "(", "!")), len(words))
    folders, names = tuple(words[:first]) or (".",), list[str]()
    ways = [list[str]()]
    for word in words[first:]:
        if word in ("-o", "-or", ","):
            ways.append([])
        else:
            ways[-1].append(word)
    for way in ways:
        named = [value for option, value in pairwise(way) if option in ("-name", "-iname")]
        if not named or not _NEGATES.isdisjoint(way):
            return folders, []
        names += named
    return folders, names


def _by_git(run: ProgramRun, here: Whereabouts) -> Iterator[Taken]:
    arguments = with_files_told(run.arguments, here.folder)
    options, name, rest = git_words(arguments)
    at = rest.index("--") if "--" in rest else len(rest)
    flags = option_names(rest[:at])
    which: Which = "tracked"
    if any(option.casefold().startswith("alias.") for option in options):
        # It is another command than its name says.
        yield _whole(here)
        return
    if name == "clean":
        if not cleans(options, flags):
            return
        which = "ignored" if "X" in flags else "new and ignored" if "x" in flags else "new"
    elif name == "rm":
        if not given(flags, "f force") or given(flags, "cached n dry-run"):
            return
    elif name == "mv" and given(flags, "f force"):
        for word, known in list(zip(run.command.written, run.command.known, strict=True))[-1:]:
            yield from _named(word, known, here, follows=False)
        return
    elif not (given(flags, _WRITES_OVER.get(name, "")) or LOSES in judge_git(arguments)[1]):
        return
    pairs = zip(run.command.written, run.command.known, strict=True)
    chosen = any(not known and EXPANDED.search(word) for word, known in pairs)
    if chosen or not here.known or _FEEDERS.intersection(run.wrappers):
        yield _whole(here, which)
        return
    folder = here.folder.joinpath(*git_folders(options))
    words: tuple[str, ...] = ()
    if name in ("clean", "rm"):
        words = () if given(flags, "e exclude") else named_operands(rest)
    elif name in ("checkout", "restore"):
        words = rest[at + 1 :]
        if not (words or given(flags, "f force")):
            words = tuple(each for each in rest[:at] if _names_files(each, folder))
    # Others are about all that there is.
    yield Taken(folder, which, words or (("." if name == "clean" else ":/"),), "the workspace")


def cleans(options: Sequence[str], flags: set[str]) -> bool:
    """Whether `git clean` with these options, behind those of git's own, deletes something."""
    unforced = any("clean.requireforce=" in option.casefold() for option in options)
    return (unforced or given(flags, "f force")) and not given(flags, "n dry-run")


def _names_files(word: str, folder: Path) -> bool:
    return word[:1] in ":*" or (word[:1] != "-" and os.path.lexists(folder / word))
