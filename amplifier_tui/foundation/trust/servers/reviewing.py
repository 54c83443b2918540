"""Which MCP servers a session may start or reach: those of the project are asked about, each."""

import json
import re
from collections.abc import Mapping
from functools import partial
from pathlib import Path
from typing import Any, Final

import yaml

from amplifier_tui.base.files import read_regular
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
    for name in OF_PROJECT:
        projects |= _servers_of(review.places.project / name, review)
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
            entry.data["config"] = {**kept, SERVER_KEYS[0]: servers}


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
        layer.leave_out("power", f"MCP servers of {path.name}", (), str(why))
        return {}
    for key in reversed(SERVER_KEYS):
        servers = data.get(key) if isinstance(data, Mapping) else None
        if isinstance(servers, dict):
            servers = {str(name): _in_our_form(entry) for name, entry in servers.items()}
            if not owner.is_trusted:
                layer.servers(servers, (key,))
            return servers
    return {}


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
