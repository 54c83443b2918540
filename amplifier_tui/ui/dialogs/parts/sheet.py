"""What every dialog is: a surface that comes up from the foot of the screen, ending in its keys.

The conversation stays readable above it and goes on; the prompt and the status bar stay visible
below it. On a small screen it covers these, and may take all rows.
"""

import asyncio
from collections.abc import Callable, Coroutine, Sequence
from concurrent.futures import Future
from typing import TYPE_CHECKING, Any, ClassVar, TypeVar, cast

from textual import events, on
from textual.app import ComposeResult
from textual.containers import Vertical
from textual.content import Content
from textual.geometry import Size
from textual.message import Message
from textual.strip import Strip
from textual.widget import Widget

from amplifier_tui.base.lazy.dataclass import dataclass
from amplifier_tui.ui.keys.actions import BY_ID
from amplifier_tui.ui.keys.keymap import Keymap, show_keys
from amplifier_tui.ui.terminal.textual_costs import Overlay, in_time
from amplifier_tui.ui.widgets.messages import CopyRequested

if TYPE_CHECKING:
    from amplifier_tui.ui.app.screens.main_screen import MainScreen
    from amplifier_tui.ui.state.facts import Facts
    from amplifier_tui.ui.state.session import SessionState

T = TypeVar("T")
R = TypeVar("R")

SMALL = (80, 20)
"""Below this many columns or rows a sheet may take the whole screen."""


@dataclass(frozen=True, slots=True)
class KeyChoice:
    """A key, its words, and the name of what it does."""

    key: str
    words: str
    action: str
    strong: bool = False
    """The one word a decision hangs on: drawn bold in the warning colour."""


class KeyRow(Widget):
    """Lays its choices out from left to right, on as many rows as they need.

    Cells at the right are kept free (`set_reserve`) for `set_right`, which needs no layout.
    """

    COMPONENT_CLASSES: ClassVar[set[str]] = {"key-row--key"}
    DEFAULT_CSS = """
    KeyRow {
        height: auto;
        & > .key-row--key { background: $background; color: $foreground; text-style: bold; }
    }
    """
    GAPS: ClassVar[tuple[int, ...]] = (3, 2, 1)
    """Cells between two choices: the most with which all stand on one row."""

    @dataclass
    class Clicked(Message):
        """A choice was clicked."""

        action: str

    def __init__(self, choices: Sequence[KeyChoice] = (), *, id: str | None = None) -> None:
        super().__init__(id=id)
        self._given = self._named = self._choices = tuple(choices)
        self._renamed: dict[str, str] = {}
        self._hidden: frozenset[str] = frozenset()
        self._reserve = 0
        self._right = Content()

    @property
    def choices(self) -> tuple[KeyChoice, ...]:
        """What it shows, without those that are left out."""
        return self._choices

    def set_choices(self, choices: Sequence[KeyChoice]) -> None:
        """Show other choices."""
        self._given = tuple(choices)
        named = tuple(
            KeyChoice(
                each.key, self._renamed.get(each.action) or each.words, each.action, each.strong
            )
            for each in choices
        )
        shown = tuple(each for each in named if each.action not in self._hidden)
        if (named, shown) != (self._named, self._choices):
            self._named, self._choices = named, shown
            self.refresh(layout=True)

    def rename(self, action: str, words: str) -> None:
        """Say other words for what an action does next; empty ones for its own."""
        self._renamed[action] = words
        self.set_choices(self._given)

    def hide(self, actions: frozenset[str]) -> None:
        """Leave these actions out, and no others."""
        if actions != self._hidden:
            self._hidden = actions
            self.set_choices(self._given)

    def set_reserve(self, cells: int) -> None:
        """Keep so many cells free at the right of the last row."""
        if cells != self._reserve:
            self._reserve = cells
            self.refresh(layout=True)

    def set_right(self, content: Content) -> None:
        """Show data at the right end of the last row. Never needs another layout."""
        self._right = content
        self.refresh()

    def get_content_height(self, container: Size, viewport: Size, width: int) -> int:
        """Return how many rows the choices need, those that are left out among them.

        So nothing jumps under the eyes while a filter is typed.
        """
        return len(self._rows(width, self._named))

    def _rows(
        self, width: int, choices: Sequence[KeyChoice] | None = None
    ) -> list[list[tuple[int, KeyChoice]]]:
        """Return choices, those that are shown if not given, by row with the cell of each."""
        choices = self._choices if choices is None else choices
        sizes = [len(choice.key) + 3 + len(choice.words) for choice in choices]
        # What stands at the right keeps as far away as a choice.
        number = len(sizes) - (not self._reserve)
        whole = sum(sizes) + self._reserve
        one_row = (gap for gap in self.GAPS if whole + gap * number <= width)
        gap = next(one_row, self.GAPS[0] if width >= 60 else 1)
        rows: list[list[tuple[int, KeyChoice]]] = [[]]
        at = 0
        for choice, size in zip(choices, sizes, strict=True):
            if at and at + size > width:
                rows.append([])
                at = 0
            rows[-1].append((at, choice))
            at += size + gap
        if self._reserve and at + self._reserve > width:
            rows.append([])
        return rows

    def render_line(self, y: int) -> Strip:
        """Draw one row."""
        width = self.size.width
        key_style = self.get_visual_style("key-row--key")
        line, rows = Content(), self._rows(width)
        for at, choice in rows[y] if y < len(rows) else ():
            line = line.pad_right(at - line.cell_length)
            words = (choice.words, "$text-warning bold" if choice.strong else "")
            line = Content.assemble(line, (f" {choice.key} ", key_style), " ", words)
        if y == len(rows) - 1:
            right = self._right.truncate(max(0, width - line.cell_length), ellipsis=True)
            gap = " " * (width - line.cell_length - right.cell_length)
            line = Content.assemble(line, gap, right)
        strip = Strip(line.render_segments(self.visual_style), line.cell_length)
        return strip.adjust_cell_length(width, self.rich_style)

    def on_click(self, event: events.Click) -> None:
        """Say which choice was clicked."""
        event.stop()
        rows = self._rows(self.size.width)
        for at, choice in rows[event.y] if event.y < len(rows) else ():
            if at <= event.x < at + len(choice.key) + 3 + len(choice.words):
                self.post_message(self.Clicked(choice.action))
                return


