"""What the API formatters share: server-sent events, ids, JSON fragments."""

import itertools
import json
from collections.abc import Callable, Iterator
from typing import Any, TypeAlias

from tests.servers.replies import (
    Pause,
    Reply,
    Step,
    ToolUse,
)

WireStep: TypeAlias = "bytes | Step"
_numbers = itertools.count(1)


def new_id(prefix: str) -> str:
    return f"{prefix}{next(_numbers):06d}"


def dumps(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False, separators=(",", ":"))


def sse(data: dict[str, Any] | str, event: str | None = None) -> bytes:
    body = data if isinstance(data, str) else dumps(data)
    head = f"event: {event}\n" if event else ""
    return f"{head}data: {body}\n\n".encode()


def raw_arguments(call: ToolUse) -> str:
    return call.arguments if isinstance(call.arguments, str) else dumps(call.arguments)


def split(text: str, pieces: int) -> list[str]:
    """The text in at most `pieces` non-empty parts of similar length."""
    if not text:
        return []
    size = max(1, -(-len(text) // max(1, pieces)))
    return [text[start : start + size] for start in range(0, len(text), size)]


def paced(
    chunks: "list[str | Step]", reply: Reply, event: Callable[[str], bytes]
) -> Iterator[WireStep]:
    """Each chunk as an event, with the reply's pause after it; other steps pass unchanged."""
    for chunk in chunks:
        if isinstance(chunk, str):
            yield event(chunk)
            if reply.pace:
                yield Pause(reply.pace)
        else:
            yield chunk
