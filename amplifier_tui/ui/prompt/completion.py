"""What the popup above the prompt offers: files after `@`, commands after `/`.

Files are what git knows or would add; without git, a bounded walk.
"""

import os
import re
import time
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from amplifier_tui.base.git import git_output_now
from amplifier_tui.ui.fuzzy import match, rank
from amplifier_tui.ui.keys.actions import BY_SLASH
from amplifier_tui.ui.keys.keymap import Keymap, show_keys

SHOWN = 200
"""Candidates kept after ranking."""

LIMIT = 50_000
"""Files listed at most."""
SECONDS = 5.0
"""Time a listing may take."""
_PATH_BYTES = 200
"""What a path takes of the listing at most, on average."""

_SKIPPED = frozenset(
    (
        "__pycache__", "node_modules", "venv", "env", "target", "build", "dist", "site-packages",
        "vendor", "coverage",
    )
)  # fmt: skip

_FILE = re.compile(r"(?:^|(?<=[\s(\[{\"']))@([^\s@]*)$")
_COMMAND = re.compile(r"^/([a-z-]*)$")
_MENTION = re.compile(r"[A-Za-z0-9_:./~-]+")


@dataclass(frozen=True, slots=True)
class Query:
    """The word under the cursor that can be completed; `start` is the column of its `@` or `/`."""

    kind: Literal["file", "command"]
    word: str
    start: int


@dataclass(frozen=True, slots=True)
class Candidate:
    """One line of the popup.

    Attributes:
        insert: What replaces the word.
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


def list_files(root: Path) -> list[str]:
    """Return paths under `root`, relative, `/` separated, shallow ones first.

    Takes up to `SECONDS`: call it from a thread. Names with control characters are left out,
    and so are files that git ignores or, without git, hidden and generated folders.
    """
    found = _from_git(root)
    if found is None:
        found = _walk(root)
    clean = [path for path in found if path and path.isprintable()]
    clean.sort(key=lambda path: (path.count("/"), path))
    return clean[:LIMIT]


def _from_git(root: Path) -> list[str] | None:
    options = ("-z", "--cached", "--others", "--exclude-standard", "--deduplicate")
    listed = git_output_now(
        root, "ls-files", *options, timeout=SECONDS, most_bytes=LIMIT * _PATH_BYTES
    )
    # What follows the last NUL was cut off.
    return None if listed is None else listed.split("\0")[:-1]


def _walk(root: Path) -> list[str]:
    end = time.monotonic() + SECONDS
    found: list[str] = []
    for folder, folders, files in os.walk(root, followlinks=False):
        folders[:] = [f for f in folders if not f.startswith(".") and f not in _SKIPPED]
        base = Path(folder).relative_to(root)
        found += [(base / name).as_posix() for name in files if not name.startswith(".")]
        if len(found) >= LIMIT or time.monotonic() > end:
            break
    return found
