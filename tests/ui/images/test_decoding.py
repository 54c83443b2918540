"""Reading images that come from anywhere: first frames, broken files, bombs."""

import io
import struct
import sys
import zlib

import pytest
from PIL import Image, ImageOps

from amplifier_tui.base.files.image_heads import orientation, pixels
from amplifier_tui.ui.images.cells import PixelSize
from amplifier_tui.ui.images.decoding import ImageError, draw
from tests.pixels import BLUE, RED, encoded, plain, quarters

ONE = PixelSize(1, 1)


def turned(turn: int, order: str) -> bytes:
    """Return EXIF that says how a photo is stored."""
    sign = "<" if order == "little" else ">"
    head = (b"II*\0" if order == "little" else b"MM\0*") + struct.pack(f"{sign}IH", 8, 1)
    return b"Exif\0\0" + head + struct.pack(f"{sign}HHIHHI", 0x0112, 3, 1, turn, 0, 0)


def bomb(side: int) -> bytes:
    """Return the beginning of a PNG that says it has so many pixels a side."""
    head = b"IHDR" + struct.pack(">IIBBBBB", side, side, 8, 2, 0, 0, 0)
    return b"\x89PNG\r\n\x1a\n" + struct.pack(">I", 13) + head + struct.pack(">I", zlib.crc32(head))


@pytest.mark.parametrize("kind", ["PNG", "GIF", "WEBP"])
def test_the_pixels_of_an_image_are_drawn(kind: str) -> None:
    options = {"lossless": True} if kind == "WEBP" else {}
    data = encoded(quarters(), kind, **options)
    assert draw(data, PixelSize(2, 2)) == quarters().tobytes()


@pytest.mark.parametrize("turn", range(1, 9))
@pytest.mark.parametrize("order", ["little", "big"])
def test_a_photo_that_is_stored_turned_is_drawn_upright(turn: int, order: str) -> None:
    photo = quarters().resize((32, 64), Image.Resampling.NEAREST)
    data = encoded(photo, "JPEG", exif=turned(turn, order), quality=95, subsampling=0)
    with Image.open(io.BytesIO(data)) as image:
        upright = ImageOps.exif_transpose(image).convert("RGB")
    size = PixelSize(2, 4) if turn < 5 else PixelSize(4, 2)
    assert pixels(data) == upright.size
    assert orientation(data) == turn
    expected = upright.resize(size, Image.Resampling.BOX).tobytes()
    assert max(abs(a - b) for a, b in zip(draw(data, size), expected, strict=True)) < 8


def test_sixteen_bits_of_grey_are_as_light_as_eight() -> None:
    assert draw(encoded(Image.new("I;16", (4, 4), 100 * 256)), ONE) == bytes((100, 100, 100))


def test_a_large_photo_is_drawn_small() -> None:
    red, green, blue = draw(plain(3000, 2000, kind="JPEG"), ONE)
    assert red > 250 and green < 5 and blue < 5


def test_of_an_animation_the_first_frame_is_drawn() -> None:
    frames = [Image.new("RGB", (4, 4), colour) for colour in (RED, BLUE)]
    data = encoded(frames[0], "GIF", save_all=True, append_images=frames[1:])
    assert draw(data, ONE) == bytes(RED)


@pytest.mark.parametrize(("ink", "light"), [((0, 0, 0), True), ((255, 255, 255), False)])
def test_what_is_transparent_stands_apart_from_what_is_not(
    ink: tuple[int, int, int], light: bool
) -> None:
    image = Image.new("RGBA", (2, 1), (0, 0, 0, 0))
    image.putpixel((0, 0), (*ink, 255))
    pixels = draw(encoded(image), PixelSize(2, 1))
    assert pixels[:3] == bytes(ink)
    assert (pixels[3] > 128) is light
    assert draw(encoded(Image.new("RGBA", (1, 1), (9, 9, 9, 0))), ONE)


def scans(count: int) -> bytes:
    """Return a JPEG with so many further passes over all of its pixels, of few bytes each."""
    photo = encoded(Image.new("RGB", (64, 64)), "JPEG", progressive=True)
    last = photo[photo.rindex(b"\xff\xda") : -2]
    return photo[:-2] + last * count + photo[-2:]


def test_a_jpeg_is_not_read_over_and_over() -> None:
    assert draw(scans(50), ONE)
    with pytest.raises(ImageError, match="more than 100 scans"):
        draw(scans(100), ONE)


def test_a_library_that_can_not_be_loaded_is_said(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "PIL.Image", None)
    monkeypatch.delattr("PIL.Image")
    with pytest.raises(ImageError, match="Pillow can't be used"):
        draw(plain(4, 4), ONE)


@pytest.mark.parametrize(
    ("data", "why"),
    [
        (b"", "can't be read"),
        (b"no image at all", "can't be read"),
        (plain(40, 40)[:60], "can't be read"),
        (encoded(quarters(), "BMP"), "can't be read"),
        (bomb(30_000), "30000x30000 is more than 16 million pixels"),
        (bomb(2**31 - 1), "more than 16 million pixels"),
    ],
)
def test_what_can_not_be_shown_says_why(data: bytes, why: str) -> None:
    with pytest.raises(ImageError, match=why):
        draw(data, ONE)
