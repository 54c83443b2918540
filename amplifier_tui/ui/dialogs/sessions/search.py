"""Words looked for in all stored sessions."""

import asyncio
from collections.abc import Callable, Sequence
from concurrent.futures import Future
from pathlib import Path
from time import time
from typing import ClassVar, Final

from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.content import Content
from textual.widgets import Static

from amplifier_tui.base.text import one_line
from amplifier_tui.host.client import SearchFound, SearchHit
from amplifier_tui.ui.dialogs.parts.picker import Picker
from amplifier_tui.ui.dialogs.parts.sheet import KeyChoice, KeyRow
from amplifier_tui.ui.state.formats import ago, plural
from amplifier_tui.ui.widgets.pick_list import PickRow

_TYPING: Final = 0.05
"""Seconds after a key before the search begins, so that a fast word is one search."""
_AGAIN: Final = 0.5
"""Seconds between two searches while sessions are still being indexed."""
_MARKS: Final = {"prompt": "› ", "answer": "", "call": "call ", "title": "title "}


class SearchPicker(Picker):
    """Returns which of `hits` to open, as its place in decimal."""

    TITLE = "Search"
    PLACEHOLDER = 'Words, or "words together"'
    CHOOSE = "Open there"
    EMPTY = (
        "Type words: titles, prompts, answers and tool calls of all sessions are searched.",
        "Nothing was found.",
    )
    BELOW = 1
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("ctrl+t", "here", show=False, priority=True),
    ]
    DEFAULT_CSS = """
    SearchPicker #hit-session { height: 1; padding: 0 1; color: $text-muted; text-wrap: nowrap; }
    """

    def __init__(self, ask: Callable[..., Future[SearchFound]], query: str = "") -> None:
        super().__init__(query)
        self._ask = ask
        self._here = False
        self._wanted: tuple[str, bool] = ("", False)
        self._looking = False
        self._found = SearchFound()
        self._problem = ""

    @property
    def hits(self) -> tuple[SearchHit, ...]:
        """What was found, the newest first."""
        return self._found.hits

    def _below(self) -> ComposeResult:
        yield Static(id="hit-session", markup=False)

    def _choices(self) -> Sequence[KeyChoice]:
        choose, close = super()._choices()
        where = "All folders" if self._here else "This folder only"
        return (choose, KeyChoice("ctrl+t", where, "here"), close)

    def _rows_for(self, query: str) -> Sequence[PickRow]:
        wanted = (query, self._here)
        if wanted != self._wanted:
            self._wanted = wanted
            self._looking = True
            self.run_worker(self._look(*wanted), group="search", exclusive=True)
        return [self._row(str(place), hit) for place, hit in enumerate(self.hits)]

    async def _look(self, query: str, here: bool) -> None:
        await asyncio.sleep(_TYPING)
        again = True
        while again:
            kept = self._hit
            try:
                self._found = await self.answer_of(self._ask(query, here=here))
                self._problem = self._found.problem
            except Exception as error:
                # Whatever the host could not do is shown in place of the list.
                self._found = SearchFound()
                self._problem = f"The sessions cannot be searched: {one_line(str(error))}"
            self._looking = False
            self.refill(self._place_of(kept))
            again = self._found.indexing
            if again:
                await asyncio.sleep(_AGAIN)

    @property
    def _hit(self) -> SearchHit | None:
        """The hit the cursor is on."""
        row = self.rows.row
        return None if row is None else self.hits[int(row.id)]

    def _place_of(self, hit: SearchHit | None) -> str:
        """Return where a hit of an earlier search is now; empty where it is not found any more."""
        if hit is None:
            return ""
        known = _identity(hit)
        places = (at for at, found in enumerate(self.hits) if _identity(found) == known)
        return str(next(places, ""))

    def _row(self, place: str, hit: SearchHit) -> PickRow:
        text = Content(hit.text)
        for start, stop in hit.marks:
            text = text.stylize("$primary bold", start, stop)
        title = one_line(hit.card.title or hit.card.first_prompt, 24)
        right = " · ".join(part for part in (title, self._age(hit)) if part)
        left = Content.assemble((_MARKS[hit.kind], "$text-muted"), text)
        return PickRow(place, left, Content.styled(right, "$text-muted"))

    def _age(self, hit: SearchHit) -> str:
        return ago(time() - hit.card.updated)

    def _highlighted(self, row: PickRow | None) -> None:
        words = ""
        # The message may be of a row that was there before the last search.
        if (hit := self._hit) is not None:
            card = hit.card
            title = one_line(card.title or card.first_prompt, 60) or card.session_id[:8]
            folder = one_line(Path(card.cwd).name, 40) if card.cwd else "folder unknown"
            parts = (title, folder, one_line(card.bundle, 24), plural(card.turns, "turn"))
            words = " · ".join(part for part in parts if part)
        self.query_one("#hit-session", Static).update(Content(self._problem or words))

    def _empty_words(self, query: str) -> str:
        if query and self._looking:
            return "Searching…"
        if query and self._found.indexing:
            return "Nothing was found yet."
        return self._problem or super()._empty_words(query)

    def _data(self, rows: Sequence[PickRow]) -> Content:
        found = self._found
        reading = f"reading {found.done} of {found.changed} · " if found.indexing else ""
        return Content(f"{reading}{len(rows)}{'+' if found.more else ''}")

    def action_here(self) -> None:
        """Search the sessions of this folder only, or all again."""
        self._here = not self._here
        self.query_one(KeyRow).set_choices(self._choices())
        self.refill()


def _identity(hit: SearchHit) -> tuple[str, str, int, str]:
    return hit.card.session_id, hit.kind, hit.row, hit.call_id
