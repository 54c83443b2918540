"""The keys that work while a pane or the conversation has the focus, as rows of the help.

The widgets own them; here they are read from their bindings, so that help and keymap know them.
"""

from functools import cache

from textual.binding import Binding
from textual.dom import DOMNode

from amplifier_tui.ui.keys.actions import Action
from amplifier_tui.ui.panes.context.pane import ContextPane
from amplifier_tui.ui.panes.events.pane import EventLogPane
from amplifier_tui.ui.panes.events.view import EventLogView
from amplifier_tui.ui.panes.inspector.pane import EventInspector
from amplifier_tui.ui.panes.modules.pane import ModulesPane
from amplifier_tui.ui.transcript.view import TranscriptView

_WIDGETS: tuple[tuple[str, type[DOMNode]], ...] = (
    ("In the conversation", TranscriptView),
    ("In the context", ContextPane),
    ("In the modules", ModulesPane),
    ("In the events", EventLogView),
    ("In the events", EventLogPane),
    ("In the inspector", EventInspector),
)


@cache
def pane_actions() -> tuple[Action, ...]:
    """Return the keys of all panes."""
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
        for group, widget in _WIDGETS
        for binding in widget.BINDINGS
        if isinstance(binding, Binding) and binding.id and binding.description
    )
