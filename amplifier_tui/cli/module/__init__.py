"""`amplifier-tui module`: for authors of modules, and for who wants to know what is there."""

import click

from amplifier_tui.cli.module.new import new
from amplifier_tui.cli.module.validate import validate


@click.group()
def module() -> None:
    """Write a module, validate one, or list those that can be loaded."""


module.add_command(new)
module.add_command(validate)


@module.command("list", short_help="List the modules that can be loaded.")
@click.option("--json", "as_json", is_flag=True, help="Print one JSON object per line.")
def list_modules(as_json: bool) -> None:
    """List the modules there are, where each comes from, and which of several is used.

    An entry of a bundle that names a source gets the module of that source. One that names none
    gets the first of its id in this list. No module is imported for that.
    """
    import os
    from pathlib import Path

    from amplifier_tui.cli.bundle.common import print_json
    from amplifier_tui.cli.layout import paragraph, table
    from amplifier_tui.cli.logs import log_to_stderr
    from amplifier_tui.foundation.modules.listing import list_modules
    from amplifier_tui.foundation.paths import get_amplifier_home

    log_to_stderr()
    found = list_modules(get_amplifier_home(), Path.cwd(), os.environ)
    if as_json:
        for module in found:
            print_json(
                {
                    "id": module.id,
                    "kind": module.kind,
                    "version": module.version,
                    "from": module.origin,
                    "location": module.location,
                    "hidden": not module.wins,
                    "only_named": module.only_named,
                    "remove": module.remedy,
                }
            )
        return
    rows: list[tuple[str, str, str, str]] = [("MODULE", "KIND", "VERSION", "FROM")]
    for module in found:
        note = "" if module.wins else " (hidden by the one above)"
        if module.only_named:
            note = " (where a bundle names that source)"
        rows.append((module.id, module.kind, module.version, f"{module.origin}{note}"))
    for line in table(rows):
        click.echo(line)
    for module in found:
        if module.remedy:
            text = f"{module.id} was installed here for a bundle, by an earlier version or by the "
            text += f"Amplifier CLI. To remove it: {module.remedy}"
            for line in ("", *paragraph(text)):
                click.echo(line)
