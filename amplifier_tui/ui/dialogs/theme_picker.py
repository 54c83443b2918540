"""The theme picker: what the cursor is on is shown at once; esc puts the old theme back."""

from collections.abc import Callable, Sequence

from textual.content import Content

from amplifier_tui.base.text import one_line
from amplifier_tui.ui.app.themes import Roles
from amplifier_tui.ui.dialogs.parts.picker import Picker
from amplifier_tui.ui.fuzzy import match, rank
from amplifier_tui.ui.widgets.pick_list import PickRow, marked


class ThemePicker(Picker):
    """Returns the name of the theme to keep; None when the one before was put back.

    Args:
        themes: The themes there are.
        errors: One line per theme file that is wrong.
        current: The theme in force.
        show: Puts a theme in force.
    """

    TITLE = "Themes"
    CHOOSE = "Keep"
    ROWS = (6, 12)

    def __init__(
        self,
        themes: Sequence[Roles],
        errors: Sequence[str],
        current: str,
        show: Callable[[str], None],
    ) -> None:
        super().__init__()
        self._themes = themes
        self._errors = errors
        self._current = current
        self._show = show

    def on_mount(self) -> None:
        """Start on the theme in force."""
        self.refill(self._current)

    def rows_for(self, query: str) -> Sequence[PickRow]:
        """Return the themes that match, and what is wrong with the others."""
        found = rank(query, self._themes, lambda roles: f"{roles['name']} {roles['description']}")
        rows = [self._row(roles, query) for roles in found]
        if not query:
            rows += [
                PickRow("", Content.styled(f"✗ {one_line(error)}", "$text-error"))
                for error in self._errors
            ]
        return rows

    def _row(self, roles: Roles, query: str) -> PickRow:
        hit = match(query, roles["name"]) if query else None
        left = Content.assemble(
            marked(roles["name"], hit[1] if hit else ()).stylize("bold"),
            (f"  {one_line(roles['description'])}", "$text-muted"),
        )
        kind = "dark" if roles["dark"] else "light"
        words = f"in use · {kind}" if roles["name"] == self._current else kind
        return PickRow(roles["name"], left, Content.styled(words, "$text-muted"))

    def highlighted(self, row: PickRow | None) -> None:
        """Show the theme."""
        if row is not None:
            self._show(row.id)

    def action_close(self) -> None:
        """Put the old theme back."""
        self._show(self._current)
        if self.is_active:
            self.dismiss(None)
