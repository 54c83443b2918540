"""What servers answer, as this program's own results: bounded, with images where there are some."""

import base64
import binascii
import json
from collections.abc import Iterable
from typing import Any, Final

import mcp_types as types

from amplifier_tui.base.files import images
from amplifier_tui.base.text import encodable, one_line
from amplifier_tui.kernel.models import ToolResult

_MOST_IMAGES: Final = 10


def tool_result(result: types.CallToolResult, limit: int) -> ToolResult:
    """Return the result of a tool's call in at most `limit` characters."""
    texts: list[str] = []
    shown: list[dict[str, Any]] = []
    for block in result.content:
        if isinstance(block, types.ImageContent):
            image = _image(block)
            if isinstance(image, dict) and len(shown) < _MOST_IMAGES:
                shown.append(image)
            else:
                texts.append(image if isinstance(image, str) else "[a further image, left out]")
        else:
            texts.append(block_text(block))
    if not any(texts) and result.structured_content is not None:
        texts = [json.dumps(result.structured_content, ensure_ascii=False)]
    text = cut(encodable("\n".join(text for text in texts if text)), limit)
    output = text or ("" if shown else "(The tool answered with nothing.)")
    content: Any = None
    if shown:
        content = [*([{"type": "text", "text": output}] if output else []), *shown]
        output = output or f"[{len(shown)} image{'s' if len(shown) > 1 else ''}]"
    if not result.is_error:
        return ToolResult(output=output, content=content)
    error = {"type": "tool_error", "message": one_line(output, 200)}
    return ToolResult(success=False, output=output, error=error, content=content)


def block_text(block: Any) -> str:
    """Return a block of a server's answer as text."""
    match block:
        case types.TextContent():
            return block.text
        case types.EmbeddedResource():
            return contents_text([block.resource])
        case types.ResourceLink():
            return f"[{one_line(block.title or block.name, 200)}: {one_line(block.uri, 500)}]"
        case types.AudioContent():
            return f"[audio, {one_line(block.mime_type, 40)}, left out]"
        case types.ImageContent():
            return f"[an image, {one_line(block.mime_type, 40)}]"
    return f"[{one_line(type(block).__name__, 40)}, left out]"


def contents_text(
    contents: Iterable[types.TextResourceContents | types.BlobResourceContents],
) -> str:
    """Return what a resource holds as text."""
    return "\n".join(
        each.text
        if isinstance(each, types.TextResourceContents)
        else f"[{one_line(each.uri, 500)}: {len(each.blob) * 3 // 4:,} bytes of "
        f"{one_line(each.mime_type or 'data', 40)}, left out]"
        for each in contents
    )


def cut(text: str, limit: int) -> str:
    """Return a text with its middle left out where it is longer than `limit`."""
    if len(text) <= limit:
        return text
    half = limit // 2
    left_out = len(text) - 2 * half
    return (
        f"{text[:half]}\n[… {left_out:,} of {len(text):,} characters left out; ask the tool for "
        f"less, or for a part …]\n{text[-half:]}"
    )


def _image(block: types.ImageContent) -> dict[str, Any] | str:
    if block.mime_type not in images.IMAGES:
        return f"[an image of type {one_line(block.mime_type, 40)}, which models don't take]"
    try:
        data = base64.b64decode(block.data, validate=True)
    except (binascii.Error, ValueError):
        return "[an image that can't be read]"
    # Not what the server says of it: an API refuses one of another type than it is told.
    kind = images.media_type(data[: images.HEAD])
    if kind not in images.IMAGES or kind is None:
        return "[an image that can't be read]"
    if problem := images.too_large(data):
        return f"[an image, left out: it is {problem}]"
    return {"type": "image", "source": images.image_source(data, kind)}
