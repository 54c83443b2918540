"""Which agents there are, and which session this is among them."""

from __future__ import annotations

import re
import secrets
from collections.abc import Mapping
from typing import Any, Final

SELF: Final = "self"
DEPTH: Final = "agent_depth"
"""Name of the entry in ``session.metadata`` that says how deep a session is."""

_SPANS: Final = re.compile(r"^[0-9a-f]{16}-([0-9a-f]{16})_")
_LONGEST: Final = 300


def known_agents(coordinator: Any, *, allow_self: bool) -> dict[str, str]:
    """Return the agents of a session's plan: name to description.

    Args:
        coordinator: The session's.
        allow_self: Whether the session itself counts.
    """
    config = coordinator.config
    listed = config.get("agents") if isinstance(config, Mapping) else None
    found: dict[str, str] = {}
    for name, definition in (listed if isinstance(listed, Mapping) else {}).items():
        if isinstance(definition, Mapping):
            text = " ".join(str(definition.get("description") or "").split())
            found[str(name)] = text if len(text) <= _LONGEST else f"{text[: _LONGEST - 1]}…"
    if allow_self:
        found.setdefault(SELF, "You again, with the same tools and a fresh context.")
    return found


def match_agent(wanted: str, known: Mapping[str, Any]) -> str | None:
    """Return the agent a name means; the part after ``namespace:`` is enough when it is clear."""
    if wanted in known:
        return wanted
    fitting = [name for name in known if name.rpartition(":")[2].lower() == wanted.lower()]
    return fitting[0] if len(fitting) == 1 else None


def depth_of(coordinator: Any) -> int:
    """Return how many agents deep a session is; 0 for the user's own."""
    config = coordinator.config
    session = config.get("session") if isinstance(config, Mapping) else None
    metadata = session.get("metadata") if isinstance(session, Mapping) else None
    depth = metadata.get(DEPTH) if isinstance(metadata, Mapping) else None
    return depth if isinstance(depth, int) and depth > 0 else 0


def new_session_id(agent: str, parent: str) -> str:
    """Return an id ``<parent's span>-<own span>_<agent>``, as the ecosystem names such sessions.

    Args:
        agent: Name of the agent.
        parent: Id of the session that calls it.
    """
    found = _SPANS.match(parent)
    plain = re.sub(r"[^0-9a-f]", "", parent.lower())
    span = found[1] if found else plain[8:24] if len(plain) == 32 else "0" * 16
    name = re.sub(r"[^a-z0-9]+", "-", agent.lower()).strip("-") or "agent"
    return f"{span}-{secrets.token_hex(8)}_{name}"
