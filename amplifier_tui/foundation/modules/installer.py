"""Installing packages into this environment: uv if there is one, else pip."""

import asyncio
import hashlib
import importlib
import logging
import os
import re
import shutil
import site
import sys
import sysconfig
import tempfile
from pathlib import Path

from amplifier_tui.base.jsonl import read_object, write_object
from amplifier_tui.foundation.exceptions import BundleError
from amplifier_tui.foundation.modules.project import Project
from amplifier_tui.foundation.paths import redact_uri
from amplifier_tui.foundation.sources.process import run_process

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
        return "sha256:" + hashlib.sha256((path / "pyproject.toml").read_bytes()).hexdigest()
    except OSError:
        return "none"


def _python_mtime() -> int:
    return int(os.lstat(sys.executable).st_mtime)


_EXCEPTION = re.compile(r"^[\w.]*(Error|Exception): ")

INSTALL_SECONDS = 900.0
"""Longest installation."""


class InstallError(BundleError):
    """A package could not be installed."""


def install_command(project: Project, overrides: Path | None = None) -> list[str]:
    """Return the command that installs a project, or its `requirements.txt` if it is none.

    The file `overrides` has versions that uv is to take whatever the project asks for.
    """
    what = (
        ["-e", str(project.path)]
        if project.is_package
        else ["-r", str(project.path / "requirements.txt")]
    )
    uv = shutil.which("uv")
    if uv is None:
        quiet = ["--quiet", "--disable-pip-version-check", "--no-input"]
        return [sys.executable, "-m", "pip", "install", *what, *quiet]
    command = [uv, "pip", "install", *what, "--python", sys.executable, "--quiet", "--no-sources"]
    return command if overrides is None else [*command, "--overrides", str(overrides)]


async def install(project: Project) -> None:
    """Install a project so that it can be imported; raises `InstallError`."""
    with tempfile.TemporaryDirectory(prefix="amplifier-install-") as folder:
        overrides: Path | None = None
        pinned = project.git_overrides()
        if pinned:
            overrides = Path(folder) / "overrides.txt"
            overrides.write_text("\n".join(pinned) + "\n", encoding="utf-8")
        command = install_command(project, overrides)
        try:
            result = await run_process(
                command, timeout=INSTALL_SECONDS, env={**os.environ, "PYTHONUNBUFFERED": "1"}
            )
        except TimeoutError as error:
            raise InstallError(
                f"Installing {project.path} took longer than {INSTALL_SECONDS:g} s"
            ) from error
        except OSError as error:
            raise InstallError(f"Cannot run {command[0]}: {error}") from error
    if result.returncode != 0:
        raise InstallError(
            f"Installing {project.path} failed: {_reason(result.stderr or result.stdout)}",
            remedy=f"Run it by hand to see more: {' '.join(command)}",
        )
    await asyncio.to_thread(make_importable)


def make_importable() -> None:
    """Have this process see what was installed meanwhile."""
    importlib.invalidate_caches()
    # An editable installation is a .pth file, which Python reads at start only.
    site.addsitedir(sysconfig.get_paths()["purelib"])


def _reason(output: str) -> str:
    lines = [line.strip() for line in redact_uri(output).splitlines() if line.strip()]
    # A build backend's own exception says more than the installer's summary of it.
    exceptions = [line for line in lines if _EXCEPTION.match(line)]
    errors = [line for line in lines if line.lower().startswith(("error", "× ", "fatal"))]
    return (exceptions or errors or lines or ["no output"])[-1][:500]
