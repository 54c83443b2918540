"""Import every module of the package; what is deprecated shows where Python is told to see to it.

Run it as `python -W error::DeprecationWarning -W error::SyntaxWarning -m tests.imports`; it fails
and names each module that can't be imported.
"""

import importlib
import pkgutil
import sys
import traceback

import amplifier_tui


def main() -> int:
    """Return how many modules could not be imported, having printed why."""
    failed = 0
    for module in pkgutil.walk_packages(amplifier_tui.__path__, "amplifier_tui."):
        # A `__main__` runs the program.
        if module.name.endswith("__main__"):
            continue
        try:
            importlib.import_module(module.name)
        except (Exception, SystemExit):
            traceback.print_exc()
            print(f"{module.name} can't be imported", file=sys.stderr)
            failed += 1
    return failed


if __name__ == "__main__":
    sys.exit(main() > 0)
