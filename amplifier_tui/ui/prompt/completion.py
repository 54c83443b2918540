"""What the popup above the prompt offers: files after `@`, commands after `/`."""

import re
from dataclasses import dataclass
from typing import Literal

from amplifier_tui.ui.fuzzy import match, rank
from amplifier_tui.ui.keys.actions import BY_SLASH
from amplifier_tui.ui.keys.keymap import Keymap, show_keys

SHOWN = 200
"""Candidates kept after ranking."""

_FILE = re.compile(r"(?:^|(?<=[\s(\[{\"']))@([^\s@]*)$")
_COMMAND = re.compile(r"^/([a-z-]*)$")
_MENTION = re.compile(r"[A-Za-z0-9_:./~-]+")


@dataclass(frozen=True, slots=True)
class Query:
    """The word under the cursor that can be completed.

    Attributes:
        kind: What it names.
        word: What was typed after the `@` or `/`.
        start: Column where the `@` or `/` stands, in the cursor's line.
    """

    kind: Literal["file", "command"]
    word: str
    start: int


@dataclass(frozen=True, slots=True)
class Candidate:
    """One line of the popup.

    Attributes:
        text: What is listed.
        insert: What replaces the word.
        note: Muted, at the right.
        positions: Characters of `text` that matched.
        command: It is a command: enter runs it, tab leaves room for an argument.
    """

    text: str
    insert: str
    note: str = ""
    positions: tuple[int, ...] = ()
    command: bool = False


def find_query(line: str, column: int, row: int) -> Query | None:
    """Return what is being typed at the cursor, None when it is nothing to complete."""
    before = line[:column]
    if row == 0 and (found := _COMMAND.match(before)) and not line[column:].strip():
        return Query("command", found[1], 0)
    if found := _FILE.search(before):
        return Query("file", found[1], found.start())
    return None


def complete_commands(word: str, keymap: Keymap) -> list[Candidate]:
    """Return the slash commands that match, best first; an empty word lists them all.

    A title matches too, but what starts with the word comes first.
    """
    names = rank(word, sorted(BY_SLASH), lambda name: f"{name} {BY_SLASH[name].title}", limit=SHOWN)
    if word:
        names.sort(key=lambda name: not name.startswith(word))
    else:
        names = [name for name in names if BY_SLASH[name].commands[0] == name]
    found: list[Candidate] = []
    for name in names:
        action = BY_SLASH[name]
        hit = match(word, name)
        takes = f" {action.takes}" if action.takes else ""
        key = show_keys(keymap.keys_of(action))
        found.append(
            Candidate(
                text=f"/{name}{takes}",
                insert=f"/{name}" + (" " if action.takes else ""),
                note=f"{action.title}   {key}".rstrip(),
                positions=tuple(at + 1 for at in hit[1]) if hit else (),
                command=True,
            )
        )
    return found


def complete_files(word: str, files: list[str]) -> list[Candidate]:
    """Return the files that match, best first. Takes a while for many files: use a thread."""
    found: list[Candidate] = []
    for path in rank(word, files, lambda path: path, limit=SHOWN):
        hit = match(word, path)
        # A path the mention syntax cannot hold goes in as plain quoted text.
        plain = _MENTION.fullmatch(path) is None
        insert = f'"{path}" ' if plain else f"@{path} "
        found.append(Candidate(path, insert, positions=hit[1] if hit else ()))
    return found
