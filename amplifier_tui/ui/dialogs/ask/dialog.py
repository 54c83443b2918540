"""The dialog in which an agent asks the user: one question after the other, answered together."""

from collections.abc import Callable
from typing import Literal

from textual import events, on
from textual.app import ComposeResult
from textual.containers import Horizontal
from textual.keys import key_to_character
from textual.widgets import Input, Static

from amplifier_tui.base.capabilities.questions import LONGEST_ANSWER
from amplifier_tui.host.client import QuestionsReply
from amplifier_tui.ui.dialogs.ask.form import WORDS, AskForm, ask_rows, tabs
from amplifier_tui.ui.dialogs.parts.question import QuestionSheet
from amplifier_tui.ui.dialogs.parts.sheet import KeyChoice, KeyRow
from amplifier_tui.ui.fields.text_field import TextField
from amplifier_tui.ui.keys.actions import BY_ID, bindings
from amplifier_tui.ui.keys.keymap import Keymap, show_keys
from amplifier_tui.ui.state.answer_keys import KeyRole
from amplifier_tui.ui.widgets.pick_list import PickList

MEASURE = 100
"""The widest that its text is."""


class AskDialog(QuestionSheet[QuestionsReply | Literal["later"]]):
    """Returns the reply, `later` when it is put off, None when the user types or it is withdrawn.

    Args:
        form: What is answered already; changed by the user.
        who: The agent that asks.
    """

    SCOPE = "ask"
    BINDINGS = bindings("ask")
    DECIDES = frozenset(("go_on", "write", "decline"))
    WRITES = frozenset(("write",))
    AUTO_FOCUS = ""
    DEFAULT_CSS = """
    AskDialog > #sheet { border-left: thick $secondary; }
    AskDialog #sheet > * { max-width: 100; }
    AskDialog #ask-head { height: 1; margin-bottom: 1; }
    AskDialog #ask-tabs { width: 1fr; height: 1; text-wrap: nowrap; text-overflow: ellipsis; }
    AskDialog #ask-who { width: auto; height: 1; color: $text-muted; }
    AskDialog PickList { background: $panel; }
    AskDialog Input { display: none; margin: 1 0 0 1; }
    AskDialog.-writing Input { display: block; }
    AskDialog KeyRow { margin-top: 1; }
    AskDialog.-small #ask-head { margin-bottom: 0; }
    AskDialog.-small Input, AskDialog.-small KeyRow { margin-top: 0; }
    """

    def __init__(
        self,
        form: AskForm,
        who: str,
        *,
        keymap: Keymap,
        is_first_click: Callable[[], bool],
        cover: Callable[[int], None],
    ) -> None:
        super().__init__(keymap, is_first_click, cover)
        self.form = form
        self._who = who
        self._cursor = ""

    def _content(self) -> ComposeResult:
        with Horizontal(id="ask-head"):
            yield Static(id="ask-tabs")
            yield Static(f"  {self._who}", id="ask-who", markup=False)
        yield PickList(id="ask-list")
        # What is written is gone on with when one comes back to it.
        yield TextField(placeholder="Your answer", max_length=LONGEST_ANSWER, select_on_focus=False)
        yield KeyRow()

    def on_mount(self) -> None:
        """Show the question."""
        self._write(self.form.is_open)

    @property
    def _list(self) -> PickList:
        return self.query_one(PickList)

    @property
    def writing(self) -> bool:
        """Whether the user writes their own words."""
        return self.has_class("-writing")

    @property
    def writes(self) -> bool:
        """Whether the user writes in it; not yet where the field is open and empty."""
        return super().writes and not self._is_empty

    @property
    def written(self) -> str:
        """The words for the question that is shown, while they are written."""
        return self.form.words[self.form.at] if self.writing else ""

    @property
    def _is_empty(self) -> bool:
        """Whether nothing is written yet where only words can be the answer."""
        return self.form.is_open and not self.form.words[self.form.at]

    def writes_at(self, event: events.Key | events.Paste) -> bool:
        """Whether a key is for the field; not when it came while the dialog opened by itself."""
        if not super().writes_at(event):
            return False
        if not self.form.is_open:
            return True
        key = event.key if isinstance(event, events.Key) and not event.is_printable else ""
        if self._is_empty and self._action_of(key) == "decline":
            # There is nothing yet that the key could edit instead.
            return False
        return self.asked_for or self._answer_keys.is_for_field(event.time)

    def _role(self, action: str, text: str) -> KeyRole:
        if action in {f"choose({n})" for n in range(len(self.form.question.options))} and text:
            return "picks"
        return super()._role(action, text)

    def _show(self) -> None:
        self.query_one("#ask-tabs", Static).update(tabs(self.form))
        self.query_one(KeyRow).set_choices(self._choices())
        self._fit(self.room())

    def _choices(self) -> list[KeyChoice]:
        form = self.form
        on = "Answer" if form.is_last else "Next"
        if form.is_last and form.others_left:
            on = f"Answer, {form.others_left} left out"
        several = []
        if len(form.asked.questions) > 1:
            several = [self.choice("next", "Another question")]
        if form.is_open:
            decline = [self._decline_unwritten()] if self._is_empty else []
            on = "Leave unanswered" if self._is_empty else on
            later = self.choice("later", "Later")
            return [KeyChoice("enter", on, "send"), *several, *decline, later]
        if self.writing:
            return [KeyChoice("enter", on, "send"), self.choice("later", "Back")]
        if form.question.multi_select and not form.is_answered(form.at):
            # Of several the marked one is not taken: none may be meant.
            on = "Leave unanswered"
        tick = self.choice("tick", "Tick" if form.question.multi_select else "Choose")
        found = [self.choice("go_on", on), tick, self.choice("write", "Own words"), *several]
        return [*found, self.choice("decline", "Decline"), self.choice("later", "Later")]

    def _decline_unwritten(self) -> KeyChoice:
        """Return how to decline while letters are for the field: by a key that types nothing."""
        keys = self._keymap.keys_of(BY_ID["ask.decline"]).split(",")
        key = next((each for each in keys if not key_to_character(each)), "")
        return KeyChoice(show_keys(key), "Decline", "decline")

    def _fit(self, rows: int) -> None:
        """Give the list what the head, the line and the keys leave."""
        if not self.query(PickList):
            return
        small = self.has_class("-small")
        width = min(self.app.size.width - (3 if small else 5), MEASURE)
        key = self.choice("write", "").key or " "
        keep = self._cursor or self._list.row_id
        self._cursor = ""
        # One cell of the scrollbar, and one of the list's own at each side.
        self._list.set_rows(ask_rows(self.form, width - 3, key), keep)
        keys = self.query_one(KeyRow).get_content_height(self.size, self.size, width)
        left = rows - 1 - keys - (0 if small else 4)
        left -= self.writing * (1 if small else 2)
        self._list.styles.height = max(1, min(len(self._list.rows), left))
        self.call_after_refresh(self._tell_cover)

    def action_move(self, by: int) -> None:
        """Move the cursor to the next row that can be chosen."""
        rows = self._list.rows
        stops = [at for at, row in enumerate(rows) if row.id]
        here = stops.index(self._list.cursor_row) if self._list.cursor_row in stops else 0
        if not stops:
            self._list.scroll_relative(y=by, animate=False)
            return
        at = stops[min(max(here + by, 0), len(stops) - 1)]
        self._list.put_cursor(at)
        end = next((stop for stop in stops if stop > at), len(rows))
        self._list.show_rows(at, end - at)

    def action_page(self, direction: int) -> None:
        """Scroll a text that is longer than its room."""
        self._list.scroll_relative(y=direction * max(1, self._list.size.height - 1), animate=False)

    def action_choose(self, option: int) -> None:
        """Choose an option, or no longer."""
        if 0 <= option < len(self.form.question.options):
            self._cursor = str(option)
            self.form.choose(option)
            self._show()

    def action_tick(self) -> None:
        """Choose what the cursor is on, or no longer."""
        row = self._list.row
        if row is not None and row.id == WORDS:
            self.action_write()
        elif row is not None:
            self.action_choose(int(row.id))

    def action_go_on(self) -> None:
        """Take what the cursor is on where nothing is answered; then the next question, or all."""
        form, row = self.form, self._list.row
        if not form.is_answered(form.at) and row is not None:
            if row.id == WORDS:
                self.action_write()
                return
            if not form.question.multi_select:
                form.choose(int(row.id))
        self._go_on()

    def _go_on(self) -> None:
        if self.form.is_last:
            self.finish(QuestionsReply("answered", self.form.answers))
        else:
            self.action_step(1)

    def action_step(self, by: int) -> None:
        """Show the next question, or the one before."""
        self._write(False)
        self.form.step(by)
        if self.form.is_open:
            self._write(True)
        else:
            self._cursor = "0"
            self._show()

    def action_write(self) -> None:
        """Write an answer in one's own words."""
        self._write(True)

    def _write(self, on: bool) -> None:
        line = self.query_one(Input)
        self.set_class(on, "-writing")
        if on:
            line.value = self.form.words[self.form.at]
            self.set_focus(line)
        else:
            self.set_focus(None)
        self._cursor = WORDS if on else ""
        self._show()

    def action_send(self) -> None:
        """Take the words that were written, and go on."""
        self._write(False)
        self._go_on()

    @on(Input.Changed)
    def _written(self, event: Input.Changed) -> None:
        if self.writing:
            self.form.words[self.form.at] = event.value
            self._show()

    @on(Input.Submitted)
    def _submitted(self, event: Input.Submitted) -> None:
        event.stop()
        self.action_send()

    @on(PickList.Chosen)
    def _clicked(self, event: PickList.Chosen) -> None:
        event.stop()
        if not self._is_first_click():
            self.action_tick()

    def action_decline(self) -> None:
        """Answer none of them."""
        self.finish(QuestionsReply("declined"))

    def put_off(self) -> None:
        """Leave it pending; what was chosen so far is kept."""
        self.finish("later")

    def action_later(self) -> None:
        """Stop writing; else put it off."""
        if self.writing and not self.form.is_open:
            self._write(False)
        else:
            self.finish("later")
