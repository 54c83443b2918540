"""`amplifier-tui module validate`: whether a module keeps its contract, and if not, what to do."""

from typing import TYPE_CHECKING, Any

import click

if TYPE_CHECKING:
    from amplifier_tui.kernel.validation.base import ValidationCheck
    from amplifier_tui.kernel.validation.module_check import CheckedModule

KINDS = ("orchestrator", "provider", "tool", "hook", "context")


@click.command(short_help="Check a module against its contract.")
@click.argument("path")
@click.option("--type", "kind", type=click.Choice(KINDS), help="Check it as this kind of module.")
@click.option("--config", metavar="JSON", default="{}", help="Mount it with this configuration.")
@click.option("--json", "as_json", is_flag=True, help="Print the report as one JSON object.")
@click.pass_context
def validate(
    context: click.Context, path: str, kind: str | None, config: str, as_json: bool
) -> None:
    """Check the module in folder PATH, or the installed module of that id.

    Its package is imported and its mount function runs once, on a mock coordinator. The exit
    status is 0 if it passes, 1 if it fails and 2 if there is nothing to check.
    """
    import asyncio
    import contextlib
    import sys

    from amplifier_tui import compat
    from amplifier_tui.kernel.validation.module_check import check_module

    compat.install()
    settings = _settings(config)
    try:
        # What the module prints is no part of the report.
        with contextlib.redirect_stdout(sys.stderr):
            checked = asyncio.run(check_module(path, kind, settings))
    except (FileNotFoundError, ValueError) as error:
        raise click.UsageError(str(error)) from error
    click.echo(_json(checked) if as_json else _report(checked))
    context.exit(0 if checked.result.passed else 1)


def _settings(text: str) -> dict[str, Any]:
    import json

    try:
        settings = json.loads(text)
    except ValueError as error:
        raise click.BadParameter(f"is no JSON: {error}", param_hint="--config") from error
    if not isinstance(settings, dict):
        raise click.BadParameter("must be a JSON object", param_hint="--config")
    return settings


def _json(checked: "CheckedModule") -> str:
    import dataclasses
    import json

    result = checked.result
    return json.dumps(
        {
            "module": checked.module_id,
            "type": checked.kind,
            "path": checked.path,
            "passed": result.passed,
            "summary": result.summary(),
            "checks": [dataclasses.asdict(check) for check in result.checks],
        },
        ensure_ascii=False,
    )


def _report(checked: "CheckedModule") -> str:
    from amplifier_tui.ui.sanitize import clean, one_line

    result = checked.result
    head = f"{checked.module_id} ({checked.kind}) at {checked.path}"
    width = max((len(check.name) for check in result.checks), default=0)
    indent = " " * (width + 4)
    lines = [one_line(head, 500), ""]
    for check in result.checks:
        first, *rest = clean(check.message).splitlines() or [""]
        lines.append(f"{_mark(check)} {one_line(check.name, 200).ljust(width)}  {first}")
        lines += [indent + line for line in rest]
        if check.remedy and not check.passed:
            lines.append(f"{indent}→ {clean(check.remedy)}")
    return "\n".join([*lines, "", result.summary()])


def _mark(check: "ValidationCheck") -> str:
    if check.severity == "warning":
        return click.style("!", fg="yellow")
    return click.style("✓", fg="green") if check.passed else click.style("✗", fg="red")
