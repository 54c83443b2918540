"""What a tool gave back: as text, and in a few words for its line."""

import json
from collections.abc import Mapping
from typing import Any, Final

from amplifier_tui.host.messages import text_of

OUTPUT_LIMIT: Final = 64 * 1024
"""Characters of output an event carries."""
ERROR_LIMIT: Final = 500
_COUNTED: Final = (
    ("matches", "hit", "hits"),
    ("results", "result", "results"),
    ("hits", "hit", "hits"),
    ("files", "file", "files"),
    ("entries", "entry", "entries"),
    ("items", "item", "items"),
)


def output_text(result: Any) -> str:
    """Return a tool result as the model is given it.

    Args:
        result: A result's dict with `success`, `output` and `error`, or the bare output.
    """
    if not isinstance(result, Mapping) or not {"success", "output", "error"} & result.keys():
        return _text(result)
    output = result.get("output")
    content = result.get("content")
    blocks = text_of(content) if isinstance(content, list) else ""
    text = _text(output) if output is not None else ""
    if not text and result.get("success") is False:
        text = error_text(result.get("error"))
    return "\n".join(part for part in (text, blocks if blocks != text else "") if part)


def error_text(error: Any) -> str:
    """Return an error of any shape as text."""
    if isinstance(error, Mapping):
        return str(error.get("message") or error.get("msg") or error.get("type") or "")
    return "" if error is None else str(error)


def first_line(text: str) -> str:
    """Return the first line that says something, bounded."""
    line = next((line.strip() for line in text.split("\n") if line.strip()), "")
    return line if len(line) <= ERROR_LIMIT else line[: ERROR_LIMIT - 1] + "…"


def summary_words(result: Any, text: str, diff: str) -> str:
    """Return a few words about a result, such as `exit 1`, `12 hits`, `64 lines`.

    Nothing where there is a diff: that says more, and whoever shows it counts its lines.
    """
    if diff:
        return ""
    output = result.get("output") if isinstance(result, Mapping) else result
    if isinstance(output, Mapping):
        for key in ("exit_code", "returncode", "exit_status"):
            if isinstance(output.get(key), int):
                return f"exit {output[key]}"
        for key, one, many in _COUNTED:
            value = output.get(key)
            number = len(value) if isinstance(value, list) else value
            if isinstance(number, int) and not isinstance(number, bool):
                return f"{number:,} {one if number == 1 else many}"
        for key in ("content", "text", "stdout"):
            if isinstance(output.get(key), str):
                return _lines(str(output[key]))
    if isinstance(output, list):
        return f"{len(output):,} {'item' if len(output) == 1 else 'items'}"
    return _lines(text)


def _lines(text: str) -> str:
    if not text.strip():
        return "no output"
    number = text.rstrip("\n").count("\n") + 1
    return "" if number == 1 else f"{number:,} lines"


def _text(value: Any) -> str:
    if isinstance(value, str):
        return value
    if value is None:
        return ""
    try:
        return json.dumps(value, ensure_ascii=False, indent=2, default=str)
    except (TypeError, ValueError, RecursionError):
        return str(value)
