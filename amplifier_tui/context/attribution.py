"""Who put a message there (context reference, section d, rule 3).

Attribution is a function of the message, not bookkeeping beside it, so that every consumer agrees
and nothing can drift.
"""

from collections.abc import Mapping
from typing import Any, Final

ATTRIBUTION: Final = "_attribution"
"""Key under which a message carries its source (ADR 0016); in it or in its metadata."""

COMPACTION: Final = "compaction"
"""Source of what compaction itself says."""

UNATTRIBUTED: Final = "unattributed"
"""Source of what the provider counted and nobody here did."""

_ROLES: Final = {"developer": "system", "function": "tool"}


def source_of(message: Mapping[str, Any], tool_names: Mapping[str, str] | None = None) -> str:
    """Return the id of the source a message comes from.

    Args:
        message: A kernel message.
        tool_names: Tool names by call id, as `tool_names_of` gives them: results that do not name
            their tool are resolved by it.

    Returns:
        The marked source; `hook:<name>` for what a hook added; else by its role `user`,
        `assistant`, `system` or `tool:<name>`.
    """
    metadata = message.get("metadata")
    metadata = metadata if isinstance(metadata, Mapping) else {}
    for place in (message, metadata):
        mark = place.get(ATTRIBUTION)
        source = mark.get("source_id") if isinstance(mark, Mapping) else None
        if isinstance(source, str) and source:
            return source
    if metadata.get("source") == "hook":
        hook = metadata.get("hook_name")
        return f"hook:{hook if isinstance(hook, str) and hook else 'unknown'}"
    if metadata.get("source") == COMPACTION:
        return COMPACTION
    role = str(message.get("role") or "")
    role = _ROLES.get(role, role)
    if role == "tool":
        name = message.get("name")
        if not isinstance(name, str) or not name:
            name = (tool_names or {}).get(str(message.get("tool_call_id")))
        return f"tool:{name}" if name else "tool"
    return role or UNATTRIBUTED
