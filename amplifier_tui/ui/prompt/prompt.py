"""The prompt at the foot of the screen: the draft, and what is said above it."""

from __future__ import annotations

from pathlib import Path
from time import localtime, strftime, time
from typing import TYPE_CHECKING

from rich.cells import cell_len
from textual import events, on
from textual.app import ComposeResult
from textual.containers import Horizontal
from textual.content import Content
from textual.message import Message
from textual.style import Style
from textual.widgets import Static

from amplifier_tui.base.text import one_line
from amplifier_tui.ui.keys.actions import BY_ID
from amplifier_tui.ui.keys.keymap import Keymap, show_keys
from amplifier_tui.ui.prompt.history import History
from amplifier_tui.ui.prompt.prompt_input import PromptInput
from amplifier_tui.ui.prompt.shell import HINT, QUIET_HINT, shell_draft
from amplifier_tui.ui.widgets.messages import ActionWanted, DraftSetAside
from amplifier_tui.ui.widgets.styled import fit

if TYPE_CHECKING:
    from collections.abc import Sequence

    from amplifier_tui.host.events import JobChanged, SessionHeld
    from amplifier_tui.ui.prompt.completion import Completer

IDLE = "Ask for anything   @ file   / command   ! shell   ? keys"
BEHIND = "Ask for anything"
IN_PANE = "In a pane   esc back here   F1 keys"
IN_AGENTS = "In the agents   esc back here   F1 keys"
RUNNING = "enter steers   tab queues   esc stops"
TELLING = "enter tells {name}   esc goes back"
ENDED = "{name} has ended   esc goes back"
READ_ONLY = "Read-only: open elsewhere   / command   ? keys"
ABSENT = "No session is open   /new begins one   /sessions what is stored"
COMMAND = "esc stops your command"
CHANGE = "enter queues   esc stops the change"
SUMMARY = "enter queues   esc stops the summary"
BLOCKED = "enter queues   ctrl+c twice quits"
STOPPING = "Stopping after this step   esc again stops at once"
STOPPING_NOW = "Stopping now"
GAP = "   "
"""Stands between two hints."""
_HINTED = {
    "esc": "turn.back",
    "enter": "prompt.send",
    "tab": "prompt.queue",
    "F1": "app.help",
    "ctrl+c": "prompt.clear",
}
"""The keys that hints begin with, and what they run: the user may have given that others."""
_LEADS_TO = "leads_to"
"""In the style of a row above the prompt: the action that a click on it runs."""


def in_conversation(hints: Sequence[str], *, stops: bool = False) -> str:
    """Return what the prompt says while keys go to the conversation.

    Args:
        hints: Keys of the entry that the cursor is on.
        stops: There is something that `esc` stops.
    """
    back = "esc stops" if stops else "esc back here"
    return GAP.join(("In the conversation", back, *hints, "F1 keys"))


def fit_hints(words: str, width: int) -> str:
    """Return the hints, from the first on, that fit whole into `width` cells; `…` for more."""
    hints = words.split(GAP)
    gap = GAP if cell_len(words) <= width else GAP[1:]
    more: list[str] = []
    while len(hints) > 1 and cell_len(gap.join(hints + more)) > width:
        hints.pop()
        more = ["…"]
    return fit(gap.join(hints + more), width)


