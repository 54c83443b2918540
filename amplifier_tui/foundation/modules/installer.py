"""Running an installer, uv if there is one, else pip: always into a folder, never into this
environment.
"""

import os
import re
import sys
from collections.abc import Sequence
from pathlib import Path

from amplifier_tui.base.commands.programs import find_program
from amplifier_tui.base.files import write_atomic
from amplifier_tui.foundation.exceptions import BundleError
from amplifier_tui.foundation.paths import redact_uri
from amplifier_tui.foundation.sources.process import ProcessResult, run_process

INSTALL_SECONDS = 900.0
"""Longest installation."""

_EXCEPTION = re.compile(r"^[\w.]*(Error|Exception): ")
_CONFLICT = re.compile(r" depends on |The user requested ")
_ELSEWHERE = frozenset({"PIP_TARGET", "PIP_PREFIX", "PIP_ROOT", "PIP_EDITABLE"})
"""Settings of pip that would have it install somewhere else."""
_LAST_LINES = 6


class InstallError(BundleError):
    """A package could not be installed."""


def install_command(
    what: Sequence[str], target: Path, *, constraints: Path | None = None, fresh: str = ""
) -> list[str]:
    """Return the command that installs into a folder.

    Args:
        what: Folders or options such as `-r FILE`.
        target: The folder.
        constraints: A file of versions that are to be kept to; without it no dependencies are
            installed.
        fresh: A package that must not come from the installer's cache.
    """
    limits = ["--no-deps"] if constraints is None else ["--constraint", str(constraints)]
    uv = find_program("uv")
    if uv is None:
        # -P: a folder `pip` in the current one is not pip.
        pip = [sys.executable, "-P", "-m", "pip", "install", "--target", str(target)]
        quiet = ["--progress-bar", "off", "--disable-pip-version-check", "--no-input"]
        return [*pip, *what, *limits, *quiet]
    command = [uv, "pip", "install", "--target", str(target), *what, *limits]
    command += ["--python", sys.executable, "--quiet", "--no-sources"]
    # uv refuses to refresh anything where the user has said that it is offline.
    refresh = fresh and not os.environ.get("UV_OFFLINE")
    return [*command, "--refresh-package", fresh] if refresh else command


async def install(command: Sequence[str], subject: str, folder: Path, log: Path) -> None:
    """Run an installer in `folder`.

    Args:
        command: See `install_command`.
        subject: What is installed, for messages.
        folder: Where it runs; relative paths in a list of requirements begin there.
        log: Where the end of its output goes when it fails.

    Raises:
        InstallError: It failed, or took too long, or there is none.
    """
    env = {name: value for name, value in os.environ.items() if name not in _ELSEWHERE}
    env |= {"PYTHONUNBUFFERED": "1", "PIP_USER": "0", "PIP_REQUIRE_VIRTUALENV": "0"}
    try:
        result = await run_process(command, timeout=INSTALL_SECONDS, env=env, cwd=folder)
    except TimeoutError as error:
        raise InstallError(
            f"Installing {subject} took longer than {INSTALL_SECONDS:g} s"
        ) from error
    except OSError as error:
        raise InstallError(f"Cannot run {command[0]}: {error}") from error
    if result.returncode != 0:
        output = redact_uri(f"{result.stdout.strip()}\n{result.stderr.strip()}".strip())
        raise InstallError(
            f"Installing {subject} failed: {_reason(output)}", remedy=_remedy(result, output, log)
        )


def _reason(output: str) -> str:
    lines = [line.strip() for line in output.splitlines() if line.strip()]
    if any("No module named pip" in line for line in lines):
        return "there is neither uv nor pip"
    if any("ResolutionImpossible" in line for line in lines):
        return "; ".join(line for line in lines if _CONFLICT.search(line))[:500]
    # A build backend's own exception says more than the installer's summary of it.
    exceptions = [line for line in lines if _EXCEPTION.match(line)]
    errors = [line for line in lines if line.lower().startswith(("error", "× ", "fatal"))]
    return (exceptions or errors or lines or ["no output"])[-1][:500]


def _remedy(result: ProcessResult, output: str, log: Path) -> str:
    if "No module named pip" in output:
        return "Install uv (https://docs.astral.sh/uv), or start with an environment that has pip."
    end = " | ".join(line.strip() for line in output.splitlines()[-_LAST_LINES:] if line.strip())
    try:
        write_atomic(log, redact_uri(f"{result.stdout}\n{result.stderr}\n"))
    except OSError:
        return f"The end of its output: {end[:1000]}"  # A full disk, most likely.
    return f"The end of its output is in {log}: {end[:1000]}"
