"""Take the published validators' verdicts, as `published_verdicts.json` has them.

unzip amplifier_core-*.whl -d FOLDER
PYTHONPATH=FOLDER:. python -m tests.compat.take_verdicts 2.0.2 > NEW.json
"""

import asyncio
import importlib
import json
import sys
import tempfile
from pathlib import Path
from typing import Any

from tests.compat.module_packages import PLANS, sources, write_module


async def verdicts(folder: Path) -> dict[str, Any]:
    """Return what `amplifier_core` says of each module: whether it passes, and its checks."""
    validation = importlib.import_module("amplifier_core.validation")
    found = {}
    for name, (kind, source) in sources().items():
        validator = getattr(validation, f"{kind.capitalize()}Validator")()
        found[name] = _verdict(await validator.validate(write_module(folder, name, source)))
    return found


def plan_verdicts() -> dict[str, Any]:
    """Return what it says of each mount plan."""
    validator = importlib.import_module("amplifier_core.validation").MountPlanValidator()
    return {name: _verdict(validator.validate(plan)) for name, plan in PLANS.items()}


def _verdict(result: Any) -> dict[str, Any]:
    """Failed checks by name, with the severity."""
    failed = sorted(f"{check.severity} {check.name}" for check in result.checks if not check.passed)
    return {"passed": result.passed, "failed": failed}


if __name__ == "__main__":
    with tempfile.TemporaryDirectory() as place:
        modules = asyncio.run(verdicts(Path(place)))
    data = {"version": sys.argv[1], "modules": modules, "plans": plan_verdicts()}
    json.dump(data, sys.stdout, indent=1)
    sys.stdout.write("\n")
