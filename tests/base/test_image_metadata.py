import io
import random

import pytest
from hypothesis import given
from hypothesis import strategies as st
from PIL import Image, PngImagePlugin

from amplifier_tui.base.files.image_metadata import without_metadata
from amplifier_tui.base.files.images import image_source
from tests.pixels import encoded, plain

SECRET = b"47.3769N"


def noise() -> Image.Image:
    """Return an image whose pixels hold every byte, also those that look like marks."""
    return Image.frombytes("RGB", (64, 48), random.Random(5).randbytes(64 * 48 * 3))


def exif(turned: int = 1) -> Image.Exif:
    made = Image.Exif()
    made[0x0112] = turned
    made[0x010E] = SECRET.decode()
    made.get_ifd(0x8825)[1] = "N"
    return made


def photo(kind: str, turned: int = 1, **options: object) -> bytes:
    return encoded(noise(), kind, exif=exif(turned), xmp=b"<x>" + SECRET + b"</x>", **options)


def opened(data: bytes) -> Image.Image:
    image = Image.open(io.BytesIO(data))
    image.load()
    return image


@pytest.mark.parametrize(
    "data",
    [
        photo("JPEG", comment=SECRET),
        photo("JPEG", comment=SECRET, progressive=True, quality=95, restart_marker_blocks=2),
        photo("JPEG", icc_profile=b"profile"),
        photo("WEBP", lossless=True),
        photo("WEBP", icc_profile=b"profile"),
        photo("PNG"),
    ],
)
def test_where_a_photo_was_taken_is_taken_out_and_its_pixels_stay(data: bytes) -> None:
    assert SECRET in data
    clean = without_metadata(data)
    assert SECRET not in clean and b"GPS" not in clean
    assert not opened(clean).getexif()
    assert opened(clean).tobytes() == opened(data).tobytes()
    assert opened(clean).info.get("icc_profile") == opened(data).info.get("icc_profile")
    assert without_metadata(clean) == clean


def test_a_png_says_nothing_beside_its_pixels_any_more() -> None:
    said = PngImagePlugin.PngInfo()
    said.add_text("Author", SECRET.decode())
    said.add_itxt("Place", SECRET.decode())
    said.add_text("Title", SECRET.decode(), zip=True)
    data = encoded(noise(), "PNG", pnginfo=said) + SECRET
    clean = without_metadata(data)
    assert opened(clean).info == {} and SECRET not in clean
    assert opened(clean).tobytes() == noise().tobytes()


@pytest.mark.parametrize("turned", [3, 6, 8])
def test_a_photo_stays_turned_as_it_was(turned: int) -> None:
    clean = without_metadata(photo("JPEG", turned))
    assert SECRET not in clean
    assert dict(opened(clean).getexif()) == {0x0112: turned}


def test_what_follows_a_photo_in_its_file_goes() -> None:
    clean = without_metadata(encoded(noise(), "JPEG") + photo("JPEG"))
    assert SECRET not in clean
    assert opened(clean).tobytes() == opened(encoded(noise(), "JPEG")).tobytes()


def test_an_image_without_metadata_is_as_it_was() -> None:
    for kind in ("PNG", "GIF", "WEBP"):
        assert without_metadata(plain(9, 7, kind=kind)) == plain(9, 7, kind=kind)
    for text in (b"", b"%PDF-1.7", b"RIFF", b"text"):
        assert without_metadata(text) == text


def test_what_is_sent_and_stored_has_no_metadata() -> None:
    assert image_source(photo("PNG"), "image/png") == image_source(encoded(noise()), "image/png")


@given(st.sampled_from(["PNG", "JPEG", "WEBP"]), st.integers(0, 2_000), st.binary(max_size=40))
def test_a_file_that_is_damaged_costs_nothing(kind: str, cut: int, odd: bytes) -> None:
    data = photo(kind)
    without_metadata(data[:cut] + odd + data[cut:])
    without_metadata(data[:cut] + odd)
