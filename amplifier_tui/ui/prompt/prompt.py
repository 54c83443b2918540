"""The prompt at the foot of the screen: the draft, and what is queued."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from textual import on
from textual.app import ComposeResult
from textual.containers import Horizontal
from textual.content import Content
from textual.message import Message
from textual.widgets import Static

from amplifier_tui.ui.keys.keymap import Keymap
from amplifier_tui.ui.prompt.history import History
from amplifier_tui.ui.prompt.prompt_input import PromptInput

if TYPE_CHECKING:
    from amplifier_tui.ui.prompt.completion import Completer

IDLE = "Ask for anything   @ file   / command   ? keys"
RUNNING = "enter steers   tab queues   esc stops"
TELLING = "enter tells {name}   esc goes back"
ENDED = "{name} has ended   esc goes back"
STOPPING = "Stopping after this step   esc again stops at once"
STOPPING_NOW = "Stopping now"


class PromptArea(Horizontal):
    """Owns the draft; says with messages what the user wants done with it."""

    DEFAULT_CSS = """
    PromptArea {
        height: auto;
        background: $surface;
        border-left: thick $primary;
        padding: 1 1;
    }
    PromptArea > #prompt-glyph { width: 2; color: $text-muted; }
    PromptArea > PromptInput {
        width: 1fr;
        height: auto;
        max-height: 5;
        padding: 0;
        color: $foreground;
        background: $surface;
        & .text-area--cursor { color: $surface; background: $foreground; }
        &:dark .text-area--cursor { color: $surface; background: $foreground; }
        &:light .text-area--cursor { color: $surface; background: $foreground; }
        & .text-area--placeholder { color: $text-muted; }
        & .text-area--suggestion { color: $accent; }
    }
    """

    class Draft(Message):
        """The draft changed: the user is typing."""

    def __init__(self, history: History) -> None:
        super().__init__(id="prompt")
        self.input = PromptInput(history)
        self.input.placeholder = IDLE
        self._completer: Completer | None = None

    def compose(self) -> ComposeResult:
        """Make the draft."""
        yield Static("›", id="prompt-glyph")
        yield self.input

    def complete_with(self, completer: Completer) -> None:
        """Complete files and commands from now on."""
        self._completer = completer
        self.input.completion_key = completer.take_key
        self._look()

    def set_turn(self, running: bool, stop: str = "") -> None:
        """Follow the turn: what enter and tab do, and what the placeholder says."""
        self.input.running = running
        words = IDLE
        if running:
            words = RUNNING if not stop else STOPPING_NOW if "now" in stop else STOPPING
        self._say(words)

    def set_agent(self, name: str, *, works: bool) -> None:
        """Write to an agent: say so, and whether it can still be told something."""
        self.input.running = False
        self._say((TELLING if works else ENDED).format(name=name))

    def _say(self, words: str) -> None:
        if self.input.placeholder != words:
            self.input.placeholder = words

    def set_root(self, root: Path) -> None:
        """Complete the files of this directory."""
        if self._completer is not None:
            self._completer.set_root(root)

    def use_keymap(self, keymap: Keymap) -> None:
        """Take these keys."""
        self.input.use_keymap(keymap)
        if self._completer is not None:
            self._completer.keymap = keymap

    def restore(self, text: str) -> None:
        """Give a prompt that was not answered back, unless another draft was begun."""
        if text and not self.input.text:
            self.input.set_draft(text)

    def close_popup(self) -> bool:
        """Close the completion popup; False when it was not open."""
        return self._completer is not None and self._completer.close()

    def accept_clicked(self) -> None:
        """Take the candidate that was clicked, as enter does."""
        if self._completer is not None:
            self.input.call_next(self._completer.take_key, "enter")

    @on(PromptInput.Changed)
    def _changed(self, event: PromptInput.Changed) -> None:
        event.stop()
        self.post_message(self.Draft())
        self._look()

    @on(PromptInput.SelectionChanged)
    def _moved(self, event: PromptInput.SelectionChanged) -> None:
        event.stop()
        self._look()

    def _look(self) -> None:
        if self._completer is not None and self._completer.update():
            self.run_worker(self._completer.find_files(), group="completion")


class QueueLine(Static):
    """The rows above the prompt: what the agent hears at its next step, and after its turn."""

    DEFAULT_CSS = """
    QueueLine {
        display: none;
        height: auto;
        background: $surface;
        padding: 0 2 0 4;
        text-wrap: nowrap;
        text-overflow: ellipsis;
        &.-shown { display: block; }
    }
    """

    def __init__(self) -> None:
        super().__init__(id="queue")
        self._shown: tuple[tuple[str, ...], tuple[str, ...]] = ((), ())

    def show_waiting(self, items: tuple[str, ...], steering: tuple[str, ...], hint: str) -> None:
        """Show what waits for the end of the turn and for its next step; `hint` takes it back."""
        if (items, steering) == self._shown:
            return
        self._shown = (items, steering)
        self.set_class(bool(items or steering), "-shown")
        rows = []
        if steering:
            count = f"{len(steering)} " if len(steering) > 1 else ""
            rows.append(_waiting(f"{count}at the next step", steering[0]))
        if items:
            row = _waiting(f"+{len(items)} queued", items[0])
            rows.append(row.append(Content.styled(f"   {hint}", "$text-muted")))
        self.update(Content("\n").join(rows))


def _waiting(words: str, text: str) -> Content:
    from amplifier_tui.base.text import one_line

    return Content.assemble((words, "$accent bold"), "  ", one_line(text, 200))
