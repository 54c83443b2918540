"""Textual's line of text, mended: every single line is written in this one."""

from textual import events
from textual.widgets import Input

from amplifier_tui.base.text import shortened
from amplifier_tui.ui.fields.keys_in_order import act_in_order


class TextField(Input):
    """A line of text in which keys that arrive together act in their order.

    A paste of several lines becomes one; of more than there is room for, the end is cut off.
    """

    async def on_key(self, event: events.Key) -> None:
        """Act on a key that types nothing, before the next one comes."""
        await act_in_order(self, event)

    def on_paste(self, event: events.Paste) -> None:
        """Write what is pasted; Textual's would keep its first line, and nothing of a long one."""
        event.prevent_default()
        event.stop()
        lines = [line for line in event.text.splitlines() if line.strip()]
        text = lines[0] if len(lines) == 1 else " ".join(map(str.strip, lines))
        start, end = sorted(self.selection)
        if self.max_length:
            text = shortened(text, max(0, self.max_length - len(self.value) + end - start))
        self.replace(text, start, end)
