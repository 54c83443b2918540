"""`amplifier-tui bundle diff`."""

import click

from amplifier_tui.cli.bundle_common import (
    chosen,
    failures,
    json_option,
    open_workspace,
    print_json,
    style,
)

_COLORS = {"-": "red", "+": "green", "~": "yellow"}


@click.command(short_help="Compare two bundles as they take effect here.")
@click.argument("a")
@click.argument("b")
@json_option
@click.pass_context
def diff(context: click.Context, a: str, b: str, as_json: bool) -> None:
    """Compare bundle A with bundle B as they take effect here.

    `-` is only in A, `+` only in B, `~` in both and different. Nothing is fetched and nothing of
    the bundles is run.
    """
    import asyncio

    from amplifier_tui.cli.bundle_comparison import compare
    from amplifier_tui.cli.bundle_layout import paragraph
    from amplifier_tui.foundation.exceptions import BundleError

    workspace = open_workspace(context)
    with failures(context):
        previews = [asyncio.run(workspace.preview(chosen(workspace, name))) for name in (a, b)]
        for preview in previews:
            if preview.bundle is None:
                raise BundleError(preview.error)
    changes = compare(*previews)
    if as_json:
        print_json({"a": a, "b": b, "changes": [change.as_data() for change in changes]})
        return
    if not changes:
        click.echo("They mount the same, and say the same.")
    section = ""
    for change in changes:
        if change.section != section:
            section = change.section
            click.echo(style(section, bold=True))
        for place, line in enumerate(paragraph(change.text, indent=4)):
            mark = change.mark if place == 0 else " "
            click.echo(style(f"  {mark}{line[3:]}", fg=_COLORS[change.mark]))