class PromptArea(Horizontal):
    """Owns the draft; says with messages what the user wants done with it."""

    DEFAULT_CSS = """
    PromptArea {
        height: auto;
        background: $surface;
        border-left: thick $primary;
        padding: 1 1;
    }
    PromptArea.-aside { border-left: thick $scrollbar; }
    PromptArea > #prompt-glyph { width: 2; color: $text-muted; }
    PromptArea.-shell { border-left: thick $warning; }
    PromptArea.-shell > #prompt-glyph { color: $text-warning; text-style: bold; }
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

    class Resized(Message):
        """It takes another number of rows."""

    class LookChanged(Message):
        """There is a draft or none, for the shell or not: the rows above it say other things."""

    def __init__(self, history: History) -> None:
        super().__init__(id="prompt")
        self.input = PromptInput(history)
        self.input.placeholder = self._hint = IDLE
        self._keymap = Keymap()
        self._behind = False
        self._elsewhere = ""
        self._completer: Completer | None = None
        self._has_draft = False
        self._tells: bool | None = None
        """Of a draft for the shell, whether the agent is told."""

    def compose(self) -> ComposeResult:
        """Make the draft."""
        yield Static("›", id="prompt-glyph")
        yield self.input

    def on_resize(self) -> None:
        """Tell what stands above it, and say what fits."""
        self._say(self._hint)
        self.post_message(self.Resized())

    def complete_with(self, completer: Completer) -> None:
        """Complete files and commands from now on."""
        self._completer = completer
        self.input.completion_key = completer.take_key
        self._look()

    def set_turn(
        self,
        running: bool,
        stop: str = "",
        *,
        command: bool = False,
        change: bool = False,
        summary: bool = False,
        blocked: bool = False,
        read_only: bool = False,
        absent: bool = False,
    ) -> None:
        """Follow the turn: what enter and tab do, and what the placeholder says.

        Args:
            command: A command of the user's runs.
            change: A module is being changed, and prompts wait for that.
            summary: A model writes the summary of a compaction, and prompts wait for that.
            blocked: A module does not give the engine back, so that none of these can be stopped.
            read_only: Another window has the session, and no prompt is taken here.
            absent: There is no session that could take one.
        """
        self.input.running = running
        self.input.busy = running or ((command or change or summary) and not blocked)
        cases = (
            (blocked, BLOCKED),
            (command, COMMAND),
            (change, CHANGE),
            (summary, SUMMARY),
            (read_only, READ_ONLY),
            (absent, ABSENT),
        )
        words = next((words for case, words in cases if case), IDLE)
        if running:
            words = RUNNING if not stop else STOPPING_NOW if "now" in stop else STOPPING
        self._say(words)

    def set_agent(self, name: str, *, works: bool) -> None:
        """Write to an agent: say so, and whether it can still be told something."""
        self.input.running = False
        self._say((TELLING if works else ENDED).format(name=one_line(name, 40)))

    def stand_behind(self, behind: bool) -> None:
        """A dialog is in front, or is gone: it has the cursor, and the prompt's keys do nothing."""
        self._behind = behind
        self.input.show_cursor = not behind
        self._say(self._hint)

    def stand_aside(self, words: str) -> None:
        """Say where the keys go that are pressed now; empty when they are for the prompt."""
        self._elsewhere = words
        self._say(self._hint)

    def _say(self, words: str) -> None:
        self._hint = words
        self.set_class(self._behind or bool(self._elsewhere), "-aside")
        words = BEHIND if self._behind else self._elsewhere or words
        words = GAP.join(filter(None, map(self._with_own_key, words.split(GAP))))
        if (width := self.input.wrap_width) > 0:
            words = fit_hints(words, width)
        # A placeholder is markup, and an agent's name a bundle's.
        shown = Content(words).markup
        if self.input.placeholder != shown:
            self.input.placeholder = shown

    def _with_own_key(self, hint: str) -> str:
        """Return a hint with the user's key; empty where there is none for it."""
        key, _, does = hint.partition(" ")
        if key not in _HINTED:
            return hint
        keys = self._keymap.keys_of(BY_ID[_HINTED[key]])
        return f"{show_keys(keys)} {does}" if keys else ""

    def set_root(self, root: Path) -> None:
        """Complete the files of this directory."""
        if self._completer is not None:
            self._completer.set_root(root)

    def use_keymap(self, keymap: Keymap) -> None:
        """Take these keys."""
        self._keymap = keymap
        self.input.use_keymap(keymap)
        if self._completer is not None:
            self._completer.keymap = keymap

    def restore(self, text: str, *, selected: bool = False) -> None:
        """Give a prompt that was not answered back, unless another draft was begun.

        Args:
            selected: What is typed next stands in its place, and what fails next.
        """
        if text and selected and self.input.untouched:
            self.input.offer(text)
        elif text and not self.input.text:
            self.input.set_draft(text)

    def give_back(self, draft: str) -> None:
        """Go on with a draft of an earlier time; beside another one it is next in the history."""
        if self.input.text.strip():
            self.input.past.add(draft)
            # The session keeps the other one from now on.
            self.post_message(DraftSetAside(draft))
        else:
            self.input.set_draft(draft)

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
        self._look_shell()
        self._look()

    @on(PromptInput.SelectionChanged)
    def _moved(self, event: PromptInput.SelectionChanged) -> None:
        event.stop()
        self._look()

    def _look_shell(self) -> None:
        draft = shell_draft(self.input.text)
        tell = draft.tell if draft is not None else None
        if tell is not self._tells or bool(self.input.text) is not self._has_draft:
            self._tells, self._has_draft = tell, bool(self.input.text)
            self.set_class(draft is not None, "-shell")
            self.query_one("#prompt-glyph", Static).update("›" if draft is None else "$")
            self.post_message(self.LookChanged())

    def _look(self) -> None:
        if self._completer is not None and self._completer.update():
            self.run_worker(self._completer.find_files(), group="completion")


