"""Sessions of other programs: which there are, and what was said in one."""

import time
from collections.abc import Sequence
from typing import ClassVar

from textual.app import ComposeResult
from textual.binding import BindingType
from textual.content import Content
from textual.widgets import Static

from amplifier_tui.base.text import one_line
from amplifier_tui.host.client import ImportedCard, ImportedText, SessionClient
from amplifier_tui.ui.dialogs.parts.guarded import GuardedSheet
from amplifier_tui.ui.dialogs.parts.picker import AskingPicker, marked_match
from amplifier_tui.ui.dialogs.parts.reading import FullReadingSheet
from amplifier_tui.ui.dialogs.parts.sheet import KeyChoice, KeyRow
from amplifier_tui.ui.diffs.reader import Reader
from amplifier_tui.ui.fuzzy import rank
from amplifier_tui.ui.keys.actions import bindings
from amplifier_tui.ui.keys.keymap import Keymap
from amplifier_tui.ui.state.formats import ago
from amplifier_tui.ui.widgets.pick_list import PickRow
from amplifier_tui.ui.widgets.text_lines import visible_lines

ORIGINS = {"claude-code": "Claude Code", "codex": "Codex"}
"""What the programs are called."""


class ImportPicker(AskingPicker[ImportedCard]):
    """Returns the key of the session to read."""

    TITLE = "Of other programs"
    PLACEHOLDER = "Type to filter by title, first prompt, folder or program"
    CHOOSE = "Read"
    WHAT = "sessions"
    KEY = "key"
    EMPTY = (
        "Claude Code and Codex have stored none here, or import: off stands in settings.yaml.",
        "No session matches.",
    )

    def _rows_for(self, query: str) -> Sequence[PickRow]:
        found = rank(query, self.cards.values(), _words)
        return [self._row(card, query) for card in found]

    def _row(self, card: ImportedCard, query: str) -> PickRow:
        said = one_line(card.title or card.first_prompt, 200) or card.key
        parts = (ORIGINS[card.origin], one_line(card.cwd, 60), ago(time.time() - card.updated))
        words = " · ".join(part for part in parts if part)
        return PickRow(card.key, marked_match(said, query), Content.styled(words, "$text-muted"))


def _words(card: ImportedCard) -> str:
    said = one_line(card.title or card.first_prompt, 200) or card.key
    return f"{said} {card.first_prompt} {ORIGINS[card.origin]} {card.cwd}"


class ImportedSheet(FullReadingSheet[str], GuardedSheet[str]):
    """Shows a session of another program; returns its key where it is to be forked."""

    BINDINGS: ClassVar[list[BindingType]] = bindings("imported")
    SCOPE = "imported"
    DECIDES = frozenset(("fork",))
    IS_LIST = True
    DEFAULT_CSS = """
    ImportedSheet #imported-title { text-style: bold; color: $text-secondary; }
    """

    def __init__(self, found: ImportedText, client: SessionClient, keymap: Keymap) -> None:
        super().__init__()
        self.set_up_reading("", client, keymap, made=True)
        self._found = found

    def _content(self) -> ComposeResult:
        """Make the head, the text and the keys."""
        card = self._found.card
        said = one_line(card.title or card.first_prompt, 200) or card.key
        cut = " · only the beginning" if self._found.cut else ""
        title = f"{ORIGINS[card.origin]}, read-only{cut} · {said}"
        yield Static(Content(title), id="imported-title", classes="one-row")
        yield Reader(text=visible_lines(self._found.text))
        yield KeyRow()

    def _choices(self) -> list[KeyChoice]:
        return [self.choice("fork", "Fork into a session here"), *super()._choices()]

    def action_fork(self) -> None:
        """Go on from it in a session of this folder."""
        self.finish(self._found.card.key)
