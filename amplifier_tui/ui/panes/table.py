"""The one table of panes: a pane is its file or folder, and its row here."""

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
        name: In preferences, slash command and action (`pane.<name>`).
        widget: Its class, as `module:class` below this package.
        key: Shows and focuses it; so does `chord` after the leader.
        parts: Widgets in it that have keys of their own, named like `widget`.
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
        return f"{__package__}.{self.widget.partition(':')[0]}"

    def make(self) -> Widget:
        """Make the pane."""
        pane: Widget = _load(self.widget)()
        return pane

    def widgets(self) -> list[Any]:
        """Return the classes that have keys: parts first, as they hear a key first."""
        return [_load(spec) for spec in (*self.parts, self.widget)]


def _load(spec: str) -> Any:
    module, _, name = spec.partition(":")
    return getattr(import_module(f"{__package__}.{module}"), name)


PANES: tuple[PaneRow, ...] = (
    PaneRow("context", "Context budget", "context.pane:ContextPane", "f4", "x"),
    PaneRow("modules", "Modules", "modules:ModulesPane", "f2", "m", own_column=True),
    PaneRow(
        "events",
        "Hook events",
        "events.pane:EventLogPane",
        "f3",
        "v",
        ("events.view:EventLogView",),
    ),
)
"""From top to bottom, which is the order of F6."""
BY_NAME = {row.name: row for row in PANES}
