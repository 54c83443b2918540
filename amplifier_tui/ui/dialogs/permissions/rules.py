"""The standing rules: what they say, where they are from, how often they decided; changing them."""

from collections.abc import Awaitable, Callable, Sequence
from concurrent.futures import Future
from itertools import groupby
from typing import ClassVar

from textual.app import ComposeResult
from textual.binding import BindingType
from textual.content import Content
from textual.widgets import Static

from amplifier_tui.base.text import one_line
from amplifier_tui.host.client import RuleCard, SessionClient
from amplifier_tui.host.events import Scope
from amplifier_tui.ui.dialogs.parts.picker import LetterPicker, Picker
from amplifier_tui.ui.dialogs.parts.sheet import KeyChoice, KeyRow
from amplifier_tui.ui.dialogs.permissions import words
from amplifier_tui.ui.dialogs.questions import AskLine
from amplifier_tui.ui.keys.actions import bindings
from amplifier_tui.ui.keys.keymap import Keymap
from amplifier_tui.ui.widgets.pick_list import LazyRows, PickRow, row_ids
from amplifier_tui.ui.widgets.styled import fit
from amplifier_tui.ui.widgets.text_lines import TextLine, fold

HOW = (
    "bash(npm run test *) for commands, write(src/**) for files, web(docs.python.org) for servers, "
    "or the name of a tool. ask or deny before it, where it does not allow."
)
TIGHT = 24
"""Rows below which no row is left empty above what is said of a rule."""
WORDS = 30
"""Cells of a row that are not the rule's."""
LONGEST = 2_000
"""Characters of a rule."""


def _in_two_rows(text: str, width: int) -> str:
    """Return a text in two rows of `width` cells, with an ellipsis where it was cut.

    A meaning that ends at a word unmarked would read as a wider rule than it is.
    """
    first, *rest = (row.text for row in fold(TextLine(text), width))
    return "\n".join([first, fit("".join(rest), width)] if rest else [first])


class ScopePicker(Picker):
    """Returns how long a rule is to hold."""

    TITLE = "How long the rule holds"
    ROWS = (3, 3)
    SCOPES: ClassVar[dict[Scope, tuple[str, str]]] = {
        "session": ("this session", "what allows: until it is closed"),
        "project": ("this project", "in your rules.yaml, all its checkouts"),
        "always": ("everywhere", "in your rules.yaml"),
    }

    def _rows_for(self, query: str) -> Sequence[PickRow]:
        return [
            PickRow(scope, Content(name), Content.styled(where, "$text-muted"))
            for scope, (name, where) in self.SCOPES.items()
            if query.casefold() in name
        ]


