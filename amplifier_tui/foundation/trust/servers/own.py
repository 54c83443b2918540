"""The names of the user's own MCP servers, which nobody else's take the place of."""

import json
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any, Final, TypeGuard

from amplifier_tui.base.files import read_regular
from amplifier_tui.foundation.settings.settings import SettingsFileError, load_settings_file

SERVERS_MODULE: Final = "tool-mcp"
SERVER_KEYS: Final = ("servers", "mcpServers")
"""Where its settings, and the files of others, have programs to start and addresses to reach."""
OF_USER: Final = "mcp.json"
"""Where the user's servers are, in the Amplifier home; no others of the same names count."""

_MOST_BYTES: Final = 256 * 1024


def users_servers(home: Path) -> frozenset[str]:
    """Return the names in the user's file of servers and in their settings. Blocking.

    A file that can't be read has none; that it can't be is said where it is used.

    Args:
        home: The Amplifier home.
    """
    configs = [_file(home / OF_USER), *_configs(home / "settings.yaml")]
    named = (config.get(key) for config in configs if _is_mapping(config) for key in SERVER_KEYS)
    return frozenset(str(name) for servers in named if _is_mapping(servers) for name in servers)


def _file(path: Path) -> Any:
    try:
        return json.loads(read_regular(path, _MOST_BYTES).decode("utf-8-sig"))
    except (OSError, ValueError, RecursionError):
        return None


def _configs(path: Path) -> Iterable[Any]:
    try:
        settings = load_settings_file(path).data or {}
    except (OSError, SettingsFileError):
        return
    overrides, modules = settings.get("overrides"), settings.get("modules")
    if _is_mapping(overrides) and _is_mapping(overrides.get(SERVERS_MODULE)):
        yield overrides[SERVERS_MODULE].get("config")
    entries = modules.get("tools") if _is_mapping(modules) else None
    for entry in entries if isinstance(entries, list) else ():
        if _is_mapping(entry) and entry.get("module") == SERVERS_MODULE:
            yield entry.get("config")


def _is_mapping(value: Any) -> TypeGuard[Mapping[str, Any]]:
    return isinstance(value, Mapping)
