"""The command that installs packages into the environment of the program, as a person types it."""

import importlib.util
import shlex
import sys
from collections.abc import Iterable


def pip_install(packages: Iterable[str]) -> str:
    """Return what installs packages for the Python that runs the program.

    Args:
        packages: Names or requirements.
    """
    python = shlex.quote(sys.executable)
    # What uv has made has no pip.
    has_pip = importlib.util.find_spec("pip") is not None
    command = f"{python} -m pip install" if has_pip else f"uv pip install --python {python}"
    return f"{command} {shlex.join(packages)}"
