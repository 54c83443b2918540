"""What a mount returns: a cleanup function, or the module itself (spec 000, mount function)."""

from __future__ import annotations

from typing import Any, Final

POINTS: Final = {
    "orchestrator": "orchestrator",
    "context": "context",
    "provider": "providers",
    "tool": "tools",
}
"""Where the modules of a kind mount; hooks register themselves."""

_METHODS: Final = {
    "orchestrator": ("execute",),
    "context": (
        "add_message",
        "get_messages_for_request",
        "get_messages",
        "set_messages",
        "clear",
    ),
    "provider": ("get_info", "list_models", "complete", "parse_tool_calls"),
    "tool": ("execute",),
}
_NAMED: Final = frozenset({"provider", "tool"})


def is_module_of(kind: str, returned: Any) -> bool:
    """Tell whether what ``mount`` returned is a module of a kind, and so no cleanup function.

    Args:
        kind: The kind, e.g. "tool".
        returned: The object. Its methods must be its class's: a mock has every attribute, and is
            a cleanup function all the same.
    """
    if kind not in POINTS or returned is None:
        return False
    if kind in _NAMED and not isinstance(getattr(returned, "name", None), str):
        return False
    return all(hasattr(type(returned), method) for method in _METHODS[kind])
