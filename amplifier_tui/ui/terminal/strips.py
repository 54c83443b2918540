"""Lets drawn lines go as soon as nobody needs them.

Textual's `Strip.divide` keeps its answers, and where a line is not cut the answer is the line
itself: a cycle, which only the garbage collector finds. Some forty lines a turn were left over that
way, and those out of the collector's sight (see `collector`) stayed for good.
"""

from collections.abc import Callable, Iterable

from textual.strip import Strip

_METHOD = "divide"


def let_strips_go() -> None:
    """Have lines that are not cut leave no trace in themselves; a second call changes nothing."""
    current: Callable[[Strip, Iterable[int]], list[Strip]] = getattr(Strip, _METHOD)
    if current.__module__ != __name__:
        setattr(Strip, _METHOD, _traceless(current))


def _traceless(
    cut: Callable[[Strip, Iterable[int]], list[Strip]],
) -> Callable[[Strip, Iterable[int]], list[Strip]]:
    def divide(strip: Strip, cuts: Iterable[int]) -> list[Strip]:
        within = [at for at in cuts if at <= strip.cell_length]
        return [strip] if within == [strip.cell_length] else cut(strip, within)

    return divide
