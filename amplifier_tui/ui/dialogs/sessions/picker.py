"""The stored sessions: found, looked at, named, tagged, pinned, deleted, copied, resumed."""

from collections.abc import Callable, Collection, Sequence
from concurrent.futures import Future
from typing import ClassVar, Final, Literal

from textual import work
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import VerticalScroll
from textual.content import Content
from textual.widgets import Static

from amplifier_tui.base.text import one_line
from amplifier_tui.host.client import SessionCard, SessionClient, SessionDetails, SessionList
from amplifier_tui.ui.dialogs.parts.sheet import KeyChoice
from amplifier_tui.ui.dialogs.questions import AskLine
from amplifier_tui.ui.dialogs.sessions.looking import LookingPicker
from amplifier_tui.ui.dialogs.sessions.rows import (
    Shown,
    details_content,
    facts_line,
    session_rows,
)
from amplifier_tui.ui.keys.actions import bindings
from amplifier_tui.ui.keys.keymap import Keymap
from amplifier_tui.ui.widgets.messages import ActionWanted
from amplifier_tui.ui.widgets.pick_list import PickRow

_PAGE: Final = 100
_WIDE: Final = 110
"""Columns from which on the preview stands beside the list."""
_SHORT: Final = 24
"""Rows below which keys that are not needed to resume are not listed."""
_TAGS: Final = 400


