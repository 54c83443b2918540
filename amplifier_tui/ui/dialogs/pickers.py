"""The pickers of what is stored: sessions, earlier prompts, notices, themes, memories."""

import time
from collections.abc import Awaitable, Callable, Sequence
from concurrent.futures import Future
from typing import ClassVar

from textual import on
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.content import Content
from textual.events import Paste
from textual.widgets import Input

from amplifier_tui.base.text import clean, one_line, shortened
from amplifier_tui.host.client import MemoryCard
from amplifier_tui.host.events import Level
from amplifier_tui.ui.app.themes import AUTO, FITTING, Roles
from amplifier_tui.ui.dialogs.parts.picker import LetterPicker, Picker, marked_match
from amplifier_tui.ui.dialogs.parts.row_about import RowAbout, RowText, is_cut
from amplifier_tui.ui.dialogs.parts.sheet import KeyChoice, KeyRow
from amplifier_tui.ui.fuzzy import rank
from amplifier_tui.ui.state.formats import ago
from amplifier_tui.ui.state.notices import ShownNotice
from amplifier_tui.ui.widgets.pick_list import LazyRows, PickRow

GLYPHS: dict[Level, tuple[str, str]] = {
    "info": ("·", "$text-muted"),
    "warning": ("!", "$text-warning"),
    "error": ("✗", "$text-error"),
}
_TEXT = 2_000
"""Characters of a text that are shown below a list."""


class HistoryPicker(Picker):
    """Lists prompts, given oldest first; returns the index of the one to put into the draft."""

    TITLE = "History"
    PLACEHOLDER = "Type to search earlier prompts"
    CHOOSE = "Use"
    EMPTY = ("No prompt was sent yet.", "No prompt matches.")
    ROWS = (6, 12)

    def __init__(self, items: Sequence[str], query: str = "") -> None:
        super().__init__(query)
        # The newest of equal prompts is the one that counts.
        newest = {text: index for index, text in enumerate(items)}
        self._items = [(index, one_line(text, 400), text) for text, index in newest.items()]
        self._items.sort(reverse=True)

    def _rows_for(self, query: str) -> Sequence[PickRow]:
        rows: list[PickRow] = []
        for index, line, text in rank(query, self._items, lambda item: item[1]):
            count = text.count("\n")
            words = f"{count + 1} lines" if count else ""
            note = Content.styled(words, "$text-muted")
            rows.append(PickRow(str(index), marked_match(line, query), note))
        return rows


class NoticeHistory(Picker):
    """Lists notices, given oldest first; returns the index of the one to copy."""

    TITLE = "Notices"
    CHOOSE = "Copy"
    EMPTY = ("No notice yet.", "No notice matches.")
    BELOW = 4

    def __init__(self, history: Sequence[ShownNotice]) -> None:
        super().__init__()
        self._history = list(enumerate(history))[::-1]

    def _below(self) -> ComposeResult:
        yield RowText()

    def _rows_for(self, query: str) -> Sequence[PickRow]:
        notices = rank(query, self._history, lambda n: f"{n[1].notice.text} {n[1].notice.source}")
        return [self._row(index, shown) for index, shown in notices]

    def _row(self, index: int, shown: ShownNotice) -> PickRow:
        glyph, colour = GLYPHS[shown.notice.level]
        clock = time.strftime("%H:%M:%S", time.localtime(shown.since))
        words = one_line(shown.notice.text, 500)
        left = Content.assemble((f"{clock} ", "$text-muted"), (f"{glyph} ", colour), words)
        right = Content.styled(one_line(shown.notice.source, 40), "$text-muted")
        return PickRow(str(index), left, right)

    def _highlighted(self, row: PickRow | None) -> None:
        # What the row says already is not said again.
        cut = row is not None and is_cut(self.rows, row)
        words = self._history[-1 - int(row.id)][1].notice.text if row is not None and cut else ""
        self._tell_whole(one_line(words, _TEXT))

    def _fit(self, rows: int) -> None:
        super()._fit(rows)
        # The width that decides what is cut is known after the layout.
        self.call_after_refresh(lambda: self._highlighted(self.rows.row))


