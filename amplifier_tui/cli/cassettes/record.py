"""`amplifier-tui record`: a stored session as a cassette."""

from __future__ import annotations

from pathlib import Path

import click

from amplifier_tui.cli.cassettes.common import (
    NOT_PLAYED,
    SAME,
    SUFFIX,
    PlayOptions,
    play_again,
    prepare,
    say,
    say_kept,
)
from amplifier_tui.cli.completion import session_ids


@click.command(short_help="Keep a session to be played again.")
@click.argument("session", default="last", shell_complete=session_ids)
@click.option(
    "--output",
    metavar="FILE",
    type=click.Path(dir_okay=False, path_type=Path),
    help=f"Write it there. Default: the first digits of its id and {SUFFIX}.",
)
@click.option("--replace", is_flag=True, help="Replace a file that is there.")
@click.option("--as-it-was", is_flag=True, help="Do not play it once to see what it comes to.")
@click.option("--cwd", metavar="DIR", default=".", help="A session of this project.")
@click.option("--trust", is_flag=True, help="Let everything a project or stranger brings count.")
def record(
    session: str, output: Path | None, replace: bool, as_it_was: bool, cwd: str, trust: bool
) -> int:
    """Keep what was asked, answered, called and decided in SESSION as a cassette.

    SESSION is an id, the beginning of one, or `last`. Secrets, and the names of folders, are taken
    out; read the file before you give it away all the same.

    It is played once, so that the cassette also knows what each request holds: the system prompt,
    the tools, what hooks add. What differs from the session then is said.
    """
    import os

    from amplifier_tui.base.files import write_atomic
    from amplifier_tui.foundation.settings.keys import load_keys
    from amplifier_tui.host.cassettes.baseline import baseline
    from amplifier_tui.host.cassettes.cassette import CassetteError
    from amplifier_tui.host.cassettes.recording import SessionRecorder
    from amplifier_tui.host.redaction import Redactor
    from amplifier_tui.host.store.sessions import SessionNotFoundError, find_session
    from amplifier_tui.paths import amplifier_home

    folder = Path(os.path.expanduser(cwd)).resolve()
    try:
        found = find_session(folder, session)
        load_keys(amplifier_home(), os.environ)
        recorder = SessionRecorder(found, Redactor())
        cassette = recorder.record()
    except (SessionNotFoundError, CassetteError) as error:
        raise click.ClickException(str(error)) from error
    except OSError as error:
        raise click.ClickException(f"{error.filename}: {error.strerror or error}") from error
    path = output or Path(f"{found.name[:8]}{SUFFIX}")
    if path.exists() and not replace:
        raise click.ClickException(f"{path} is there already; --replace replaces it")
    status = SAME
    if not as_it_was:
        prepare(trust=trust)
        played = play_again(path, cassette, PlayOptions(cwd=folder, trust=trust))
        if played.replayed is not None:
            cassette = baseline(cassette, played.replayed)
        status = played.status
        say(played)
        say_kept(played)
    try:
        write_atomic(path, cassette.encoded(), mode=0o600)
    except OSError as error:
        raise click.ClickException(f"{path}: {error.strerror or error}") from error
    click.echo(f"Recorded in {path}")
    if recorder.secrets:
        click.echo(f"Secrets taken out: {recorder.secrets}", err=True)
    if status == NOT_PLAYED:
        click.echo("It was not played: it does not know what requests hold.", err=True)
    return status
