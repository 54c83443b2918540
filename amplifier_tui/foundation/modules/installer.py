"""Installing packages into this environment: uv if there is one, else pip."""

import asyncio
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

from amplifier_tui.foundation.exceptions import BundleError
from amplifier_tui.foundation.modules.project import Project
from amplifier_tui.foundation.paths.resolution import redact_uri
from amplifier_tui.foundation.sources.process import run_process

_log = logging.getLogger(__name__)

_EXCEPTION = re.compile(r"^[\w.]*(Error|Exception): ")

INSTALL_SECONDS = 900.0
"""Longest installation."""


class InstallError(BundleError):
    """A package could not be installed."""


def install_command(project: Project, overrides: Path | None = None) -> list[str]:
    """Return the command that installs a project, or its `requirements.txt` if it is none.

    Args:
        project: The folder.
        overrides: File with versions that uv is to take whatever the project asks for.
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
    """Install a project; afterwards it can be imported.

    Raises:
        InstallError: The installer failed, took too long, or is not there.
    """
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
