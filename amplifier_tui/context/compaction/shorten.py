"""Messages with less in them: the beginning and the end stay."""

import json
from collections.abc import Mapping
from typing import Any, Final

_SLACK: Final = 100
"""Characters too few to be worth a cut; more than the line that says so, so that what was cut
once is not cut again."""

_NO_IMAGE: Final = "[An image was left out here to save space.]"
_IMAGES: Final = ("image", "image_url", "input_image")


def shortened(message: Mapping[str, Any], keep: int) -> Mapping[str, Any]:
    """Return a message whose texts keep about ``keep`` characters of both ends; the same if short.

    Images give way to a line of text; calls and reasoning stay as they are.
    """
    content = message.get("content")
    if content is None:
        return message
    cut = _content(content, keep)
    return message if cut is content else {**message, "content": cut}


def replaced_results(message: Mapping[str, Any], line: str) -> Mapping[str, Any]:
    """Return a message with a line in the place of each tool result; everything else stays."""
    content = message.get("content")
    if "tool_call_id" in message or not isinstance(content, list):
        return {**message, "content": line}
    return {**message, "content": [_emptied(block, line) for block in content]}


def _emptied(block: Any, line: str) -> Any:
    if not isinstance(block, Mapping) or block.get("type") != "tool_result":
        return block
    return {**block, "output" if "output" in block else "content": line}


def shortened_text(text: str, keep: int) -> str:
    """Return the beginning and the end of a text, and between them how much is missing."""
    left_out = len(text) - keep
    if left_out <= _SLACK:
        return text
    head = keep * 2 // 3
    tail = text[len(text) - (keep - head) :]
    return f"{text[:head]}\n[… {left_out} characters left out to save space …]\n{tail}"


def _content(content: Any, keep: int) -> Any:
    """The content, the very same object where nothing had to be cut."""
    if isinstance(content, list):
        blocks = [_block(block, keep) for block in content]
        same = all(new is old for new, old in zip(blocks, content, strict=True))
        return content if same else blocks
    text = content
    if not isinstance(text, str):
        text = json.dumps(content, ensure_ascii=False, default=str)
    cut = shortened_text(text, keep)
    return content if len(cut) == len(text) else cut


def _block(block: Any, keep: int) -> Any:
    if isinstance(block, str):
        return _content(block, keep)
    if not isinstance(block, Mapping):
        return block
    kind = block.get("type")
    if kind in _IMAGES:
        return {"type": "text", "text": _NO_IMAGE}
    if kind == "tool_result":
        name = "output" if "output" in block else "content"
    elif kind == "text":
        name = "text"
    else:
        return block
    if block.get(name) is None:
        return block
    cut = _content(block[name], keep)
    return block if cut is block[name] else {**block, name: cut}
