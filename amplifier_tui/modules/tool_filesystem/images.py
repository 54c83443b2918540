"""Images for models that can see."""

from __future__ import annotations

import base64
import os
from pathlib import Path
from typing import Final

from amplifier_tui.kernel.message_models import ImageBlock, TextBlock
from amplifier_tui.kernel.models import ToolResult
from amplifier_tui.modules.tool_filesystem.problems import FileProblem
from amplifier_tui.modules.tool_filesystem.text_file import open_file

MAX_IMAGE_BYTES: Final = 3_700_000
"""Most bytes of an image: in base64 it stays below the 5 MB that APIs accept."""

_SIGNATURES: Final[tuple[tuple[bytes, str], ...]] = (
    (b"\x89PNG\r\n\x1a\n", "image/png"),
    (b"\xff\xd8\xff", "image/jpeg"),
    (b"GIF87a", "image/gif"),
    (b"GIF89a", "image/gif"),
)


def media_type(path: Path) -> str | None:
    """Return the type of an image by its first bytes; None for any other file.

    Raises:
        FileProblem: The file can't be read.
    """
    with os.fdopen(open_file(path), "rb") as file:
        head = file.read(16)
    for signature, kind in _SIGNATURES:
        if head.startswith(signature):
            return kind
    return "image/webp" if head[:4] == b"RIFF" and head[8:12] == b"WEBP" else None


def read_image(path: Path, kind: str, shown: str) -> ToolResult:
    """Return an image as a tool's result.

    Args:
        path: The file.
        kind: Its media type.
        shown: How to name it.

    Raises:
        FileProblem: It can't be read, or is too large.
    """
    with os.fdopen(open_file(path), "rb") as file:
        data = file.read(MAX_IMAGE_BYTES + 1)
    if len(data) > MAX_IMAGE_BYTES:
        raise FileProblem(
            f"{shown} is larger than {MAX_IMAGE_BYTES} bytes, too large to be looked at. "
            "Make a smaller copy of it first.",
            "too_large",
        )
    line = f"{shown}: {kind}, {len(data)} bytes."
    source = {
        "type": "base64",
        "media_type": kind,
        "data": base64.b64encode(data).decode("ascii"),
    }
    return ToolResult(output=line, content=[TextBlock(text=line), ImageBlock(source=source)])
