"""Agent files: Markdown whose frontmatter describes an agent (foundation reference a.5)."""

import logging
from pathlib import Path
from typing import Any

from amplifier_tui.foundation.bundle.model import SECTIONS, BundleData
from amplifier_tui.foundation.bundle.parsing import with_absolute_sources
from amplifier_tui.foundation.io import parse_frontmatter

_log = logging.getLogger(__name__)

_TOP_LEVEL = (*SECTIONS, "session", "provider_preferences", "model_role")


def read_agent_file(path: Path, name: str) -> dict[str, Any]:
    """Read an agent's definition; `name` is its name where the file gives none.

    Returns `name`, `description` and the other keys of `meta` (or of the whole frontmatter when
    there is no `meta`), the sections an agent may have, and `instruction` with the body.

    Raises:
        ValueError: `agents` is a text other than `all` and `none`, or of another type.
        OSError: The file cannot be read.
        yaml.YAMLError: The frontmatter is not YAML.
    """
    data, body = parse_frontmatter(path.read_text(encoding="utf-8-sig"))
    if not isinstance(data, dict):
        raise ValueError(f"{path}: the frontmatter is no mapping, but {type(data).__name__}")
    meta = data.get("meta")
    if not isinstance(meta, dict):
        meta = data if "name" in data or "description" in data else {}
    agent: dict[str, Any] = {
        key: value for key, value in meta.items() if key not in (*_TOP_LEVEL, "agents")
    }
    agent["name"] = meta.get("name") or name
    agent["description"] = meta.get("description") or ""
    for key in _TOP_LEVEL:
        if data.get(key):
            value = data[key]
            agent[key] = with_absolute_sources(value, path.parent) if key in SECTIONS else value
    allowed = _delegation(data.get("agents"), path)
    if allowed is not None:
        agent["agents"] = allowed
    if body.strip():
        agent["instruction"] = body.strip()
    return agent


def fill_agents(bundle: BundleData) -> None:
    """Fill missing or empty keys of every agent that has a file, in place; failures are logged."""
    for name, definition in bundle.agents.items():
        path = bundle.resolve_agent_path(name)
        if path is None:
            continue
        try:
            found = read_agent_file(path, name)
        except Exception as error:  # a broken file of one agent must not cost the others
            _log.warning("Agent %s: cannot read %s: %s", name, path, error)
            continue
        for key, value in found.items():
            if not definition.get(key):
                definition[key] = value


def _delegation(value: Any, path: Path) -> str | list[Any] | None:
    if value is None or isinstance(value, dict):
        return None
    if isinstance(value, list):
        return value
    if isinstance(value, str) and value in ("all", "none"):
        return value
    raise ValueError(f"{path}: 'agents' must be 'all', 'none' or a list of names, not {value!r}")
