"""The approval dialog: everything a decision needs, and keys that cannot be pressed by accident."""

import time
from collections.abc import Callable
from typing import ClassVar

from textual import events, on
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Horizontal
from textual.content import Content
from textual.widgets import Input, Static

from amplifier_tui.base.text import one_line
from amplifier_tui.host.client import Decision, SessionClient
from amplifier_tui.host.events import ApprovalRequested
from amplifier_tui.ui.dialogs import approval_words as words
from amplifier_tui.ui.dialogs.parts.call_editor import CallEditor
from amplifier_tui.ui.dialogs.parts.long_form import LongForm
from amplifier_tui.ui.dialogs.parts.question import QuestionSheet
from amplifier_tui.ui.dialogs.parts.reading import ReadingSheet
from amplifier_tui.ui.dialogs.parts.scope_row import ScopeRow
from amplifier_tui.ui.dialogs.parts.sheet import KeyChoice, KeyRow
from amplifier_tui.ui.diffs.reader import Reader
from amplifier_tui.ui.diffs.rows import counted_lines
from amplifier_tui.ui.keys.actions import bindings
from amplifier_tui.ui.keys.keymap import Keymap
from amplifier_tui.ui.state.answer_keys import Heard
from amplifier_tui.ui.state.waiting import DialogAnswer, QueuePlace
from amplifier_tui.ui.widgets.scroll_lines import ScrollLines

REASON_LENGTH = 500
LEAST_PAYLOAD = 2
"""Rows of the payload that rows about it do not take away."""
MEASURE = 110
"""The widest it is, unless it has the whole screen."""
SHORT = 30
"""Rows of the screen below which no row of it is left empty but one."""


