"""Characters of a draft that are not drawn, and that take no room: joiners, variation selectors.

Terminals do not agree on how wide a sign is that is made of several. Each is drawn alone, and
measured as it is drawn: a row is as long as it seems, and the cursor is where it is shown.
"""

import re
from typing import Final

import rich.cells
from textual import _wrap
from textual.document import _document, _document_navigator, _wrapped_document
from textual.widgets import _text_area

from amplifier_tui.base.text import JOINERS

_UNDRAWN: Final = re.compile(f"[{JOINERS}]+")
_CLUSTER: Final = re.compile(f".?[{JOINERS}]+")


def drawn(text: str) -> str:
    """Return what of a text is drawn."""
    return _UNDRAWN.sub("", text)


def clusters(line: str) -> list[tuple[int, int]]:
    """Return the start and end of each character with what is not drawn behind it."""
    return [found.span() for found in _CLUSTER.finditer(line)]


def measure_what_is_drawn() -> None:
    """Have text areas wrap and place their cursor by what is drawn. A second call does nothing."""

    def cell_len(text: str) -> int:
        return rich.cells.cell_len(drawn(text))

    for module in (_wrap, _document, _document_navigator, _wrapped_document, _text_area):
        setattr(module, cell_len.__name__, cell_len)
