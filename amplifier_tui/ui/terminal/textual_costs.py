"""What Textual costs that this program need not pay."""

import sys
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from typing import cast

from textual.strip import Strip

_METHOD = "divide"


@contextmanager
def without_tree_sitter() -> Iterator[None]:
    """Have Textual's text area imported without tree-sitter: 5 ms on the way to the first frame.

    It would colour code that is edited, of which there is none; the engine imports it later.
    """
    if "tree_sitter" in sys.modules:
        yield
        return
    # None is how Python marks a module that is not to be found.
    cast("dict[str, None]", sys.modules)["tree_sitter"] = None
    try:
        yield
    finally:
        del sys.modules["tree_sitter"]


def let_strips_go() -> None:
    """Let drawn lines go as soon as nobody needs them; a second call changes nothing.

    `Strip.divide` keeps its answers, and where a line is not cut the answer is the line itself: a
    cycle, which only the garbage collector finds. Some forty lines a turn were left over that way,
    and those out of the collector's sight (see `ui/app/pace.py`) stayed for good.
    """
    cut: Callable[[Strip, Iterable[int]], list[Strip]] = getattr(Strip, _METHOD)
    if cut.__module__ == __name__:
        return

    def divide(strip: Strip, cuts: Iterable[int]) -> list[Strip]:
        within = [at for at in cuts if at <= strip.cell_length]
        return [strip] if within == [strip.cell_length] else cut(strip, within)

    setattr(Strip, _METHOD, divide)
