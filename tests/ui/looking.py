"""Looks at every cell of the screen: can it be read, is it in its place, is a text cut."""

from collections.abc import Iterator
from typing import NamedTuple

from rich.segment import Segment
from rich.style import Style
from textual._compositor import LayoutUpdate
from textual.app import App
from textual.color import Color
from textual.filter import dim_color
from textual.geometry import Region, Size
from textual.widget import Widget
from textual.widgets import Static

from amplifier_tui.ui.app.themes import contrast
from amplifier_tui.ui.dialogs.parts.sheet import KeyRow

DRAWN = frozenset(map(chr, range(0x2500, 0x25A0))) | frozenset(" \u00a0·›")
"""Lines, blocks and marks: they are no text."""


class Fault(NamedTuple):
    """What is wrong with a part of the screen."""

    what: str
    text: str


def unreadable(app: App[object], least: float) -> Iterator[Fault]:
    """Yield the texts on screen whose contrast with their ground is below `least`."""
    for segment in _segments(app):
        text = segment.text.strip()
        if not set(text) - DRAWN or segment.style is None:
            continue
        ground, ink = _colours(segment.style)
        if ground is None or ink is None:
            continue
        found = contrast(ink, ground)
        if round(found, 1) < least:
            yield Fault(f"{ink.hex} on {ground.hex}: {found:.1f}", text[:40])


def misplaced(app: App[object]) -> Iterator[Fault]:
    """Yield the rows of the screen that are wider or narrower than it is."""
    for row in _rows(app):
        width = sum(segment.cell_length for segment in row)
        if width != app.size.width:
            yield Fault(f"{width} cells of {app.size.width}", "".join(s.text for s in row)[:40])


def cut(app: App[object]) -> Iterator[Fault]:
    """Yield texts of which rows are missing, without a mark that says so."""
    for widget in app.screen.query(Static):
        shown = widget.content_size
        if not (widget.display and shown.area and widget.is_on_screen) or not widget.content:
            continue
        size = Size(shown.width, app.size.height)
        needed = widget.get_content_height(size, app.size, shown.width)
        if needed > shown.height and "…" not in str(widget.content):
            yield Fault(f"{shown.height} rows of {needed}", str(widget.content)[:60])


def hidden(app: App[object]) -> Iterator[Fault]:
    """Yield the rows of keys of which a part is off the screen, or below what stands around it."""
    shown = app.screen._compositor.visible_widgets
    for keys in app.screen.query(KeyRow):
        drawn = all(each.display for each in keys.ancestors_with_self if isinstance(each, Widget))
        if not drawn or not keys.choices:
            continue
        region, clip = shown.get(keys, (keys.region, Region()))
        rows = min(region.intersection(clip).height, keys.size.height)
        needed = keys.get_content_height(app.size, app.size, keys.size.width)
        if rows < needed:
            yield Fault(f"{rows} rows of {needed} of its keys", type(app.screen).__name__)


def _rows(app: App[object]) -> list[list[Segment]]:
    update = app.screen._compositor.render_update(
        full=True, screen_stack=app._background_screens, simplify=True
    )
    assert isinstance(update, LayoutUpdate)
    return [[segment for strip in row for segment in strip] for row in update.strips]


def _segments(app: App[object]) -> Iterator[Segment]:
    seen: set[tuple[str, Style | None]] = set()
    for row in _rows(app):
        for segment in row:
            if (segment.text, segment.style) not in seen:
                seen.add((segment.text, segment.style))
                yield segment


def _colours(style: Style) -> tuple[Color | None, Color | None]:
    if style.color is None or style.bgcolor is None:
        return None, None
    ink, ground = style.color, style.bgcolor
    if style.reverse:
        ink, ground = ground, ink
    if style.dim:
        ink = dim_color(ground, ink)
    return Color.from_rich_color(ground), Color.from_rich_color(ink)
