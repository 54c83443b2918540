"""Commands that search the files of whole folders, told from their words."""

import posixpath
import re
from typing import Final, NamedTuple

from amplifier_tui.base.shell.line import ShellCommand
from amplifier_tui.base.shell.looks import git_folders, named
from amplifier_tui.base.shell.options import Arguments, option_tables, read_arguments


class Search(NamedTuple):
    """A search through folders.

    Attributes:
        words: Program, pattern and options, without the places; behind them go the places.
        places: What is searched, as written, patterns too; `.` where nothing is named.
        hidden: Whether it looks at names that begin with a dot without being told to.
        told: Whether the same words find the same in a file that is named to them.
        patterns: Words that stand for files of such names, where there are any.
    """

    words: tuple[str, ...]
    places: tuple[str, ...]
    hidden: bool = True
    told: bool = True
    patterns: tuple[str, ...] = ()


_GREPS = ("grep", "egrep", "fgrep")
_SHOWS_HIDDEN = (
    *("-.", "--hidden", "-u", "--unrestricted", "-g", "--glob", "--iglob", "--ignore-file"),
)
_LISTS = ("--files", "--type-list", "--help", "--version", "-V")


def search_of(command: ShellCommand) -> Search | None:
    """Return how a command searches folders; None when it does not, or acts.

    What it looks at beside them shows in `read_places`.
    """
    name, at = named(command) if command.words else ("", 0)
    if name not in (*_GREPS, "rg", "git grep"):
        return None
    table, words = option_tables()[name], command.written[at:]
    arguments = read_arguments(table, words)
    if arguments is None or arguments.has(*_LISTS) or not _goes_deep(name, arguments):
        return None
    pattern = arguments.has("-e", "--regexp", "-f", "--file")
    operands = arguments.operands if pattern else arguments.operands[1:]
    places = {place for place, _ in operands}
    kept: list[str] = []
    patterns: list[str] = []
    known = True
    for place, (word, sure) in enumerate(zip(words, command.known[at:], strict=True)):
        if place in places:
            continue
        before = words[place - 1] if place and words[place - 1] in _NARROWING else ""
        become = (word,) if sure else _narrowing(word, before, command.text)
        known = known and bool(become)
        kept += become or (word,)
        patterns += () if sure else become
    # Names in these are searched otherwise from another folder, or these say so.
    elsewhere = any(option in table.files for option, _ in arguments.options)
    slashes = any("/" in value for option, value in arguments.options if "clude" in option)
    told = known and not elsewhere and not slashes and not arguments.has("--passthru", "--json")
    folder = posixpath.join("", *git_folders(command.written[:at]))
    return Search(
        (*name.split(), *kept, *(() if "--" in kept else ("--",))),
        tuple(posixpath.join(folder, word) for _, word in operands) or (folder or ".",),
        hidden=name != "rg" or arguments.has(*_SHOWS_HIDDEN),
        told=told,
        patterns=tuple(patterns),
    )


_NARROWS: Final = re.compile(r"(?:--(?:include|exclude(?:-dir)?|i?glob)=|-g)[^$`(\\'\"]+")
_NARROWING: Final = ("-g", "--glob", "--iglob", "--include", "--exclude", "--exclude-dir")
_BRACES: Final = re.compile(r"([^{}]*)\{([^{},]*(?:,[^{},]*)+)\}([^{}]*)")


def _narrowing(word: str, before: str, text: str) -> tuple[str, ...]:
    """Return what an unquoted pattern of files to search becomes where no file has such a name.

    Empty where that can't be told.
    """
    option = "-g" if before else ""
    if not _NARROWS.fullmatch(option + word):
        return ()
    if "{" not in word:
        return (word,)
    if before:
        return ()
    braces = _BRACES.fullmatch(word)
    # Quoted braces and commas are none.
    if braces is None or word not in text.split():
        return ()
    begin, listed, end = braces.groups()
    return tuple(f"{begin}{each}{end}" for each in listed.split(","))


def _goes_deep(name: str, arguments: Arguments) -> bool:
    if name not in _GREPS:
        return True
    return arguments.has("-r", "--recursive", "-R", "--dereference-recursive") or any(
        option in ("-d", "--directories") and value.startswith("re") and value != "read"
        for option, value in arguments.options
    )
