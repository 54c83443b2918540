"""MCP servers whose settings refer to variables that are not set: they are not started."""

from collections.abc import Iterator, Mapping
from typing import Any, Final

from amplifier_tui.base.capabilities import mcp
from amplifier_tui.foundation.report import ReportItem
from amplifier_tui.foundation.settings.expand import missing_variables
from amplifier_tui.foundation.trust.layers import plain_id
from amplifier_tui.foundation.trust.servers.own import SERVER_KEYS, SERVERS_MODULE

_READ: Final = ("command", "args", "env", "cwd", "url", "headers")
"""The settings of a server that are used as they are written; there may be those of others."""


def mark_unset(
    written: Mapping[str, Any], plan: Mapping[str, Any], environ: Mapping[str, str]
) -> list[ReportItem]:
    """Note in a mount plan which variables of its servers are neither set nor have a default.

    One that is set to nothing is what the user wants.

    Args:
        written: The plan before its variables were replaced.
        plan: The same after that, which is changed.

    Returns:
        What is told of each server.
    """
    found: dict[str, ReportItem] = {}
    for (name, before), (_, server) in zip(_servers(written), _servers(plan), strict=True):
        missing = missing_variables({key: before.get(key) for key in _READ}, environ)
        unset = [each for each in missing if each not in environ]
        # Nobody's file says it.
        server.pop(mcp.UNSET, None)
        if unset and server.get("enabled") is not False and server.get("disabled") is not True:
            server[mcp.UNSET] = unset
            why, remedy = mcp.unset_words(unset)
            found[name] = ReportItem(
                what=f"{mcp.TITLE} {name}", kind="failed", part="power", why=why, remedy=remedy
            )
    return list(found.values())


def _servers(plan: Mapping[str, Any]) -> Iterator[tuple[str, dict[str, Any]]]:
    """Yield every server of a plan and its agents, by name."""
    agents = plan.get("agents")
    for part in (plan, *(agents.values() if isinstance(agents, dict) else ())):
        entries = part.get("tools") if isinstance(part, dict) else None
        for entry in entries if isinstance(entries, list) else ():
            if not isinstance(entry, dict) or plain_id(entry.get("module")) != SERVERS_MODULE:
                continue
            config = entry.get("config")
            given = config if isinstance(config, dict) else {}
            for named in (given.get(key) for key in SERVER_KEYS):
                for name, server in named.items() if isinstance(named, dict) else ():
                    if isinstance(server, dict):
                        yield str(name), server
