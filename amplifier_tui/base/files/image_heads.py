"""What the first bytes of an image say of it: its pixels and its turn. Nothing is decoded."""

from collections.abc import Callable, Iterator
from typing import Final, Literal

HEAD_BYTES: Final = 256 * 1024
"""Bytes that are enough: before its size, a JPEG may hold a preview and a colour profile."""

Pixels = tuple[int, int]
"""Width and height, as an image is shown: a photo may be stored on its side."""
UPRIGHT: Final = 1
"""The orientation, as EXIF numbers them, of an image that is stored as it is shown."""


def pixels(head: bytes) -> Pixels | None:
    """Return the width and height of a PNG, JPEG, GIF or WebP; None where its head is no good.

    Args:
        head: Its first bytes; they come from anywhere and may say anything.
    """
    for signature, read in _READERS:
        if head.startswith(signature):
            found = read(head)
            return found if found is not None and min(found) > 0 else None
    return None


_JPEG: Final = b"\xff\xd8\xff"


def _png(head: bytes) -> Pixels | None:
    if head[12:16] != b"IHDR" or len(head) < 24:
        return None
    return int.from_bytes(head[16:20], "big"), int.from_bytes(head[20:24], "big")


def _gif(head: bytes) -> Pixels | None:
    if len(head) < 10:
        return None
    return int.from_bytes(head[6:8], "little"), int.from_bytes(head[8:10], "little")


_FRAMES: Final = frozenset(range(0xC0, 0xD0)) - {0xC4, 0xC8, 0xCC}
"""Markers of a JPEG's segments that begin with its size."""


_EXIF: Final = 0xE1, b"Exif\0\0"
"""The marker of a segment with EXIF, and how its content begins."""
_ORIENTATION: Final = 0x0112
_ORDERS: Final[dict[bytes, Literal["little", "big"]]] = {b"II": "little", b"MM": "big"}
_MOST_TAGS: Final = 500
_MOST_SEGMENTS: Final = 2_000
"""What a colour profile takes at most is a few hundred."""


def orientation(head: bytes) -> int:
    """Return how a JPEG is stored, 1 to 8 as EXIF numbers it; from 5 on it lies on its side.

    Other images are upright: what few of them say of it may stand behind the image.
    """
    if head.startswith(_JPEG):
        for marker, at in _segments(head):
            if marker in _FRAMES:
                break
            if (marker, head[at : at + 6]) == _EXIF:
                return _orientation(head[at + 6 : at + 65_536])
    return UPRIGHT


def _orientation(exif: bytes) -> int:
    order = _ORDERS.get(exif[:2])
    if order is None:
        return UPRIGHT
    tags = int.from_bytes(exif[4:8], order)
    count = min(_MOST_TAGS, int.from_bytes(exif[tags : tags + 2], order))
    for at in range(tags + 2, tags + 2 + 12 * count, 12):
        if int.from_bytes(exif[at : at + 2], order) == _ORIENTATION:
            found = int.from_bytes(exif[at + 8 : at + 10], order)
            return found if 1 <= found <= 8 else UPRIGHT
    return UPRIGHT


def _jpeg(head: bytes) -> Pixels | None:
    for marker, at in _segments(head):
        if marker in _FRAMES:
            height = int.from_bytes(head[at + 1 : at + 3], "big")
            width = int.from_bytes(head[at + 3 : at + 5], "big")
            return (width, height) if orientation(head) < 5 else (height, width)
    return None


def _segments(head: bytes) -> Iterator[tuple[int, int]]:
    """Yield the marker of each segment of a JPEG, and where its content begins."""
    at = 2
    for _ in range(_MOST_SEGMENTS):
        if at + 9 > len(head) or head[at] != 0xFF:
            return
        marker = head[at + 1]
        if marker == 0xFF:  # filling
            at += 1
        else:
            yield marker, at + 4
            # A length counts itself; one that does not would lead nowhere.
            at += 2 + max(2, int.from_bytes(head[at + 2 : at + 4], "big"))


def _webp(head: bytes) -> Pixels | None:
    if head[8:12] != b"WEBP" or len(head) < 30:
        return None
    match head[12:16]:
        case b"VP8X":
            return (
                1 + int.from_bytes(head[24:27], "little"),
                1 + int.from_bytes(head[27:30], "little"),
            )
        case b"VP8L" if head[20] == 0x2F:
            bits = int.from_bytes(head[21:25], "little")
            return 1 + (bits & 0x3FFF), 1 + (bits >> 14 & 0x3FFF)
        case b"VP8 " if head[23:26] == b"\x9d\x01\x2a":
            width = int.from_bytes(head[26:28], "little") & 0x3FFF
            return width, int.from_bytes(head[28:30], "little") & 0x3FFF
    return None


_READERS: Final[tuple[tuple[bytes, Callable[[bytes], Pixels | None]], ...]] = (
    (b"\x89PNG\r\n\x1a\n", _png),
    (_JPEG, _jpeg),
    (b"GIF8", _gif),
    (b"RIFF", _webp),
)
