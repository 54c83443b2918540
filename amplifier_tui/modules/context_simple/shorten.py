"""Rows with less in them: the beginning and the end stay."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

Row = Mapping[str, Any]


def shortened(row: Row, keep: int) -> Row:
    """Return a row whose text has at most about ``keep`` characters.

    Args:
        row: The row; it is not changed.
        keep: Characters to keep, from both ends.

    Returns:
        The same row if it is that short already. Images give way to a line of text.
    """
    content = row.get("content")
    if isinstance(content, str):
        cut = shortened_text(content, keep)
        return row if cut == content else {**row, "content": cut}
    if not isinstance(content, list):
        return row
    blocks = [_block(block, keep) for block in content]
    return row if blocks == content else {**row, "content": blocks}


def _block(block: Any, keep: int) -> Any:
    if not isinstance(block, Mapping):
        return block
    match block.get("type"):
        case "text" if isinstance(block.get("text"), str):
            return {**block, "text": shortened_text(block["text"], keep)}
        case "image":
            return {"type": "text", "text": "[An image was left out here to save space.]"}
        case "tool_result" if isinstance(block.get("output"), str):
            return {**block, "output": shortened_text(block["output"], keep)}
    return block


def shortened_text(text: str, keep: int) -> str:
    """Return the beginning and the end of a text, and between them how much is missing."""
    left_out = len(text) - keep
    if left_out <= 100:
        return text
    head = keep * 2 // 3
    tail = text[len(text) - (keep - head) :]
    return f"{text[:head]}\n[… {left_out} characters left out to save space …]\n{tail}"
