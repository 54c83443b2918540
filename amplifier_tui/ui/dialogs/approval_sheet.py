"""What the approval dialog shows of a request, and how its parts share the rows."""

import time
from collections.abc import Callable

from textual.app import ComposeResult
from textual.containers import Horizontal
from textual.content import Content
from textual.widgets import Static

from amplifier_tui.host.client import SessionClient
from amplifier_tui.host.events import ApprovalRequested, Scope
from amplifier_tui.ui.dialogs import approval_words as words
from amplifier_tui.ui.dialogs.parts.call_editor import CallEditor
from amplifier_tui.ui.dialogs.parts.long_form import LongForm
from amplifier_tui.ui.dialogs.parts.question import QuestionSheet
from amplifier_tui.ui.dialogs.parts.reading import ReadingSheet
from amplifier_tui.ui.dialogs.parts.scope_row import ScopeRow
from amplifier_tui.ui.dialogs.parts.sheet import KeyChoice, KeyRow
from amplifier_tui.ui.diffs.reader import Reader
from amplifier_tui.ui.fields.text_field import TextField
from amplifier_tui.ui.keys.keymap import Keymap
from amplifier_tui.ui.state.waiting import DialogAnswer, QueuePlace
from amplifier_tui.ui.widgets.scroll_lines import ScrollLines

REASON_LENGTH = 500
LEAST_PAYLOAD = 2
"""Rows of the payload that rows about it do not take away."""
LEAST_OFFER = 2
"""Rows in which a scope and the rule that is kept begin."""
MEASURE = 110
"""The widest it is, unless it has the whole screen."""
SHORT = 30
"""Rows of the screen below which no row of it is left empty but one."""


