"""`amplifier-tui bundle use`."""

from typing import TYPE_CHECKING

import click

from amplifier_tui.cli.bundle import common

if TYPE_CHECKING:
    from amplifier_tui.foundation.catalog import BundleEntry

SCOPES = ("global", "project", "local")


@click.command(short_help="Choose the bundle that new sessions are opened with.")
@click.argument("name", required=False)
@click.option("--reset", is_flag=True, help="Choose none: take what the other scopes say.")
@click.option(
    "--scope",
    type=click.Choice(SCOPES),
    default="global",
    show_default=True,
    help="For all your projects, for everybody in this one, or for you in this one.",
)
@common.json_option
@click.pass_context
def use(context: click.Context, name: str | None, reset: bool, scope: str, as_json: bool) -> None:
    """Choose the bundle that new sessions are opened with.

    A running session keeps its bundle.
    """
    import asyncio

    from amplifier_tui.base.text import one_line
    from amplifier_tui.foundation.exceptions import BundleError
    from amplifier_tui.foundation.settings.settings import Scope
    from amplifier_tui.foundation.settings.writing import write_setting

    if bool(name) == reset:
        raise click.UsageError("Name a bundle, or give --reset.")
    workspace = common.open_workspace(context)
    with common.failures(context):
        value = None
        if name:
            entry = workspace.choose(requested=name).entry
            preview = asyncio.run(workspace.preview(name))
            if preview.state == "invalid":
                raise BundleError(preview.error, remedy="Mend it first; nothing was changed.")
            value = _written(entry, name)
        file = write_setting(workspace.settings.files, Scope(scope), "bundle.active", value)
    workspace = common.open_workspace(context)
    active = workspace.settings.active_bundle
    if as_json:
        common.print_json({"bundle": value, "scope": scope, "file": str(file), "active": active})
        return
    said = f"New sessions use {value}" if value else f"The {scope} settings name no bundle now"
    click.echo(f"{one_line(said)} ({one_line(str(file))}).")
    if active != value:
        stronger = workspace.settings.scope_of("bundle.active")
        if stronger is not None:
            common.complain(
                "Note", f"The {stronger} settings say {active}, and count here.", "yellow"
            )


def _written(entry: "BundleEntry", name: str) -> str:
    """Return what to put into the settings: a path is written so that it holds everywhere."""
    from amplifier_tui.foundation.registry.includes import is_path

    return entry.source if is_path(name) or name.startswith("~") else name
