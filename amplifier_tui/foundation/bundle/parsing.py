"""From the mapping in a bundle file to the parts of a `Bundle` (foundation reference a.2)."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from amplifier_tui.base.plain import copy_plain
from amplifier_tui.foundation.bundle.model import SECTIONS
from amplifier_tui.foundation.exceptions import BundleValidationError
from amplifier_tui.foundation.io import Keys
from amplifier_tui.foundation.paths import construct_context_path

_FORMATS = {
    "includes": "includes: [{bundle: <name or uri>}]",
    "session": "session: {orchestrator: {module: <id>}, context: {module: <id>}}",
    "agents": "agents: {include: [<name>]}",
    "context": "context: {include: [<path>]}",
    "spawn": "spawn: {exclude_tools: [<tool module>]}",
    "bundle": "bundle: {name: <name>, version: <version>}",
} | {section: f"{section}: [{{module: <id>, source: <uri>}}]" for section in SECTIONS}


class MalformedSection(BundleValidationError):
    """A section has the wrong shape.

    Attributes:
        keys: Path of keys to the wrong value, so that its line can be found.
    """

    def __init__(self, message: str, keys: Keys) -> None:
        super().__init__(message, remedy=_format(keys))
        self.keys = keys


def parse_bundle(data: Any, base_path: Path | None) -> dict[str, Any]:
    """Check a bundle's mapping and return the keyword arguments of `Bundle`.

    Null means absent everywhere. `data` is not changed and shares nothing with the result.

    Raises:
        BundleValidationError: A section has the wrong shape.
    """
    label = str(base_path or "")
    if not isinstance(data, dict):
        raise MalformedSection(f"Bundle '{label}' is no mapping: {_got(data)}", ())
    data = copy_plain(data)
    meta = _mapping(data, "bundle", label)
    name = _text(meta, "name", label)
    label = name or label
    context, pending = _parse_context(data.get("context"), base_path, label)
    version = meta.get("version")
    return {
        "name": name,
        "version": "1.0.0" if version is None else version,
        "description": _text(meta, "description", label),
        "namespace_root": _text(meta, "namespace_root", label) or None,
        "includes": _list(data, "includes", label),
        "session": _parse_session(_mapping(data, "session", label), base_path),
        **{section: _parse_modules(data, section, base_path, label) for section in SECTIONS},
        "spawn": _mapping(data, "spawn", label),
        "agents": _parse_agents(data.get("agents"), base_path, label),
        "context": context,
        "_pending_context": pending,
        "base_path": base_path,
    }


def absolute_source(source: Any, base_path: Path | None) -> Any:
    """Make a `./` or `../` source absolute; anything else is returned as it is."""
    if base_path is None or not isinstance(source, str) or not source.startswith(("./", "../")):
        return source
    try:
        return str((base_path / source).resolve())
    except (OSError, ValueError, RuntimeError):
        return source  # no path; whoever wants it says so


def with_absolute_sources(entries: Any, base_path: Path | None) -> Any:
    """Make the relative sources of a list of module entries absolute, on copies."""
    if not isinstance(entries, list):
        return entries
    return [
        {**entry, "source": absolute_source(entry["source"], base_path)}
        if isinstance(entry, dict) and "source" in entry
        else entry
        for entry in entries
    ]


def _parse_session(session: dict[str, Any], base_path: Path | None) -> dict[str, Any]:
    for part in ("orchestrator", "context"):
        value = session.get(part)
        if isinstance(value, dict) and "source" in value:
            session[part] = {**value, "source": absolute_source(value["source"], base_path)}
    for key in ("orchestrator_source", "context_source"):
        if key in session:
            session[key] = absolute_source(session[key], base_path)
    return session


def _parse_modules(
    data: dict[str, Any], section: str, base_path: Path | None, label: str
) -> list[dict[str, Any]]:
    entries = _list(data, section, label)
    for index, entry in enumerate(entries):
        if not isinstance(entry, dict):
            raise MalformedSection(
                f"Bundle '{label}' has malformed {section}[{index}]: expected dict with "
                f"'module' and 'source' keys, got {type(entry).__name__} {entry!r:.60}",
                (section, index),
            )
    result: list[dict[str, Any]] = with_absolute_sources(entries, base_path)
    return result


def _parse_agents(value: Any, base_path: Path | None, label: str) -> dict[str, dict[str, Any]]:
    if value is None or isinstance(value, str | list):
        # A text or a list says which agents this one may delegate to; it is no roster.
        return {}
    if not isinstance(value, dict):
        raise _wrong("agents", label, "mapping", value, ("agents",))
    agents: dict[str, dict[str, Any]] = {}
    for entry in _names(value.get("include"), ("agents", "include"), label):
        agents[entry] = {"name": entry}
    for name, definition in value.items():
        if name != "include" and isinstance(definition, dict):
            agents[str(name)] = {
                key: with_absolute_sources(part, base_path) if key in SECTIONS else part
                for key, part in definition.items()
            }
    return agents


def _parse_context(
    value: Any, base_path: Path | None, label: str
) -> tuple[dict[str, Path], dict[str, str]]:
    context: dict[str, Path] = {}
    pending: dict[str, str] = {}
    if value is None:
        return context, pending
    if isinstance(value, list):
        keys: Keys = ("context",)
        value = {"include": value}
    elif isinstance(value, dict):
        keys = ("context", "include")
    else:
        raise _wrong("context", label, "mapping or list", value, ("context",))

    def add(name: str, reference: str) -> None:
        reference = reference.removeprefix("@")
        if ":" in reference:
            pending[name] = reference
        elif base_path is not None and reference.strip("/"):
            context[name] = construct_context_path(base_path, reference)

    for entry in _names(value.get("include"), keys, label):
        add(entry.removeprefix("@").lstrip("/"), entry)
    for name, reference in value.items():
        if name == "include" or reference is None:
            continue
        if not isinstance(reference, str):
            raise _wrong(f"context.{name}", label, "path", reference, ("context", str(name)))
        add(str(name), reference)
    return context, pending


def _mapping(data: dict[str, Any], key: str, label: str) -> dict[str, Any]:
    value = data.get(key)
    if value is None:
        return {}
    if not isinstance(value, dict):
        raise _wrong(key, label, "mapping", value, (key,))
    return value


def _list(data: dict[str, Any], key: str, label: str) -> list[Any]:
    value = data.get(key)
    if value is None:
        return []
    if not isinstance(value, list):
        raise _wrong(key, label, "list", value, (key,))
    return value


def _names(value: Any, keys: Keys, label: str) -> Sequence[str]:
    where = ".".join(str(key) for key in keys)
    if value is None:
        return []
    if not isinstance(value, list):
        raise _wrong(where, label, "list", value, keys)
    for index, entry in enumerate(value):
        if not isinstance(entry, str):
            raise _wrong(f"{where}[{index}]", label, "str", entry, (*keys, index))
    return value


def _text(meta: dict[str, Any], key: str, label: str) -> str:
    value = meta.get(key)
    if value is None:
        return ""
    if not isinstance(value, str):
        raise _wrong(f"bundle.{key}", label, "str", value, ("bundle", key))
    return value.strip()


def _wrong(where: str, label: str, expected: str, value: Any, keys: Keys) -> MalformedSection:
    return MalformedSection(
        f"Bundle '{label}' has malformed {where}: expected {expected}, got {_got(value)}.", keys
    )


def _got(value: Any) -> str:
    return type(value).__name__


def _format(keys: Keys) -> str:
    section = str(keys[0]) if keys else "bundle"
    return f"Correct format: {_FORMATS.get(section, '')}"
