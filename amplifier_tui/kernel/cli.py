"""`python -m amplifier_core.cli`: validates modules, as the published command does.

`amplifier-tui module validate` says more, and finds the kind by itself.
"""

import argparse
import sys
from pathlib import Path

from amplifier_tui.kernel.validation import VALIDATORS, ValidationResult
from amplifier_tui.kernel.validation.trials import run_trials


def print_result(result: ValidationResult) -> None:
    """Print the summary, then one line for each check."""
    lines = [result.summary(), ""]
    for check in result.checks:
        mark = "✓" if check.passed else "✗"
        lines.append(f"  {mark} [{check.severity}] {check.name}: {check.message}")
        if check.where and not check.passed:
            lines.append(f"      at {check.where}")
        if check.remedy and not check.passed:
            lines.append(f"      {check.remedy}")
    sys.stdout.write("\n".join(lines) + "\n")


def main(arguments: list[str] | None = None) -> None:
    """Run the command; always ends in `SystemExit`: 0 where the module passes, else 1."""
    parser = argparse.ArgumentParser(prog="amplifier-core", description="Validates modules.")
    commands = parser.add_subparsers(dest="command", required=True)
    validate = commands.add_parser("validate", help="Check a module against its contract.")
    validate.add_argument("module_type", choices=list(VALIDATORS))
    validate.add_argument("module_path", type=Path)
    validate.add_argument("-e", "--entry-point", help="its name, or package.module:function")
    validate.add_argument("-q", "--quiet", action="store_true", help="Print the summary only.")
    commands.add_parser("list-types", help="List the kinds of modules.")
    given = parser.parse_args(arguments)
    if given.command == "list-types":
        sys.stdout.write("\n".join(VALIDATORS) + "\n")
        sys.exit(0)
    if not given.module_path.exists():
        parser.error(f"there is nothing at {given.module_path}")
    validator = VALIDATORS[given.module_type]()
    result = run_trials(validator.validate(given.module_path, given.entry_point))
    if given.quiet:
        sys.stdout.write(f"{result.summary()}\n")
    else:
        print_result(result)
    sys.exit(0 if result.passed else 1)


if __name__ == "__main__":
    main()
