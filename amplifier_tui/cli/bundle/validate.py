"""`amplifier-tui bundle validate`."""

from dataclasses import asdict
from typing import TYPE_CHECKING

import click

from amplifier_tui.cli.bundle import common

if TYPE_CHECKING:
    from amplifier_tui.foundation.checks.bundle_file import Problem
    from amplifier_tui.foundation.checks.preview import BundleDescription
    from amplifier_tui.foundation.workspace import Workspace

_COLORS = {"error": "red", "warning": "yellow"}


@click.command(short_help="Check a bundle, and say where a mistake is.")
@click.argument("name", required=False)
@click.option("--strict", is_flag=True, help="Count warnings as errors.")
@common.json_option
@click.pass_context
def validate(context: click.Context, name: str | None, strict: bool, as_json: bool) -> None:
    """Check a bundle: its file, what it includes, and whether a session could be made of it.

    Every finding has its file and line where they are known. Nothing is fetched and nothing of the
    bundle is run. The exit status is 1 when there is an error. What is only a part of other bundles
    is no error, and the last line says so; --strict fails for it as well.
    """
    import asyncio

    from amplifier_tui.base.text import with_remedy

    workspace = common.open_workspace(context)
    with common.failures(context):
        wanted = common.chosen(workspace, name)
        problems, preview = asyncio.run(_check(workspace, wanted, strict))
    lacking = preview.error if preview.state == "invalid" else ""
    errors = [problem for problem in problems if problem.severity == "error" or strict]
    if as_json:
        findings = [asdict(problem) for problem in problems]
        told = {"bundle": wanted, "valid": not errors, "opens": not (errors or lacking)}
        common.print_json({**told, "findings": findings})
    elif errors:
        _print(problems, f"{wanted} is not valid.")
    elif lacking:
        part = "is valid only as a part of other bundles: no session can be opened with it."
        _print(problems, with_remedy(lacking, f"{wanted} {part}"))
    else:
        _print(problems, f"{wanted} is valid{_but(preview)}.")
    if errors:
        context.exit(common.FAILED)


async def _check(
    workspace: "Workspace", name: str, strict: bool
) -> "tuple[list[Problem], BundleDescription]":
    """Return what is wrong with a bundle, and the bundle."""
    import asyncio

    from amplifier_tui.foundation.checks.agent_modules import uncalled_agents
    from amplifier_tui.foundation.checks.findings import preview_findings

    preview = await workspace.preview(name)
    bundle = preview.bundle

    def find() -> "list[Problem]":
        found = preview_findings(preview, strict=strict)
        return found if bundle is None else [*found, *uncalled_agents(bundle)]

    return await asyncio.to_thread(find), preview


def _but(preview: "BundleDescription") -> str:
    """Return what a session with a valid bundle would lack, for the end of its sentence."""
    from amplifier_tui.ui.state.formats import plural

    lacking = []
    if preview.skipped:
        verb = "is" if len(preview.skipped) == 1 else "are"
        lacking.append(f"{plural(len(preview.skipped), 'include')} {verb} left out")
    if preview.bundle is not None and not preview.bundle.providers:
        lacking.append("no provider is in it")
    return f", but {' and '.join(lacking)}" if lacking else ""


def _print(problems: "list[Problem]", conclusion: str) -> None:
    from amplifier_tui.cli.layout import paragraph

    for problem in problems:
        label = common.style(problem.severity, fg=_COLORS[problem.severity])
        first, *more = paragraph(str(problem))
        click.echo(f"{label}: {first}")
        for line in more:
            click.echo(line)
        if problem.remedy:
            for line in paragraph(f"→ {problem.remedy}", indent=2):
                click.echo(line)
    for line in paragraph(conclusion):
        click.echo(line)
