"""A list that the host finds anew for what is typed."""

import asyncio
from collections.abc import Sequence
from concurrent.futures import Future
from typing import ClassVar, Final, Generic, Protocol, TypeVar

from textual import work
from textual.binding import Binding, BindingType

from amplifier_tui.base.text import one_line
from amplifier_tui.ui.dialogs.parts.picker import Picker
from amplifier_tui.ui.dialogs.parts.sheet import KeyChoice, KeyRow
from amplifier_tui.ui.widgets.pick_list import PickRow

_TYPING: Final = 0.05
"""Seconds after a key before it is looked for, so that a fast word is looked for once."""
_AGAIN: Final = 0.5
"""Seconds between two looks while sessions are still being read."""


class Found(Protocol):
    """What the host answers with; see `SearchFound`."""

    @property
    def indexing(self) -> bool:
        """More may be found when it is asked again."""

    @property
    def done(self) -> int:
        """How many sessions have been read."""

    @property
    def changed(self) -> int:
        """How many are to be read."""

    @property
    def problem(self) -> str:
        """What may be missing, and why."""


F = TypeVar("F", bound=Found)


class LookingPicker(Picker, Generic[F]):
    """Asks the host for what is typed, and again as long as it is still reading.

    Args:
        nothing: What is found before it has answered.
        query: What is typed at first.
        here: Only the sessions of this folder.

    Attributes:
        problem: What went wrong, or may be missing.
    """

    ALL: ClassVar[str] = "All folders"
    HERE: ClassVar[str] = "This folder only"
    FAILS: ClassVar[str] = ""
    """What the host could not do."""
    BINDINGS: ClassVar[list[BindingType]] = [Binding("ctrl+t", "here", show=False, priority=True)]

    def __init__(self, nothing: F, query: str = "", *, here: bool) -> None:
        super().__init__(query)
        self.found = nothing
        self.here = here
        self.problem = ""
        self.looking = False
        self._nothing = nothing
        self._wanted: tuple[str, bool, int] | None = None
        self._keep = ""
        self._round = 0
        self._choosing = False

    def _ask(self, query: str) -> Future[F]:
        """Ask the host."""
        raise NotImplementedError

    def _found_rows(self) -> Sequence[PickRow]:
        """Return the rows of what was found."""
        raise NotImplementedError

    def _came(self) -> None:
        """The host has answered."""

    def look_again(self, keep: str = "") -> None:
        """Ask anew; the cursor stays where it is, or goes to a row."""
        self._round += 1
        self._keep = keep
        self.refill(keep or self.rows.row_id)

    def _rows_for(self, query: str) -> Sequence[PickRow]:
        wanted = (query, self.here, self._round)
        if wanted != self._wanted:
            typed = self._wanted is not None and self._wanted[0] != query
            self._wanted = wanted
            self.looking = True
            self._choosing = False
            self._look(query, typed=typed)
        return self._found_rows()

    @work(group="search", exclusive=True)
    async def _look(self, query: str, *, typed: bool) -> None:
        await asyncio.sleep(_TYPING if typed else 0)
        again = True
        while again:
            try:
                self.found = await self.answer_of(self._ask(query))
                self.problem = self.found.problem
            except Exception as error:
                # Whatever the host could not do is shown in place of the list.
                self.found = self._nothing
                self.problem = f"{self.FAILS}: {one_line(str(error))}"
            self.looking = False
            self._came()
            # What was typed just now is answered best by the first row.
            kept, self._keep = self._keep or ("" if typed else self.rows.row_id), ""
            typed = False
            self.refill(kept)
            if self._choosing:
                self._choosing = False
                super().action_choose()
            again = self.found.indexing
            if again:
                await asyncio.sleep(_AGAIN)

    def action_choose(self) -> None:
        """Choose the highlighted row, or the first one of what is being looked for."""
        if self.looking:
            self._choosing = True
        else:
            super().action_choose()

    def _reading(self) -> str:
        """Return how far the sessions have been read, in words; empty when they are."""
        found = self.found
        if not found.indexing or not found.changed:
            return ""
        return f"reading {found.done} of {found.changed} · "

    def _where(self) -> KeyChoice:
        """Return the key that looks elsewhere."""
        return KeyChoice("ctrl+t", self.ALL if self.here else self.HERE, "here")

    def show_keys(self) -> None:
        """Show the keys that are in force now."""
        self.query_one(KeyRow).set_choices(self._choices())

    def action_here(self) -> None:
        """Look at the sessions of this folder only, or at all again."""
        self.here = not self.here
        self.show_keys()
        self.refill()
