"""The keys that work while a pane or the conversation has the focus, as rows of the help.

The widgets own them; here they are read from their bindings, so that help and keymap know them.
"""

from functools import cache

from textual.binding import Binding
from textual.dom import DOMNode

from amplifier_tui.ui.keys.actions import Action
from amplifier_tui.ui.panes.inspector.pane import EventInspector
from amplifier_tui.ui.panes.table import PANES
from amplifier_tui.ui.transcript.view import TranscriptView


@cache
def pane_actions() -> tuple[Action, ...]:
    """Return the keys of the conversation and of all panes."""
    widgets: list[tuple[str, type[DOMNode]]] = [
        ("In the conversation", TranscriptView),
        *((f"In the {pane.name}", widget) for pane in PANES for widget in pane.widgets()),
        ("In the inspector", EventInspector),
    ]
    return tuple(
        Action(
            binding.id,
            binding.description,
            binding.action,
            keys=binding.key,
            help=binding.tooltip,
            listed=False,
            group=group,
            scope="pane",
        )
        for group, widget in widgets
        for binding in widget.BINDINGS
        if isinstance(binding, Binding) and binding.id and binding.description
    )
