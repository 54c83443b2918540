"""Where to go on with a session of another folder."""

from collections.abc import Sequence
from typing import ClassVar

from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.content import Content
from textual.widgets import Static

from amplifier_tui.base.text import one_line
from amplifier_tui.ui.dialogs.parts.guarded import GuardedSheet
from amplifier_tui.ui.dialogs.parts.sheet import KeyChoice, KeyRow


class WhereSheet(GuardedSheet[str]):
    """Returns `there`, `here` or `other`: in which folder to go on.

    Args:
        folder: That of the session; empty where nobody knows it.
        here: The folder of the session that is open.
        gone: The session's folder is not there any more.
        copy: A copy is made in any case.
    """

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("t", "take('there')", show=False),
        Binding("h", "take('here')", show=False),
        Binding("o", "take('other')", show=False),
        Binding("escape", "close", show=False),
    ]
    DECIDES = frozenset(("take('there')", "take('here')", "take('other')"))
    DEFAULT_CSS = """
    WhereSheet #where-about { margin-bottom: 1; }
    """

    def __init__(self, folder: str, here: str, *, gone: bool, copy: bool) -> None:
        super().__init__()
        self._folder = one_line(folder, 300)
        self._here = one_line(here, 300)
        self._gone = gone
        self._copy = copy

    def _content(self) -> ComposeResult:
        if not self._folder:
            head = "Nobody knows which folder this session is of."
        elif self._gone:
            head = f"Its folder is gone: {self._folder}"
        else:
            head = f"This session is of another folder: {self._folder}"
        about = (
            f"You are in {self._here}. In another folder it goes on as a copy; the session itself "
            "stays as it is."
        )
        yield Static(
            Content.assemble((head, "bold"), "\n", (about, "$text-muted")), id="where-about"
        )
        yield KeyRow(self._choices())

    def _choices(self) -> Sequence[KeyChoice]:
        there = KeyChoice("t", "Copy it there" if self._copy else "Go on there", "take('there')")
        return (
            *(() if self._gone else (there,)),
            KeyChoice("h", "Copy it into this folder", "take('here')"),
            KeyChoice("o", "Into another folder", "take('other')"),
            KeyChoice("esc", "Close", "close"),
        )

    def action_take(self, where: str) -> None:
        """Answer."""
        if where != "there" or not self._gone:
            self.finish(where)
