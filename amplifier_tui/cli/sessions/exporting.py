"""What `amplifier-tui sessions export` does."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from amplifier_tui.cli.sessions.common import as_lines, done, in_folder, of_session, stored_at

if TYPE_CHECKING:
    from pathlib import Path

    from amplifier_tui.host.requests import ExportForm, ExportRequest


def write_session(folder: Path, request: ExportRequest) -> None:
    """Write the session in a folder to the file of a request, or print it where that names none.

    Raises:
        ClickException: The file can't be written, or is there already.
        ExportError: There is nothing to write.
        OSError: The session can't be read.
    """
    from pathlib import Path

    from amplifier_tui.host.redaction import Redactor
    from amplifier_tui.host.store.export.conversation import StoredSession
    from amplifier_tui.host.store.export.masking import Masking
    from amplifier_tui.host.store.export.saving import save_export, write_export
    from amplifier_tui.ui.state.exports import exported, secrets_out

    redactor = Redactor(_variables())
    if request.path:
        done = save_export(StoredSession(folder), request, redactor, Path.cwd())
        if done.problem:
            again = "; --replace replaces it" if done.exists else ""
            raise click.ClickException(f"{done.path}: {done.problem}{again}")
        click.echo(exported(done, request.form))
        return
    masking = Masking(redactor)
    write_export(StoredSession(folder), request, masking, lambda text: click.echo(text, nl=False))
    if masking.count:
        click.echo(secrets_out(masking.count), err=True)


def _variables() -> dict[str, str]:
    """Return the environment with the keys that are kept beside it: what is to be taken out."""
    import os

    from amplifier_tui.foundation.settings.keys import load_keys
    from amplifier_tui.paths import amplifier_home

    variables = dict(os.environ)
    load_keys(amplifier_home(), variables)
    return variables


@click.command(short_help="Write a session as Markdown, JSON or HTML, or its events.")
@of_session
@click.option(
    "--form",
    type=click.Choice(["markdown", "html", "json", "jsonl", "csv"]),
    help="jsonl and csv are the event log. Without it, what the file's name says; else markdown.",
)
@click.option("--output", metavar="FILE", default="", help="Where to; else it is printed.")
@click.option("--replace", is_flag=True, help="Replace the file that is there.")
@click.option("--from", "from_turn", type=click.IntRange(1), default=1, help="The first turn.")
@click.option("--no-tools", is_flag=True, help="Without what tools gave back.")
@click.option("--thinking", is_flag=True, help="With the model's reasoning.")
@click.option("--filter", "events", default="", help="Of the event log, such as 'tool:* >100ms'.")
@in_folder
@as_lines
def export(
    session: str,
    form: ExportForm | None,
    output: str,
    replace: bool,
    from_turn: int,
    no_tools: bool,
    thinking: bool,
    events: str,
    cwd: str,
    as_json: bool,
) -> None:
    """Write SESSION, or its event log, without secrets."""
    from amplifier_tui.host.requests import ExportRequest, form_of

    request = ExportRequest(
        path=output,
        form="json" if as_json else form or form_of(output),
        from_turn=from_turn,
        tools=not no_tools,
        thinking=thinking,
        events=events,
        replace=replace,
    )
    folder = stored_at(cwd, session)
    done(lambda: write_session(folder, request))
