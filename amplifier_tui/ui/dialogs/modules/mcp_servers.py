"""The MCP servers of the session: how it stands with each, what it offers and wrote; restarting."""

from collections.abc import Iterator, Sequence
from typing import ClassVar, Final

from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.content import Content
from textual.widgets import Static

from amplifier_tui.base.text import one_line
from amplifier_tui.host.client import ServerStatus, SessionClient
from amplifier_tui.host.events import ReportItem
from amplifier_tui.ui.dialogs.parts.picker import LetterPicker, marked_match
from amplifier_tui.ui.dialogs.parts.sheet import KeyChoice, KeyRow, Sheet
from amplifier_tui.ui.fuzzy import rank
from amplifier_tui.ui.keys.actions import bindings
from amplifier_tui.ui.keys.keymap import Keymap
from amplifier_tui.ui.widgets.pick_list import PickRow
from amplifier_tui.ui.widgets.scroll_lines import ScrollLines
from amplifier_tui.ui.widgets.styled import fit
from amplifier_tui.ui.widgets.text_lines import TextLine

_EVERY: Final = 1.0
"""Seconds between two looks at how it stands."""
_MARKS: Final = {
    "ready": ("●", "$text-success"),
    "starting": ("◐", "$text-accent"),
    "idle": ("○", "$text-muted"),
    "failed": ("✗", "$text-error bold"),
    "off": ("–", "$text-muted"),
}
_WORDS: Final = {
    "idle": "starts when it is needed",
    "off": "off by its settings",
}
_LONGEST: Final = 400
_ROWS_ABOUT: Final = 2


class ServerList(LetterPicker[ServerStatus]):
    """Returns nothing: what is done with a server is done here.

    Args:
        refused: The names of servers the user did not trust when the session was opened.
        unread: The files of servers that could not be read then.
    """

    TITLE = "MCP servers"
    WHAT = "MCP servers"
    KEY = "name"
    EMPTY = ("This session has no MCP servers.", "No server matches.")
    ROWS = (4, 16)
    BELOW = 3
    SCOPE = "servers"
    DECIDES = frozenset(("restart",))
    ON_ROW = frozenset({"choose", "restart"})
    BINDINGS: ClassVar[list[BindingType]] = bindings("servers")
    DEFAULT_CSS = """
    ServerList #server-about { height: 2; margin-top: 1; color: $text-muted; }
    """

    def __init__(
        self,
        client: SessionClient,
        keymap: Keymap,
        refused: Sequence[str] = (),
        unread: Sequence[ReportItem] = (),
    ) -> None:
        super().__init__(client.mcp_servers)
        self._client = client
        self._refused = refused
        self._unread = unread
        self._keymap = keymap
        self._note = ""
        self._asking = False

    def on_resize(self) -> None:
        """Cut what is told of a server to the room there is."""
        self.call_after_refresh(lambda: self._highlighted(self.rows.row))

    def on_mount(self) -> None:
        """Ask the host, and go on asking."""
        super().on_mount()
        self.set_interval(_EVERY, self._look_again)

    def _look_again(self) -> None:
        # One after the other: an answer that takes longer than the pause is to come as well.
        if (self.is_active or self._details is not None) and self.asked and not self._asking:
            self.run_worker(self._load(), group="cards")

    async def _load(self) -> None:
        self._asking = True
        try:
            await super()._load()
            details = self._details
            if details is not None and (card := self.cards.get(details.card.name)) is not None:
                details.show(card)
        finally:
            self._asking = False

    @property
    def _details(self) -> "ServerSheet | None":
        """What is open above this."""
        top = self.app.screen
        return top if isinstance(top, ServerSheet) else None

    def _first(self) -> str:
        return self.rows.row_id

    def _problem_words(self, error: Exception) -> str:
        if isinstance(error, RuntimeError) and self._unread:
            told = (f"{each.where or each.what}: {each.why}" for each in self._unread)
            files = one_line("; ".join(told), _LONGEST)
            return f"No MCP servers could be read. {files}. Correct it, and open the session anew."
        if isinstance(error, RuntimeError) and self._refused:
            names = one_line(", ".join(self._refused), _LONGEST)
            return f"This session has no MCP servers. You refused {names}: /trust asks again."
        return one_line(str(error)) if isinstance(error, RuntimeError) else str(error)

    def _below(self) -> ComposeResult:
        yield Static(id="server-about", markup=False)

    def _rows_for(self, query: str) -> Sequence[PickRow]:
        found = rank(query, self.cards.values(), lambda card: one_line(card.name))
        return [self._row(card, query) for card in found]

    def _row(self, card: ServerStatus, query: str) -> PickRow:
        mark, style = _MARKS[card.state]
        name = marked_match(one_line(card.name, 60), query)
        left = Content.assemble((f"{mark} ", style), name)
        target = one_line(card.target, 100)
        if target:
            left = Content.assemble(left, (f"  {target}", "$text-muted"))
        style = "$text-error" if card.state == "failed" else "$text-muted"
        return PickRow(card.name, left, Content.styled(f"{_tools(card)}{card.state}", style))

    def _highlighted(self, row: PickRow | None) -> None:
        card = self.card
        about = self._note or (_about(card) if card is not None else "")
        style = "$text-error" if card is not None and card.state == "failed" else "$text-muted"
        below = self.query_one("#server-about", Static)
        below.update(Content.styled(_cut(about, below.size.width), style))
        self.query_one(KeyRow).set_choices(self._choices())

    def _choices(self) -> Sequence[KeyChoice]:
        close = KeyChoice("esc", "Close", "close")
        if not self.is_mounted or self.card is None:
            return (close,)
        words = "Restart" if self.card.state in ("ready", "failed") else "Start"
        return (
            KeyChoice("enter", "Details and log", "choose"),
            self.choice("restart", words),
            KeyChoice("/", "Filter", "filter"),
            close,
        )

    def _chosen(self, row: PickRow) -> None:
        card = self.cards.get(row.id)
        if card is not None:
            self.app.push_screen(ServerSheet(card))

    def action_restart(self) -> None:
        """End the highlighted server and start it again."""
        card = self.card
        if card is not None and card.state != "off":
            self._note = f"{one_line(card.name, 60)} is started…"
            self._highlighted(self.rows.row)
            self.run_worker(self._restart(card.name), group="restart", exclusive=True)

    async def _restart(self, name: str) -> None:
        try:
            problem = await self.answer_of(self._client.restart_mcp_server(name), changes=True)
        except Exception as error:
            # Whatever the module could not do is said.
            problem = str(error) or type(error).__name__
        self._note = one_line(problem, _LONGEST)
        await self._load()
        self._note = ""