class ApprovalSheet(ReadingSheet[DialogAnswer], QuestionSheet[DialogAnswer]):
    """Shows one request of an agent (`lane`), at its place in the queue.

    `session` names the session where it is not the one that is shown.

    Args:
        hold: Stops the clocks of all requests that wait.
        client: Takes the arguments that the user gives a call.
        held: Whether the clock stands already.
        scope: How long a grant is to hold, as it was chosen before.
    """

    SCOPE = "approval"
    AUTO_FOCUS = "ScrollLines"
    DEFAULT_CSS = """
    ApprovalSheet > #sheet { border-left: thick $secondary; }
    ApprovalSheet.-medium > #sheet { border-left: thick $warning; }
    ApprovalSheet.-high > #sheet, ApprovalSheet.-critical > #sheet { border-left: thick $error; }
    ApprovalSheet.-full > #sheet { height: 100%; padding: 0 2; }
    ApprovalSheet #sheet > * { max-width: 110; }
    ApprovalSheet.-full #sheet > * { max-width: 100%; }
    ApprovalSheet #head { height: 1; margin-bottom: 1; }
    ApprovalSheet #who { width: 1fr; height: 1; }
    ApprovalSheet #who, ApprovalSheet #wanted { text-wrap: nowrap; text-overflow: ellipsis; }
    ApprovalSheet #place { width: auto; height: 1; margin-left: 1; }
    ApprovalSheet #wanted { display: none; height: 1; margin: 0 0 1 2; }
    ApprovalSheet.-worded #wanted { display: block; }
    ApprovalSheet.-worded #head { margin-bottom: 0; }
    ApprovalSheet #payload { margin: 0 0 1 2; }
    ApprovalSheet #problem { display: none; margin: 0 0 1 2; max-height: 3; }
    ApprovalSheet.-problem #problem { display: block; }
    ApprovalSheet #facts, ApprovalSheet #remember, ApprovalSheet #why {
        margin-left: 2;
        max-width: 108;
    }
    ApprovalSheet #choices { margin-top: 1; }
    ApprovalSheet #reason { display: none; margin-top: 1; }
    ApprovalSheet.-writing #choices { margin-top: 0; }
    ApprovalSheet.-dense #head { margin-bottom: 0; }
    ApprovalSheet.-dense #wanted { margin: 0 0 0 2; }
    ApprovalSheet.-dense #payload { margin: 0 0 0 2; }
    ApprovalSheet.-dense #problem { margin: 0 0 0 2; }
    ApprovalSheet.-tight #choices { margin-top: 0; }
    ApprovalSheet.-tight #reason { margin-top: 0; }
    """

    def __init__(
        self,
        request: ApprovalRequested,
        *,
        lane: str,
        session: str,
        place: QueuePlace,
        hold: Callable[[], None],
        client: SessionClient,
        held: bool,
        scope: Scope,
        keymap: Keymap,
        is_first_click: Callable[[], bool],
        cover: Callable[[int], None],
    ) -> None:
        super().__init__(keymap, is_first_click, cover, f"-{request.risk}")
        self.request = request
        self._worded = words.has_question(request)
        self.set_class(self._worded, "-worded")
        self._lane = lane
        self._session = session
        self._place = place
        self._hold = hold
        self.set_up_reading(request.diff, client, keymap, made=False)
        self._held = held
        self._confirming = False
        self._full = False
        self._explaining = False
        self._writing = False
        self._is_long = False
        self._scopes = ScopeRow(request, scope, id="remember")
        self._rows, self._text, self._lead = words.body(request)
        self._changed = self._rows.changed
        self._problem = words.problem(request)
        self.set_class(bool(self._problem), "-problem")

    def _content(self) -> ComposeResult:
        with Horizontal(id="head"):
            yield Static(words.head(self.request), id="who")
            yield Static(words.place(self._place, self._lane, self._session), id="place")
        yield Static(words.wanted(self.request), id="wanted")
        yield Static(self._problem, id="problem")
        yield Reader(self._rows, self._text, self._lead, id="payload")
        yield CallEditor()
        yield Static(id="facts")
        # In the place of the facts: it begins with them, and what is below them stays there.
        yield LongForm(id="why")
        yield self._scopes
        why = "Why not? The model is told."
        yield TextField(id="reason", placeholder=why, max_length=REASON_LENGTH)
        yield KeyRow(id="choices")

    def on_mount(self) -> None:
        """Start the clock."""
        self._show_state()
        if self.request.timeout is not None:
            self.set_interval(1.0, self._tick)
        if self._scopes.offered:
            self._scopes.count(self._client.rule_reach(self.request.request_id))

    @property
    def scope(self) -> Scope:
        """How long a grant is to hold, as it is chosen."""
        return self._scopes.scope

    def set_place(self, place: QueuePlace) -> None:
        """The queue behind this request has changed."""
        self._place = place
        if self.query("#place"):
            self.query_one("#place", Static).update(words.place(place, self._lane, self._session))
            self._show_state()

    @property
    def withheld(self) -> bool:
        """Whether remembering is withheld: part of the payload has not been on screen."""
        return not self.reader.body.read_to_end and not self.reader.is_empty

    @property
    def _editor(self) -> CallEditor:
        return self.query_one(CallEditor)

    def _show_state(self) -> None:
        self._tick()
        self._fit(self.room())

    def _choices(self) -> list[KeyChoice]:
        choice = self.choice
        if self._writing:
            say = KeyChoice("enter", "Deny, and say this", "send")
            return [say, KeyChoice("esc", "Back", "later")]
        if self._editor.is_open:
            outside = choice("editor", "In $EDITOR")
            return [choice("judge", "Judge it anew"), outside, choice("later", "Back")]
        if self._confirming:
            allow = KeyChoice("enter", "Allow this, once", "confirm", strong=True)
            return [allow, choice("deny", "Deny")]
        if asking := self.search_choices("later"):
            return asking
        found = [choice("deny", "Deny"), choice("reason", "Deny and say why")]
        found.append(choice("allow", "Allow"))
        if self._place.same > 1 and self.request.risk != "critical":
            found.append(choice("all", f"Allow all {self._place.same}"))
        remembers = self._scopes.offered and not self.withheld
        scope = [choice("scope", "Remember")] if remembers else []
        if self._full:
            return [*found, *scope, *self.reading_choices(), choice("full", "Small again")]
        if self.request.editable:
            found.append(choice("edit", "Edit"))
        found += scope
        if self._rows or self.withheld:
            found.append(choice("full", "Full size"))
        if self.reader.finding:
            found += [choice("next", "Next"), choice("previous", "Previous")]
            return [*found, choice("later", "End search")]
        later = choice("later", "Back" if self._explaining else "Later")
        return [*found, choice("why", "Why"), later]

    def _tick(self) -> None:
        request = self.request
        remaining = None
        if request.timeout is not None:
            remaining = max(0.0, request.at + request.timeout - time.time())
        self.query_one(KeyRow).set_right(words.countdown(request, remaining, self._held))

    def _fit(self, rows: int) -> None:
        """Share the rows: keys, payload, and what is about it where it fits; `?` shows it all."""
        if not self.query(ScrollLines):
            return
        tight = self._full or self.has_class("-small")
        dense = tight or self.app.size.height < SHORT
        self.set_class(tight, "-tight")
        self.set_class(dense, "-dense")
        width = self._width
        brief = self.has_class("-small")
        self._scopes.show(self.withheld, width - 2, brief=brief)
        keys = self.query_one(KeyRow)
        # The longest that the clock will say.
        keys.set_reserve(
            words.countdown(self.request, self.request.timeout, held=False).cell_length
        )
        keys.set_choices(self._choices())
        # Head and keys; the sheet's own edges; what keeps the payload apart.
        frame = 1 + self._worded + keys.get_content_height(self.size, self.size, width)
        frame += self._writing + min(3, self._rows_of(self._problem)) + (0 if tight else 3)
        if not dense:
            frame += 2 + bool(self._problem)
        left = rows - frame
        # What it will need once it is offered, so that nothing moves; where rows are few, all of
        # them are the payload's until its end was seen.
        offer = self._scopes.rows(width - 2, brief=brief)
        offer = min(offer, 1) if dense and self.withheld else offer
        facts = words.facts(self.request, self._changed, brief=dense)
        # What has the whole screen is there to be read.
        kept = dict.fromkeys(("#remember", "#facts"), rows // 2 if self._full else LEAST_PAYLOAD)
        for cut in (False, True):
            if self._rows_of(facts) > left - offer - kept["#facts"]:
                facts = words.facts(self.request, self._changed, brief=True, cut=cut)
        if self._scopes.scope != "once" and not self.withheld:
            # Nothing is remembered that is not on the screen: neither the rule nor the call.
            kept["#remember"] = 1 if left > LEAST_OFFER else 0
            offer = min(offer, left - kept["#remember"])
        offer = 0 if self._editor.is_open else offer
        needs = {"#remember": offer, "#facts": self._rows_of(facts)}
        self.query_one("#facts", Static).update(facts)
        if self._explaining:
            # The long form says where and who as well.
            needs["#facts"] = 0
        for name, wanted in needs.items():
            fits = 0 < wanted <= left - kept[name]
            self.query_one(name).display = fits
            left -= wanted if fits else 0
        long_form = self.query_one(LongForm)
        long_form.display = self._explaining
        if self._explaining:
            scope = self._scopes.scope
            whole = needs["#remember"] >= self._scopes.rows(width - 2, brief=brief)
            ruled = self._scopes.display and whole and self._scopes.names_rule
            why = words.why(
                *(self.request, self._changed, self._held),
                scope=scope,
                ruled=ruled,
                rules_key=self._keymap.way_to("permissions.show"),
            )
            # What has the whole screen is there to be read, also with the reasons; where that is
            # small, one after the other.
            most = left // 2 if self._full and not self._is_small() else left
            left -= long_form.show(why, self._rows_of(why), most)
        self._scopes.styles.height = max(1, needs["#remember"])
        self.reader.display = left > 0 and not (self.reader.is_empty or self._editor.is_open)
        # Beside its margin and its scrollbar.
        self.reader.fit(max(1, left), full=self._full, width=self._width - 3)
        self._editor.fit(left)
        self.call_after_refresh(self._tell_cover)

    def _rows_of(self, content: Content) -> int:
        return len(content.wrap(self._width - 2)) if content else 0

    @property
    def _width(self) -> int:
        """Cells inside the edge and the padding."""
        small = self.has_class("-small") and not self._full
        width = self.app.size.width - (3 if small else 5)
        return width if self._full else min(width, MEASURE)

    def _foot(self) -> int:
        return 0 if self._full else super()._foot()
