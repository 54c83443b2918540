"""Commands that search the files of whole folders, told from their words."""

import posixpath
from typing import NamedTuple

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
    """

    words: tuple[str, ...]
    places: tuple[str, ...]
    hidden: bool = True
    told: bool = True


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
    kept = tuple(word for place, word in enumerate(words) if place not in places)
    known = all(k for place, k in enumerate(command.known[at:]) if place not in places)
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
    )


def _goes_deep(name: str, arguments: Arguments) -> bool:
    if name not in _GREPS:
        return True
    return arguments.has("-r", "--recursive", "-R", "--dereference-recursive") or any(
        option in ("-d", "--directories") and value.startswith("re") and value != "read"
        for option, value in arguments.options
    )