class ServerSheet(Sheet[None]):
    """Shows all that is known of a server."""

    BINDINGS: ClassVar[list[BindingType]] = [Binding("escape,enter,q", "close", show=False)]
    IN_PLACE = True
    AUTO_FOCUS = "#server"
    DEFAULT_CSS = """
    ServerSheet #server-head { text-style: bold; color: $text-secondary; margin-bottom: 1; }
    ServerSheet #server { background: $panel; }
    ServerSheet KeyRow { margin-top: 1; }
    """

    def __init__(self, card: ServerStatus) -> None:
        super().__init__()
        self.card = card

    def _content(self) -> ComposeResult:
        yield Static(_head(self.card), id="server-head")
        yield ScrollLines(list(_lines(self.card)), 3, id="server")
        yield KeyRow((KeyChoice("esc", "Back", "close"),))

    def show(self, card: ServerStatus) -> None:
        """Show how it stands with the server now; what is read stays where it is."""
        if card == self.card or not self.is_mounted:
            return
        self.card = card
        self.query_one("#server-head", Static).update(_head(card))
        lines = self.query_one(ScrollLines)
        top = lines.scroll_offset.y
        lines.set_lines(list(_lines(card)))
        lines.scroll_to(y=top, animate=False, force=True)

    def _fit(self, rows: int) -> None:
        self.query_one(ScrollLines).styles.max_height = max(2, rows - 6)


def _head(card: ServerStatus) -> Content:
    return Content(f"{one_line(card.name, 100)}   {card.state}")


def _tools(card: ServerStatus) -> str:
    return f"{len(card.tools)} tool{'' if len(card.tools) == 1 else 's'} · " if card.tools else ""


def _about(card: ServerStatus) -> str:
    if card.problems and card.state in ("failed", "off"):
        return one_line(card.problems[-1], _LONGEST)
    if card.state in _WORDS:
        return _WORDS[card.state]
    return one_line(", ".join(card.tools), _LONGEST)


def _cut(text: str, width: int) -> str:
    """Return a text as its two rows hold it, with a mark where it goes on."""
    rows = Content(text).wrap(width) if width else []
    if len(rows) <= _ROWS_ABOUT:
        return text
    *whole, last = (row.plain for row in rows[:_ROWS_ABOUT])
    return "\n".join([*whole, fit(f"{last.rstrip()} …", width)])


def _lines(card: ServerStatus) -> Iterator[TextLine]:
    yield TextLine(one_line(f"{card.transport}  {card.target}", _LONGEST), "$text-muted")
    for title, texts, style in (
        ("Problems", card.problems, "$text-error"),
        ("Tools", card.tools, ""),
        ("Prompts: /server:prompt", card.prompts, ""),
        ("Resources: @server:address", card.resources, ""),
        ("Log", card.log, "$text-muted"),
    ):
        if texts:
            yield TextLine("", "")
            yield TextLine(title, "$text-secondary bold")
            for text in texts:
                yield TextLine(one_line(text, _LONGEST), style, lead="  ")
