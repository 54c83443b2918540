"""The approval dialog: everything a decision needs, and keys that cannot be pressed by accident."""

from typing import ClassVar

from textual import events, on
from textual.binding import Binding, BindingType
from textual.widgets import Input

from amplifier_tui.base.text import one_line
from amplifier_tui.host.client import Decision
from amplifier_tui.host.events import Scope
from amplifier_tui.ui.dialogs.approval_sheet import ApprovalSheet
from amplifier_tui.ui.dialogs.parts.long_form import LongForm
from amplifier_tui.ui.dialogs.parts.scope_row import ScopeRow
from amplifier_tui.ui.diffs.reader import Reader
from amplifier_tui.ui.keys.actions import bindings
from amplifier_tui.ui.state.answer_keys import Heard
from amplifier_tui.ui.state.waiting import DialogAnswer
from amplifier_tui.ui.widgets.scroll_lines import ScrollLines


class ApprovalDialog(ApprovalSheet):
    """Asks about a request, and answers it."""

    BINDINGS: ClassVar[list[BindingType]] = [
        *bindings("approval"),
        Binding("enter", "confirm", show=False),
    ]
    DECIDES = frozenset(("deny", "reason", "allow", "allow_all", "confirm", "edit", "edit_outside"))
    WRITES = frozenset(("reason",))
    judges = False
    """Whether what was made of the call is on its way to be judged, or was taken."""
    _withdrawn = False
    _chosen: Scope | None = None
    """How long a grant was to hold before what is typed."""

    @property
    def written(self) -> str:
        """Why the user denies it, or what they made of the call, while that is written."""
        if not self.is_active:
            return ""
        if self._writing:
            return self.query_one("#reason", Input).value
        return self._editor.changed if self._editor.is_open else ""

    def withdraw(self) -> None:
        """Close without an answer: the request was resolved elsewhere."""
        self._withdrawn = True
        self.finish()

    def hear(self, event: events.Key | events.Paste) -> Heard:
        """Take a key: any one stops the request's clock, another than enter confirms nothing."""
        self._stop_clock()
        confirming, chosen = self._confirming, self.scope
        heard = super().hear(event)
        if len(self.typed) <= 1:
            self._chosen = chosen
        goes_on = isinstance(event, events.Key) and event.key in ("enter", "escape")
        if confirming and not goes_on and heard is not Heard.BACK:
            self.call_next(self._confirm_first, False)
        return heard

    def _action_of(self, key: str) -> str:
        return "confirm" if key == "enter" and self._confirming else super()._action_of(key)

    def give_way(self) -> None:
        """Leave it pending: the user types. What is typed has chosen nothing."""
        if self._chosen is not None:
            self._scopes.scope = self._chosen
        self.finish(DialogAnswer(self.request.request_id, typing=True))

    def put_off(self) -> None:
        """Leave it pending, whatever was begun in it, and what waits behind it too."""
        self._stop_clock()
        self._answer(None, elsewhere=True)

    def _stop_clock(self) -> None:
        if not self._held:
            self._held = True
            self._hold()
            self.call_next(self._tick)

    def check_action(self, action: str, parameters: tuple[object, ...]) -> bool | None:
        """No decision before the dialog has been seen, none while a reason is written."""
        if action in self.DECIDES and not (action == "edit_outside" and self._editor.is_open):
            return self.armed and not (self._writing or self._editor.is_open)
        return super().check_action(action, parameters)

    def _answer(
        self, decision: Decision | None, *, identical: bool = False, elsewhere: bool = False
    ) -> None:
        if self.is_active and not self._withdrawn:
            request_id = self.request.request_id
            self.dismiss(
                DialogAnswer(request_id, decision, identical=identical, elsewhere=elsewhere)
            )

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

    def action_edit(self) -> None:
        """Change the arguments of the call before it is allowed."""
        self.in_order(self._edit())

    async def _edit(self) -> None:
        if self.request.editable and not self._confirming:
            try:
                text = await self.answer_of(self._client.call_arguments(self.request.request_id))
            except Exception as error:
                # What a hook made of the arguments may be no JSON.
                self.reader.say(f"It cannot be changed: {one_line(str(error), 300)}")
                return
            command = self.request.payload if self.request.payload_kind == "command" else ""
            self._editor.open(text, command)
            # What is written needs the rows.
            self._explaining = False
            self._show_state()

    def action_edit_outside(self) -> None:
        """Change the arguments in the user's editor, and have what was saved judged."""
        self.in_order(self._edit_outside())

    async def _edit_outside(self) -> None:
        if not self._editor.is_open:
            await self._edit()
        if self._editor.is_open and self._editor.edit_outside():
            await self._judge()

    def action_judge(self) -> None:
        """Have the changed call judged; what is wrong with it is said, and it stays open."""
        self.in_order(self._judge())

    async def _judge(self) -> None:
        if self._editor.is_open:
            editor = self._editor
            self.judges = True
            changing = self._client.change_call(self.request.request_id, editor.arguments)
            try:
                problem = await self.answer_of(changing, changes=True)
            except Exception as error:
                # Whatever the host could not do is said below what was written.
                problem = one_line(str(error), 300)
            editor.say(problem)
            self.judges = not problem

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
            elif self._explaining:
                self.action_why()
            else:
                self._answer(None)

    def action_cycle_scope(self) -> None:
        """Choose how long a grant holds."""
        if self._scopes.offered and not self.withheld:
            self._scopes.cycle()
            self._show_choice()

    @on(ScopeRow.Picked)
    def _scope_clicked(self, event: ScopeRow.Picked) -> None:
        event.stop()
        if not (self._is_first_click() or self.withheld or self._confirming):
            self._stop_clock()
            self.attend()
            self._scopes.scope = event.scope
            self._show_choice()

    def _show_choice(self) -> None:
        """Show the scope that was chosen; where it takes rows of the call, that is at its begin."""
        self._show_state()
        if self._is_small() and not self._full:
            self.call_after_refresh(self.reader.body.scroll_home, animate=False)

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
            if self._is_small():
                # There is no room for both: the payload is what was asked for last.
                self._explaining = False
        else:
            self.remove_class("-full")
        self._take_room()
        self._show_state()
        if self._full:
            self.set_focus(self.reader.body)

    def action_search(self) -> None:
        """Search the payload."""
        if not (self._confirming or self._editor.is_open):
            # The search needs the rows, as an edit does.
            self._explaining = False
            self._show_state()
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
        self.set_focus(reason if show else self.reader.body)

    @on(Input.Submitted, "#reason")
    def _reason_given(self, event: Input.Submitted) -> None:
        event.stop()
        self._answer(Decision(allow=False, reason=" ".join(event.value.split())))

    @on(ScrollLines.Read)
    @on(Reader.Resized)
    def _read(self) -> None:
        self._show_state()
