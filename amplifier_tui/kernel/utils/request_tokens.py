"""About how many tokens a request has, for whatever no provider has counted."""

from typing import Any

from amplifier_tui.base.tokens import message_tokens, schema_tokens


def request_tokens(request: Any) -> int:
    """Return about how many tokens a request has: its messages, and the schemas of its tools.

    Args:
        request: A `ChatRequest`, or what a module of others makes of one; what it lacks counts 0.
    """
    messages = getattr(request, "messages", None) or ()
    tools = getattr(request, "tools", None) or ()
    return sum(message_tokens(message.model_dump()) for message in messages) + sum(
        schema_tokens(tool.model_dump()) for tool in tools
    )
