"""What `amplifier-tui sessions export` does."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

if TYPE_CHECKING:
    from pathlib import Path

    from amplifier_tui.host.requests import ExportRequest


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
