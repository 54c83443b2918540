"""Textual's line of text, mended: every single line is written in this one."""

from textual import events
from textual.widgets import Input

from amplifier_tui.ui.fields.keys_in_order import act_in_order


class TextField(Input):
    """A line of text in which keys that arrive together act in their order."""

    async def on_key(self, event: events.Key) -> None:
        """Act on a key that types nothing, before the next one comes."""
        await act_in_order(self, event)
