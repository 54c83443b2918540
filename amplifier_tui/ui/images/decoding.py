"""Reading images: a stranger's data, so bounded, in few formats, and in a thread."""

import io
from typing import Any, Final

from amplifier_tui.base.files.image_heads import orientation, pixels
from amplifier_tui.base.text import one_line
from amplifier_tui.ui.images.cells import PixelSize

MOST_PIXELS: Final = 16_000_000
"""Of an image that is decoded: four bytes each while that is done, and Python is held up for up to
35 ms by a WebP."""
_MOST_SCANS: Final = 100
"""Passes over its pixels in which a JPEG is stored: of some bytes each, and of milliseconds."""
_SCAN: Final = b"\xff\xda"
_FORMATS: Final = ("PNG", "JPEG", "GIF", "WEBP")
_LIGHT, _DARK = (240, 240, 240), (32, 32, 32)
_MIDDLE = 128
_TURNS: Final = {
    2: "FLIP_LEFT_RIGHT",
    3: "ROTATE_180",
    4: "FLIP_TOP_BOTTOM",
    5: "TRANSPOSE",
    6: "ROTATE_270",
    7: "TRANSVERSE",
    8: "ROTATE_90",
}
"""What turns an image upright, by its orientation."""


class ImageError(Exception):
    """An image can't be shown; the message says why."""


def too_large(width: int, height: int) -> str:
    """Return why an image of so many pixels is not decoded; empty where it is."""
    many = f"{width}x{height} is more than {MOST_PIXELS // 1_000_000} million pixels"
    return many if width * height > MOST_PIXELS else ""


def draw(data: bytes, size: PixelSize) -> bytes:
    """Return an image in another size, as red, green and blue of each pixel; slow, for a thread.

    Of an animated one it is the first frame. What is transparent has a ground that stands apart.

    Raises:
        ImageError: It is broken, too large, or in another format than it says.
    """
    try:
        from PIL import Image
    except ImportError as error:
        # It is there, but may be another Python's.
        raise ImageError(f"Pillow can't be used: {one_line(str(error), 120)}") from error

    if problem := too_large(*(pixels(data) or (0, 0))):
        raise ImageError(problem)
    # Between scans a JPEG has no such bytes, but a few may be in what comes before or after it.
    if data.startswith(b"\xff\xd8") and data.count(_SCAN) > _MOST_SCANS:
        raise ImageError(f"it is stored in more than {_MOST_SCANS} scans")
    turn = orientation(data)
    stored = size if turn < 5 else PixelSize(size.height, size.width)
    try:
        with Image.open(io.BytesIO(data), formats=_FORMATS) as image:
            # A frame may be larger than the file's head says.
            if problem := too_large(*image.size):
                raise ImageError(problem)
            image.draft("RGB", (2 * stored.width, 2 * stored.height))
            small = _resized(image, stored)
            if turn in _TURNS:
                small = small.transpose(Image.Transpose[_TURNS[turn]])
            return bytes((_grounded(small) if small.mode == "RGBA" else small).tobytes())
    except ImageError:
        raise
    except Exception as error:
        # The readers of broken files raise whatever they stumble over.
        raise ImageError(f"it can't be read: {one_line(str(error), 120)}") from error


def _resized(image: Any, size: PixelSize) -> Any:
    """Return an image in another size, in eight bits a colour, with or without transparency."""
    from PIL import Image

    box = Image.Resampling.BOX
    if image.mode.startswith("I"):
        # Pillow's own conversion cuts sixteen bits off at 255: all but the darkest is white.
        grey = image.convert("I").resize(size, box).point(lambda value: value * (1 / 256))
        return grey.convert("L").convert("RGB")
    whole = image if image.mode in ("RGB", "RGBA") else image.convert("RGBA")
    return whole.resize(size, box, reducing_gap=3.0)


def _grounded(image: Any) -> Any:
    """Return an image on a ground: a light one where what can be seen is dark."""
    from PIL import Image, ImageStat

    alpha = image.getchannel("A")
    seen = alpha.getextrema()[1] > 0
    light = ImageStat.Stat(image.convert("L"), mask=alpha).mean[0] if seen else 0
    ground = Image.new("RGB", image.size, _DARK if light >= _MIDDLE else _LIGHT)
    ground.paste(image, mask=alpha)
    return ground
