"""`amplifier-tui bundle`: look at bundles, choose one, and manage where they come from."""

import os

import click

from amplifier_tui.cli.bundle.diff import diff
from amplifier_tui.cli.bundle.list import list_bundles
from amplifier_tui.cli.bundle.new import new
from amplifier_tui.cli.bundle.show import show
from amplifier_tui.cli.bundle.sources import add, remove, use
from amplifier_tui.cli.bundle.update import lock, update
from amplifier_tui.cli.bundle.validate import validate


@click.group()
@click.option("--cwd", metavar="DIR", default=".", help="Work in this project's directory.")
@click.pass_context
def bundle(context: click.Context, cwd: str) -> None:
    """Write bundles, look at them, choose one, and manage where they come from.

    A NAME is a bundle's name, a path or a URI; left out, it is the bundle that is in use. The exit
    status is 0 when all is well, 1 when a bundle can't be had or is not valid, 2 for a mistake on
    the command line, and 3 when a source may not be fetched or run.
    """
    from pathlib import Path

    folder = Path(os.path.expanduser(cwd))
    if not folder.is_dir():
        raise click.BadParameter(f"{cwd} is no directory", param_hint="--cwd")
    context.obj = folder.resolve()


bundle.add_command(list_bundles, "list")
for command in (new, show, validate, use, add, remove, update, lock, diff):
    bundle.add_command(command)
