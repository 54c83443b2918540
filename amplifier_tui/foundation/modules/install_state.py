"""What was installed into an environment, as the Amplifier CLI notes it (`install-state.json`)."""

import hashlib
import logging
import os
import sys
from pathlib import Path

from amplifier_tui.base.files import read_regular
from amplifier_tui.base.jsonl import read_object, write_object

_log = logging.getLogger(__name__)

VERSION = 1


class InstallStateManager:
    """Remembers what was installed for this Python; any doubt means it was not."""

    def __init__(self, cache_dir: Path) -> None:
        self._file = cache_dir / "install-state.json"
        self._modules = self._read()
        self._changed = False

    def is_installed(self, path: Path) -> bool:
        """Whether a module folder was installed and its `pyproject.toml` is still the same."""
        return self._modules.get(str(path.resolve())) == project_hash(path)

    def is_known(self, path: Path) -> bool:
        """Whether a module folder was installed, be it there still or not."""
        return str(path.resolve()) in self._modules

    def is_outdated(self, path: Path) -> bool:
        """Whether a module folder was installed, and its `pyproject.toml` changed since."""
        known = self._modules.get(str(path.resolve()))
        return known is not None and known != project_hash(path)

    def mark_installed(self, path: Path) -> None:
        """Note that a module folder is installed as it is now."""
        self._modules[str(path.resolve())] = project_hash(path)
        self._changed = True

    def invalidate(self, path: Path | None = None) -> None:
        """Forget one module folder, or all of them."""
        if path is None:
            self._modules.clear()
        else:
            self._modules.pop(str(path.resolve()), None)
        self._changed = True

    def save(self) -> None:
        """Write the state if it changed; a failure costs a repeated installation, no more."""
        if not self._changed:
            return
        data = {
            "version": VERSION,
            "python": sys.executable,
            "python_mtime": _python_mtime(),
            "modules": {path: {"pyproject_hash": value} for path, value in self._modules.items()},
        }
        try:
            write_object(self._file, data)
            self._changed = False
        except OSError as error:
            _log.warning("%s cannot be written: %s", self._file, error)

    def _read(self) -> dict[str, str]:
        try:
            data = read_object(self._file)
            if not data:
                return {}
            expected = (VERSION, sys.executable, _python_mtime())
            if (data["version"], data["python"], data["python_mtime"]) != expected:
                return {}
            return {path: str(entry["pyproject_hash"]) for path, entry in data["modules"].items()}
        except (OSError, ValueError, KeyError, TypeError, AttributeError) as error:
            _log.warning("%s is ignored: %s", self._file, error)
            return {}


def project_hash(path: Path) -> str:
    """Return the hash of a folder's `pyproject.toml`, or `none`."""
    try:
        return "sha256:" + hashlib.sha256(read_regular(path / "pyproject.toml")).hexdigest()
    except OSError:
        return "none"


def _python_mtime() -> int:
    return int(os.lstat(sys.executable).st_mtime)