class PromptNotes(Static):
    """The rows above the prompt: what waits for the agent, and what the draft is going to do.

    A click on one that names the way to a list opens it.
    """

    DEFAULT_CSS = """
    PromptNotes {
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
        super().__init__(id="notes")
        self._shown: list[Content] = []

    def show_rows(self, rows: list[Content]) -> None:
        """Show rows; none takes no room."""
        if rows != self._shown:
            self._shown = rows
            self.set_class(bool(rows), "-shown")
            self.update(Content("\n").join(rows))

    def on_click(self, event: events.Click) -> None:
        """Open what the row under the pointer leads to."""
        if action := event.style.meta.get(_LEADS_TO):
            event.stop()
            self.post_message(ActionWanted(action))


def waiting_rows(items: tuple[str, ...], steering: tuple[str, ...], hint: str) -> list[Content]:
    """Return what waits for the turn's next step and for its end; `hint` says what to do."""
    rows = []
    if steering:
        count = f"{len(steering)} " if len(steering) > 1 else ""
        rows.append(_waiting(f"{count}at the next step", steering[0]))
    if items:
        row = _waiting(f"+{len(items)} queued", items[0])
        row = row.append(Content.styled(f"   {hint}", "$text-muted"))
        rows.append(_leading_to("turn.queue", row))
    return rows


def early_rows(early: tuple[str, ...]) -> list[Content]:
    """Return what waits for the session to be open."""
    count = f"{len(early)} " if len(early) > 1 else ""
    return [_waiting(f"{count}when the session is open", early[0])] if early else []


def held_rows(held: SessionHeld | None, way: str) -> list[Content]:
    """Return what is said of a session of another window; `way` goes on with it here."""
    if held is None:
        return []
    if held.free:
        return [
            _waiting("let go elsewhere", f"{way} goes on with it here, as your next prompt does")
        ]
    now = time()
    began = min(max(0.0, held.since), now)
    clock = strftime("%H:%M" if now - began < 86_400 else "%d %b", localtime(began))
    since = f"since {clock}" if held.since else ""
    process = f"process {held.owner}" if held.owner else ""
    who = ", ".join(filter(None, (since, process)))
    return [_waiting("open elsewhere", f"{who}: read-only until closed there".lstrip(": "))]


def left_rows(words: str) -> list[Content]:
    """Return what is said of sessions that were open when the program ended."""
    return [_waiting("left open", words)] if words else []


def job_rows(jobs: Sequence[JobChanged], way: str) -> list[Content]:
    """Return what is said of the agent's commands that run in the background; `way` lists them."""
    if not jobs:
        return []
    words = f"{len(jobs)} in the background" if len(jobs) > 1 else "in the background"
    alone = sum(job.no_network for job in jobs)
    if alone:
        # First: on a narrow terminal the rest is cut.
        words = f"{f'{alone} without' if alone < len(jobs) else 'no'} network, {words}"
    row = _waiting(words, one_line(jobs[0].command, 36))
    if jobs[0].tail:
        row = row.append(Content.styled(f"   {one_line(jobs[0].tail, 80)}", "$text-muted"))
    return [_leading_to("jobs.show", Content.assemble((f"{way}  ", "$text-muted"), row))]


def shell_rows(text: str) -> list[Content]:
    """Return what is said of a draft that is a command for the shell."""
    draft = shell_draft(text)
    if draft is None:
        return []
    return [Content.styled(HINT if draft.tell else QUIET_HINT, "$text-warning bold")]


def _leading_to(action: str, row: Content) -> Content:
    return row.stylize(Style.from_meta({_LEADS_TO: action}))


def _waiting(words: str, text: str) -> Content:
    return Content.assemble((words, "$accent bold"), "  ", one_line(text, 200))
