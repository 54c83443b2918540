"""Words looked for in all stored sessions."""

from collections.abc import Callable, Sequence
from concurrent.futures import Future
from pathlib import Path
from time import time

from textual.app import ComposeResult
from textual.content import Content
from textual.widgets import Static

from amplifier_tui.base.text import one_line
from amplifier_tui.host.client import SearchFound, SearchHit
from amplifier_tui.ui.dialogs.parts.sheet import KeyChoice
from amplifier_tui.ui.dialogs.sessions.imported import ORIGINS
from amplifier_tui.ui.dialogs.sessions.looking import LookingPicker
from amplifier_tui.ui.state.formats import ago, plural
from amplifier_tui.ui.widgets.pick_list import PickRow

_MARKS = {"prompt": "› ", "answer": "", "call": "call ", "result": "result ", "title": "title "}


class SearchPicker(LookingPicker[SearchFound]):
    """Returns the row of the hit to open, which is `chosen`."""

    TITLE = "Search"
    PLACEHOLDER = 'Words, or "words together"'
    CHOOSE = "Open there"
    FAILS = "The sessions cannot be searched"
    EMPTY = (
        "Type words: titles, prompts, answers, calls and results of all sessions are searched.",
        "Nothing was found.",
    )
    BELOW = 1
    DEFAULT_CSS = """
    SearchPicker #hit-session { padding: 0 1; color: $text-muted; }
    """

    def __init__(self, ask: Callable[..., Future[SearchFound]], query: str = "") -> None:
        super().__init__(SearchFound(), query, here=False)
        self._search = ask
        self._hits: dict[str, SearchHit] = {}
        self.chosen: SearchHit | None = None

    def _below(self) -> ComposeResult:
        yield Static(id="hit-session", classes="one-row", markup=False)

    def _choices(self) -> Sequence[KeyChoice]:
        choose, close = super()._choices()
        return (choose, self._where(), close)

    def _ask(self, query: str) -> Future[SearchFound]:
        return self._search(query, here=self.here)

    def _came(self) -> None:
        self._hits = {_identity(hit): hit for hit in self.found.hits}

    def _found_rows(self) -> Sequence[PickRow]:
        return [self._row(identity, hit) for identity, hit in self._hits.items()]

    @property
    def hit(self) -> SearchHit | None:
        """The hit the cursor is on."""
        return self._hits.get(self.rows.row_id)

    def _chosen(self, row: PickRow) -> None:
        # Kept: another search may end while the dialog closes.
        self.chosen = self._hits[row.id]
        super()._chosen(row)

    def _row(self, identity: str, hit: SearchHit) -> PickRow:
        text = Content(hit.text)
        for start, stop in hit.marks:
            text = text.stylize("$primary bold", start, stop)
        title = one_line(hit.card.title or hit.card.first_prompt, 24)
        right = " · ".join(part for part in (title, self._age(hit)) if part)
        who = f"{one_line(hit.agent, 24)}: " if hit.agent else ""
        left = Content.assemble((f"{who}{_MARKS[hit.kind]}", "$text-muted"), text)
        return PickRow(identity, left, Content.styled(right, "$text-muted"))

    def _age(self, hit: SearchHit) -> str:
        return ago(time() - hit.card.updated)

    def _highlighted(self, row: PickRow | None) -> None:
        words = ""
        # The message may be of a row that was there before the last search.
        if (hit := self.hit) is not None:
            card = hit.card
            title = one_line(card.title or card.first_prompt, 60) or card.session_id[:8]
            folder = one_line(Path(card.cwd).name, 40) if card.cwd else "folder unknown"
            parts = (
                ORIGINS.get(card.origin, ""),
                title,
                folder,
                one_line(card.bundle, 24),
                plural(card.turns, "turn") if not card.origin else "",
            )
            words = " · ".join(part for part in parts if part)
        self.query_one("#hit-session", Static).update(Content(self.problem or words))

    def _empty_words(self, query: str) -> str:
        if query and self.looking:
            return "Searching…"
        if query and self.found.indexing:
            return "Nothing was found yet."
        return self.problem or super()._empty_words(query)

    def _data(self, rows: Sequence[PickRow]) -> Content:
        return Content(f"{self._reading()}{len(rows)}{'+' if self.found.more else ''}")


def _identity(hit: SearchHit) -> str:
    parts = (hit.card.key, hit.agent, hit.kind, str(hit.row), hit.call_id)
    return "\0".join((*parts, hit.text if hit.agent else ""))
