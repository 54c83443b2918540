"""Images and PDFs that a model may look at: known by their first bytes, bounded, as blocks."""

import base64
import binascii
import re
from typing import Any, Final

from amplifier_tui.base.files.image_heads import HEAD_BYTES, pixels
from amplifier_tui.base.files.image_metadata import without_metadata

MAX_BYTES: Final = 3_700_000
"""Most bytes of an image or a PDF: in base64 it stays below the 5 MB that APIs accept."""
MAX_SIDE: Final = 8_000
"""Most pixels in width or height that APIs accept."""
HEAD: Final = 16
"""Bytes that say what a file is."""

IMAGES: Final = ("image/png", "image/jpeg", "image/gif", "image/webp")
"""The types that are images and no PDFs."""

_SIGNATURES: Final[tuple[tuple[bytes, str], ...]] = (
    (b"\x89PNG\r\n\x1a\n", "image/png"),
    (b"\xff\xd8\xff", "image/jpeg"),
    (b"GIF87a", "image/gif"),
    (b"GIF89a", "image/gif"),
    (b"%PDF-", "application/pdf"),
)
_URL: Final = re.compile(r"data:[\w.+-]+/[\w.+-]+;base64,")


def media_type(head: bytes) -> str | None:
    """Return the type of an image or a PDF by its first bytes; None for anything else."""
    for signature, kind in _SIGNATURES:
        if head.startswith(signature):
            return kind
    return "image/webp" if head[:4] == b"RIFF" and head[8:12] == b"WEBP" else None


def too_large(data: bytes) -> str:
    """Return how an image or a PDF is too large for every API; empty where it is not.

    One that is refused would be refused with every request of its conversation.
    """
    if len(data) > MAX_BYTES:
        return f"larger than {MAX_BYTES} bytes"
    side = max(pixels(data[:HEAD_BYTES]) or (0,))
    return f"{side} pixels wide or high, more than {MAX_SIDE}" if side > MAX_SIDE else ""


def image_source(data: bytes, kind: str) -> dict[str, Any]:
    """Return the source of an image's block in a message, without what it says beside its pixels.

    A photo's file may say where and when it was taken.
    """
    encoded = base64.b64encode(without_metadata(data)).decode("ascii")
    return {"type": "base64", "media_type": kind, "data": encoded}


def is_data_url(text: str) -> bool:
    """Whether a text is a file written out as an address."""
    return _URL.match(text) is not None


def data_of(url: str) -> bytes:
    """Return the bytes of a `data:` address.

    Raises:
        ValueError: They can't be read.
    """
    try:
        return base64.b64decode(url.partition(",")[2], validate=True)
    except binascii.Error as error:
        raise ValueError(f"its base64 can't be read: {error}") from error
