"""Caches of loaded bundles, for applications that want one beside the registry's own."""

import hashlib
import json
import logging
import re
from pathlib import Path
from typing import Any

from amplifier_tui.base.files import write_atomic
from amplifier_tui.foundation.bundle.bundle import Bundle

_log = logging.getLogger(__name__)

_PLAIN = (
    *("name", "version", "description", "includes", "namespace_root", "instruction"),
    *("session", "providers", "tools", "hooks", "spawn", "agents", "_pending_context"),
)


class SimpleCache:
    """Keeps bundles in memory."""

    def __init__(self) -> None:
        self._bundles: dict[str, Bundle] = {}

    def get(self, key: str) -> Bundle | None:
        """Return the bundle stored under a key, or None."""
        return self._bundles.get(key)

    def set(self, key: str, bundle: Bundle) -> None:
        """Store a bundle."""
        self._bundles[key] = bundle

    def clear(self) -> None:
        """Forget everything."""
        self._bundles.clear()

    def __contains__(self, key: str) -> bool:
        return key in self._bundles


class DiskCache:
    """Keeps bundles as JSON files, one per key, in a folder that is made when it is needed."""

    def __init__(self, cache_dir: Path) -> None:
        self._folder = cache_dir

    def get(self, key: str) -> Bundle | None:
        """Return the bundle stored under a key, or None; an unreadable entry is deleted."""
        path = self._path(key)
        try:
            return _from_plain(json.loads(path.read_text(encoding="utf-8")))
        except FileNotFoundError:
            return None
        except (OSError, ValueError, TypeError, KeyError, AttributeError, RecursionError) as error:
            _log.warning("%s is unreadable and deleted: %s", path, error)
            path.unlink(missing_ok=True)
            return None

    def set(self, key: str, bundle: Bundle) -> None:
        """Store a bundle; raises `OSError` when it cannot be written."""
        write_atomic(self._path(key), json.dumps(_to_plain(bundle), default=str))

    def clear(self) -> None:
        """Delete every entry."""
        for path in self._folder.glob("*.json"):
            path.unlink(missing_ok=True)

    def __contains__(self, key: str) -> bool:
        return self._path(key).is_file()

    def _path(self, key: str) -> Path:
        readable = re.sub(r"[^A-Za-z0-9_-]", "_", key)[:30]
        return self._folder / f"{readable}-{hashlib.sha256(key.encode()).hexdigest()[:16]}.json"


def _to_plain(bundle: Bundle) -> dict[str, Any]:
    data = {key: getattr(bundle, key) for key in _PLAIN}
    data["context"] = {name: str(path) for name, path in bundle.context.items()}
    data["base_path"] = None if bundle.base_path is None else str(bundle.base_path)
    data["source_base_paths"] = {name: str(path) for name, path in bundle.source_base_paths.items()}
    covered = bundle.covered_base_paths.items()
    data["covered_base_paths"] = {name: list(map(str, paths)) for name, paths in covered}
    return data


def _from_plain(data: dict[str, Any]) -> Bundle:
    base_path = data["base_path"]
    return Bundle(
        **{key: data[key] for key in _PLAIN},
        context={name: Path(path) for name, path in data["context"].items()},
        base_path=None if base_path is None else Path(base_path),
        source_base_paths={name: Path(path) for name, path in data["source_base_paths"].items()},
        covered_base_paths={
            name: list(map(Path, paths))
            for name, paths in data.get("covered_base_paths", {}).items()
        },
    )
