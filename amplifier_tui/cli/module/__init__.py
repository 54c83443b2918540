"""`amplifier-tui module`: for authors of modules, and for who wants to know what is there."""

import click

from amplifier_tui.cli.module.list import list_modules
from amplifier_tui.cli.module.validate import validate


@click.group()
def module() -> None:
    """Validate a module, or list those that can be loaded."""


module.add_command(validate)
module.add_command(list_modules, "list")
