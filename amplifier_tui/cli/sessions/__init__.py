"""`amplifier-tui sessions`: the stored sessions of a directory."""

import click

from amplifier_tui.cli.sessions import changing, reading
from amplifier_tui.cli.sessions.common import as_lines, in_folder
from amplifier_tui.cli.sessions.exporting import export


@click.group(invoke_without_command=True)
@in_folder
@as_lines
@click.pass_context
def sessions(context: click.Context, cwd: str, as_json: bool) -> None:
    """Look at the sessions of this directory, search, name, tag, copy, delete and export them.

    SESSION is an id, the beginning of one, or `last`. Without a command they are listed.
    """
    if context.invoked_subcommand is None:
        context.invoke(reading.list_sessions, cwd=cwd, as_json=as_json)
        return
    given = {"cwd": cwd, "as_json": as_json}
    context.default_map = dict.fromkeys(sessions.commands, given)


for _command in (reading.list_sessions, reading.show, reading.search, export, *changing.COMMANDS):
    sessions.add_command(_command)
