"""How long a tool's result may be: of a longer one the middle is left out, and kept in a file."""

import asyncio
import json
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, Final
from uuid import uuid4

from amplifier_tui.base.files import write_atomic
from amplifier_tui.base.plain import plain
from amplifier_tui.host.redaction import Redactor
from amplifier_tui.kernel.models import ToolResult

MOST: Final = 1_000_000
"""Characters of a result; of a longer one both ends are kept."""
_END: Final = 250_000
_PIECE: Final = 65_536


async def bounded(result: Any, folder: Path, redactor: Redactor) -> Any:
    """Return a tool's result as it is, or with its output cut.

    Args:
        result: What the tool returned, of whatever type.
        folder: Where the whole of a long output is written, in a file of its own.
        redactor: Takes the secrets out of that file.
    """
    output = output_of(result)
    if _size(output) <= MOST:
        return result
    cut = await asyncio.to_thread(_spilled, output, folder, redactor)
    if isinstance(result, ToolResult):
        return result.model_copy(update={"output": cut})
    return with_output(result, cut)


def output_of(result: Any) -> Any:
    """Return the output in a result of whatever type."""
    if isinstance(result, Mapping):
        return result.get("output", result)
    return getattr(result, "output", result)


def with_output(result: Any, output: Any) -> ToolResult:
    """Return a result of whatever type as a `ToolResult` with this output."""
    success = result.get("success") if isinstance(result, Mapping) else None
    success = getattr(result, "success", True) if success is None else success
    return ToolResult(success=bool(success), output=output)


def _size(value: Any) -> int:
    """Return the characters of all texts in a value, or a number beyond `MOST`."""
    total, left = 0, [value]
    while left and total <= MOST:
        item = left.pop()
        if isinstance(item, str | bytes):
            total += len(item)
        elif isinstance(item, Mapping):
            total += len(item)
            left += [*item.keys(), *item.values()]
        elif isinstance(item, list | tuple):
            total += len(item)
            left += item
    return total


def _spilled(output: Any, folder: Path, redactor: Redactor) -> str:
    text = output if isinstance(output, str) else json.dumps(plain(output), ensure_ascii=False)
    path = folder / "results" / f"{uuid4().hex}.txt"
    try:
        kept = "".join(_redacted(text, redactor))
        write_atomic(path, kept.encode("utf-8", "replace"), mode=0o600)
        where = f"all of it is in {path}"
    except OSError as error:
        where = f"the rest is lost: {error.strerror or error}"
    left_out = len(text) - 2 * _END
    middle = f"\n[… {left_out:,} characters left out here; {where}]\n"
    return f"{text[:_END]}{middle}{text[-_END:]}"


def _redacted(text: str, redactor: Redactor) -> Iterator[str]:
    """Yield a text without its secrets, piece by piece: other threads run in between."""
    start = 0
    while start < len(text):
        piece = text[start : start + _PIECE]
        more = start + _PIECE < len(text)
        # What may be the beginning of a secret is looked at with what comes after it.
        size = (len(piece) - redactor.unfinished(piece) if more else 0) or len(piece)
        yield redactor.text(piece[:size])
        start += size
