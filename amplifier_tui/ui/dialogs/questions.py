"""Short questions: one line of text, yes or no, and whether to open an address."""

from typing import ClassVar
from urllib.parse import urlsplit

from textual import on
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Horizontal
from textual.content import Content
from textual.widgets import Input, Static

from amplifier_tui.base.text import one_line
from amplifier_tui.ui.dialogs.parts.guarded import GuardedSheet
from amplifier_tui.ui.dialogs.parts.sheet import KeyChoice, KeyRow, Sheet
from amplifier_tui.ui.fields.text_field import TextField
from amplifier_tui.ui.widgets.scroll_lines import ScrollLines
from amplifier_tui.ui.widgets.text_lines import visible_lines

_SCHEMES = frozenset(("http", "https"))


class AskLine(Sheet[str]):
    """Returns the line, stripped; None when it was closed or, unless `blank`, left empty.

    Args:
        needed: What is said of an empty line in place of closing; empty to close.
    """

    BINDINGS: ClassVar[list[BindingType]] = [Binding("escape", "close", show=False)]
    AUTO_FOCUS = "#line"
    DEFAULT_CSS = """
    AskLine #ask { height: 1; margin-bottom: 1; }
    AskLine #ask > Static { width: auto; max-width: 60%; text-style: bold; color: $text-secondary; }
    AskLine #line { width: 1fr; margin-left: 2; }
    AskLine #about { color: $text-muted; margin-bottom: 1; }
    """

    def __init__(
        self,
        label: str,
        value: str = "",
        limit: int = 200,
        *,
        about: str = "",
        verb: str = "Save",
        masked: bool = False,
        blank: bool = False,
        needed: str = "",
    ) -> None:
        super().__init__()
        self._about = about
        self._verb = verb
        self._masked = masked
        self._blank = blank
        self._needed = needed
        self._label = label
        self._limit = limit
        self._value = value

    def _content(self) -> ComposeResult:
        with Horizontal(id="ask"):
            yield Static(self._label, classes="one-row", markup=False)
            yield TextField(
                self._value,
                id="line",
                max_length=self._limit,
                password=self._masked,
                # What is there is mostly changed, not replaced.
                select_on_focus=False,
            )
        if self._about or self._needed:
            yield Static(self._about, id="about", markup=False)
        yield KeyRow((KeyChoice("enter", self._verb, "save"), KeyChoice("esc", "Close", "close")))

    @on(Input.Submitted)
    def _submitted(self, event: Input.Submitted) -> None:
        event.stop()
        self.action_save()

    def action_save(self) -> None:
        """Return the line."""
        line = self.query_one(Input).value.strip()
        if not line and self._needed:
            self.query_one("#about", Static).update(Content.styled(self._needed, "$text-warning"))
            return
        self.finish(line if line or self._blank else None)


class Confirm(GuardedSheet[bool]):
    """Says what would happen; returns whether the user said yes.

    Args:
        stays: Stay open at ctrl+c, which asked for it: pressed once more it is no answer.
    """

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("y", "answer(True)", show=False),
        Binding("n,escape", "answer(False)", show=False),
    ]
    DECIDES = frozenset(("answer(True)",))
    DEFAULT_CSS = """
    Confirm #question { margin-bottom: 1; }
    """

    def __init__(self, question: str, yes: str, *, stays: bool = False) -> None:
        super().__init__()
        self._question = question
        self._yes = yes
        self._stays = stays

    def leave(self) -> None:
        """Close without an answer, unless it stays."""
        if self._stays:
            self.app.bell()
        else:
            super().leave()

    def _content(self) -> ComposeResult:
        yield Static(self._question, id="question", markup=False)
        yes = KeyChoice("y", self._yes, "answer(True)", strong=True)
        yield KeyRow((yes, KeyChoice("esc", "Cancel", "answer(False)")))

    def give_way(self) -> None:
        """Take what is typed for a no."""
        self.finish(False)

    def action_answer(self, yes: bool) -> None:
        """Return the answer."""
        self.finish(yes)


class Unsaved(GuardedSheet[str]):
    """Says what the disk did not take; returns `again`, `lose`, or None to go on as it is."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("r", "again", show=False),
        Binding("y", "lose", show=False),
        Binding("n,escape", "close", show=False),
    ]
    DECIDES = frozenset(("again", "lose"))
    DEFAULT_CSS = """
    Unsaved #unsaved { margin-bottom: 1; }
    """

    def __init__(self, unsaved: str, doing: str) -> None:
        super().__init__()
        self._unsaved = unsaved
        self._doing = doing

    def _content(self) -> ComposeResult:
        advice = "Make room and try again: what is not on disk then is lost."
        yield Static(f"{self._unsaved}\n{advice}", id="unsaved", markup=False)
        again = KeyChoice("r", "Try again", "again", strong=True)
        lose = KeyChoice("y", f"{self._doing} and lose it", "lose")
        yield KeyRow((again, lose, KeyChoice("esc", "Cancel", "close")))

    def action_again(self) -> None:
        """Have it written."""
        self.finish("again")

    def action_lose(self) -> None:
        """Go on without it."""
        self.finish("lose")


class OpenLink(GuardedSheet[str]):
    """Returns `open` or `copy`; None when it was closed."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("o", "open", show=False),
        Binding("y", "copy", show=False),
        Binding("escape", "close", show=False),
    ]
    DECIDES = frozenset(("open",))
    AUTO_FOCUS = "#address"
    DEFAULT_CSS = """
    OpenLink #link-head { margin-bottom: 1; }
    OpenLink #address { background: $panel; margin-left: 2; }
    OpenLink KeyRow { margin-top: 1; }
    """

    def __init__(self, url: str) -> None:
        super().__init__()
        self._url = url
        self._host = host_of(url)

    def _content(self) -> ComposeResult:
        if self._host:
            head = Content.assemble("Opens ", (one_line(self._host, 200), "bold"))
        else:
            head = Content.styled("This is no web address; it is not opened.", "$text-warning")
        yield Static(head, id="link-head")
        yield ScrollLines(visible_lines(self._url), id="address")
        choices = [KeyChoice("o", "Open in the browser", "open")] if self._host else []
        yield KeyRow([*choices, KeyChoice("y", "Copy", "copy"), KeyChoice("esc", "Close", "close")])

    def _fit(self, rows: int) -> None:
        self.query_one(ScrollLines).styles.max_height = max(1, rows - 6)

    def action_open(self) -> None:
        """Open it."""
        if self._host:
            self.finish("open")

    def action_copy(self) -> None:
        """Copy it."""
        self.finish("copy")


def host_of(url: str) -> str:
    """Return the host an address leads to; empty for one that is not opened: no web address."""
    try:
        parts = urlsplit(url)
        return (parts.hostname or "") if parts.scheme.lower() in _SCHEMES else ""
    except ValueError:
        return ""
