"""About how many tokens a request has, for whatever no provider has counted."""

from collections.abc import Mapping
from typing import Any

from amplifier_tui.base.tokens import message_tokens, schema_tokens


def request_tokens(request: Any) -> int:
    """Return about how many tokens a request has: its messages, and the schemas of its tools.

    Args:
        request: A `ChatRequest`, or what a module of others makes of one; what it lacks counts 0.
    """
    messages = map(_plain, getattr(request, "messages", None) or ())
    tools = map(_plain, getattr(request, "tools", None) or ())
    return sum(map(message_tokens, messages)) + sum(map(schema_tokens, tools))


def _plain(item: Any) -> Mapping[str, Any]:
    dump = getattr(item, "model_dump", None)
    plain = dump() if callable(dump) else item
    return plain if isinstance(plain, Mapping) else {"content": str(plain)}