class ThemePicker(Picker):
    """Returns the name of the theme to keep; None when the one before was put back.

    `load` returns the themes, and what is wrong with files, as they are on the disk by now.
    """

    TITLE = "Themes"
    CHOOSE = "Keep"
    ROWS = (6, 12)
    BELOW = 3

    def __init__(
        self,
        themes: Sequence[Roles],
        errors: Sequence[str],
        current: str,
        show: Callable[[str], None],
        load: Callable[[], Awaitable[tuple[Sequence[Roles], Sequence[str]]]],
        *,
        fits: bool = False,
    ) -> None:
        super().__init__()
        self._load = load
        self._themes = [FITTING, *themes]
        self._fits = fits
        self._errors = errors
        self._current = current
        self._show = show

    def on_mount(self) -> None:
        """Show what is known, and then what has come since."""
        super().on_mount()
        self.run_worker(self._look_again(), group="themes")

    async def _look_again(self) -> None:
        themes, errors = await self._load()
        if [FITTING, *themes] != self._themes or list(errors) != list(self._errors):
            self._themes, self._errors = [FITTING, *themes], errors
            self.refill(self.rows.row_id)

    def _first(self) -> str:
        return AUTO if self._fits else self._current

    def _rows_for(self, query: str) -> Sequence[PickRow]:
        found = rank(query, self._themes, lambda roles: f"{roles['name']} {roles['description']}")
        rows = [self._row(roles, query) for roles in found]
        wrong = rank(query, self._errors, str)
        return rows + [
            PickRow("", Content.styled(f"✗ {one_line(error)}", "$text-error")) for error in wrong
        ]

    def _row(self, roles: Roles, query: str) -> PickRow:
        left = Content.assemble(
            marked_match(roles["name"], query).stylize("bold"),
            (f"  {one_line(roles['description'])}", "$text-muted"),
        )
        if roles is FITTING:
            kind, in_use = "", self._fits
        else:
            kind = "dark" if roles["dark"] else "light"
            in_use = roles["name"] == self._current and not self._fits
        words = " · ".join(filter(None, ("in use" if in_use else "", kind)))
        return PickRow(roles["name"], left, Content.styled(words, "$text-muted"))

    def _below(self) -> ComposeResult:
        yield RowAbout()

    def _fit(self, rows: int) -> None:
        super()._fit(rows)
        self.query_one(RowAbout).take(1 if self.app.size.width >= 80 else 2)
        # What is cut is known after the layout.
        self.call_after_refresh(lambda: self._tell(self.rows.row))

    def _tell(self, row: PickRow | None) -> None:
        """Say whole what is cut in the row under the cursor."""
        cut = row is not None and is_cut(self.rows, row)
        words = row.left.plain.partition("  ")[2] if row is not None and cut else ""
        self.query_one(RowAbout).tell([Content(words)])

    def _highlighted(self, row: PickRow | None) -> None:
        self._tell(row)
        self._show(row.id if row is not None and row.id not in ("", AUTO) else self._current)

    def finish(self, result: str | None = None) -> None:
        """Close with the theme to keep, or put the old one back."""
        if result is None:
            self._show(self._current)
        super().finish(result)


class NamePicker(Picker):
    """Returns one of some names."""

    EMPTY = ("", "No name matches.")
    ROWS = (4, 8)

    def __init__(self, names: Sequence[str]) -> None:
        super().__init__()
        self._names = names

    def _rows_for(self, query: str) -> Sequence[PickRow]:
        return [
            PickRow(name, Content(one_line(name, 80))) for name in rank(query, self._names, str)
        ]


class KeyPicker(NamePicker):
    """Returns the variable whose key is to be given; `pasted` is a key that was pasted before.

    It has no filter: who is told to paste a key does so at once, and would read it there.
    """

    TITLE = "Which key"
    AUTO_FOCUS = ""

    def __init__(self, names: Sequence[str]) -> None:
        super().__init__(names)
        self.pasted = ""

    def on_mount(self) -> None:
        """Fill the list."""
        self.query_one("#filter", Input).display = False
        super().on_mount()

    def on_paste(self, event: Paste) -> None:
        """Keep a key until it is known whose it is."""
        event.stop()
        self.pasted = event.text.strip()
        self.refill(self.rows.row_id)

    def _data(self, rows: Sequence[PickRow]) -> Content:
        return Content("  pasted, not shown: whose?") if self.pasted else Content()


