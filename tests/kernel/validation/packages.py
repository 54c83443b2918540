# Modules of one file, each under a name of its own, so that no two tests meet in sys.modules.

import textwrap
from itertools import count
from pathlib import Path
from typing import Any

from amplifier_tui.kernel.validation import VALIDATORS, ValidationCheck, ValidationResult

_numbers = count()


def write(folder: Path, source: str) -> Path:
    package = folder / f"amplifier_module_written_{next(_numbers)}"
    package.mkdir()
    (package / "__init__.py").write_text(textwrap.dedent(source))
    return package


async def validated(
    kind: str, folder: Path, source: str, config: dict[str, Any] | None = None
) -> ValidationResult:
    return await VALIDATORS[kind]().validate(write(folder, source), config=config)


def check_of(result: ValidationResult, name: str) -> ValidationCheck:
    [check] = [check for check in result.checks if check.name == name]
    return check
