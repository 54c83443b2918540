"""Which MCP servers a session may start or reach: those of the project are asked about, each."""

import json
import re
from collections.abc import Mapping
from functools import partial
from pathlib import Path
from typing import Any, Final

import yaml

from amplifier_tui.base.capabilities import mcp
from amplifier_tui.base.files import read_regular
from amplifier_tui.base.nearest import did_you_mean
from amplifier_tui.foundation.bundle.entries import entries_of
from amplifier_tui.foundation.bundle.model import BundleData
from amplifier_tui.foundation.io import Keys, YamlDocument
from amplifier_tui.foundation.report import ReportItem
from amplifier_tui.foundation.trust.layers import Layer, plain_id
from amplifier_tui.foundation.trust.review import TrustReview
from amplifier_tui.foundation.trust.servers.own import OF_USER, SERVER_KEYS, SERVERS_MODULE

OF_PROJECT: Final = (".mcp.json", ".amplifier/mcp.json")
"""Where the servers of a project are, those with the last word last."""

_MOST_BYTES: Final = 256 * 1024
_OTHERS_FORMS: Final = (
    (re.compile(r"\$\{([A-Za-z_]\w*):-"), r"${\1:"),
    (re.compile(r"\$\{env:([A-Za-z_]\w*)\}"), r"${\1}"),
)
"""How others write variables, and how they are written here."""


def review_servers(bundle: BundleData, review: TrustReview) -> None:
    """Give each entry of the built-in module the servers of the files, in place. Blocking."""
    entries = [
        each
        for each in entries_of(bundle)
        if plain_id(each.module) == SERVERS_MODULE and not each.data.get("source")
    ]
    if not entries:
        return
    users = _servers_of(review.places.home / OF_USER, review)
    projects: dict[str, Any] = {}
    file_of: dict[str, Path] = {}
    for path in (files := [review.places.project / each for each in OF_PROJECT]):
        found = _servers_of(path, review)
        projects |= found
        file_of |= dict.fromkeys(found, path)
    used: set[tuple[Path, str | int]] = set()
    for entry in entries:
        config = entry.data.get("config") or {}
        if (users or projects) and isinstance(config, dict):
            given = [config[key] for key in SERVER_KEYS if isinstance(config.get(key), dict)]
            kept = {key: value for key, value in config.items() if key not in SERVER_KEYS}
            own = {name: each for named in given for name, each in named.items()}
            for name in own.keys() & users.keys():
                if own.pop(name) != users[name]:
                    review.leave_out(_taken(name, bundle.name))
            # The user's first: of two whose tools can't be told apart, the first one is used.
            servers = {**users, **{k: v for k, v in projects.items() if k not in users}, **own}
            used |= {(file, name) for name, file in file_of.items() if name not in own}
            entry.data["config"] = {**kept, SERVER_KEYS[0]: servers}
    # Where another one of its name is used everywhere, it is never started.
    for path, keys in [*review.changed]:
        if path in files and (path, keys[-1]) not in used:
            del review.changed[path, keys]


def _taken(name: str, bundle: str) -> ReportItem:
    return ReportItem(
        what=f"MCP server {name} of the bundle",
        kind="skipped",
        part="power",
        why=f"{OF_USER} of your Amplifier home has another one of that name, which is used",
        remedy="Rename one of the two.",
        asked_by=bundle,
    )


def add_servers(plan: Mapping[str, Any], servers: Mapping[str, Mapping[str, object]]) -> bool:
    """Give a mount plan further servers, which the user named for this session.

    Returns:
        Whether it has the module for them.
    """
    entries = [
        each
        for each in plan.get("tools") or ()
        if plain_id(each.get("module")) == SERVERS_MODULE and not each.get("source")
    ]
    for entry in entries:
        config = dict(entry.get("config") or {})
        own = next((config.pop(key) for key in SERVER_KEYS if key in config), None)
        kept = own if isinstance(own, dict) else {}
        others = {name: each for name, each in kept.items() if name not in servers}
        entry["config"] = {**config, SERVER_KEYS[0]: {**servers, **others}}
    return bool(entries)


def _servers_of(path: Path, review: TrustReview) -> dict[str, Any]:
    """Return the servers of one file, as far as they may be used."""
    owner = review.places.owner_of(path)
    layer = Layer(review, owner, path, partial(_line, path), path.name)
    try:
        data = json.loads(read_regular(path, _MOST_BYTES).decode("utf-8-sig"))
    except FileNotFoundError:
        return {}
    except (OSError, ValueError, RecursionError) as error:
        why = getattr(error, "strerror", None) or f"it is no JSON: {error}"
        place = f"{path}:{error.lineno}" if isinstance(error, json.JSONDecodeError) else ""
        layer.leave_out("power", f"{mcp.OF_FILE} {path.name}", (), str(why), place)
        return {}
    for key in reversed(SERVER_KEYS):
        servers = data.get(key) if isinstance(data, Mapping) else None
        if isinstance(servers, dict):
            servers = {str(name): _in_our_form(entry) for name, entry in servers.items()}
            if not owner.is_trusted:
                layer.servers(servers, (key,))
            return servers
    if wrong := _without_servers(data):
        keys, why = wrong
        layer.leave_out("power", f"{mcp.OF_FILE} {path.name}", keys, why)
    return {}


def _without_servers(data: Any) -> tuple[Keys, str] | None:
    """Return where a file that names no servers seems to mean some, and what is wrong there."""
    if not isinstance(data, Mapping):
        return (), f"it must be an object with `mcpServers`, not {_kind(data)}"
    for key in SERVER_KEYS:
        if (given := data.get(key)) is not None:
            wanted = "an object with each server by its name"
            return (key,), f"`{key}` must be {wanted}, not {_kind(given)}"
    for key in map(str, data):
        if near := did_you_mean(key, SERVER_KEYS, "`"):
            return (key,), f"`{key}` means nothing there{near}"
    return None


def _kind(value: Any) -> str:
    # Not the value: it may hold a password.
    return {list: "a list", str: "a text", type(None): "null"}.get(type(value), "a bare value")


def _in_our_form(value: Any) -> Any:
    if isinstance(value, str):
        for pattern, ours in _OTHERS_FORMS:
            value = pattern.sub(ours, value)
        return value
    if isinstance(value, dict):
        return {key: _in_our_form(item) for key, item in value.items()}
    return [_in_our_form(item) for item in value] if isinstance(value, list) else value


def _line(path: Path, keys: Keys) -> int | None:
    try:
        # JSON is YAML, but for some with tabs.
        return YamlDocument(read_regular(path, _MOST_BYTES).decode("utf-8-sig")).line_of(keys)
    except (OSError, ValueError, yaml.YAMLError):
        return None
