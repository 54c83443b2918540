"""The stored sessions of this directory."""

import asyncio
import time
from collections.abc import Callable, Sequence
from concurrent.futures import Future

from textual.content import Content

from amplifier_tui.base.text import one_line
from amplifier_tui.host.client import SessionCard
from amplifier_tui.ui.ages import ago
from amplifier_tui.ui.dialogs.parts.picker import Picker
from amplifier_tui.ui.fuzzy import rank
from amplifier_tui.ui.state.formats import plural
from amplifier_tui.ui.widgets.pick_list import PickRow


class SessionPicker(Picker):
    """Returns the id of the session to resume.

    Args:
        ask: Lists the sessions, newest first.
        current: Id of the open session.
        clock: Unix seconds.
    """

    TITLE = "Sessions"
    PLACEHOLDER = "Type to filter by title, first prompt, bundle or id"
    CHOOSE = "Resume"

    def __init__(
        self,
        ask: Callable[[], Future[tuple[SessionCard, ...]]],
        current: str = "",
        query: str = "",
        clock: Callable[[], float] = time.time,
    ) -> None:
        super().__init__(query)
        self._ask = ask
        self._current = current
        self._clock = clock
        self._cards: tuple[SessionCard, ...] | None = None
        self._problem = ""

    def on_mount(self) -> None:
        """Ask the host."""
        self.run_worker(self._load(), group="sessions")

    async def _load(self) -> None:
        try:
            self._cards = await asyncio.wrap_future(self._ask())
        except Exception as error:
            self._cards = ()
            self._problem = f"The sessions cannot be listed: {one_line(str(error))}"
        self.refill()

    def rows_for(self, query: str) -> Sequence[PickRow]:
        """Return the sessions that match."""
        cards = rank(
            query,
            self._cards or (),
            lambda c: f"{c.title} {c.first_prompt} {c.bundle} {c.session_id} {c.cwd}",
        )
        return [self._row(card) for card in cards]

    def _row(self, card: SessionCard) -> PickRow:
        title, first = one_line(card.title, 200), one_line(card.first_prompt, 200)
        left = Content.assemble(
            (title or first or card.session_id[:8], "bold"),
            (f"  {first}" if title and first and first != title else "", "$text-muted"),
        )
        parts = [plural(card.turns, "turn"), one_line(card.bundle, 24)]
        age = "open now" if card.session_id == self._current else ago(self._clock() - card.updated)
        words = " · ".join(part for part in [*parts, age] if part)
        return PickRow(card.session_id, left, Content.styled(words, "$text-muted"))

    def empty_words(self, query: str) -> str:
        """Say why there is no row."""
        if self._cards is None:
            return "Looking for sessions…"
        return self._problem or ("No session matches." if query else "No session was stored here.")
