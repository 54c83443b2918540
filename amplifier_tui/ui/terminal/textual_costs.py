"""What Textual costs that this program need not pay."""

from __future__ import annotations

import asyncio
import logging
import sys
import time
from collections.abc import Callable, Iterable, Iterator, Set
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, ClassVar, Final, Self, cast

from rich.segment import Segment
from textual import events, on
from textual.cache import FIFOCache
from textual.css.styles import RenderStyles
from textual.dom import DOMNode
from textual.drivers._writer_thread import WriterThread
from textual.geometry import Region, Size
from textual.screen import ModalScreen, Screen, ScreenResultType
from textual.strip import Strip
from textual.timer import Timer
from textual.widget import Widget

if TYPE_CHECKING:
    from textual.app import App

_log = logging.getLogger(__name__)
_METHOD = "divide"
_write_all = WriterThread.run
_enqueue = WriterThread.write
_run_timer = Timer._run
_STRIP_CACHES = {
    name: cache._maxsize
    for name in Strip.__slots__
    if isinstance(cache := getattr(Strip([]), name), FIFOCache)
}
"""How many answers a line's caches keep, by the attribute."""
_SIZED = "_size_updated"
_PATIENCE: Final = 1.0
"""Seconds for which keys and clicks wait for a screen that opens."""
_SLOW: Final = 0.02
"""Seconds after which a write is one that the line holds up; a frame takes less than 1 ms."""
_REST: Final = 2
"""How many times as long as a write was held up the line is left alone: what the kernel has taken
is still to go out."""
_LONGEST_REST: Final = 0.5


async def in_time(event: asyncio.Event | None) -> bool:
    """Wait a while for what keys and clicks wait for; False where there was nothing to wait for."""
    if event is None or event.is_set():
        return False
    done, _ = await asyncio.wait({asyncio.ensure_future(event.wait())}, timeout=_PATIENCE)
    return bool(done)


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


class _Pausing:
    """The writer's file, with the times of its writes; used by the writer's thread."""

    def __init__(self, file: Any) -> None:
        self._file = file
        self.ended = False
        self.began = float("inf")
        self.rest_until = 0.0

    def write(self, text: str) -> None:
        self._timed(self._file.write, text)

    def flush(self) -> None:
        self._timed(self._file.flush)

    def fileno(self) -> int:
        return int(self._file.fileno())

    def _timed(self, job: Callable[..., object], *args: str) -> None:
        self.began = time.monotonic()
        job(*args)
        took = time.monotonic() - self.began
        if took > _SLOW:
            self.rest_until = self.began + took + min(_REST * took, _LONGEST_REST)
        self.began = float("inf")


def write_to_the_end() -> None:
    """Drop what comes once the terminal is gone or given away, and keep the times of writes.

    Textual's writer ends there with its queue full, and the next frame waits for room in it for
    ever: the loop stands still, and no signal ends the program. A second call changes nothing.
    """

    def run(writer: WriterThread) -> None:
        file = _Pausing(writer._file)
        writer._file = cast("Any", file)
        try:
            _write_all(writer)
        except (OSError, ValueError) as error:
            file.began = float("inf")
            _log.warning("The terminal takes no more output: %s", error)
        # Who waits for room in the queue goes on, and nobody waits any more.
        file.ended = True
        while not writer._queue.empty():
            writer._queue.get()

    def write(writer: WriterThread, text: str) -> None:
        if not getattr(writer._file, "ended", False):
            _enqueue(writer, text)

    setattr(WriterThread, run.__name__, run)
    setattr(WriterThread, write.__name__, write)


def is_behind(app: App[Any]) -> bool:
    """Return whether the terminal has not taken yet what was drawn.

    Over a slow line frames would wait for each other in a queue of thirty, and what was typed
    behind them for seconds; a frame that is drawn later shows all that happened meanwhile.
    """
    writer: WriterThread | None = getattr(app._driver, "_writer_thread", None)
    file: Any = writer._file if writer is not None else None
    if not isinstance(file, _Pausing):
        return False
    now = time.monotonic()
    return now < file.rest_until or now - file.began > _SLOW


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


def fill_strips_late() -> None:
    """Give a drawn line its caches when they are first used; a second call changes nothing.

    Textual makes seven of them, of two objects each, for every line of every frame, and again for
    each filter and cut; most are never looked into.
    """
    if hasattr(Strip, "__getattr__"):
        return

    def __init__(strip: Strip, segments: Iterable[Segment], cell_length: int | None = None) -> None:
        strip._segments = list(segments)
        strip._cell_length = cell_length
        strip._render_cache = strip._link_ids = strip._cell_count = None

    def __getattr__(strip: Strip, name: str) -> FIFOCache[Any, Any]:
        if name not in _STRIP_CACHES:
            raise AttributeError(name)
        cache = FIFOCache[Any, Any](_STRIP_CACHES[name])
        setattr(strip, name, cache)
        return cache

    for method in (__init__, __getattr__):
        setattr(Strip, method.__name__, method)


def lay_out_once() -> None:
    """Let widgets take their sizes from a layout without asking for another one.

    A text that has other words asked for a second layout of the whole screen, and for a frame,
    because its size had changed; where scrollbars come or go by it that is still asked for. A
    second call changes nothing.
    """
    vars(Widget)[_SIZED].__defaults__ = (False,)


