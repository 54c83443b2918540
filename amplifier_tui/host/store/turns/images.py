"""The images in stored rows: what is told of each, and its bytes."""

import base64
import binascii
import hashlib
from collections.abc import Iterator
from pathlib import Path
from typing import Final

from amplifier_tui.base.files import image_heads
from amplifier_tui.base.jsonl import Row, StoredRows, decode_row
from amplifier_tui.base.messages.sub_sessions import SUB_SESSION_ID
from amplifier_tui.host.events import MAIN_LANE, ImageCard
from amplifier_tui.host.messages import IMAGES_KEY, metadata_of
from amplifier_tui.host.store.lanes import TRANSCRIPT

_MOST: Final = 20
"""Images of one row."""
_MOST_BASE64: Final = 8_000_000
"""Characters of an image that is read: more than any tool gives."""


def images_in(row: Row) -> tuple[ImageCard, ...]:
    """Return what is told of the images, and PDFs, of a prompt or a tool's result."""
    names = metadata_of(row).get(IMAGES_KEY)
    known = [str(name) for name in names] if isinstance(names, list) else []
    return tuple(
        _card(kind, data, known[index] if index < len(known) else "")
        for index, (kind, data) in enumerate(sources_in(row))
    )


def stored_image(folder: Path, lane: str, key: str) -> bytes:
    """Return the bytes of an image of a stored conversation; slow, for a thread.

    Args:
        folder: The session's.
        lane: As in the event that told of it.
        key: As in `ImageCard`.

    Raises:
        LookupError: There is no such image.
        OSError: The conversation can't be read.
        ValueError: The image can't be read, or is too large.
    """
    if lane == MAIN_LANE or SUB_SESSION_ID.fullmatch(lane):
        rows = StoredRows((folder if lane == MAIN_LANE else folder.parent / lane) / TRANSCRIPT)
        # What is on the screen is mostly new.
        for index in reversed(range(len(rows))):
            line = rows.line(index)
            for _, data in sources_in(decode_row(line) or {}) if b'"image"' in line else ():
                if _key_of(data) == key:
                    return _decoded(data)
    raise LookupError("it is not stored in this session any more")


def sources_in(row: Row) -> Iterator[tuple[str, str]]:
    """Yield the type and the base64 of each image, or PDF, of a row."""
    for _, kind, data in _image_blocks(row):
        yield kind, data


def _image_blocks(row: Row) -> Iterator[tuple[object, str, str]]:
    content = row.get("content")
    found = 0
    for block in content if isinstance(content, list) else ():
        source = block.get("source") if isinstance(block, dict) else None
        if not isinstance(source, dict) or block.get("type") != "image" or found == _MOST:
            continue
        kind, data = source.get("media_type"), source.get("data")
        if isinstance(kind, str) and isinstance(data, str) and data:
            found += 1
            yield block, kind, data


def beside_images(row: Row) -> Row:
    """Return a row without the blocks that `sources_in` yields: its text names them no more."""
    content = row.get("content")
    if not isinstance(content, list):
        return row
    shown = [id(block) for block, _, _ in _image_blocks(row)]
    return {**row, "content": [block for block in content if id(block) not in shown]}


def _card(kind: str, data: str, name: str) -> ImageCard:
    padding = len(data) - len(data.rstrip("="))
    width, height = image_heads.pixels(_head(data)) or (0, 0)
    return ImageCard(
        key=_key_of(data),
        media_type=kind,
        name=name,
        width=width,
        height=height,
        size=max(0, len(data) * 3 // 4 - padding),
    )


def _head(data: str) -> bytes:
    try:
        return base64.b64decode(data[: image_heads.HEAD_BYTES // 3 * 4])
    except (binascii.Error, ValueError):
        return b""


def _decoded(data: str) -> bytes:
    if len(data) > _MOST_BASE64:
        raise ValueError("it is too large to be shown")
    try:
        return base64.b64decode(data, validate=True)
    except binascii.Error as error:
        raise ValueError("its base64 can't be read") from error


def _key_of(data: str) -> str:
    return hashlib.sha256(data.encode("utf-8", "surrogatepass")).hexdigest()[:24]
