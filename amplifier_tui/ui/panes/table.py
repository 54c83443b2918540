"""The one table of panes: a pane is its folder and its row here."""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any, NamedTuple, Protocol

if TYPE_CHECKING:
    from textual.widget import Widget

    from amplifier_tui.ui.state.session import SessionState


class ShowsState(Protocol):
    """What every pane does besides being a widget."""

    def update_from(self, state: SessionState) -> None:
        """Show the state; cheap when nothing the pane shows has changed."""


class PaneRow(NamedTuple):
    """A pane.

    Attributes:
        name: In preferences, slash command, action (`pane.<name>`) and folder.
        title: In palette and help.
        widget: Its class, in `pane.py` of its folder.
        key: Shows and focuses it.
        chord: The same after the leader.
        parts: Widgets in it that have keys of their own, as `module:class` in its folder.
        own_column: It gets a column of its own where there is room for three.
    """

    name: str
    title: str
    widget: str
    key: str
    chord: str
    parts: tuple[str, ...] = ()
    own_column: bool = False

    @property
    def module(self) -> str:
        """The module its class is in; imported after the first frame."""
        return f"{__package__}.{self.name}.pane"

    def make(self) -> Widget:
        """Make the pane."""
        pane: Widget = self._load(f"pane:{self.widget}")()
        return pane

    def widgets(self) -> list[Any]:
        """Return the classes that have keys: parts first, as they hear a key first."""
        return [self._load(spec) for spec in (*self.parts, f"pane:{self.widget}")]

    def _load(self, spec: str) -> Any:
        module, _, name = spec.partition(":")
        return getattr(import_module(f"{__package__}.{self.name}.{module}"), name)


PANES: tuple[PaneRow, ...] = (
    PaneRow("context", "Context budget", "ContextPane", "f4", "x"),
    PaneRow("modules", "Modules", "ModulesPane", "f2", "m", own_column=True),
    PaneRow("events", "Hook events", "EventLogPane", "f3", "v", parts=("view:EventLogView",)),
)
"""From top to bottom, which is the order of F6."""
BY_NAME = {row.name: row for row in PANES}