class RuleList(LetterPicker[RuleCard]):
    """Lists the rules by how long they hold; returns `explain` or `audit` to go there."""

    TITLE = "Permissions"
    WHAT = "rules"
    KEY = "key"
    EMPTY = ("There is no rule: what the mode does not let through is asked.", "No rule matches.")
    ROWS = (6, 24)
    BELOW = 3
    SCOPE = "rule"
    DECIDES = frozenset(("revoke_rule", "undo_revoke"))
    ON_ROW = frozenset({"choose", "edit_rule", "revoke_rule"})
    BINDINGS: ClassVar[list[BindingType]] = bindings("rules")
    DEFAULT_CSS = """
    RuleList #rule-about { height: 2; margin: 1 1 0 1; color: $text-muted; }
    RuleList.-tight #rule-about { margin: 0 1; }
    """

    def __init__(self, client: SessionClient, keymap: Keymap) -> None:
        super().__init__(client.rules)
        self._client = client
        self._keymap = keymap
        self._revoked: RuleCard | None = None
        self._at = ""
        self._note = ""

    def _below(self) -> ComposeResult:
        yield Static(id="rule-about", markup=False)

    def _shape(self) -> None:
        super()._shape()
        self.set_class(self.room() < TIGHT, "-tight")

    def _first(self) -> str:
        return self._at

    def _rows_for(self, query: str) -> Sequence[PickRow]:
        wanted = query.casefold().split()
        found = [card for card in self.cards.values() if _speaks(card, wanted)]
        items: list[RuleCard | str] = []
        for title, cards in groupby(found, words.heading):
            items += [*([""] if items else []), title, *cards]
        return LazyRows(items, _row, lambda item: "" if isinstance(item, str) else item.key)

    def _data(self, rows: Sequence[PickRow]) -> Content:
        return Content(str(sum(bool(self.cards[each].text) for each in row_ids(rows) if each)))

    def _highlighted(self, row: PickRow | None) -> None:
        card = self.card
        text = self._note or (words.rule_about(card) if card is not None else "")
        if card is not None and not self._note and len(card.text) > self.rows.size.width - WORDS:
            # What is cut in its row is said whole.
            text = f"{one_line(card.text, LONGEST)} · {text}"
        self._note = ""
        below = self.query_one("#rule-about", Static)
        # Before it is laid out it has no width; it is as wide as the rows without its margins.
        width = below.content_size.width or self.rows.size.width - 2
        below.update(_in_two_rows(text, width) if width > 0 else text)
        self.query_one(KeyRow).set_choices(self._choices())

    def _choices(self) -> Sequence[KeyChoice]:
        choice = self.choice
        found = [choice("add", "Add")]
        if self.is_mounted and self.card is not None and self.card.editable:
            found += [choice("edit", "Edit"), choice("revoke", "Revoke")]
        if self._revoked is not None:
            found.append(choice("undo", "Undo"))
        found += [choice("explain", "Explain a call"), choice("audit", "Audit log")]
        if self.cards:
            found.append(choice("filter", "Filter"))
        return [*found, KeyChoice("esc", "Close", "close")]

    def action_choose(self) -> None:
        """Leave the filter; outside of it, change the highlighted rule."""
        if not self.leave_filter():
            self.action_edit_rule()

    def action_add_rule(self) -> None:
        """Add a rule: how long it holds, then its text."""
        self.run_worker(self._add(), group="rule", exclusive=True)

    async def _add(self) -> None:
        chosen = await self.app.push_screen_wait(ScopePicker())
        scope = next((each for each in ScopePicker.SCOPES if each == chosen), None)
        if scope is None:
            return

        async def add(line: str) -> str:
            return await self._told(self._client.add_rule(line, scope))

        await self._write(f"New rule, {ScopePicker.SCOPES[scope][0]}", "", add)

    def action_edit_rule(self) -> None:
        """Change the highlighted rule."""
        card = self.card
        if card is None or not card.editable:
            self.app.bell()
            return

        async def change(line: str) -> str:
            return await self._told(self._client.change_rule(card.key, line))

        line = f"{'' if card.verdict == 'allow' else card.verdict + ' '}{card.text}"
        self.run_worker(self._write("Rule", line, change), group="rule", exclusive=True)

    async def _write(self, label: str, line: str, send: Callable[[str], Awaitable[str]]) -> None:
        """Ask for a rule until it is taken, or given up."""
        about = HOW
        while True:
            written = await self.app.push_screen_wait(AskLine(label, line, LONGEST, about=about))
            if not written:
                return
            about, line = await send(written), written
            if not about:
                break
        known = set(self.cards)
        await self._load()
        # What is said of a new rule may be a warning.
        for key in self.cards.keys() - known:
            self.refill(key)

    async def _told(self, asked: "Future[str]") -> str:
        """Return what is wrong, in words."""
        try:
            return await self.answer_of(asked, changes=True)
        except Exception as error:
            # Whatever the host could not do is shown where the rule is written.
            return self._problem_words(error)

    def action_revoke_rule(self) -> None:
        """Take the highlighted rule out of force, and out of its file."""
        card = self.card
        if card is None or not card.editable:
            self.app.bell()
        else:
            self.run_worker(self._revoke(card), group="rule", exclusive=True)

    async def _revoke(self, card: RuleCard) -> None:
        keys = list(self.cards)
        after = keys[keys.index(card.key) + 1 :]
        self._at = next((key for key in after if self.cards[key].editable), "")
        self._note = await self._told(self._client.remove_rule(card.key))
        self._revoked = None if self._note else card
        await self._load()

    def action_undo_revoke(self) -> None:
        """Put back the rule that was revoked last."""
        card, self._revoked = self._revoked, None
        if card is not None:
            self.run_worker(self._put_back(card), group="rule", exclusive=True)

    async def _put_back(self, card: RuleCard) -> None:
        line = f"{card.verdict} {card.text}"
        self._note = await self._told(self._client.add_rule(line, card.scope))
        self._at = card.key
        await self._load()

    def action_leave_for(self, place: str) -> None:
        """Go on to the explanation of a call, or to the audit log."""
        self.finish(place)


def _row(item: RuleCard | str) -> PickRow:
    """Return the row of a rule, or of a heading."""
    if isinstance(item, str):
        return PickRow("", Content.styled(item, "$text-secondary bold"))
    right = Content.styled(words.rule_right(item), "$text-muted")
    return PickRow(item.key, words.rule_left(item), right)


def _speaks(card: RuleCard, wanted: Sequence[str]) -> bool:
    text = f"{card.verdict} {card.text} {words.heading(card)}".casefold()
    return all(word in text for word in wanted)
