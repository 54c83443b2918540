"""What Textual costs that this program need not pay."""

import sys
from collections.abc import Callable, Iterable, Iterator, Set
from contextlib import contextmanager
from typing import ClassVar, cast

from textual.css.styles import RenderStyles
from textual.dom import DOMNode
from textual.geometry import Size
from textual.screen import Screen, ScreenResultType
from textual.strip import Strip
from textual.widget import Widget

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


class SettledScreen(Screen[ScreenResultType]):
    """A screen that is laid out once for each size.

    A dialog that opens is told the size it was just laid out for; Textual then lays out and paints
    all of it, and every screen behind it, a second time.
    """

    def _screen_resized(self, size: Size) -> None:
        if size != self._compositor.size:
            super()._screen_resized(size)


class LazyComponents(Widget):
    """A widget whose component classes are styled when something is first drawn with them.

    Textual styles all of them each time the widget is styled: 170 at the start of this program, a
    third of the time that all its styles take, and most of them are never drawn with.
    """

    COMPONENTS: ClassVar[Set[str]] = frozenset()
    """The class names of components, in place of Textual's `COMPONENT_CLASSES`."""

    def get_component_styles(self, *names: str) -> RenderStyles:
        """Return the styles of components together.

        Raises:
            KeyError: There is no such component class.
        """
        for name in names:
            if name not in self._component_styles and name in self.COMPONENTS:
                self._component_styles[name] = self._style_component(name)
        return super().get_component_styles(*names)

    def notify_style_update(self) -> None:
        """Style what was drawn with once more, and draw again where it looks different."""
        super().notify_style_update()
        before = dict(self._component_styles)
        self._component_styles.update({name: self._style_component(name) for name in before})
        if before != self._component_styles:
            self.refresh()

    def _style_component(self, name: str) -> RenderStyles:
        node = DOMNode(classes=name)
        node._attach(self)
        self.app.stylesheet.apply(node)
        return node.styles
