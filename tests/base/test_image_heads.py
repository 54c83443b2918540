"""How large an image is, told from its first bytes alone."""

import pytest
from hypothesis import given
from hypothesis import strategies as st
from PIL import Image

from amplifier_tui.base.files.image_heads import HEAD_BYTES, orientation, pixels
from tests.pixels import encoded, plain

SIZE = (300, 7)
EXIF = b"\xff\xd8\xff\xe1\xff\xffExif\0\0MM\0*"
SIGNATURES = (EXIF, b"\x89PNG\r\n\x1a\n", b"\xff\xd8\xff", b"GIF89a", b"RIFF0000WEBPVP8X", b"")


def files() -> dict[str, bytes]:
    clear = Image.new("RGBA", SIZE, (1, 2, 3, 4))
    jpeg = Image.new("RGB", SIZE)
    later = [Image.new("RGB", SIZE, (200, 0, 0))]
    return {
        "png": encoded(clear),
        "jpeg": encoded(jpeg, "JPEG"),
        "jpeg behind a preview": encoded(jpeg, "JPEG", exif=b"Exif\0\0" + bytes(65_000)),
        "progressive jpeg": encoded(jpeg, "JPEG", progressive=True),
        "gif": plain(*SIZE, kind="GIF"),
        "lossy webp": encoded(jpeg, "WEBP"),
        "lossless webp": encoded(jpeg, "WEBP", lossless=True),
        "webp with more in it": encoded(jpeg, "WEBP", save_all=True, append_images=later),
    }


@pytest.mark.parametrize("kind", files())
def test_the_size_is_that_of_the_image(kind: str) -> None:
    assert pixels(files()[kind][:HEAD_BYTES]) == SIZE


@pytest.mark.parametrize("kind", files())
def test_a_head_that_is_cut_off_has_no_size_or_the_right_one(kind: str) -> None:
    data = files()[kind]
    assert {pixels(data[:length]) for length in range(40)} <= {None, SIZE}


@given(st.sampled_from(SIGNATURES), st.binary(max_size=200))
def test_any_head_has_a_size_or_none(signature: bytes, rest: bytes) -> None:
    found = pixels(signature + rest)
    assert found is None or min(found) > 0
    assert 1 <= orientation(signature + rest) <= 8


def test_segments_that_lead_nowhere_come_to_an_end() -> None:
    assert pixels(b"\xff\xd8" + b"\xff\xe0\x00\x00" * 60_000) is None
    assert pixels(b"\xff\xd8" + b"\xff\xe0\x00\x02" * 3_000 + plain(9, 9, kind="JPEG")[2:]) is None
    assert pixels(b"\xff\xd8" + b"\xff" * 250_000) is None
    assert orientation(EXIF + b"\0\0\0\x08\xff\xff" + bytes(65_000)) == 1
