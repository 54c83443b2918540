"""`amplifier-tui bundle list`."""

import click

from amplifier_tui.cli.bundle import common

_STATES = {
    "ready": ("ready", "green"),
    "incomplete": ("incomplete", "yellow"),
    "needs_key": ("needs key", "yellow"),
    "not_fetched": ("not fetched", "yellow"),
    "invalid": ("invalid", "red"),
}
_PART = ("part", "yellow")
"""What only other bundles can be opened with."""


@click.command("list", short_help="List the bundles that can be opened here.")
@common.json_option
@click.pass_context
def list_bundles(context: click.Context, as_json: bool) -> None:
    """List the bundles that can be opened here, each with its state; `*` is the one in use.

    Nothing is fetched and nothing of a bundle is run. With --json there is one object per line.
    """
    import asyncio

    from amplifier_tui.cli.layout import paragraph, table
    from amplifier_tui.foundation.checks.findings import judged
    from amplifier_tui.foundation.exceptions import BundleError
    from amplifier_tui.host.session.opening.opening import DEFAULT_BUNDLE

    workspace = common.open_workspace(context)
    found = [judged(each) for each in asyncio.run(workspace.previews())]
    try:
        active = workspace.choose(default=DEFAULT_BUNDLE).entry
    except BundleError as error:
        common.complain("Warning", str(error), "yellow")
        active = None
    if as_json:
        for each in found:
            common.print_json(
                {
                    "name": each.name,
                    "version": each.version,
                    "description": each.description,
                    "source": each.source,
                    "from": each.origin,
                    "in_place_of": each.in_place_of,
                    "state": each.state,
                    "error": each.error,
                    "missing_keys": each.missing_keys,
                    "active": active is not None and each.name == active.name,
                }
            )
        return
    rows = [("", "NAME", "STATE", "FROM", "DESCRIPTION")]
    for each in found:
        mark = "*" if active is not None and each.name == active.name else ""
        about = each.description if each.state in ("ready", "needs_key") else each.error
        if each.state == "incomplete" and each.missing_keys:
            about += f". Not set: {', '.join(each.missing_keys)}"
        if each.in_place_of:
            about = f"In place of {each.name} ({each.in_place_of}). {about}"
        state, _ = _PART if each.is_part else _STATES[each.state]
        rows.append((mark, each.name, state, each.origin, about))
    for line in table(rows, paint={2: _coloured}):
        click.echo(line)
    if active is not None and all(active.name != each.name for each in found):
        for line in paragraph(f"In use: {active.name} ({active.origin})"):
            click.echo(line)


def _coloured(word: str) -> str:
    color = next((color for state, color in (_PART, *_STATES.values()) if state == word), None)
    return word if color is None else common.style(word, fg=color)
