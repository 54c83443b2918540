"""`amplifier-tui bundle show`."""

import click

from amplifier_tui.cli.bundle_common import (
    FAILED,
    chosen,
    failures,
    json_option,
    open_workspace,
    print_json,
)


@click.command(short_help="Show what a bundle would mount.")
@click.argument("name", required=False)
@click.option("--plan", is_flag=True, help="Print the mount plan alone, as YAML.")
@json_option
@click.pass_context
def show(context: click.Context, name: str | None, plan: bool, as_json: bool) -> None:
    """Show what a bundle would mount, and who contributes each entry.

    Also its agents and context files, an estimate of the prompt's tokens, missing keys, what would
    be fetched, and which servers would get a key. Nothing is fetched and nothing of the bundle is
    run. Secrets are not printed.
    """
    import asyncio

    from amplifier_tui.cli.bundle_description import as_data, as_lines, plain_plan

    workspace = open_workspace(context)
    with failures(context):
        preview = asyncio.run(workspace.preview(chosen(workspace, name)))
    if as_json:
        print_json(as_data(preview))
    elif plan:
        from amplifier_tui.base.text import clean
        from amplifier_tui.foundation.io import dump_yaml

        click.echo(clean(dump_yaml(plain_plan(preview))), nl=False)
    else:
        for line in as_lines(preview):
            click.echo(line)
    if preview.bundle is None:
        context.exit(FAILED)
