"""Taking out of an image's file what it says beside its pixels: place, time, camera, author."""

import re
from collections.abc import Iterator
from typing import Final

from amplifier_tui.base.files.image_heads import UPRIGHT, orientation


def without_metadata(data: bytes) -> bytes:
    """Return a PNG, JPEG or WebP without EXIF, XMP, IPTC and comments; its pixels are not touched.

    How a photo is turned and its colour profile stay, for it would look different without. What
    follows the image in its file (as the second image of some phones) goes. A GIF, anything else
    and a file that can't be read come back as they are.
    """
    try:
        for signature, clean in _CLEANERS:
            if data.startswith(signature):
                return clean(data)
    except (ValueError, IndexError):
        pass
    return data


_START_OF_SCAN, _END = 0xDA, 0xD9
_KEPT_SEGMENTS: Final = frozenset({0xE0, 0xEE})
"""Of a JPEG's application segments: JFIF, and Adobe's, which says how colours are stored."""
_PROFILE: Final = 0xE2, b"ICC_PROFILE\0"
_MARKER: Final = re.compile(rb"\xff[^\x00\xff\xd0-\xd7]", re.DOTALL)
"""What ends the compressed pixels: there, 0xFF stands before zero or a mark to restart at."""


def _jpeg(data: bytes) -> bytes:
    turned = orientation(data)
    kept = [data[:2]]
    if turned != UPRIGHT:
        kept.append(_orientation_segment(turned))
    at = 2
    while True:
        found = _MARKER.search(data, at)
        if found is None:
            # Cut off: what there is of its pixels.
            return b"".join([*kept, data[at:]])
        # What stands before a marker are pixels, or filling.
        kept.append(data[at : found.start()])
        at, marker = found.start(), data[found.start() + 1]
        if marker == _END:
            return b"".join([*kept, data[at : at + 2]])
        length = int.from_bytes(data[at + 2 : at + 4], "big")
        if length < 2:
            raise ValueError("a segment without its length")
        segment = data[at : at + 2 + length]
        if _stays(marker, segment):
            kept.append(segment)
        at += 2 + length


def _stays(marker: int, segment: bytes) -> bool:
    if (marker, segment[4:16]) == _PROFILE:
        return True
    return marker in _KEPT_SEGMENTS or not (0xE0 <= marker <= 0xEF or marker == 0xFE)


def _orientation_segment(turned: int) -> bytes:
    tag = b"\x01\x12\x00\x03\x00\x00\x00\x01" + turned.to_bytes(2, "big") + b"\x00\x00"
    exif = b"Exif\0\0MM\x00\x2a\x00\x00\x00\x08\x00\x01" + tag + bytes(4)
    return b"\xff\xe1" + (len(exif) + 2).to_bytes(2, "big") + exif


_PNG_HEAD: Final = b"\x89PNG\r\n\x1a\n"
_TOLD: Final = frozenset({b"tEXt", b"zTXt", b"iTXt", b"eXIf", b"tIME"})


def _png(data: bytes) -> bytes:
    kept = [_PNG_HEAD]
    at = len(_PNG_HEAD)
    while at < len(data):
        end = at + 12 + int.from_bytes(data[at : at + 4], "big")
        kind = data[at + 4 : at + 8]
        if kind not in _TOLD:
            kept.append(data[at:end])
        if kind == b"IEND":
            break
        at = end
    return b"".join(kept)


_HAS_EXIF, _HAS_XMP = 0x08, 0x04


def _webp(data: bytes) -> bytes:
    if data[8:12] != b"WEBP":
        return data
    kept = [b"WEBP"]
    for kind, chunk in _chunks(data):
        if kind == b"VP8X":
            flags = chunk[8] & ~(_HAS_EXIF | _HAS_XMP)
            kept.append(chunk[:8] + bytes([flags]) + chunk[9:])
        elif kind not in (b"EXIF", b"XMP "):
            kept.append(chunk)
    inside = b"".join(kept)
    return b"RIFF" + len(inside).to_bytes(4, "little") + inside


def _chunks(data: bytes) -> Iterator[tuple[bytes, bytes]]:
    stop = min(len(data), 8 + int.from_bytes(data[4:8], "little"))
    at = 12
    while at < stop:
        size = int.from_bytes(data[at + 4 : at + 8], "little")
        end = at + 8 + size + size % 2
        yield data[at : at + 4], data[at:end]
        at = end


_CLEANERS: Final = ((_PNG_HEAD, _png), (b"\xff\xd8\xff", _jpeg), (b"RIFF", _webp))
