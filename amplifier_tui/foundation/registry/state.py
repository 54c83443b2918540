"""What the registry knows about each bundle, and `registry.json` (spec 003)."""

import json
import logging
from dataclasses import asdict, field
from datetime import datetime
from pathlib import Path
from typing import Any

from amplifier_tui.base.files import write_atomic
from amplifier_tui.base.jsonl import read_object
from amplifier_tui.base.lazy.dataclass import dataclass

_log = logging.getLogger(__name__)

_DATES = ("loaded_at", "checked_at")
_MARKS = ("is_root", "explicitly_requested", "app_bundle")


@dataclass
class BundleState:
    """One entry of the registry; times are local.

    Attributes:
        version: As the bundle file has it; an unquoted `0.1` is a float.
        local_path: File or folder on this machine, once it was loaded.
        is_root: Whether it establishes a namespace of its own; else `root_name` is its root.
        explicitly_requested: Whether it was asked for by name, path or URI.
        app_bundle: Whether an application composes it onto every session.
    """

    uri: str
    name: str
    version: Any = None
    loaded_at: datetime | None = None
    checked_at: datetime | None = None
    local_path: str | None = None
    includes: list[str] = field(default_factory=list)
    included_by: list[str] = field(default_factory=list)
    is_root: bool = True
    root_name: str | None = None
    explicitly_requested: bool = False
    app_bundle: bool = False

    def to_dict(self) -> dict[str, Any]:
        """Return the entry as `registry.json` has it; relationships only when there are any."""
        data = asdict(self)
        for key in _DATES:
            data[key] = None if data[key] is None else data[key].isoformat()
        related = ("includes", "included_by", "root_name")
        return {key: value for key, value in data.items() if value or key not in related}

    @classmethod
    def from_dict(cls, name: str, data: dict[str, Any]) -> "BundleState":
        """Read an entry of `registry.json`; `ValueError` or `TypeError` for a malformed one."""
        uri = data.get("uri")
        if not isinstance(uri, str):
            raise ValueError(f"the entry {name!r} has no 'uri'")
        for key in ("local_path", "root_name"):
            if not isinstance(data.get(key), str | None):
                raise ValueError(f"'{key}' of the entry {name!r} is no text")
        values: dict[str, Any] = {key: _date(data.get(key)) for key in _DATES}
        values |= {key: _names(data.get(key)) for key in ("includes", "included_by")}
        values |= {key: bool(data[key]) for key in _MARKS if key in data}
        for key in ("version", "local_path", "root_name"):
            values[key] = data.get(key)
        return cls(uri=uri, name=name, **values)


@dataclass(frozen=True)
class UpdateInfo:
    """A newer version of a bundle; versions are commits.

    Without one on this machine, `current_version` is the bundle's own.
    """

    name: str
    current_version: str | None
    available_version: str
    uri: str


def _names(value: Any) -> list[str]:
    return [name for name in value if isinstance(name, str)] if isinstance(value, list) else []


def _date(text: Any) -> datetime | None:
    return None if text is None else datetime.fromisoformat(text)


VERSION = 1


def read_states(path: Path) -> dict[str, BundleState]:
    """Read the registry; a broken file or entry is logged and left out."""
    try:
        data = read_object(path)
        bundles = data["bundles"].items() if data else ()
    except (OSError, ValueError, KeyError, AttributeError) as error:
        reason = error.strerror if isinstance(error, OSError) else error
        _log.warning("%s cannot be read and is treated as empty: %s", path, reason)
        return {}
    states: dict[str, BundleState] = {}
    for name, entry in bundles:
        try:
            states[name] = BundleState.from_dict(name, entry)
        except (ValueError, TypeError, AttributeError) as error:
            _log.warning("%s: entry %r is ignored: %s", path, name, error)
    return states


def write_states(path: Path, states: dict[str, BundleState]) -> None:
    """Write the registry atomically; raises `OSError`."""
    bundles = {name: state.to_dict() for name, state in states.items()}
    text = json.dumps({"version": VERSION, "bundles": bundles}, indent=2, default=str)
    write_atomic(path, text, links="follow")
