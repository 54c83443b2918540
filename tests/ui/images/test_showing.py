"""When images are drawn, and the words in their place."""

import sys

import pytest

from amplifier_tui.host.events import ImageCard
from amplifier_tui.ui.images.showing import NO_LIBRARY, image_line, why_text


@pytest.mark.parametrize(
    ("environ", "colours", "wanted", "why"),
    [
        ({}, "truecolor", "auto", ""),
        ({}, "256", "auto", ""),
        ({"NO_COLOR": ""}, "256", "auto", ""),
        ({"NO_COLOR": "1"}, "truecolor", "auto", "NO_COLOR is set"),
        ({}, "standard", "auto", "the terminal has fewer than 256 colours"),
        ({}, None, "auto", "the terminal has fewer than 256 colours"),
        ({}, "truecolor", "text", "text was chosen for images"),
    ],
)
def test_images_are_drawn_where_the_terminal_can(
    environ: dict[str, str], colours: str | None, wanted: str, why: str
) -> None:
    assert why_text(environ, colours, wanted) == why


def test_without_the_library_images_are_text(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "PIL", None)
    assert why_text({}, "truecolor", "auto") == NO_LIBRARY


@pytest.mark.parametrize(
    ("card", "line"),
    [
        (("image/png", "diagram.png", 800, 600, 43_210), "diagram.png · 800x600 PNG · 43 kB"),
        (("image/jpeg", "", 0, 0, 5), "JPEG · 5 B"),
        (("image/x\x1b[2J", "a\x1b[31m\nb.png", 1, 2, 3), "a b.png · 1x2 X · 3 B"),
    ],
)
def test_the_line_says_name_pixels_format_and_bytes(
    card: tuple[str, str, int, int, int], line: str
) -> None:
    kind, name, width, height, size = card
    made = ImageCard(key="k", media_type=kind, name=name, width=width, height=height, size=size)
    assert image_line(made) == f"image: {line}"


def test_a_pdf_is_called_one() -> None:
    card = ImageCard(key="k", media_type="application/pdf", name="a.pdf", size=2_000)
    assert image_line(card) == "PDF: a.pdf · PDF · 2 kB"
