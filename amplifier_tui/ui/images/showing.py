"""Whether images can be drawn here, and what is said of one in words."""

from collections.abc import Mapping
from importlib.util import find_spec
from typing import Final

from amplifier_tui.base.text import one_line
from amplifier_tui.host.events import ImageCard
from amplifier_tui.ui.state.formats import size

INSTALL: Final = "pip install 'amplifier-tui[images]'"
"""What adds the library that images are read with."""
NO_LIBRARY: Final = "Pillow is not installed"


def why_text(environ: Mapping[str, str], colours: str | None, wanted: str) -> str:
    """Return why images are shown as text; empty where they can be drawn.

    Args:
        colours: What Rich calls the terminal's colours.
        wanted: The user's preference, `auto` or `text`.
    """
    if wanted == "text":
        return "text was chosen for images"
    if environ.get("NO_COLOR"):
        return "NO_COLOR is set"
    if colours not in ("truecolor", "256"):
        return "the terminal has fewer than 256 colours"
    return "" if find_spec("PIL") is not None else NO_LIBRARY


def is_pdf(card: ImageCard) -> bool:
    """Whether it is a PDF, of which nothing can be drawn."""
    return card.media_type == "application/pdf"


def image_words(card: ImageCard) -> str:
    """Return what is known of an image: name, pixels, format and bytes."""
    kind = one_line(card.media_type.rpartition("/")[2], 20).upper()
    pixels = f"{card.width}x{card.height} " if card.width else ""
    return " · ".join(filter(None, (one_line(card.name, 80), f"{pixels}{kind}", size(card.size))))


def image_line(card: ImageCard) -> str:
    """Return the line that stands for an image."""
    return f"{'PDF' if is_pdf(card) else 'image'}: {image_words(card)}"