def keep_single_timers() -> None:
    """Let a timer that fires once do so, however late; a second call changes nothing.

    Textual's timers leave out beats for which it is too late already. The one beat of `set_timer`
    was left out with them, and what waited for it never came: a short delay is over where the
    thread has to wait for the processor just as its timer begins.
    """

    async def _run(timer: Timer) -> None:
        if timer._repeat == 0:
            timer._skip = False
        await _run_timer(timer)

    setattr(Timer, _run.__name__, _run)


class SettledScreen(Screen[ScreenResultType]):
    """A screen that is laid out once for each size, and waits for a line that is behind.

    A dialog that opens is told the size it was just laid out for; Textual then lays out and paints
    all of it, and every screen behind it, a second time.
    """

    def _on_timer_update(self) -> None:
        # The timer goes on where nothing is done: the next beat looks again.
        if not is_behind(self.app):
            super()._on_timer_update()

    def _screen_resized(self, size: Size) -> None:
        if size != self._compositor.size:
            super()._screen_resized(size)


class Overlay(SettledScreen[ScreenResultType], ModalScreen[ScreenResultType]):
    """A modal screen that shows the lines of the screen behind it where it covers nothing.

    Textual draws all of that screen as one Rich renderable, also what is covered, for every frame
    in which a part of it changed. It also styles every widget a second and a third time while the
    screen opens: because the screen has come, and for the classes of its breakpoints.
    """

    IN_PLACE: ClassVar[bool] = False
    """Whether it stands in the place of the modal screen below, which is not seen behind it."""

    def __init__(self, *, classes: str | None = None) -> None:
        self._behind: dict[int, Strip] = {}
        self._behind_size = Size()
        self._opened = self._coming = False
        super().__init__(classes=classes)
        self.HORIZONTAL_BREAKPOINTS = self.VERTICAL_BREAKPOINTS = []

    def render_lines(self, crop: Region) -> list[Strip]:
        """Return the lines behind, empty where a widget of this screen covers them."""
        if self._behind_size != self.size:
            self._behind.clear()
            self._behind_size = self.size
        self._look_behind(set(crop.line_range) - self._covered() - self._behind.keys())
        style = self.rich_style
        lines = [self._behind.get(y, Strip([])) for y in crop.line_range]
        # The two screens and the terminal take a new size one after the other, so that lines may be
        # too short for a while.
        return [
            line.crop(crop.x, crop.right).adjust_cell_length(crop.width, style) for line in lines
        ]

    def refresh(
        self,
        *regions: Region,
        repaint: bool = True,
        layout: bool = False,
        recompose: bool = False,
    ) -> Self:
        """Draw again; in the regions, which a screen behind gives, the lines have changed."""
        self.forget_behind(y for region in regions for y in region.line_range)
        return super().refresh(*regions, repaint=repaint, layout=layout, recompose=recompose)

    async def comes(self) -> bool:
        """Wait until its parts are there, which its actions ask for; False where they were."""
        return not self.is_mounted and await in_time(self._mounted_event)

    def _covered(self) -> set[int]:
        """Return the rows that a widget hides from edge to edge."""
        return {
            y
            for child in self.children
            if child.display and child.styles.background.a == 1
            if child.region.x <= 0 and child.region.right >= self.size.width
            for y in child.region.line_range
        }

    def forget_behind(self, rows: Iterable[int]) -> None:
        """Look again what stands behind on these rows, when they are drawn."""
        for y in rows:
            self._behind.pop(y, None)

    def _look_behind(self, rows: set[int]) -> None:
        stack = self.app.screen_stack
        below = stack.index(self) if self in stack else 0
        if not rows or not below:
            return
        hides = self.IN_PLACE
        while hides and isinstance(lower := stack[below - 1], Overlay):
            hides, below = lower.IN_PLACE, below - 1
        screen = stack[below - 1]
        if isinstance(screen, Overlay):
            # What changes behind both is told to the topmost screen alone.
            screen.forget_behind(rows)
        top = min(rows)
        region = Region(0, top, self.size.width, max(rows) + 1 - top)
        chops = screen._compositor._render_chops(region, rows.__contains__)
        for y in rows:
            line = Strip.join(chops[y].values()) if y < len(chops) else Strip([])
            self._behind[y] = Strip(_without_links(line), line.cell_length)

    @property
    def is_current(self) -> bool:
        """Whether it is to be seen; not yet while it is laid out for the first time.

        Textual would paint it then at once, before its widgets know their sizes, and once more on
        the next beat.
        """
        return super().is_current and not self._coming

    @on(events.ScreenResume)
    def _come_to_the_top(self, event: events.ScreenResume) -> None:
        event.refresh_styles = self._opened
        self._coming = not self._opened
        self._opened = True
        self._behind.clear()
        self.call_later(self._stand)

    def _stand(self) -> None:
        self._coming = False
        self.refresh()


def _without_links(line: Strip) -> Iterator[Segment]:
    """Yield what stands on a line, so that a click does not reach through to it."""
    for text, style, _ in line:
        yield Segment(text, style and style.clear_meta_and_links())


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
