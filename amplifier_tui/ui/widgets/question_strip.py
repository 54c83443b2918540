"""The row above the prompt that says which question waits while the user types."""

from collections.abc import Callable, Sequence
from typing import Final, NamedTuple

from textual.content import Content
from textual.widgets import Static

from amplifier_tui.ui.state.waiting import QuestionOrder
from amplifier_tui.ui.widgets.messages import ActionWanted

NARROW, TINY = 90, 50
"""Below so many cells a strip says less, and only what it must."""

_LEAST: Final = 26
"""Cells that are left for what is asked and what its key does, where both are said."""


Draw = Callable[[int, int], Content]
"""Makes the row: of how many that wait, and for so many cells."""


class _Waiting(NamedTuple):
    draw: Draw
    risk: str
    order: Callable[[], QuestionOrder]
    many: Callable[[], int]


def strip_row(what: Content, about: Sequence[Content], key: str, count: int, width: int) -> Content:
    """Return a row of `width` cells: `what`, cut to its room, and the key that opens it.

    `count` is how many questions wait, this one included.
    """
    shown = Content.styled(f" {key} ", "$foreground on $background bold")
    waiting = [Content.styled(f"{count} wait", "$text-warning")] if count > 1 else []
    right = Content("  " if width < NARROW else "   ").join([*waiting, *about, shown])
    if width - right.cell_length >= _LEAST:
        right += " answer"
    left = what.truncate(max(0, width - right.cell_length - 2), ellipsis=True)
    return Content.assemble(left, " " * (width - left.cell_length - right.cell_length), right)


class QuestionStrip(Static):
    """Shows the question that `approval.show` opens; a click opens it too."""

    DEFAULT_CSS = """
    QuestionStrip {
        display: none;
        height: 1;
        background: $panel;
        border-left: thick $secondary;
        padding: 0 2 0 1;
        text-wrap: nowrap;
        &.-shown { display: block; }
        &.-medium { border-left: thick $warning; }
        &.-high, &.-critical { border-left: thick $error; }
    }
    MainScreen.-tiny QuestionStrip { padding: 0 1 0 0; }
    """

    def __init__(self) -> None:
        super().__init__(id="question-strip")
        self._waiting: dict[str, _Waiting] = {}
        self._draw: Draw | None = None

    def show(
        self,
        kind: str,
        draw: Draw | None,
        risk: str = "low",
        order: Callable[[], QuestionOrder] = lambda: (False, 0),
        count: Callable[[], int] = lambda: 1,
    ) -> None:
        """Show what `draw` makes, once a second anew, or nothing; `count` of the kind wait.

        Of several kinds of question that wait the one is shown that `approval.show` opens: the
        first in order, and of equal ones the one that came first.
        """
        if draw is None:
            self._waiting.pop(kind, None)
        else:
            self._waiting[kind] = _Waiting(draw, risk, order, count)
        first = min(self._waiting.values(), key=lambda each: each.order(), default=None)
        self._draw, risk = (first.draw, first.risk) if first is not None else (None, "")
        self.set_classes(f"-shown -{risk}" if self._draw is not None else "")
        self._draw_again()

    def on_mount(self) -> None:
        """Start the clock."""
        self.set_interval(1.0, self._draw_again)

    def on_resize(self) -> None:
        """Fit the row."""
        self._draw_again()

    def _draw_again(self) -> None:
        if self._draw is not None and self.size.width:
            count = sum(each.many() for each in self._waiting.values())
            self.update(self._draw(count, self.content_size.width))

    def on_click(self) -> None:
        """Open the question."""
        self.post_message(ActionWanted("approval.show"))