class ApprovalDialog(ReadingSheet[DialogAnswer], QuestionSheet[DialogAnswer]):
    """Asks about one request of an agent (`lane`), at its place in the queue.

    `session` names the session where it is not the one that is shown.

    Args:
        hold: Stops the clock of the request with this id.
        client: Takes the arguments that the user gives a call.
        held: Whether the clock stands already.
        keymap: The keys to show.
        is_first_click: True for the click that brought the terminal to the front.
        cover: Told how many rows the dialog hides, 0 when it is gone.
    """

    BINDINGS: ClassVar[list[BindingType]] = [
        *bindings("approval"),
        Binding("enter", "confirm", show=False),
    ]
    SCOPE = "approval"
    DECIDES = frozenset(("deny", "reason", "allow", "allow_all", "confirm", "edit", "edit_outside"))
    AUTO_FOCUS = "ScrollLines"
    DEFAULT_CSS = """
    ApprovalDialog > #sheet { border-left: thick $secondary; }
    ApprovalDialog.-medium > #sheet { border-left: thick $warning; }
    ApprovalDialog.-high > #sheet, ApprovalDialog.-critical > #sheet { border-left: thick $error; }
    ApprovalDialog.-small > #sheet { height: 100%; }
    ApprovalDialog.-full > #sheet { height: 100%; padding: 0 2; }
    ApprovalDialog #sheet > * { max-width: 110; }
    ApprovalDialog.-full #sheet > * { max-width: 100%; }
    ApprovalDialog #head { height: 1; margin-bottom: 1; }
    ApprovalDialog #who { width: 1fr; height: 1; }
    ApprovalDialog #place { width: auto; height: 1; }
    ApprovalDialog #wanted { display: none; height: 1; margin: 0 0 1 2; }
    ApprovalDialog.-worded #wanted { display: block; }
    ApprovalDialog.-worded #head { margin-bottom: 0; }
    ApprovalDialog #payload { margin: 0 0 1 2; }
    ApprovalDialog #problem { display: none; margin: 0 0 1 2; max-height: 3; }
    ApprovalDialog.-problem #problem { display: block; }
    ApprovalDialog #facts, ApprovalDialog #remember, ApprovalDialog #why { margin-left: 2; }
    ApprovalDialog #choices { margin-top: 1; }
    ApprovalDialog #reason { display: none; margin-top: 1; }
    ApprovalDialog.-writing #choices { margin-top: 0; }
    ApprovalDialog.-dense #head { margin-bottom: 0; }
    ApprovalDialog.-dense #wanted { margin: 0 0 0 2; }
    ApprovalDialog.-dense #payload { margin: 0 0 0 2; }
    ApprovalDialog.-dense #problem { margin: 0 0 0 2; }
    ApprovalDialog.-tight #choices { margin-top: 0; }
    ApprovalDialog.-tight #reason { margin-top: 0; }
    """

    def __init__(
        self,
        request: ApprovalRequested,
        *,
        lane: str,
        session: str,
        place: QueuePlace,
        hold: Callable[[str], None],
        client: SessionClient,
        held: bool,
        keymap: Keymap,
        is_first_click: Callable[[], bool],
        cover: Callable[[int], None],
    ) -> None:
        super().__init__(keymap.by_key("approval"), is_first_click, f"-{request.risk}")
        self.request = request
        self._worded = words.has_question(request)
        self.set_class(self._worded, "-worded")
        self._lane = lane
        self._session = session
        self._place = place
        self._hold = hold
        self.set_up_reading(request.diff, client, keymap, made=False)
        self._report_cover = cover
        self._held = held
        self._confirming = False
        self._full = False
        self._explaining = False
        self._writing = False
        self._withdrawn = False
        self._scopes = ScopeRow(request, id="remember")
        self._rows, self._text, self._lead = words.body(request)
        self._changed = counted_lines(self._rows)
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
        yield self._scopes
        yield LongForm(id="why")
        why = "Why not? The model is told."
        yield Input(id="reason", placeholder=why, max_length=REASON_LENGTH)
        yield KeyRow(id="choices")

    def on_mount(self) -> None:
        """Start the clock."""
        self._show_state()
        if self.request.timeout is not None:
            self.set_interval(1.0, self._tick)
        if self._scopes.offered:
            self._scopes.count(self._client.rule_reach(self.request.request_id))

    def withdraw(self) -> None:
        """Close without an answer: the request was resolved elsewhere."""
        self._withdrawn = True
        self.finish()

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
        self._scopes.show(self.withheld, self._width - 2)
        self._tick()
        self._fit(self.room())

    def _choices(self) -> list[KeyChoice]:
        choice = self.choice
        if self._writing:
            say = KeyChoice("enter", "Deny, and say this", "send")
            return [say, KeyChoice("esc", "Back", "later")]
        if self._editor.is_open:
            outside = choice("editor", "In $EDITOR", "edit_outside")
            return [choice("judge", "Judge it anew"), outside, choice("later", "Back")]
        if self._confirming:
            allow = KeyChoice("enter", "Allow this, once", "confirm", strong=True)
            return [allow, choice("deny", "Deny")]
        found = [choice("deny", "Deny")]
        if not self._full:
            found.append(choice("reason", "Deny and say why"))
        found.append(choice("allow", "Allow"))
        if self._place.same > 1 and self.request.risk != "critical":
            found.append(choice("all", f"Allow all {self._place.same}", "allow_all"))
        if self._full:
            return [*found, *self.reading_choices(), choice("full", "Small again")]
        if self.request.editable:
            found.append(choice("edit", "Edit"))
        if self._scopes.offered and not self.withheld:
            found.append(choice("scope", "Remember", "cycle_scope"))
        if self._rows or self.withheld:
            found.append(choice("full", "Full screen"))
        return [*found, choice("why", "Why"), choice("later", "Later")]

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
        offer = self._scopes.rows(width - 2)
        offer = min(offer, 1) if dense and self.withheld else offer
        facts = words.facts(self.request, self._changed, brief=dense)
        if self._rows_of(facts) > left - offer - LEAST_PAYLOAD:
            facts = words.facts(self.request, self._changed, brief=True)
        offer = 0 if self._editor.is_open else offer
        needs = {"#remember": offer, "#facts": self._rows_of(facts)}
        self.query_one("#facts", Static).update(facts)
        if self._explaining:
            # The long form says where and who as well.
            needs["#facts"] = 0
        for name, wanted in needs.items():
            fits = 0 < wanted <= left - LEAST_PAYLOAD
            self.query_one(name).display = fits
            left -= wanted if fits else 0
        long_form = self.query_one(LongForm)
        long_form.display = self._explaining
        if self._explaining:
            why = words.why(self.request, self._changed, self._held)
            left -= long_form.show(why, self._rows_of(why), left)
        self._scopes.styles.height = max(1, needs["#remember"])
        self.reader.display = left > 0 and not (self.reader.is_empty or self._editor.is_open)
        self.reader.fit(max(1, left), full=self._full)
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

    def _tell_cover(self) -> None:
        if self.is_active:
            self._report_cover(self.sheet.outer_size.height)

    def on_unmount(self) -> None:
        """Give the conversation its rows back."""
        self._report_cover(0)

    def hear(self, event: events.Key | events.Paste) -> Heard:
        """Take a key: any one stops the request's clock, another than enter confirms nothing."""
        if self.request.timeout is not None and not self._held:
            self._held = True
            self._hold(self.request.request_id)
            self.call_next(self._tick)
        confirming = self._confirming
        heard = super().hear(event)
        goes_on = isinstance(event, events.Key) and event.key in ("enter", "escape")
        if confirming and not goes_on and heard is not Heard.BACK:
            self.call_next(self._confirm_first, False)
        return heard

    def _action_of(self, key: str) -> str:
        return "confirm" if key == "enter" and self._confirming else super()._action_of(key)

    def give_way(self) -> None:
        """Leave it pending: the user types."""
        self.finish(DialogAnswer(self.request.request_id, typing=True))

    def check_action(self, action: str, parameters: tuple[object, ...]) -> bool | None:
        """No decision before the dialog has been seen, none while a reason is written."""
        if action in self.DECIDES and not (action == "edit_outside" and self._editor.is_open):
            return self.armed and not (self._writing or self._editor.is_open)
        return super().check_action(action, parameters)

    def _answer(self, decision: Decision | None, identical: bool = False) -> None:
        if self.is_active and not self._withdrawn:
            self.dismiss(DialogAnswer(self.request.request_id, decision, identical))

    def action_deny(self) -> None:
        """Refuse."""
        self._answer(Decision(allow=False))

    def action_allow(self) -> None:
        """Grant; a critical request asks once more."""
        if self.request.risk == "critical":
            self._confirm_first(True)
        else:
            self._answer(
                Decision(allow=True, scope="once" if self.withheld else self._scopes.scope)
            )

    def action_confirm(self) -> None:
        """Grant a critical request, once."""
        if self._confirming:
            self._answer(Decision(allow=True))

    def action_allow_all(self) -> None:
        """Grant every pending request that is exactly this one, once."""
        if self.request.risk != "critical" and self._place.same > 1:
            self._answer(Decision(allow=True), identical=True)

    def action_reason(self) -> None:
        """Refuse with a line for the model."""
        self._show_reason(True)

    async def action_edit(self) -> None:
        """Change the arguments of the call before it is allowed."""
        if self.request.editable and not self._confirming:
            try:
                text = await self.answer_of(self._client.call_arguments(self.request.request_id))
            except Exception as error:
                # What a hook made of the arguments may be no JSON.
                self.reader.say(f"It cannot be changed: {one_line(str(error), 300)}")
                return
            self._editor.open(text)
            self._show_state()

    async def action_edit_outside(self) -> None:
        """Change the arguments in the user's editor, and have what was saved judged."""
        if not self._editor.is_open:
            await self.action_edit()
        if self._editor.is_open and self._editor.edit_outside():
            await self.action_judge()

    async def action_judge(self) -> None:
        """Have the changed call judged; what is wrong with it is said, and it stays open."""
        if self._editor.is_open:
            editor = self._editor
            changing = self._client.change_call(self.request.request_id, editor.text)
            try:
                editor.say(await self.answer_of(changing))
            except Exception as error:
                # Whatever the host could not do is said below what was written.
                editor.say(one_line(str(error), 300))

    async def action_send(self) -> None:
        """Refuse with what was written."""
        await self.query_one("#reason", Input).action_submit()

    def action_later(self) -> None:
        """Leave it pending; go back first from what was begun."""
        if self._editor.is_open:
            self._editor.close()
            self._show_state()
            self.reader.body.focus()
        elif self._writing:
            self._show_reason(False)
        elif self._confirming:
            self._confirm_first(False)
        elif not self.reader.close_search():
            if self._full:
                self.action_full()
            else:
                self._answer(None)

    def action_cycle_scope(self) -> None:
        """Choose how long a grant holds."""
        if self._scopes.offered and not self.withheld:
            self._scopes.cycle()
            self._show_state()

    def action_why(self) -> None:
        """Show or hide the long form."""
        self._explaining = not self._explaining
        self._show_state()
        # The keys that scroll are for what was asked for last.
        long_form = self.query_one(LongForm)
        self.set_focus(long_form if long_form.display else self.reader.body)

    def action_full(self) -> None:
        """Give the payload the whole screen, or only what it needs."""
        self._full = not self._full
        if self._full:
            # All at once: each change of classes looks at every style anew.
            self.add_class("-full", "-tight", "-dense")
        else:
            self.remove_class("-full")
        self._take_room()
        self._show_state()

    def action_search(self) -> None:
        """Search the payload."""
        if not (self._confirming or self._editor.is_open):
            super().action_search()

    def _confirm_first(self, ask: bool) -> None:
        """Ask for enter on a row of its own, or go back to the choices."""
        self._confirming = ask
        self._show_state()
        # With nothing focused enter reaches the dialog instead of scrolling the payload.
        self.set_focus(None if ask else self.reader.body)

    def _show_reason(self, show: bool) -> None:
        reason = self.query_one("#reason", Input)
        self._writing = reason.display = show
        self.set_class(show, "-writing")
        self._show_state()
        (reason if show else self.reader.body).focus()

    @on(Input.Submitted, "#reason")
    def _reason_given(self, event: Input.Submitted) -> None:
        event.stop()
        self._answer(Decision(allow=False, reason=" ".join(event.value.split())))

    @on(ScrollLines.Read)
    @on(Reader.Resized)
    def _read(self) -> None:
        self._show_state()
