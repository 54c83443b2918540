"""`amplifier-tui replay`: a cassette, played again."""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING

import click

from amplifier_tui.cli.bundle.common import print_json
from amplifier_tui.cli.cassettes.common import (
    EXIT_STATUS,
    PlayOptions,
    play_file,
    playing_options,
    prepare,
    say,
    say_kept,
    say_unknown,
)

if TYPE_CHECKING:
    from amplifier_tui.host.cassettes.playing import ToolsFrom

_HELP = f"""Hold the conversation of CASSETTE once more, and say what differs.

The answers of the providers come from the cassette, without a key or a network; modules, hooks,
rules and prompts are those of today. Nothing is stored in your sessions.

{EXIT_STATUS}"""


@click.command(help=_HELP, short_help="Play a session again; say what differs.")
@click.argument("cassette", type=click.Path(dir_okay=False, path_type=Path))
@playing_options
@click.option("--update", is_flag=True, help="Have the cassette expect what came of it now.")
@click.option("--json", "as_json", is_flag=True, help="Print JSON.")
def replay(
    cassette: Path,
    bundle: str,
    tools: ToolsFrom,
    workspace: Path | None,
    trust: bool,
    cwd: str,
    update: bool,
    as_json: bool,
) -> int:
    """Play a cassette again; see the command's help."""
    options = PlayOptions(Path(os.path.expanduser(cwd)).resolve(), bundle, tools, workspace, trust)
    prepare(trust=trust)
    played = play_file(cassette, options)
    if as_json:
        print_json(played.to_json())
    else:
        say(played)
        if not update:
            say_unknown(played)
    if update and played.was is not None and played.replayed is not None:
        from amplifier_tui.base.files import write_atomic
        from amplifier_tui.host.cassettes.baseline import baseline

        try:
            write_atomic(cassette, baseline(played.was, played.replayed).encoded())
        except OSError as error:
            raise click.ClickException(f"{cassette}: {error.strerror or error}") from error
        click.echo(f"{cassette.name} expects this from now on", err=True)
        say_kept(played)
    return played.status
