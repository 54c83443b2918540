"""The popup above the prompt: what the word under the cursor could become."""

from collections.abc import Sequence
from typing import Final

from textual import on
from textual.app import ComposeResult
from textual.containers import Vertical
from textual.content import Content
from textual.message import Message

from amplifier_tui.base.lazy.dataclass import dataclass
from amplifier_tui.ui.widgets.pick_list import PickList, PickRow, marked

_COLUMN: Final = 30
"""Cells at most that keep what commands do in line; a longer one moves its own words."""
_MEASURE: Final = 110
"""The widest a list of commands is: beyond it, their keys would stand far away."""
_TIGHT: Final = 60
"""With fewer columns the keys of commands are left out: their words need the room."""


@dataclass(frozen=True, slots=True)
class Candidate:
    """A line of the popup: `insert` replaces the word; of a `command`, enter runs it at once.

    One that is only `alike` what was typed is not meant before the user has moved to a line.

    Attributes:
        data: What stands at the right end of the line.
        positions: Characters of `text` that were typed.
        takes: What a command is followed by.
        about: What a command does.
    """

    text: str
    insert: str
    data: str = ""
    positions: tuple[int, ...] = ()
    takes: str = ""
    about: str = ""
    command: bool = False
    alike: bool = False


class CompletionPopup(Vertical):
    """Lists candidates; the prompt keeps the focus and sends it the keys."""

    DEFAULT_CSS = """
    CompletionPopup {
        display: none;
        overlay: screen;
        offset: 0 -100%;
        width: 100%;
        height: auto;
        max-height: 8;
        background: $panel;
        & > PickList { height: auto; max-height: 8; background: $panel; padding: 0 2; }
    }
    """

    class Clicked(Message):
        """The highlighted candidate was clicked."""

    def __init__(self) -> None:
        super().__init__(id="completion")
        self._candidates: list[Candidate] = []
        self._width = 0
        """Columns of the terminal for which the lines were laid out."""
        self.moved = False
        """Whether the user has moved the highlight."""

    def compose(self) -> ComposeResult:
        """Make the list."""
        yield PickList()

    @property
    def is_open(self) -> bool:
        """Whether candidates are shown."""
        return bool(self._candidates)

    @property
    def candidate(self) -> Candidate | None:
        """The highlighted candidate."""
        at = self.query_one(PickList).cursor_row
        return self._candidates[at] if 0 <= at < len(self._candidates) else None

    def show_candidates(self, candidates: list[Candidate]) -> None:
        """Show candidates, best first; none closes the popup."""
        self._candidates, self.moved = candidates, False
        self.display = bool(candidates)
        self._lay_out()

    def on_resize(self) -> None:
        """Lay the lines out for another width."""
        if self._candidates and self.app.size.width != self._width:
            self._lay_out()

    def _lay_out(self) -> None:
        self._width = self.app.size.width
        listed = self.query_one(PickList)
        commands = any(each.command for each in self._candidates)
        listed.styles.max_width = _MEASURE if commands else None
        listed.set_rows(candidate_rows(self._candidates, self._width), keep=listed.row_id)

    def move(self, by: int) -> None:
        """Move the highlight."""
        self.moved = True
        self.query_one(PickList).action_move(by)

    @on(PickList.Chosen)
    def _chosen(self, event: PickList.Chosen) -> None:
        event.stop()
        self.post_message(self.Clicked())


def candidate_rows(candidates: Sequence[Candidate], width: int) -> list[PickRow]:
    """Return the lines: what commands do in one column beside them, for a terminal of `width`."""
    commands = [each for each in candidates if each.command]
    lefts = [
        Content.assemble(
            marked(each.text, each.positions),
            (f" {each.takes}" if each.takes else "", "$text-muted"),
        )
        for each in candidates
    ]
    longest = max((left.cell_length for left in lefts), default=0) if commands else 0
    column = min(longest, _COLUMN, width * 2 // 5)
    rows: list[PickRow] = []
    for at, (each, left) in enumerate(zip(candidates, lefts, strict=True)):
        data = each.data
        if each.command:
            left = left.truncate(width // 2, ellipsis=True)
            left = left.pad_right(max(0, column - left.cell_length))
            left = Content.assemble(left, (f"  {each.about}", "$text-muted"))
            data = data if width >= _TIGHT else ""
        rows.append(PickRow(str(at), left, Content.styled(data, "$text-muted")))
    return rows