class _Surface(Vertical):
    """What a sheet is laid out in."""

    def on_resize(self) -> None:
        """Tell the sheet how high it has become: its parts decide that after they were changed."""
        if isinstance(self.screen, Sheet):
            self.screen.surface_resized()


class Sheet(Overlay[T]):
    """A modal screen with its content in a container at the bottom."""

    DEFAULT_CSS = """
    Sheet {
        background: transparent;
        align: left bottom;
        overflow: hidden;
    }
    Sheet > #sheet {
        width: 100%;
        height: auto;
        background: $panel;
        padding: 1 2;
    }
    Sheet Input {
        height: 1;
        padding: 0 1;
        border: none;
        background: $background;
        &:focus { border: none; background-tint: transparent; }
        & > .input--placeholder { color: $text-muted; }
    }
    Sheet .one-row { height: 1; text-wrap: nowrap; text-overflow: ellipsis; }
    Sheet.-small > #sheet { max-height: 100%; padding: 0 1; }
    Sheet.-ended > #sheet { display: none; }
    """

    SCOPE: ClassVar[str] = ""
    """The first word of the ids of its actions, where their keys can be changed."""
    HEARS_ALL: ClassVar[bool] = False
    """Whether every key means something to it."""
    _keymap: Keymap
    """The keys to show; a dialog with a scope sets it."""
    _done: asyncio.Event | None = None
    """When what was begun last in order is done."""
    _ended: tuple[T | None] | None = None
    """The result with which it closes when it is the topmost again."""
    _subject: tuple["Facts", str] | None = None
    """The session that it is about: what holds of it, and its id."""

    def compose(self) -> ComposeResult:
        """Put the content into the sheet."""
        # Before there are widgets, which would all be styled a second time.
        self._shape()
        with _Surface(id="sheet"):
            yield from self._content()

    def _content(self) -> ComposeResult:
        """Make the widgets of the dialog."""
        yield from ()

    def choice(self, name: str, said: str) -> KeyChoice:
        """Return an action of its scope with its key and these words."""
        action = BY_ID[f"{self.SCOPE}.{name}"]
        return KeyChoice(show_keys(self._keymap.keys_of(action)), said, action.run)

    @property
    def sheet(self) -> Widget:
        """The container."""
        return self.query_one("#sheet")

    def be_about(self, state: "SessionState") -> None:
        """Decide about a session; where another one takes its place, it does nothing but close."""
        self._subject = state.facts, state.facts.session_id

    @property
    def is_stale(self) -> bool:
        """Whether the session is left that it is about, or a dialog from which it was opened."""
        stack = self.app.screen_stack
        below = stack[: stack.index(self) + 1] if self in stack else [self]
        subjects = (sheet._subject for sheet in below if isinstance(sheet, Sheet))
        return any(facts.session_id != known for facts, known in filter(None, subjects) if known)

    def room(self) -> int:
        """Return how many rows the sheet may take."""
        return self.app.size.height - self._foot()

    @property
    def rows_hidden(self) -> int:
        """How many rows it hides above the prompt."""
        foot_hidden = self._main.foot_rows - self._foot()
        return max(0, self.sheet.outer_size.height - foot_hidden)

    @property
    def _main(self) -> "MainScreen":
        return cast("MainScreen", self.app.screen_stack[0])

    def _is_small(self) -> bool:
        width, height = self.app.size
        return width < SMALL[0] or height < SMALL[1]

    def _foot(self) -> int:
        """Return the rows below the sheet; on a small screen it covers them."""
        return 0 if self._is_small() else self._main.foot_rows

    def call_after_refresh(self, callback: Callable[..., Any], *args: Any, **kwargs: Any) -> bool:
        """Call something after the next refresh, unless it has closed: then its parts are gone."""

        def call() -> Any:
            return callback(*args, **kwargs) if self in self.app.screen_stack else None

        return super().call_after_refresh(call)

    @on(events.Mount)
    @on(events.Resize)
    def _take_room(self) -> None:
        self._shape()
        self.sheet.styles.margin = (0, 0, self._foot(), 0)
        self.sheet.styles.max_height = self.room()
        self._fit(self.room())

    @on(events.Mount)
    def _follow_foot(self) -> None:
        """Take room again when what is below the sheet has another size."""

        def look(_: object) -> None:
            if self.sheet.styles.margin.bottom != self._foot():
                self._take_room()

        self._main.foot_changed.subscribe(self, look)

    def _shape(self) -> None:
        """Set the classes that depend on the terminal's size."""
        self.set_class(self._is_small(), "-small")

    def _fit(self, rows: int) -> None:
        """Adapt to the height there is; called on every resize."""

    def surface_resized(self) -> None:
        """It has another size on the screen."""

    def in_order(self, work: Coroutine[Any, Any, None]) -> None:
        """Do something that waits for the host; keys that come meanwhile wait for it.

        An action must not wait for it itself: it may run in the task of the app, which ends with it
        when the dialog has closed meanwhile (`answer_of`).
        """
        self._done = done = asyncio.Event()

        async def finish() -> None:
            try:
                await work
            finally:
                done.set()

        self.run_worker(finish(), group="in-order")

    async def comes(self) -> bool:
        """Wait until its parts are there, and what was begun in order is done."""
        return await super().comes() or await in_time(self._done)

    async def answer_of(self, asked: Future[R], *, changes: bool = False) -> R:
        """Wait for what the host was asked, in a worker.

        Args:
            asked: Its answer.
            changes: Whether it changes something: then it goes on when the dialog closes.

        Raises:
            asyncio.CancelledError: The dialog has closed meanwhile: nothing more is to be done.
        """
        try:
            answer = asyncio.wrap_future(asked)
            return await (asyncio.shield(answer) if changes else answer)
        finally:
            if not self.app.is_running or self not in self.app.screen_stack:
                raise asyncio.CancelledError

    @on(KeyRow.Clicked)
    async def _choice_clicked(self, event: KeyRow.Clicked) -> None:
        event.stop()
        if self.is_stale:
            self.finish()
        else:
            await self._choose(event.action)

    async def _choose(self, action: str) -> None:
        """Do what a click on a choice asks for."""
        await self.run_action(action)

    def state_changed(self) -> None:
        """The state of the session, which goes on behind the dialog, is another one."""

    def finish(self, result: T | None = None) -> None:
        """Close with a result, below another dialog once that has closed.

        Does nothing when the dialog is closing already; of two results the first one counts. Of one
        about a session that was left none does.
        """
        if self not in self.app.screen_stack:
            return
        result = None if self.is_stale else result
        if self.is_active and self.is_mounted:
            self.dismiss(result)
            return
        # Whatever is above it is seen alone: of two questions nobody would know which is answered.
        self.add_class("-ended")
        if not self.is_active:
            self._ended = self._ended or (result,)
        else:
            # A chord or an answer may come before it is there; without its parts it can't begin.
            self.call_after_refresh(self.finish, result)

    @on(events.ScreenResume)
    def _finish_late(self) -> None:
        if self._ended is not None:
            self.finish(*self._ended)

    def action_copy_text(self) -> None:
        """Copy what is selected, else leave: `ctrl+c`, in whatever part it is heard."""
        if selected := self.get_selected_text():
            self.post_message(CopyRequested(selected, "selection"))
        else:
            self.leave()

    def leave(self) -> None:
        """Close without a result, whatever was begun."""
        self.finish()

    def action_close(self) -> None:
        """Close without a result."""
        self.finish()
