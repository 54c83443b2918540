"""Ids of child sessions, from which their ancestry can be read."""

import re
import secrets

_SPANS = re.compile(r"^([0-9a-f]{16})-([0-9a-f]{16})_")
_TRACE = re.compile(r"^[0-9a-f]{32}$")
_NO_SPAN = "0" * 16


def generate_sub_session_id(
    agent_name: str | None = None,
    parent_session_id: str | None = None,
    parent_trace_id: str | None = None,
) -> str:
    """Return a new id `<parent span>-<own span>_<agent>`, both spans 16 hexadecimal digits.

    Args:
        agent_name: Reduced to lower-case letters, digits and hyphens.
        parent_session_id: Its own span is the parent span, if it has one.
        parent_trace_id: 32 hexadecimal digits; digits 8 to 24 are the parent span otherwise.
    """
    match = _SPANS.match(parent_session_id or "")
    if match:
        parent = match[2]
    elif _TRACE.match(parent_trace_id or ""):
        parent = (parent_trace_id or "")[8:24]
    else:
        parent = _NO_SPAN
    agent = re.sub(r"[^a-z0-9]+", "-", (agent_name or "").lower()).strip("-") or "agent"
    return f"{parent}-{secrets.token_hex(8)}_{agent}"
