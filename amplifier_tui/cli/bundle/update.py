"""`amplifier-tui bundle update` and `lock`."""

import shlex
from dataclasses import asdict

import click

from amplifier_tui.base.commands.as_typed import as_typed
from amplifier_tui.cli.bundle import common

_COLORS = {"updated": "green", "available": "yellow", "failed": "red", "refused": "red"}
_MEND = (
    "What failed is on this machine as it was before. Check the address and the branch where the"
    " bundle names them, and the network; then try again:"
)
_ALLOW = (
    "To allow what is refused: answer when asked, take an answer back that was kept with"
    f" {as_typed('amplifier-tui trust forget')}, or use --trust."
)


@click.command(short_help="Fetch what is newer, of a bundle and all it uses.")
@click.argument("name", required=False)
@click.option("--check", is_flag=True, help="Only look.")
@common.trust_option
@common.json_option
@click.pass_context
def update(
    context: click.Context, name: str | None, check: bool, trust: bool, as_json: bool
) -> None:
    """Fetch what is newer: of a bundle, of what it includes, and of its modules.

    A project that has a lock file gets the new versions into it. Fetching and installing is asked
    about; headless that needs --trust, or an answer given before. The exit status is 1 when a
    source can't be had, and 3 when it may not be fetched.
    """
    import asyncio

    from amplifier_tui.cli.layout import table

    workspace = common.open_workspace(context)
    with common.failures(context):
        wanted = common.chosen(workspace, name)
        callback = common.trust_answers(trust)
        rows = asyncio.run(
            workspace.update(wanted, check_only=check, trust=callback, progress=common.Progress())
        )
    if as_json:
        common.print_json({"bundle": wanted, "sources": [asdict(row) for row in rows]})
    elif not rows:
        click.echo("It has no sources that could be newer.")
    else:
        cells = [
            (row.state, f"{row.uri} · {row.detail}" if row.detail else row.uri) for row in rows
        ]
        for line in table(cells, paint={0: _coloured}):
            click.echo(line)
    states = {row.state for row in rows}
    if "refused" in states:
        click.echo(_ALLOW, err=True)
    if "failed" in states:
        again = as_typed(shlex.join(["amplifier-tui", "bundle", "update", wanted]))
        click.echo(f"{_MEND} {again}", err=True)
    if states & {"failed", "refused"}:
        context.exit(common.FAILED if "failed" in states else common.REFUSED)


def _coloured(state: str) -> str:
    return common.style(state, fg=_COLORS[state]) if state in _COLORS else state


@click.command(short_help="Write down which versions a bundle uses here.")
@click.argument("name", required=False)
@common.trust_option
@common.json_option
@click.pass_context
def lock(context: click.Context, name: str | None, trust: bool, as_json: bool) -> None:
    """Write what every source of a bundle is now into the project's .amplifier/bundle.lock.

    From then on a branch means that commit here, until `bundle update`. Commit the file, and
    everybody has the same. What is not on this machine yet is fetched, after a question; headless
    that needs --trust, or an answer given before.
    """
    import asyncio

    from amplifier_tui.base.text import one_line
    from amplifier_tui.cli.layout import table
    from amplifier_tui.ui.state.formats import plural

    workspace = common.open_workspace(context)
    with common.failures(context):
        wanted = common.chosen(workspace, name)
        callback = common.trust_answers(trust)
        written = asyncio.run(
            workspace.write_lock(wanted, trust=callback, progress=common.Progress())
        )
    entries = written.sources.items()
    if as_json:
        sources = {uri: entry.commit or f"sha256:{entry.sha256}" for uri, entry in entries}
        common.print_json({"bundle": wanted, "file": str(written.path), "sources": sources})
        return
    for line in table([(e.commit[:12] or f"sha256:{e.sha256[:12]}", uri) for uri, e in entries]):
        click.echo(line)
    click.echo(f"Locked {plural(len(entries), 'source')} in {one_line(str(written.path), 500)}")
