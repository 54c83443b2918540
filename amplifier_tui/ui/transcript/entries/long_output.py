"""What is shown of a long output: its ends, what its tool left out, and how to get the rest."""

import re
from collections.abc import Iterator, Sequence
from typing import Final

from amplifier_tui.ui.transcript.entries.scene import Scene, counted
from amplifier_tui.ui.transcript.lines import Span, StyledLine

HEAD, TAIL = 120, 80
"""Lines of its beginning and its end."""
REST: Final = "action:rest"
"""The link of a line that stands for lines which are not shown: a click on it shows them."""

_REMARK: Final = re.compile(r"^\[….*\]$", re.MULTILINE)
"""How tools say what they left out themselves."""
_MOST_REMARKS: Final = 5


def was_cut(output: str) -> bool:
    """Whether the tool says in its output that it left something out of it."""
    return _REMARK.search(output) is not None


def passages(rows: Sequence[str], *, whole: bool) -> Iterator[tuple[range, bool]]:
    """Yield the passages of a long output, and of each whether it is shown.

    Args:
        rows: Its lines. Those in which the tool says what it left out itself are shown.
        whole: Everything is.
    """
    hidden = range(HEAD, len(rows) - TAIL)
    if whole or not hidden:
        yield range(len(rows)), True
        return
    yield range(hidden.start), True
    start = hidden.start
    remarks = [at for at in hidden if rows[at].startswith("[…") and _REMARK.match(rows[at])]
    for at in remarks[:_MOST_REMARKS]:
        if at > start:
            yield range(start, at), False
        yield range(at, at + 1), True
        start = at + 1
    if start < hidden.stop:
        yield range(start, hidden.stop), False
    yield range(hidden.stop, len(rows)), True


def rest_line(more: str, scene: Scene, action: str) -> StyledLine:
    """Return the line in the place of what is not shown: how much, and the way to it.

    Args:
        more: How much.
        action: Shows it, as a click on the line does; empty for none.
    """
    words = " · ".join(filter(None, (more, scene.keys(action) if action else "")))
    return StyledLine((Span(f"… {words}", "muted", REST if action else ""),), aside=True)


def more_lines(hidden: int, scene: Scene, noun: str = "more line") -> StyledLine:
    """Return `rest_line` for lines, or what else is counted, that an opened entry leaves out."""
    return rest_line(counted(hidden, noun), scene, "view.whole")


def rest_row(lines: Sequence[StyledLine]) -> int | None:
    """Return the first row of an entry that stands for others, None where it has none."""
    found = (row for row, line in enumerate(lines) if any(s.link == REST for s in line.spans))
    return next(found, None)
