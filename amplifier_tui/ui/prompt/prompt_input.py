"""The text the user is writing: editing, sending, history, large pastes."""

import asyncio
import re
from collections import deque
from collections.abc import Callable, Mapping
from types import MappingProxyType
from typing import NamedTuple

from rich.text import Text
from textual import events
from textual.message import Message
from textual.reactive import var

from amplifier_tui.ui.fields.text_area import EditArea
from amplifier_tui.ui.keys.action import LEADER
from amplifier_tui.ui.keys.actions import BY_ID
from amplifier_tui.ui.keys.keymap import EDITING, Keymap
from amplifier_tui.ui.prompt.history import History
from amplifier_tui.ui.prompt.shell import shell_draft

CHIP_LINES = 8
"""A paste with more lines than this becomes a chip."""
CHIP_CHARACTERS = 1_000
"""So does one with more characters than this."""
_PASTES = 20
"""Large pastes that are known again when a prompt with them is recalled."""


class Draft(NamedTuple):
    """A draft that was put aside: its text, the large pastes in it, and where the cursor was."""

    text: str = ""
    pastes: Mapping[str, str] = MappingProxyType({})
    cursor: tuple[int, int] = (0, 0)

    @property
    def whole(self) -> str:
        """The text as it would be sent."""
        chips = Chips()
        chips.texts |= self.pastes
        text = chips.expand(self.text)
        # What a label stands for is not seen: a paste that begins with `!` is words.
        return f"\n{text}" if shell_draft(text) and not shell_draft(self.text) else text


