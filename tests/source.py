"""The modules of the program, parsed once for all tests that look at how they are written."""

import ast
import gc
from functools import cache
from pathlib import Path

SOURCE = Path(__file__).parents[1] / "amplifier_tui"


@cache
def trees() -> dict[str, tuple[Path, ast.Module]]:
    """The modules by their dotted name, without `amplifier_tui`."""
    found = {}
    # More than a million nodes, which live on: no later pass of the collector has to see them.
    gc.disable()
    for path in sorted(SOURCE.rglob("*.py")):
        parts = path.relative_to(SOURCE).with_suffix("").parts
        name = ".".join(parts[:-1] if parts[-1] == "__init__" else parts)
        found[name] = (path, ast.parse(path.read_text()))
    gc.freeze()
    gc.enable()
    return found
