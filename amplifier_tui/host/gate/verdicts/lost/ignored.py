"""Which commands delete what git ignores: of that no copy is kept, so nothing brings it back."""

from collections.abc import Iterable, Iterator, Sequence
from fnmatch import fnmatchcase
from itertools import islice
from pathlib import Path
from typing import Final

from amplifier_tui.base.commands.git_lines.words import git_words
from amplifier_tui.base.files.nearby import is_made_anew
from amplifier_tui.base.git import git_output_now
from amplifier_tui.base.shell import ProgramRun, programs_of
from amplifier_tui.base.shell.looks import git_folders
from amplifier_tui.base.text import one_line
from amplifier_tui.host.gate.calls.deleting import in_braces
from amplifier_tui.host.gate.calls.option_words import option_names
from amplifier_tui.host.gate.calls.whereabouts import Whereabouts
from amplifier_tui.host.gate.rules.matching import Part
from amplifier_tui.host.gate.verdicts.lost.taken import DELETERS, cleans, searched
from amplifier_tui.host.gate.verdicts.sweeping import named_operands

_MOST_FOLDERS: Final = 20
"""Git is asked in each."""
_MOST_TEXT: Final = 100


def deletes_ignored(parts: Iterable[Part]) -> str:
    """Return why what a command line deletes would not come back; else empty. Blocking."""
    for part in parts:
        for run in programs_of(part.command) if part.command is not None else ():
            for here in part.folders:
                if found := _ignored(run, here):
                    file = one_line(found, _MOST_TEXT)
                    return (
                        f"it deletes {file}, which git ignores: going back would not bring it back"
                    )
    return ""


def _ignored(run: ProgramRun, here: Whereabouts) -> str:
    """Return a file that a program would delete, and that git ignores."""
    names: list[str] = []
    if run.program in DELETERS:
        paths = _named(run, here)
    elif run.program == "find":
        paths, names = _found(run.arguments, here)
    elif run.program == "git":
        paths = _cleaned(run.arguments, here)
    else:
        return ""
    root = here.locate(".").root
    below: dict[Path, list[str]] = {}
    for path in paths:
        folder, name = (root, ".") if path == root else (path.parent, path.name)
        below.setdefault(folder, []).append(name)
    for folder, listed in islice(below.items(), _MOST_FOLDERS):
        asked = ("--others", "--ignored", "--exclude-standard", "--", *listed)
        told = git_output_now(folder, "--literal-pathspecs", "ls-files", "-z", *asked) or ""
        for name in filter(None, told.split("\0")):
            file = (folder / name).relative_to(root)
            meant = not names or any(fnmatchcase(p, each) for p in file.parts for each in names)
            if meant and not is_made_anew(file.parts):
                return str(file)
    return ""


def _named(run: ProgramRun, here: Whereabouts) -> Iterator[Path]:
    """Yield what a program's arguments name."""
    words = zip(run.command.written[1:], run.arguments, run.command.known[1:], strict=False)
    for written, word, known in words:
        if not word.startswith("-"):
            place = here.named(written)
            for each in (place or word,) if known else in_braces(place or written):
                yield from _inside([each] if known else here.matches(each) or [each], here)


def _found(words: Sequence[str], here: Whereabouts) -> tuple[Iterator[Path], list[str]]:
    """Return the folders in which `find` deletes, and the patterns it has for names."""
    programs = {word.rpartition("/")[2] for word in words}
    if "-delete" not in words and programs.isdisjoint(DELETERS):
        return iter(()), []
    folders, names = searched(words)
    return _inside(folders, here), names


def _cleaned(arguments: tuple[str, ...], here: Whereabouts) -> Iterator[Path]:
    """Return where `git clean` deletes what is ignored."""
    options, name, rest = git_words(arguments)
    flags = option_names(rest[: rest.index("--")] if "--" in rest else rest)
    if name != "clean" or not cleans(options, flags) or flags.isdisjoint("xX"):
        return iter(())
    folder = Path(*git_folders(options))
    return _inside((str(folder / word) for word in named_operands(rest) or (".",)), here)


def _inside(texts: Iterable[str], here: Whereabouts) -> Iterator[Path]:
    """Yield what is there in the workspace and has to be looked at; links are not followed."""
    for place in map(here.locate, texts):
        path, root = place.named, place.root
        inside = path.is_relative_to(root) and path.parent.is_dir()
        if inside and not is_made_anew(path.relative_to(root).parts):
            yield path