class PromptInput(EditArea, inherit_bindings=False):
    """A text area that sends on enter.

    It looks its keys up itself: a binding would be found only after what was typed next.
    """

    running: var[bool] = var(False)
    """A turn runs: enter steers, tab queues."""

    # Plain classes: making a dataclass takes a noticeable part of the way to the first frame.

    class Submitted(Message):
        """The draft was sent, chips expanded; the prompt is empty already.

        With `queue` it is for after the running turn. `store`: it is not what was sent just before.
        """

        def __init__(self, text: str, queue: bool, store: bool) -> None:
            super().__init__()
            self.text = text
            self.queue = queue
            self.store = store

    class ChordKey(Message):
        """The key after the leader, when it came before the popup could take it."""

        def __init__(self, key: str) -> None:
            super().__init__()
            self.key = key

    class NothingToUndo(Message):
        """The key that undoes was pressed, and nothing was written that it could undo."""

    class LeftOut(Message):
        """Of what was pasted or given, these kinds of characters are not in the draft."""

        def __init__(self, kinds: tuple[str, ...]) -> None:
            super().__init__()
            self.kinds = kinds

    def __init__(self, history: History) -> None:
        self.chips = Chips()
        super().__init__(
            id="prompt-input",
            compact=True,
            soft_wrap=True,
            show_line_numbers=False,
            highlight_cursor_line=False,
            tab_behavior="focus",
        )
        self.cursor_blink = False
        self.match_cursor_bracket = False
        self.past = history
        self._pasted: deque[str] = deque(maxlen=_PASTES)
        self.queued = 0
        """Prompts that wait for the turn to end."""
        self.busy = False
        """A turn runs, or a command of the user's."""
        self.cleared = False
        """The draft was cleared: the first step back in the history brings it back."""
        self.completion_key: Callable[[str], bool] = lambda key: False
        """Gets every key first; True when it was meant for the completion."""
        self._offered = self._untouched = ""
        """The text that was given back, selected."""
        self.in_chord = False
        """The leader was pressed and its popup is not closed yet."""
        self._actions: dict[str, str] = {}
        self.use_keymap(Keymap())

    @property
    def _draw_cursor(self) -> bool:
        """Whether there is a cursor: `show_cursor` alone does nothing where text can be edited."""
        return self.show_cursor and super()._draw_cursor

    def use_keymap(self, keymap: Keymap) -> None:
        """Take these keys."""
        editing = {key: action for keys, action in EDITING for key in keys.split(",")}
        leader = dict.fromkeys(keymap.keys_of(BY_ID[LEADER]).split(","), "begin_chord")
        self._actions = editing | keymap.by_key("prompt") | leader

    @property
    def draft(self) -> str:
        """The text as it would be sent."""
        return Draft(self.text, self.chips.texts).whole

    def set_draft(self, text: str) -> None:
        """Replace the draft, undoably, with the cursor at its end.

        Large pastes of this run become chips again, and what is too long without them as well.
        """
        text = self._harmless(text)
        # Of a command what makes it one stays to be seen.
        seen = text[: len(text) - len(text.lstrip("!"))] if shell_draft(text) else ""
        shown = text[len(seen) :]
        for pasted in self._pasted:
            if pasted in shown:
                shown = shown.replace(pasted, self.chips.add(pasted))
        shown = seen + (self.chips.add(text[len(seen) :]) if is_large(shown) else shown)
        self.replace(shown, (0, 0), self.document.end)
        self.move_cursor(self.document.end)

    def swap(self, draft: Draft) -> Draft:
        """Put the draft aside, go on with another one, and return the one before."""
        before = Draft(self.text, self.chips.texts, self.cursor_location)
        self.past.leave()
        self.cleared = False
        self.chips = Chips()
        self.chips.texts |= draft.pastes
        if draft.text != before.text:
            self.load_text(draft.text)
            self.move_cursor(draft.cursor)
        return before

    def offer(self, text: str, behind: str = "") -> None:
        """Make a text the draft that what is typed next replaces, all but what it stands behind."""
        self.set_draft(f"{behind}{text}")
        self.move_cursor((0, len(behind)))
        self.move_cursor(self.document.end, select=True)
        # It is selected for that, not to be copied.
        self._offered = self.selected_text
        self._untouched = self.text

    @property
    def untouched(self) -> bool:
        """Whether nobody wrote the draft: there is none, or it was offered and stands as it was."""
        return self.text in ("", self._untouched)

    def clear_draft(self) -> None:
        """Empty the draft, undoably."""
        self.replace("", (0, 0), self.document.end)

    def action_undo(self) -> None:
        """Undo what was written last."""
        if not self.history.undo_stack:
            self.post_message(self.NothingToUndo())
        super().action_undo()

    def get_line(self, line_index: int) -> Text:
        """Return a line of the draft with its chips marked."""
        line = super().get_line(line_index)
        for start, end in self.chips.spans(line.plain) if self.chips.texts else ():
            line.stylize(self.get_component_rich_style("text-area--suggestion"), start, end)
        return line

    async def on_key(self, event: events.Key) -> None:
        """Run the key's action; what is typed is left to TextArea."""
        if self.in_chord:
            event.stop()
            event.prevent_default()
            self.post_message(self.ChordKey(event.key))
            return
        if event.is_printable:
            if event.character == "?" and not self.text:
                event.stop()
                event.prevent_default()
                await self.run_action("app.help")
            else:
                self.past.leave()
            return
        if self.typed_unprinted(event):
            self.past.leave()
            return
        # TextArea would take enter as a new line.
        event.prevent_default()
        # Of xterm's `ESC [27;2;13~` Textual makes shift and a carriage return, and where the
        # modifier is alt, the carriage return alone.
        key = "alt+enter" if event.key == "\r" else event.key.replace("\r", "enter")
        if self.completion_key(key):
            event.stop()
        elif (action := self._actions.get(key)) is not None:
            event.stop()
            await self.run_action(action)

    def action_send(self) -> None:
        """Send the draft; a backslash before the cursor makes a new line instead."""
        row, column = self.cursor_location
        line = self.document.get_line(row)
        if column and line[column - 1] == "\\" and column == len(line):
            self.replace("\n", (row, column - 1), (row, column))
            return
        self._submit(queue=False)

    async def action_begin_chord(self) -> None:
        """Take the next key for a chord, even when it comes before the popup is up."""
        self.in_chord = True
        await self.run_action("app.leader")

    def action_newline(self) -> None:
        """Insert a new line at the cursor."""
        self.replace("\n", *self.selection, maintain_selection_offset=False)

    def action_complete_or_queue(self) -> None:
        """While a turn runs: send the draft after it."""
        if self.running:
            self._submit(queue=True)

    def _submit(self, *, queue: bool) -> None:
        """Hand the draft over and start a new one at once: the next key is for that."""
        if not self.text.strip() and self.queued and not self.busy:
            self.call_next(self.run_action, "app.send_queued")
        text = self.draft
        if text.strip():
            self.cleared = False
            self.load_text("")
            self.chips = Chips()
            self.post_message(self.Submitted(text, queue, self.past.add(text)))

    async def action_copy_clear_or_quit(self) -> None:
        """Copy what is selected, else clear the draft, else stop, else ask to leave."""
        selected = self.selected_text or self.screen.get_selected_text()
        if selected and selected != self._offered:
            from amplifier_tui.ui.widgets.messages import CopyRequested

            self.post_message(CopyRequested(selected, "selection"))
            # Pressed again it clears.
            self.move_cursor(self.cursor_location)
        elif self.text:
            self.past.add(self.draft)
            self.cleared = True
            self.clear_draft()
        elif self.busy:
            await self.run_action("screen.stop")
        else:
            await self.run_action("app.quit_if_asked_twice")

    async def action_delete_or_quit(self) -> None:
        """Delete the character under the cursor; on an empty prompt, ask to leave."""
        if self.text:
            self.action_delete_right()
        else:
            await self.run_action("app.quit_if_asked_twice")

    def pieces(self, line: str) -> list[tuple[int, int]]:
        """Return the start and end of what in a line is one thing: chips, and signs of several."""
        chips = self.chips.spans(line) if self.chips.texts else []
        return chips + super().pieces(line)

    def action_cursor_up(self, select: bool = False) -> None:
        """Move up; from the first row, to the prompt before."""
        offset = self.wrapped_document.location_to_offset(self.cursor_location)
        if select or offset.y > 0:
            super().action_cursor_up(select)
        elif not self.text and self.queued and not (self.past.walking or self.cleared):
            self.call_next(self.run_action, "app.unqueue")
        elif (text := self.past.previous(self.text)) is not None:
            self.cleared = False
            self.set_draft(text)

    def action_cursor_down(self, select: bool = False) -> None:
        """Move down; from the last row, to the prompt after."""
        offset = self.wrapped_document.location_to_offset(self.cursor_location)
        if select or offset.y < self.wrapped_document.height - 1 or not self.past.walking:
            super().action_cursor_down(select)
        elif (text := self.past.next()) is not None:
            # It may be the draft coming back, with its chips as labels.
            self.set_draft(text)

    def action_cursor_line_end(self, select: bool = False) -> None:
        """Move to the line's end; from the end of the draft, scroll the conversation down."""
        if not select and self.cursor_at_end_of_text:
            self.call_next(self.run_action, "screen.bottom")
        super().action_cursor_line_end(select)

    async def on_paste(self, event: events.Paste) -> None:
        """Insert the paste in place of TextArea; of images that were dropped, their mentions."""
        from amplifier_tui.ui.prompt.dropped import may_be_dropped, mentions_of_dropped

        event.stop()
        event.prevent_default()
        text = event.text
        # A command line takes the path itself.
        if may_be_dropped(text) and not self.text.startswith(("!", "/")):
            mentions = await asyncio.to_thread(mentions_of_dropped, text)
            row, column = self.selection.start
            before = self.document.get_line(row)[:column]
            apart = mentions != text and before and not before[-1].isspace()
            text = f" {mentions}" if apart else mentions
        self.insert_paste(text)

    def insert_paste(self, text: str) -> None:
        """Insert text from outside at the cursor: cleaned, and as a chip when it is large."""
        text = self._harmless(text.replace("\r\n", "\n").replace("\r", "\n"))
        if not text:
            return
        shown = text
        if is_large(text):
            self._pasted.append(text)
            shown = self.chips.add(text)
        result = self.replace(shown, *self.selection, maintain_selection_offset=False)
        self.move_cursor(result.end_location)
        self.past.leave()

    def _harmless(self, text: str) -> str:
        """Return a text without what could change the screen or hide in it, and say so."""
        from amplifier_tui.base.text import left_out, written

        if kinds := left_out(text):
            self.post_message(self.LeftOut(kinds))
        return written(text)

    def action_paste(self) -> None:
        """Paste what was copied inside the program."""
        self.insert_paste(self.app.clipboard)


