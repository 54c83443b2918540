"""Images for tests, made as they are wanted."""

import io
from typing import Any

from PIL import Image

RED, GREEN, BLUE, WHITE = (255, 0, 0), (0, 255, 0), (0, 0, 255), (255, 255, 255)


def quarters() -> Image.Image:
    """Return two by two pixels, each of another colour."""
    image = Image.new("RGB", (2, 2))
    places = ((0, 0), (1, 0), (0, 1), (1, 1))
    for place, colour in zip(places, (RED, GREEN, BLUE, WHITE), strict=True):
        image.putpixel(place, colour)
    return image


def encoded(image: Image.Image, kind: str = "PNG", **options: Any) -> bytes:
    """Return the bytes of an image's file."""
    made = io.BytesIO()
    image.save(made, kind, **options)
    return made.getvalue()


def plain(width: int, height: int, colour: tuple[int, int, int] = RED, kind: str = "PNG") -> bytes:
    """Return the file of an image of one colour."""
    return encoded(Image.new("RGB", (width, height), colour), kind)
