"""How the tools of servers are called in a session: ``mcp__server__tool``."""

import hashlib
import re
from typing import Final

from amplifier_tui.base.capabilities.mcp import TOOL_PREFIX

LONGEST: Final = 64
"""Characters of a tool's name that every model's API takes."""

_OTHERS: Final = re.compile(r"[^A-Za-z0-9-]+")


def tool_name(server: str, tool: str) -> str:
    """Return the name of a server's tool for the model; the same for the same two."""
    name = f"{TOOL_PREFIX}{plain_name(server)}__{_OTHERS.sub('_', tool).strip('_') or 'tool'}"
    if len(name) <= LONGEST:
        return name
    digest = hashlib.sha256(f"{server}\0{tool}".encode("utf-8", "replace")).hexdigest()[:8]
    return f"{name[: LONGEST - 9]}_{digest}"


def command_name(prompt: str) -> str:
    """Return a prompt's name as that of a command."""
    return _OTHERS.sub("_", prompt).strip("_")[:64] or "prompt"


def plain_name(server: str) -> str:
    """Return a server's name as a part of tools' names and of mentions."""
    return _OTHERS.sub("_", server).strip("_")[:32] or "server"
