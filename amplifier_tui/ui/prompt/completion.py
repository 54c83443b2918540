"""What can be completed in the prompt: files after `@`, commands after `/`, words of `!` lines."""

import asyncio
import logging
import os
import re
import time
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Literal

from amplifier_tui.base.git import git_output_now
from amplifier_tui.base.lazy.dataclass import dataclass
from amplifier_tui.base.messages.mentions import mention_of
from amplifier_tui.base.text import one_line
from amplifier_tui.host.events import CommandCard
from amplifier_tui.ui.fuzzy import match, rank
from amplifier_tui.ui.keys.actions import BY_SLASH
from amplifier_tui.ui.keys.keymap import Keymap, show_keys
from amplifier_tui.ui.keys.module_commands import by_typed_name
from amplifier_tui.ui.prompt.completion_popup import Candidate, CompletionPopup
from amplifier_tui.ui.prompt.prompt_input import PromptInput
from amplifier_tui.ui.prompt.shell import shell_draft
from amplifier_tui.ui.prompt.shell_completion import complete_word, typed_word
from amplifier_tui.ui.state.instruments.commands import ModuleCommands

_log = logging.getLogger(__name__)

FRESH = 10.0
"""Seconds a file listing is used before it is made again."""
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

_FILE = re.compile(r"(?:^|(?<=[\s(\[{\"']))@(?:\"([^\"@]*)|([^\s@\"]*))$")
_COMMAND = re.compile(r"^/([\w:-]*)$")


@dataclass(frozen=True, slots=True)
class Query:
    """The word under the cursor that can be completed; `start` is the column it begins at."""

    kind: Literal["file", "command", "shell"]
    word: str
    start: int


class Completer:
    """Joins the prompt's text with the popup; files are listed and ranked in a thread.

    Args:
        offered: Returns what the session's modules bring to be typed.
    """

    def __init__(
        self,
        prompt: PromptInput,
        popup: CompletionPopup,
        root: Path,
        offered: Callable[[], ModuleCommands | None] = lambda: None,
    ) -> None:
        self._offered = offered
        self._prompt = prompt
        self._popup = popup
        self._root = root
        self._files: list[str] = []
        self._listed = float("-inf")
        self._query: Query | None = None
        self._closed: Query | None = None
        self._wanted: str | None = None
        self._busy = False
        self._completed: tuple[str, tuple[int, int]] | None = None
        """The draft and the cursor when a word of a shell line was completed."""
        self.keymap = Keymap()

    def set_root(self, root: Path) -> None:
        """Complete the files of another directory."""
        if root != self._root:
            self._root, self._files, self._listed = root, [], float("-inf")

    def update(self) -> bool:
        """Look at the word under the cursor; True when `find_files` has to be awaited."""
        row, column = self._prompt.cursor_location
        if self._completed is not None:
            if self._completed == (self._prompt.text, (row, column)):
                return False
            self._completed = None
        query = None
        writing = self._prompt.selection.is_empty and not self._prompt.past.walking
        if writing and shell_draft(self._prompt.text) is None:
            query = find_query(self._prompt.document.get_line(row), column, row)
        if query == self._query and (query is None or self._popup.is_open):
            return False
        self._query = query
        closed = self._closed
        # Where the user closed the popup it stays closed; moving on opens it again.
        same = query and closed and (closed.kind, closed.start) == (query.kind, query.start)
        if query is None or same:
            self._closed = self._closed if query else None
            self._popup.show_candidates([])
            return False
        self._closed = None
        if query.kind == "command":
            offered = self._offered()
            cards = () if offered is None else offered.cards
            self._popup.show_candidates(complete_commands(query.word, self.keymap, cards))
            return False
        # While one ranking runs in its thread, the words typed meanwhile wait as one.
        self._wanted = query.word
        return not self._busy

    def take_key(self, key: str) -> bool:
        """Deal with a key that may be meant for the popup; False when it was not.

        Keys may come faster than the messages that say the draft changed: it looks first.
        """
        waiting = self.update()
        if not self._popup.is_open or waiting:
            if key != "tab" or shell_draft(self._prompt.text) is None:
                return False
            self._prompt.run_worker(self._complete_shell(), group="completion")
            return True
        match key:
            case "up":
                self._popup.move(-1)
            case "down":
                self._popup.move(1)
            case "escape":
                self.close()
            case "enter" if self._is_a_guess() or self._is_typed_out():
                self.close()
                return False
            case "tab" | "enter":
                candidate = self.accept()
                if key == "enter" and candidate is not None and candidate.command:
                    self._prompt.action_send()
            case _:
                return False
        return True

    def _is_a_guess(self) -> bool:
        """Whether the highlighted candidate is neither what was typed nor what was gone to."""
        candidate = self._popup.candidate
        return candidate is not None and candidate.alike and not self._popup.moved

    def _is_typed_out(self) -> bool:
        """Whether the highlighted file is what stands there already."""
        candidate, query = self._popup.candidate, self._query
        if candidate is None or query is None or query.kind != "file" or self._popup.moved:
            return False
        return candidate.insert.rstrip() == f"@{query.word}"

    async def find_files(self) -> None:
        """Rank files until the word that was typed last is shown."""
        self._busy = True
        try:
            while (word := self._wanted) is not None:
                self._wanted = None
                found = await asyncio.to_thread(self._find_files, word)
                query = self._query
                if query is not None and (query.kind, query.word) == ("file", word):
                    self._popup.show_candidates(found)
        finally:
            self._busy = False

    async def _complete_shell(self) -> None:
        """Complete the word of a shell line: the only candidate at once, several are listed."""
        row, column = at = self._prompt.cursor_location
        text = self._prompt.text
        asked = typed_word(self._prompt.document.get_line(row), column, first=row == 0)
        found = await asyncio.to_thread(complete_word, asked, self._root)
        if (self._prompt.text, self._prompt.cursor_location) != (text, at):
            return
        self._query = Query("shell", asked.word, asked.start)
        self._completed = (text, at)
        self._popup.show_candidates([Candidate(shown, insert) for shown, insert in found])
        if len(found) == 1:
            self.accept()

    def _find_files(self, word: str) -> list[Candidate]:
        now = time.monotonic()
        if now - self._listed > FRESH:
            try:
                self._files = list_files(self._root)
            except OSError as error:
                _log.warning("The files of %s cannot be listed: %s", self._root, error)
            self._listed = now
        offered = self._offered()
        return complete_files(word, self._files, () if offered is None else offered.mentions)

    def close(self) -> bool:
        """Close the popup until the cursor is in another word; False when it was not open."""
        if not self._popup.is_open:
            return False
        self._closed = self._query
        self._completed = None
        self._popup.show_candidates([])
        return True

    def accept(self) -> Candidate | None:
        """Put the highlighted candidate into the draft and return it."""
        candidate, query = self._popup.candidate, self._query
        if candidate is None or query is None:
            return None
        row, column = self._prompt.cursor_location
        insert = candidate.insert
        rest = self._prompt.document.get_line(row)[column:]
        if insert.endswith(" ") and rest.startswith(" "):
            insert = insert[:-1]
        self._popup.show_candidates([])
        self._closed = self._query = self._completed = None
        self._prompt.replace(insert, (row, query.start), (row, column))
        self._prompt.move_cursor((row, query.start + len(insert)))
        return candidate


