"""How many images one request may have, and what goes in the place of those that are too many."""

import base64
import binascii
import math
from collections.abc import Iterator
from typing import Any, Final

from amplifier_tui.base.files.image_heads import HEAD_BYTES, pixels
from amplifier_tui.modules._provider.request import Wire

MOST: Final = 100
MOST_LARGE: Final = 20
"""Images of a request where one of them is large."""
LARGE: Final = 2_000
"""Pixels in width or height beyond which an image is large."""
_STEP: Final = 10
"""They are left out by so many, so that the cache of what follows holds for a while."""
_LEFT_OUT: Final = "(An image stood here. The API takes no more, so the oldest are left out.)"


def leave_out_images(messages: list[Wire]) -> None:
    """Put a line in the place of the oldest images where there are more than the API takes.

    It refuses a request with more, and so every later one of the conversation.
    """
    found = [place for message in messages for place in _images(message["content"])]
    if len(found) <= MOST_LARGE:
        return
    most = MOST_LARGE if any(_is_large(blocks[at]["source"]) for blocks, at in found) else MOST
    too_many = math.ceil((len(found) - most) / _STEP) * _STEP
    for blocks, at in found[: max(0, too_many)]:
        blocks[at] = {"type": "text", "text": _LEFT_OUT}


def _images(blocks: Any) -> Iterator[tuple[list[Wire], int]]:
    """Yield where the images of a message's blocks are, those of tool results among them."""
    for at, block in enumerate(blocks if isinstance(blocks, list) else ()):
        if block["type"] == "image":
            yield blocks, at
        elif block["type"] == "tool_result":
            yield from _images(block["content"])


def _is_large(source: Wire) -> bool:
    # One that can't be looked at, as it is an address, may be.
    data = source.get("data")
    if not isinstance(data, str):
        return True
    try:
        head = base64.b64decode(data[: HEAD_BYTES // 3 * 4])
    except binascii.Error:
        return True
    return max(pixels(head) or (LARGE + 1,)) > LARGE
