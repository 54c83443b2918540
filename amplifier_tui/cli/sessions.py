"""`amplifier-tui sessions`: the sessions stored for this directory."""

import click


@click.command()
@click.option("--cwd", metavar="DIR", default=".", help="List those of another directory.")
@click.option("--json", "as_json", is_flag=True, help="Print one JSON object per line.")
def sessions(cwd: str, as_json: bool) -> None:
    """List the sessions of this directory, newest first."""
    import dataclasses
    import json
    import time
    from pathlib import Path

    from amplifier_tui.base.text import one_line
    from amplifier_tui.host.store.sessions import list_sessions
    from amplifier_tui.ui.state.formats import ago, plural

    folder = Path(cwd).expanduser()
    if not folder.is_dir():
        raise click.BadParameter(f"{cwd} is no directory", param_hint="--cwd")
    cards = list_sessions(folder.resolve())
    if as_json:
        for card in cards:
            click.echo(json.dumps(dataclasses.asdict(card), ensure_ascii=False))
        return
    if not cards:
        click.echo("No session was stored here.")
        return
    for card in cards:
        title = one_line(card.title or card.first_prompt, 60) or "(empty)"
        about = f"{plural(card.turns, 'turn')}, {ago(time.time() - card.updated)}"
        click.echo(f"{one_line(card.session_id, 80)}  {title}  ({about})")
    click.echo("\nResume one with: amplifier-tui --resume ID")