class ServerPicker(NamePicker):
    """Returns the model server to use."""

    TITLE = "Which server"


class MemoryList(LetterPicker[MemoryCard]):
    """Returns the id of the memory to copy."""

    TITLE = "Memories"
    CHOOSE = "Copy"
    WHAT = "memories"
    KEY = "memory_id"
    EMPTY = ("Nothing was remembered yet: /remember does.", "No memory matches.")
    ROWS = (4, 16)
    BELOW = 4
    DECIDES = frozenset(("forget",))
    ON_ROW = frozenset({"choose", "forget"})
    BINDINGS: ClassVar[list[BindingType]] = [Binding("d,delete", "forget", show=False)]

    def __init__(
        self, ask: Callable[[], Future[tuple[MemoryCard, ...]]], forget: Callable[[int], None]
    ) -> None:
        super().__init__(ask)
        self._forget = forget
        self._doomed = ""

    def text_of(self, memory_id: str) -> str:
        """Return a memory's text; empty for one that is not listed."""
        card = self.cards.get(memory_id)
        return clean(card.text) if card is not None else ""

    def _below(self) -> ComposeResult:
        yield RowText()

    def _problem_words(self, error: Exception) -> str:
        if isinstance(error, RuntimeError):
            return one_line(str(error))
        return super()._problem_words(error)

    def _rows_for(self, query: str) -> Sequence[PickRow]:
        cards = rank(query, self.cards.values(), lambda card: one_line(card.text))
        return LazyRows(cards, self._row, lambda card: str(card.memory_id))

    def _row(self, card: MemoryCard) -> PickRow:
        where = "everywhere" if card.everywhere else "this project"
        age = ago(time.time() - card.created) if card.created else ""
        words = " · ".join(part for part in (where, age) if part)
        key = str(card.memory_id)
        style = "$text-warning bold" if key == self._doomed else ""
        pad = max(map(len, self.cards), default=0)
        number = (f"#{key}".ljust(pad + 3), "$text-muted")
        left = Content.assemble(number, (one_line(card.text, 300), style))
        return PickRow(key, left, Content.styled(words, "$text-muted"))

    def _highlighted(self, row: PickRow | None) -> None:
        text = shortened(self.text_of(row.id), _TEXT) if row is not None else ""
        # What the row says already is not said again.
        whole = row is not None and one_line(text, 300) == text
        room = self.rows.size.width - 40
        self._tell_whole("" if whole and len(text) < room else text)
        if row is None or row.id != self._doomed:
            self._keep()
        self._show_keys()

    def _choices(self) -> Sequence[KeyChoice]:
        if self._doomed:
            forget = KeyChoice("d", f"Forget #{self._doomed} for good", "forget", strong=True)
            return (forget, KeyChoice("esc", "Keep it", "close"))
        choose, close = super()._choices()
        if not self.cards:
            return (close,)
        return (
            KeyChoice("d", "Forget", "forget"),
            choose,
            KeyChoice("/", "Filter", "filter"),
            close,
        )

    def _show_keys(self) -> None:
        self.query_one(KeyRow).set_choices(self._choices())

    def _keep(self) -> None:
        if self._doomed:
            self._doomed = ""
            self.refill(self.rows.row_id)
            self._show_keys()

    def action_forget(self) -> None:
        """Ask whether to delete the highlighted one; asked already, delete it."""
        row = self.rows.row
        if row is None or not self.asked:
            self.app.bell()
        elif self._doomed != row.id:
            self._doomed = row.id
            self.refill(row.id)
            self._show_keys()
        else:
            self._doomed = ""
            del self.cards[row.id]
            self._forget(int(row.id))
            self.refill(row.id)
            self._show_keys()

    def _chosen(self, row: PickRow) -> None:
        if self._doomed:
            self._keep()
        else:
            super()._chosen(row)

    def action_close(self) -> None:
        """Keep what was to be forgotten; clear and leave the filter; close."""
        if self._doomed:
            self._keep()
        else:
            super().action_close()

    @on(Input.Changed, "#filter")
    def _filter_typed(self) -> None:
        self._doomed = ""
        self._show_keys()