def is_large(text: str) -> bool:
    """Return whether a paste is better shown as a chip."""
    return len(text) > CHIP_CHARACTERS or text.count("\n") >= CHIP_LINES


class Chips:
    """The large pastes of one draft: each stands in it as `[Pasted 2,031 lines]`."""

    def __init__(self) -> None:
        self.texts: dict[str, str] = {}

    def add(self, text: str) -> str:
        """Keep `text` and return the label that stands for it; equal texts share one."""
        for label, known in self.texts.items():
            if known == text:
                return label
        # A newline at the end ends the last line and begins none.
        lines = text.removesuffix("\n").count("\n") + 1
        size = f"{lines:,} lines" if lines > 1 else f"{len(text):,} characters"
        label, number = f"[Pasted {size}]", 1
        while label in self.texts:
            number += 1
            label = f"[Pasted {size} #{number}]"
        self.texts[label] = text
        return label

    def expand(self, draft: str) -> str:
        """Return the draft with each label replaced by its text; labels in texts are left alone."""
        return self._labels().sub(lambda found: self.texts[found[0]], draft)

    def spans(self, line: str) -> list[tuple[int, int]]:
        """Return the start and end of every label in a line."""
        return [found.span() for found in self._labels().finditer(line)]

    def _labels(self) -> re.Pattern[str]:
        return re.compile("|".join(map(re.escape, self.texts)) or "(?!)")
