"""The prompts that wait for the running turn: read, changed, put in order, dropped, sent."""

from collections.abc import Callable
from typing import ClassVar

from textual import events, on
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.content import Content
from textual.widgets import Static

from amplifier_tui.base.text import one_line, written
from amplifier_tui.host.client import SessionClient
from amplifier_tui.ui.dialogs.parts.guarded import GuardedSheet
from amplifier_tui.ui.dialogs.parts.sheet import KeyChoice, KeyRow
from amplifier_tui.ui.fields.text_area import EditArea
from amplifier_tui.ui.state.session import SessionState
from amplifier_tui.ui.widgets.pick_list import PickList, PickRow

_CLOSE = KeyChoice("esc", "Close", "close")
_NEWLINE = ("ctrl+j", "alt+enter", "shift+enter")
_LISTING = (
    KeyChoice("enter", "Edit", "edit"),
    KeyChoice("s", "Send now", "send"),
    KeyChoice("J K", "Move", "shift(1)"),
    KeyChoice("d", "Drop", "drop"),
    _CLOSE,
)
_EDITING = (KeyChoice("enter", "Save", "save"), KeyChoice("esc", "Leave as it was", "close"))


class QueuedText(EditArea):
    """A prompt being changed: enter saves it."""

    async def on_key(self, event: events.Key) -> None:
        """Save, or make a new line."""
        if event.key == "enter" or event.key in _NEWLINE:
            event.stop()
            event.prevent_default()
            if event.key == "enter":
                await self.screen.run_action("save")
            else:
                self.insert("\n")


class QueueSheet(GuardedSheet[None]):
    """Lists what waits; a change is the session's, and is shown when that has made it.

    Args:
        too_late: Given the changed words of a prompt that was sent before they were saved.
        dropped: Given the words of a prompt that is taken out.
    """

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("enter,e", "edit", show=False),
        Binding("s", "send", show=False),
        Binding("d,delete", "drop", show=False),
        Binding("J,shift+down", "shift(1)", show=False),
        Binding("K,shift+up", "shift(-1)", show=False),
        Binding("j,down", "move(1)", show=False),
        Binding("k,up", "move(-1)", show=False),
        Binding("escape", "close", show=False),
    ]
    # What is dropped is in the history: that needs no guard.
    DECIDES = frozenset(("send",))
    IS_LIST = True
    AUTO_FOCUS = ""
    DEFAULT_CSS = """
    QueueSheet #queue-title { text-style: bold; color: $text-secondary; margin-bottom: 1; }
    QueueSheet PickList { height: auto; max-height: 12; background: $panel; }
    QueueSheet QueuedText {
        display: none;
        height: 6;
        border: none;
        padding: 0 1;
        background: $background;
    }
    QueueSheet.-editing QueuedText { display: block; }
    QueueSheet QueuedText:focus { border: none; }
    QueueSheet.-editing PickList { display: none; }
    QueueSheet KeyRow { margin-top: 1; }
    QueueSheet.-small #queue-title, QueueSheet.-small KeyRow { margin: 0; }
    """

    def __init__(
        self,
        client: SessionClient,
        state: SessionState,
        too_late: Callable[[str], None],
        dropped: Callable[[str], object],
    ) -> None:
        super().__init__()
        self._client = client
        self._state = state
        self._too_late = too_late
        self._dropped = dropped
        self._edited = ""
        self._before = ""

    def _content(self) -> ComposeResult:
        yield Static(id="queue-title", markup=False)
        yield PickList(id="queued")
        yield QueuedText(tab_behavior="focus")
        yield KeyRow(_LISTING)

    def on_mount(self) -> None:
        """Fill the list."""
        self.state_changed()

    def _fit(self, rows: int) -> None:
        self.query_one(PickList).styles.max_height = max(1, min(12, rows - 5))

    def state_changed(self) -> None:
        """Show what waits now, with the cursor where it was."""
        queue, rows = self._state.queue, self.query_one(PickList)
        steering = [
            PickRow("", Content(one_line(text)), Content.styled("at the next step", "$text-muted"))
            for text in queue.steering
        ]
        prompts = zip(queue.ids, queue.items, strict=False)
        digits = len(str(len(queue.ids)))
        listed = [*steering, *(_row(f"{at:{digits}}", *each) for at, each in enumerate(prompts, 1))]
        rows.set_rows(
            listed, rows.row_id, "Nothing waits. Tab sends a prompt after the running turn."
        )
        if not self._edited:
            self._show_keys()
        self.query_one("#queue-title", Static).update(f"Queue  {len(queue.ids) or ''}".rstrip())
        if self._edited and self._edited not in queue.ids:
            text = self.query_one(QueuedText).text
            self._show_list()
            self.app.bell()
            if text != self._before:
                self._too_late(text)

    @property
    def _chosen(self) -> str:
        return self.query_one(PickList).row_id

    def _row_of(self, action: str) -> str:
        return self._chosen

    def action_move(self, by: int) -> None:
        """Move the cursor."""
        self.query_one(PickList).action_move(by)

    def action_shift(self, by: int) -> None:
        """Send the prompt earlier or later."""
        ids = self._state.queue.ids
        if self._chosen in ids:
            to = ids.index(self._chosen) + by
            if 0 <= to < len(ids):
                self._client.move_queued(self._chosen, to)

    def action_drop(self) -> None:
        """Take the prompt out."""
        queue = self._state.queue
        if self._chosen in queue.ids:
            self._dropped(queue.items[queue.ids.index(self._chosen)])
            self._client.unqueue(self._chosen)

    def action_send(self) -> None:
        """Send the prompt now; a turn that runs gets it at its next step."""
        if self._chosen:
            self._client.send_queued(self._chosen)

    @on(PickList.Chosen)
    def action_edit(self) -> None:
        """Change the prompt's words."""
        ids = self._state.queue.ids
        if self._chosen not in ids:
            return
        self._edited = self._chosen
        text = self.query_one(QueuedText)
        text.text = self._before = written(self._state.queue.items[ids.index(self._edited)])
        text.move_cursor(text.document.end)
        self.add_class("-editing")
        self.query_one(KeyRow).set_choices(_EDITING)
        text.focus()

    def action_save(self) -> None:
        """Keep the changed words; a prompt without any is taken out."""
        text = self.query_one(QueuedText).text
        if not text.strip():
            self._dropped(self._before)
        self._client.edit_queued(self._edited, text)
        self._show_list()

    def action_close(self) -> None:
        """Leave the words as they were, or close."""
        if self._edited:
            self._show_list()
        else:
            self.finish()

    def _show_list(self) -> None:
        self._edited = ""
        self.remove_class("-editing")
        self._show_keys()
        self.set_focus(None)

    def _show_keys(self) -> None:
        """Offer what can be done with what waits."""
        self.query_one(KeyRow).set_choices(_LISTING if self._state.queue.ids else (_CLOSE,))


def _row(at: str, prompt_id: str, text: str) -> PickRow:
    lines = text.strip().count("\n")
    note = Content.styled(f"{lines + 1} lines" if lines else "", "$text-muted")
    left = Content.assemble((f"{at}  ", "$text-muted"), one_line(text, 400))
    return PickRow(prompt_id, left, note)
