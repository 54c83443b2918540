"""The dialog of the one question: what a project or a stranger brings, and what of it may count."""

from collections.abc import Callable
from typing import Final

from textual import on
from textual.app import ComposeResult
from textual.content import Content
from textual.widgets import Static

from amplifier_tui.base.text import one_line
from amplifier_tui.host.client import Remember, TrustDecision
from amplifier_tui.host.events import TrustAsked
from amplifier_tui.ui.dialogs.parts.question import QuestionSheet
from amplifier_tui.ui.dialogs.parts.sheet import KeyRow
from amplifier_tui.ui.dialogs.trust.listing import TrustList
from amplifier_tui.ui.dialogs.trust.picks import TrustPicks
from amplifier_tui.ui.dialogs.trust.rows import counts
from amplifier_tui.ui.keys.actions import bindings
from amplifier_tui.ui.keys.keymap import Keymap

UNSEEN: Final = "Not all of it was shown yet: read on"
_ROOM = 40
"""Columns from which on the head has room for what is below."""


class TrustDialog(QuestionSheet[TrustDecision]):
    """Asks about everything one opening brings; None when the question was withdrawn.

    Args:
        picks: What is ticked already; changed by the user.
    """

    SCOPE = "trust"
    BINDINGS = bindings("trust")
    MAY_WAIT = False
    DECIDES = frozenset(("use", "use_once", "without", "cancel"))
    BROWSES = frozenset("jkgG ")
    AUTO_FOCUS = "#trust-list"
    DEFAULT_CSS = """
    TrustDialog > #sheet { border-left: thick $warning; }
    TrustDialog.-power > #sheet { border-left: thick $error; }
    TrustDialog.-small > #sheet { height: 100%; }
    TrustDialog #trust-head { margin-bottom: 1; }
    TrustDialog #trust-keys { margin-top: 1; }
    TrustDialog.-small #trust-head, TrustDialog.-small #trust-keys { margin: 0; }
    """

    def __init__(
        self,
        asked: TrustAsked,
        picks: TrustPicks,
        *,
        keymap: Keymap,
        is_first_click: Callable[[], bool],
        cover: Callable[[int], None],
    ) -> None:
        power = any(item.group in ("power", "keys") for item in asked.items)
        super().__init__(keymap, is_first_click, cover, "-power" if power else "")
        self.asked = asked
        self.picks = picks

    def _content(self) -> ComposeResult:
        yield Static(self._head(0), id="trust-head")
        yield TrustList(self.asked, self.picks)
        yield KeyRow(id="trust-keys")

    def on_mount(self) -> None:
        """Show the keys, and what is still to be seen."""
        self._show_keys()
        self.watch(self.query_one(TrustList), "scroll_y", self._tell_below, init=False)

    def _head(self, below: int) -> Content:
        said = below and self.app.size.width >= _ROOM
        more = Content.styled(f" · {below} more below", "$text-warning") if said else ""
        title = (one_line(self.asked.title, 200), "bold")
        return Content.assemble(title, "\n", (counts(self.asked), "$text-muted"), more)

    def _tell_below(self) -> None:
        listed = self.query_one(TrustList)
        listed.note_seen()
        self.query_one("#trust-head", Static).update(self._head(listed.below))

    def _use(self, remember: Remember) -> None:
        picks = self.picks
        if self.query_one(TrustList).show_unseen():
            self._main.say(UNSEEN, "warning")
            return
        decision = TrustDecision(
            accepted=picks.accepted, remember=remember, owners=picks.owners, folder=picks.folder
        )
        self.finish(decision)

    def action_use(self) -> None:
        """Let it count, all of it or what is ticked, now and later."""
        self._use("always")

    def action_use_once(self) -> None:
        """Let it count, all of it or what is ticked, for this session."""
        self._use("session")

    def action_without(self) -> None:
        """Open without any of it; asked again the next time."""
        self.finish(TrustDecision(remember="session"))

    def action_cancel(self) -> None:
        """Go back from choosing to the question; there, open nothing."""
        if self.picks.choosing:
            self.action_choose()
        else:
            self.finish(TrustDecision(cancelled=True))

    def action_choose(self) -> None:
        """Choose what counts one by one, or all at once again."""
        self.picks.choosing = not self.picks.choosing
        self.query_one(TrustList).lay_out()
        self._show_keys()

    def action_tick(self) -> None:
        """Tick what the cursor is on."""
        self.query_one(TrustList).tick()

    def action_fold(self) -> None:
        """Fold or open what the cursor is on."""
        self.query_one(TrustList).fold()

    @on(TrustList.Changed)
    def _changed(self) -> None:
        self._show_keys()

    def _show_keys(self) -> None:
        choice = self.choice
        use, chosen = "Use it", len(self.picks.accepted)
        if self.picks.choosing:
            use = f"Use {chosen} of {len(self.asked.items)}" if chosen else "Refuse all of it"
        choices = [choice("use", use), choice("session", "For this session")]
        if self.picks.choosing:
            choices += [choice("tick", "Tick"), choice("choose", "All of it")]
        else:
            choices.append(choice("choose", "Choose"))
        back = "Back" if self.picks.choosing else "Cancel"
        choices += [choice("without", "Open without it"), choice("cancel", back)]
        self.query_one(KeyRow).set_choices(choices)
        self._fit(self.room())

    def _fit(self, rows: int) -> None:
        """Give the list what the head and the keys leave."""
        small = self.has_class("-small")
        width = self.app.size.width - (3 if small else 5)
        head = self.query_one("#trust-head").get_content_height(self.size, self.size, width)
        keys = self.query_one(KeyRow).get_content_height(self.size, self.size, width)
        left = rows - head - keys - (0 if small else 4)
        self.query_one(TrustList).styles.max_height = max(1, left)
        self.call_after_refresh(self._tell_below)
        self.call_after_refresh(self._tell_cover)