def find_query(line: str, column: int, row: int) -> Query | None:
    """Return what is being typed at the cursor, None when it is nothing to complete."""
    before = line[:column]
    if row == 0 and (found := _COMMAND.match(before)) and not line[column:].strip():
        return Query("command", found[1], 0)
    if found := _FILE.search(before):
        return Query("file", found[1] or found[2] or "", found.start())
    return None


def complete_commands(
    word: str, keymap: Keymap, cards: Iterable[CommandCard] = ()
) -> list[Candidate]:
    """Return the slash commands that match by name, then by title; an empty word lists them all.

    Args:
        cards: The commands of the session's modules, which come after the program's own.
    """
    titles = {name: action.title for name, action in sorted(BY_SLASH.items())}
    of_modules: dict[str, CommandCard] = {}
    for name, brought in by_typed_name(cards).items():
        # Who begins with whose it is, such as a server's name, is offered it with that.
        full = f"{brought.group}:{brought.name}"
        of_modules[full if word not in name and full.startswith(word) else name] = brought
    titles |= {name: one_line(card.description, 200) for name, card in of_modules.items()}
    names = rank(word, list(titles), lambda name: f"{name} {titles[name]}", limit=SHOWN)
    if word:
        names.sort(
            key=lambda name: (
                name != word,
                not name.startswith(word),
                ":" in name,
                word not in name,
            )
        )
    else:
        # Of a command with several names the first one.
        names = [name for name in names if name in of_modules or _is_first(name)]
    found: list[Candidate] = []
    for name in names:
        hit = match(word, name)
        marks = tuple(at + 1 for at in hit[1]) if hit else ()
        card, action = of_modules.get(name), BY_SLASH.get(name)
        what = card or action
        takes = one_line(what.takes, 60) if what is not None else ""
        key = show_keys(keymap.keys_of(action)) if action is not None else ""
        insert = f"/{name} " if takes else f"/{name}"
        found.append(
            Candidate(
                f"/{name}",
                insert,
                data=key,
                positions=marks,
                takes=takes,
                about=titles[name],
                command=True,
                alike=word.lower() not in name,
            )
        )
    return found


def _is_first(name: str) -> bool:
    return BY_SLASH[name].commands[0] == name


def complete_files(word: str, files: list[str], mentions: Iterable[str] = ()) -> list[Candidate]:
    """Return the files that match, best first. Takes a while for many files: use a thread.

    Args:
        mentions: What else can stand behind an `@`, such as resources of servers.
    """
    found: list[Candidate] = []
    for path in rank(word, [*files, *mentions], lambda path: path, limit=SHOWN):
        hit = match(word, path)
        mention = mention_of(path)
        data = "" if mention else "only its name: no mention can hold it"
        marks = hit[1] if hit else ()
        found.append(Candidate(path, f"{mention or path} ", data, positions=marks))
    return found


def list_files(root: Path) -> list[str]:
    """Return paths under `root`, relative, `/` separated, shallow ones first; in a thread.

    Left out are names with control characters, and what git ignores or, without git, hidden and
    generated folders.
    """
    found = _git_files(root, "--cached", "--others", "--exclude-standard", "--deduplicate")
    if found is None:
        found = _walk(root)
    else:
        # Git knows a deleted file until that is staged.
        gone = set(_git_files(root, "--deleted") or ())
        found = [path for path in found if path not in gone]
    clean = [path for path in found if path and path.isprintable()]
    clean.sort(key=lambda path: (path.count("/"), path))
    return clean[:LIMIT]


def _git_files(root: Path, *options: str) -> list[str] | None:
    most = LIMIT * _PATH_BYTES
    listed = git_output_now(root, "ls-files", "-z", *options, timeout=SECONDS, most_bytes=most)
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