class SessionPicker(LookingPicker[SessionList]):
    """Returns `resume` or `copy`: what to do with the session that is `chosen`.

    Args:
        client: Lists and changes them.
        open_now: The ids of the sessions that are open in the window.
        copied: Puts a session's id on the clipboard.
    """

    TITLE = "Sessions"
    PLACEHOLDER = "Words, or bundle: model: tag: folder: branch: before: after: cost:"
    CHOOSE = "Resume"
    FAILS = "The sessions cannot be listed"
    EMPTY = ("No session was stored here.", "No session matches.")
    UNFILTERED = frozenset({"search"})
    ON_ROW = frozenset({"choose", "preview", "rename", "tag", "pin", "fork", "copy_id", "delete"})
    BELOW = 2
    ROWS = (20, 20)  # the preview needs them, too
    SCOPE = "stored"
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("slash", "search", show=False, priority=True),
        *bindings("sessions", priority=True),
    ]
    DEFAULT_CSS = """
    SessionPicker #session-aside {
        display: none;
        width: 48;
        padding: 0 0 0 2;
        scrollbar-size: 1 1;
        scrollbar-background: transparent;
        scrollbar-background-hover: transparent;
        scrollbar-background-active: transparent;
    }
    SessionPicker.-beside #session-aside { display: block; }
    SessionPicker.-instead #session-aside { display: block; width: 1fr; padding: 0 1; }
    SessionPicker.-instead PickList { display: none; }
    SessionPicker #session-facts, SessionPicker #session-note { padding: 0 1; color: $text-muted; }
    SessionPicker.-beside #session-facts, SessionPicker.-instead #session-facts { display: none; }
    """

    def __init__(
        self,
        client: SessionClient,
        open_now: Collection[str],
        keymap: Keymap,
        copied: Callable[[str], None],
    ) -> None:
        super().__init__(SessionList(), "", here=True)
        self.chosen: SessionCard | None = None
        self._client = client
        self._open_now = open_now
        self._keymap = keymap
        self._copied = copied
        self._cards_wanted = _PAGE
        self._cards: dict[str, SessionCard] = {}
        self._details: dict[str, SessionDetails] = {}
        self._deleted: list[tuple[str, str]] = []
        self._asked = ""
        self._width = 0
        self._note = ""
        self._rows: Sequence[PickRow] = ()

    def _aside(self) -> ComposeResult:
        with VerticalScroll(id="session-aside", can_focus=False):
            yield Static(id="session-text", markup=False)

    def _below(self) -> ComposeResult:
        yield Static(id="session-facts", classes="one-row", markup=False)
        yield Static(id="session-note", classes="one-row", markup=False)

    def _choices(self) -> Sequence[KeyChoice]:
        choose, close = super()._choices()
        first = (choose, self._where())
        undo = (self.choice("undo", "Undo"),) if self._deleted else ()
        instead = self.has_class("-instead")
        if (self.app.size.height < _SHORT or self._is_small()) and not instead:
            # The rest stands below the preview, which needs fewer rows.
            return (*first, self.choice("preview", "Preview and more"), *undo, close)
        beside = self.choice("preview", "List" if instead else "Preview")
        looks = () if self.has_class("-beside") else (beside,)
        return (
            *first,
            *looks,
            self.choice("rename", "Rename"),
            self.choice("tag", "Tag"),
            self.choice("pin", "Pin"),
            self.choice("fork", "Fork"),
            self.choice("copy", "Copy id"),
            self.choice("delete", "Delete"),
            *undo,
            KeyChoice("/", "Search what was said", "search"),
            close,
        )

    def check_action(self, action: str, parameters: tuple[object, ...]) -> bool | None:
        """A slash begins a search where no filter is typed; in one it is a letter."""
        return not self.query_text if action == "search" else True

    def _ask(self, query: str) -> Future[SessionList]:
        if query != self._asked:
            self._asked, self._note = query, ""
        return self._client.sessions(query, here=self.here, most=self._cards_wanted)

    def _came(self) -> None:
        cards = self.found.cards
        self._cards = {card.key: card for card in cards}
        self._lay_rows()

    def _lay_rows(self) -> None:
        self._width = self.rows.size.width
        shown = Shown(self._width, self._open_now, folders=not self.here)
        self._rows = session_rows(self._cards, shown)

    def _found_rows(self) -> Sequence[PickRow]:
        return self._rows

    @property
    def card(self) -> SessionCard | None:
        """The session the cursor is on."""
        return self._cards.get(self.rows.row_id)

    def _empty_words(self, query: str) -> str:
        if self.looking:
            return "Looking for sessions…"
        if query and self.found.indexing:
            return "No session matches yet."
        if not query and not self.here:
            return "No session was stored yet."
        return super()._empty_words(query)

    def _data(self, rows: Sequence[PickRow]) -> Content:
        self._say_note()
        more = self.found.matching > len(rows)
        count = f"{len(rows)} of {self.found.matching:,}" if more else f"{len(rows)}"
        return Content(f"{self._reading()}{count}")

    def _say_note(self) -> None:
        """Say what was done last; else what is wrong; else how many are not listed, and why."""
        left_out = ", ".join(f"{count:,} {why}" for count, why in self.found.hidden())
        note = Content(self._note or (f"Not listed: {left_out}" if left_out else ""))
        if self.problem and not self._note:
            note = Content.styled(one_line(self.problem, 300), "$text-warning")
        self.query_one("#session-note", Static).update(note)

    def _highlighted(self, row: PickRow | None) -> None:
        card = self.card
        self.query_one("#session-facts", Static).update(facts_line(card) if card else "")
        self._show_details()
        last = self.rows.cursor_row >= len(self._cards) - 1
        full = self._cards_wanted <= len(self._cards) < self.found.matching
        if card is not None and last and full:
            self._cards_wanted = len(self._cards) + _PAGE
            self.look_again()

    def _show_details(self) -> None:
        if not (self.has_class("-beside") or self.has_class("-instead")):
            return
        card, key = self.card, self.rows.row_id
        if card is not None:
            self._show(details_content(card, self._details.get(key), ""))
        else:
            # Beside the list, that says why there is nothing.
            instead = self.has_class("-instead") and not self._rows
            self._show(Content(self._empty_words(self.query_text) if instead else ""))
        if card is not None and key not in self._details:
            self._load_details(key, card)

    @work(group="details", exclusive=True)
    async def _load_details(self, key: str, card: SessionCard) -> None:
        problem = ""
        try:
            self._details[key] = await self.answer_of(self._client.session_details(key))
        except Exception as error:
            # Whatever the host could not do is shown in place of the preview.
            problem = one_line(str(error), 300)
        if self.rows.row_id == key:
            self._show(details_content(card, self._details.get(key), problem))

    def _show(self, content: Content) -> None:
        self.query_one("#session-text", Static).update(content)
        self.query_one("#session-aside").scroll_home(animate=False)

    def _shape(self) -> None:
        super()._shape()
        wide = self.app.size.width >= _WIDE and not self._is_small()
        if wide:
            self.remove_class("-instead")
        self.set_class(wide, "-beside")

    def _fit(self, rows: int) -> None:
        super()._fit(rows)
        if self.has_class("-instead"):
            # A text needs more room than the list had.
            self.sheet.styles.height = rows
        # The list has its width after this.
        self.call_after_refresh(self._refit)

    def _refit(self) -> None:
        self.show_keys()
        if self.rows.size.width != self._width:
            self._lay_rows()
            self.refill(self.rows.row_id)

    def action_here(self) -> None:
        """Look at the sessions of this folder only, or at all again."""
        self._cards_wanted = _PAGE
        super().action_here()

    def action_search(self) -> None:
        """Search all sessions instead."""
        self.app.post_message(ActionWanted("session.search"))
        self.finish()

    def action_close(self) -> None:
        """Leave the preview; clear the filter; close."""
        if self.has_class("-instead"):
            self.action_preview()
        else:
            super().action_close()

    def action_preview(self) -> None:
        """Show the session in place of the list, or the list again."""
        if not self.has_class("-beside"):
            self.toggle_class("-instead")
            self._fit(self.room())
            self.show_keys()
            self._show_details()

    def action_move(self, by: int) -> None:
        """Move the cursor, or scroll the preview that is in place of the list."""
        if self.has_class("-instead"):
            self.query_one("#session-aside").scroll_relative(y=by, animate=False)
        else:
            super().action_move(by)

    def _chosen(self, row: PickRow) -> None:
        self._end("resume")

    def action_fork(self) -> None:
        """Copy the session and go on in the copy."""
        self._end("copy")

    def _end(self, what: Literal["resume", "copy"]) -> None:
        # Kept: the list may be another one when the dialog has closed.
        self.chosen = self.card
        if self.chosen is not None:
            self.finish(what)

    def action_copy_id(self) -> None:
        """Copy the session's id."""
        if (card := self.card) is not None:
            self._copied(card.session_id)

    def action_rename(self) -> None:
        """Give the session another title."""
        if (card := self.card) is not None:
            self.run_worker(self._rename(self.rows.row_id, card), group="change")

    async def _rename(self, key: str, card: SessionCard) -> None:
        ask = AskLine("Title", card.title, blank=True)
        title = await self.app.push_screen_wait(ask)
        if title is not None:
            said = f"It is called {one_line(title, 60)} now" if title else "It has no title now"
            await self._change(self._client.title_session(key, title), said, key)

    def action_tag(self) -> None:
        """Change the session's tags."""
        if (card := self.card) is not None:
            self.run_worker(self._tag(self.rows.row_id, card), group="change")

    async def _tag(self, key: str, card: SessionCard) -> None:
        about = "With commas between them."
        ask = AskLine("Tags", ", ".join(card.tags), _TAGS, about=about, blank=True)
        line = await self.app.push_screen_wait(ask)
        if line is not None:
            tags = dict.fromkeys(filter(None, (" ".join(tag.split()) for tag in line.split(","))))
            # Only what was changed here, so that what another window changes stays.
            add = tuple(tag for tag in tags if tag not in card.tags)
            gone = tuple(tag for tag in card.tags if tag not in tags)
            asked = self._client.tag_session(key, add=add, remove=gone)
            await self._change(asked, "Tagged" if tags else "It has no tags now", key)

    def action_pin(self) -> None:
        """List the session before the others, or no more."""
        if (card := self.card) is not None:
            said = "It is listed where its age puts it" if card.pinned else "It is listed first now"
            asked = self._client.pin_session(self.rows.row_id, on=not card.pinned)
            self.run_worker(self._change(asked, said, self.rows.row_id), group="change")

    def action_delete(self) -> None:
        """Put the session into the bin; one that is open in the window only when it is closed."""
        card = self.card
        if card is not None and card.session_id in self._open_now:
            self._note = f"It is open here: {self._keymap.way_to('session.close')} closes it first"
            self._say_note()
        elif card is not None:
            self.run_worker(self._delete(self.rows.row_id, card), group="change")

    async def _delete(self, key: str, card: SessionCard) -> None:
        name = one_line(card.title or card.first_prompt, 40) or card.session_id[:8]
        undo = self.choice("undo", "").key
        said = f"{name} is in the bin · {undo} takes it out"
        if await self._change(self._client.delete_session(key), said, key):
            self._deleted.append((key, name))
            self.show_keys()

    def action_undo(self) -> None:
        """Take what was deleted last out of the bin."""
        if not self._deleted:
            self.app.bell()
            return
        self.run_worker(self._undo(*self._deleted.pop()), group="change")
        self.show_keys()

    async def _undo(self, key: str, name: str) -> None:
        if not await self._change(self._client.restore_session(key), f"{name} is back", key):
            self._deleted.append((key, name))
            self.show_keys()

    async def _change(self, asked: Future[str], said: str, keep: str) -> bool:
        """Wait for a change, say what it did or why not, and list anew with the cursor on a row."""
        try:
            problem = await self.answer_of(asked, changes=True)
        except Exception as error:
            # Whatever the host could not do is said.
            problem = str(error) or type(error).__name__
        self._note = one_line(f"Nothing has changed: {problem}" if problem else said, 200)
        self._details.pop(keep, None)
        self.look_again("" if problem else keep)
        return not problem
