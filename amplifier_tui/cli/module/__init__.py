"""`amplifier-tui module`: for authors of modules, and for who wants to know what is there."""

import click

from amplifier_tui.cli.module.validate import validate


@click.group()
def module() -> None:
    """Validate a module, or list those that can be loaded."""


module.add_command(validate)


@module.command("list", short_help="List the modules that can be loaded.")
@click.option("--json", "as_json", is_flag=True, help="Print one JSON object per line.")
def list_modules(as_json: bool) -> None:
    """List the modules that are installed or lie in a folder of $AMPLIFIER_MODULES.

    No module is imported for that.
    """
    from amplifier_tui.cli.bundle.common import print_json
    from amplifier_tui.cli.layout import table
    from amplifier_tui.cli.logs import log_to_stderr
    from amplifier_tui.kernel.mounting.discovery import find_modules

    log_to_stderr()
    seen: set[str] = set()
    rows: list[tuple[str, str, str, str]] = [("MODULE", "KIND", "VERSION", "FROM")]
    for found in sorted(find_modules(), key=lambda entry: entry.id):
        hidden = found.id in seen
        seen.add(found.id)
        if found.distribution == "amplifier-tui":
            origin = "built-in"
        elif found.distribution:
            origin = f"package {found.distribution}"
        else:
            origin = found.location
        if as_json:
            facts = {
                "id": found.id,
                "kind": found.kind,
                "version": found.version,
                "from": origin,
                "location": found.location,
                "hidden": hidden,
            }
            print_json(facts)
        note = " (hidden by the one above)" if hidden else ""
        rows.append((found.id, found.kind, found.version, f"{origin}{note}"))
    if not as_json:
        for line in table(rows):
            click.echo(line)
