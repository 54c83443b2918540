"""From style names to the theme's colours, and from lines to strips."""

from collections.abc import Callable
from typing import ClassVar

from rich.segment import Segment
from rich.style import Style
from textual.strip import Strip

from amplifier_tui.ui.transcript.text.lines import PAD, StyledLine, width_of

_FLAGS = {
    "b": Style(bold=True),
    "i": Style(italic=True),
    "s": Style(strike=True),
    "u": Style(underline=True),
}


class Palette:
    """Resolves style names through a widget's component classes, once per theme.

    A name such as `link+b` is the component `transcript--link` in bold; `pad` is plain text.
    """

    NAMES: ClassVar[tuple[str, ...]] = (
        *("text", "muted", "secondary", "strong", "heading", "code", "link", "quote"),
        *("user", "edge", "error-edge", "thinking", "running", "success", "warning", "error"),
        *("added", "removed", "fence", "syn-keyword", "syn-string", "syn-comment"),
        *("syn-number", "syn-name", "syn-type", "cursor", "pill"),
    )

    def __init__(self, lookup: Callable[[str], Style]) -> None:
        """Args:
        lookup: Gives the complete style (with background) of a component class.
        """
        self._lookup = lookup
        self._styles: dict[tuple[str, str], Style] = {}

    def style(self, name: str, link: str = "") -> Style:
        """Return the Rich style of a style name; its `link` travels in the style's meta."""
        key = (name, link)
        style = self._styles.get(key)
        if style is None:
            base, _, flags = name.partition("+")
            style = self._lookup(f"transcript--{'text' if base == PAD else base}")
            for flag in flags:
                style += _FLAGS[flag]
            if link:
                style += Style(meta={"link": link})
            self._styles[key] = style
        return style

    def strip(self, line: StyledLine, width: int) -> Strip:
        """Return `line` as a strip of exactly `width` cells, background everywhere."""
        segments = [Segment(text, self.style(style, link)) for text, style, link in line.spans]
        used = width_of(line.spans)
        if used < width:
            segments.append(Segment(" " * (width - used), self.style("text")))
            return Strip(segments, width)
        strip = Strip(segments, used)
        return strip if used == width else strip.crop(0, width)


COMPONENT_CLASSES = frozenset(f"transcript--{name}" for name in Palette.NAMES)

DEFAULT_CSS = """
DocumentView {
    background: $background;
    color: $foreground;
    overflow-x: hidden;
    overflow-y: auto;
    scrollbar-gutter: stable;
    scrollbar-size-vertical: 1;
    scrollbar-background: $background;
    scrollbar-background-hover: $background;
    scrollbar-background-active: $background;
    scrollbar-color: $panel;
    scrollbar-color-hover: $text-muted;
    scrollbar-color-active: $primary;

    & > .transcript--text { color: $foreground; }
    & > .transcript--secondary, & > .transcript--quote { color: $foreground 85%; }
    & > .transcript--muted { color: $text-muted; }
    & > .transcript--strong, & > .transcript--heading, & > .transcript--user {
        color: $foreground; text-style: bold;
    }
    & > .transcript--thinking { color: $text-muted; text-style: italic; }
    & > .transcript--code { color: $primary; text-style: bold; }
    & > .transcript--link { color: $primary; text-style: underline; }
    & > .transcript--edge, & > .transcript--running { color: $primary; }
    & > .transcript--success, & > .transcript--added { color: $success; }
    & > .transcript--warning { color: $warning; }
    & > .transcript--error, & > .transcript--error-edge, & > .transcript--removed {
        color: $error;
    }
    & > .transcript--cursor { background: $surface; }
    & > .transcript--pill { background: $panel; color: $foreground; text-style: bold; }

    & > .transcript--fence { background: $surface; color: $foreground; }
    & > .transcript--syn-keyword { background: $surface; color: $primary; }
    & > .transcript--syn-string { background: $surface; color: $success; }
    & > .transcript--syn-number { background: $surface; color: $warning; }
    & > .transcript--syn-type { background: $surface; color: $accent; }
    & > .transcript--syn-name { background: $surface; color: $foreground; text-style: bold; }
    & > .transcript--syn-comment {
        background: $surface; color: $text-muted; text-style: italic;
    }

    &:ansi {
        & > .transcript--muted, & > .transcript--thinking, & > .transcript--syn-comment,
        & > .transcript--secondary {
            color: $foreground; text-style: dim;
        }
        & > .transcript--cursor { text-style: reverse; }
        & > .transcript--pill { text-style: reverse; }
    }
}
"""
