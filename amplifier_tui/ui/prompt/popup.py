"""The completion popup above the prompt."""

from textual import on
from textual.app import ComposeResult
from textual.containers import Vertical
from textual.content import Content
from textual.message import Message

from amplifier_tui.ui.prompt.completion import Candidate
from amplifier_tui.ui.widgets.pick_list import PickList, PickRow, marked


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
        at = self.query_one(PickList).cursor
        return self._candidates[at] if 0 <= at < len(self._candidates) else None

    def show_candidates(self, candidates: list[Candidate]) -> None:
        """Show candidates, best first; none closes the popup."""
        self._candidates = candidates
        self.display = bool(candidates)
        rows = [
            PickRow(str(i), marked(c.text, c.positions), Content.styled(c.note, "$text-muted"))
            for i, c in enumerate(candidates)
        ]
        self.query_one(PickList).set_rows(rows)

    def move(self, by: int) -> None:
        """Move the highlight."""
        self.query_one(PickList).move(by)

    @on(PickList.Chosen)
    def _chosen(self, event: PickList.Chosen) -> None:
        event.stop()
        self.post_message(self.Clicked())
