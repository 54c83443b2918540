"""`python -m amplifier_tui.compat`: run something with `amplifier_core` being ours.

What follows is what would follow `python`: `-m module arguments`, or `script.py arguments`. With
`--trust` before that, sources are fetched, installed and run unasked.
"""

import importlib.util
import runpy
import sys
from importlib.metadata import entry_points
from pathlib import Path

from amplifier_tui import compat

USAGE = "usage: python -m amplifier_tui.compat [--trust] (-m MODULE | SCRIPT) [ARGUMENT ...]"
PLUGIN = "amplifier_module"
_IGNORED = (
    "ignore:Module already imported so cannot be rewritten; amplifier_tui:"
    "pytest.PytestAssertRewriteWarning"
)


def main(arguments: list[str]) -> int:
    """Run a module or a script in this process; return the exit status when that can't be done."""
    if arguments[:1] == ["--trust"]:
        from amplifier_tui.foundation.trust.gate import answer_by_default, trust_everything

        sys.stderr.write("--trust: everything that is fetched counts in this run.\n")
        answer_by_default(trust_everything)
        arguments = arguments[1:]
    match arguments:
        case ["-m", name, *rest]:
            return _run_module(name, rest)
        case [script, *rest] if not script.startswith("-"):
            return _run_script(script, rest)
    return _refuse(USAGE, 2)


def _run_module(name: str, arguments: list[str]) -> int:
    compat.install()
    try:
        found = importlib.util.find_spec(name)
    except ImportError:
        found = None
    if found is None:
        return _refuse(f"Error: No module named {name}. Install it in this environment.", 1)
    if name == "pytest":
        arguments = _pytest_arguments(arguments)
    sys.argv = [name, *arguments]
    runpy.run_module(name, run_name="__main__", alter_sys=True)
    return 0


def _run_script(script: str, arguments: list[str]) -> int:
    path = Path(script)
    if not path.is_file():
        return _refuse(f"Error: There is no script {script}.", 2)
    compat.install()
    sys.argv = [script, *arguments]
    # As python itself does: the script's own folder, not the one we stand in.
    sys.path[0] = str(path.resolve().parent)
    runpy.run_path(script, run_name="__main__")
    return 0


def _pytest_arguments(arguments: list[str]) -> list[str]:
    installed = any(entry.name == PLUGIN for entry in entry_points(group="pytest11"))
    plugin = PLUGIN if installed else "amplifier_tui.kernel.pytest_plugin"
    plugins = ["-p", "amplifier_tui.compat.pytest_order", "-p", plugin]
    # Of course it is imported already: we are it. The last filter counts most.
    return [*plugins, *arguments] if "--" in arguments else [*plugins, *arguments, "-W", _IGNORED]


def _refuse(message: str, status: int) -> int:
    sys.stderr.write(f"{message}\n")
    return status


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
