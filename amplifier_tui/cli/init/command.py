"""The options of `amplifier-tui init`, and its steps in order."""

import sys
from pathlib import Path
from typing import TYPE_CHECKING

import click

if TYPE_CHECKING:
    from amplifier_tui.cli.init.steps import Answerer
    from amplifier_tui.foundation.workspace import Workspace

_MODES = (
    ("ask", "asks before it writes files or runs commands"),
    ("plan", "only reads, and ends in a plan"),
    ("edits", "writes files in the project, asks before commands"),
)


@click.command(short_help="Set up a provider, a bundle, a mode and a theme: the first steps.")
@click.option("--provider", metavar="NAME", default="", help="anthropic, openai, local or none.")
@click.option("--bundle", metavar="NAME", default="", help="Open new sessions with this bundle.")
@click.option("--mode", type=click.Choice([name for name, _ in _MODES]), help="Begin in this mode.")
@click.option("--theme", metavar="NAME", default="", help="Use this theme.")
@click.option("--call/--no-call", default=True, help="Try the provider with one small request.")
def init(provider: str, bundle: str, mode: str | None, theme: str, call: bool) -> int:
    """Set the program up, in a minute; every step can be skipped with enter.

    What is answered by an option is not asked. A key is typed where nobody sees it, tried with one
    small request, and kept in keys.env, readable by you alone. Run it again to change anything.
    """
    from amplifier_tui.base.commands.as_typed import as_typed
    from amplifier_tui.cli.init import steps
    from amplifier_tui.cli.layout import paragraph
    from amplifier_tui.foundation.workspace import Workspace
    from amplifier_tui.paths import shipped_bundles_dir

    asks = sys.stdin.isatty()
    if not asks and not provider:
        raise click.UsageError("Nobody can be asked here: say --provider, or `none` for none")
    workspace = Workspace.open(Path.cwd(), shipped=(shipped_bundles_dir(),))
    rows, known = steps.bundles_to_choose(workspace), steps.themes()
    # What can't be used is said before anything is written.
    if bundle and bundle not in dict(rows):
        raise click.UsageError(f"--bundle {bundle}: there is no bundle of that name here")
    if theme and theme not in known:
        raise click.UsageError(f"--theme {theme}: there is {', '.join(known)}")
    chosen = _provider(workspace, provider, asks=asks, call=call)

    wanted = steps.bundle_now(workspace, chosen, asks=asks)
    name = bundle or (steps.pick("What new sessions open with", rows, wanted) if asks else wanted)
    click.echo(f"Bundle {name}: {steps.keep_setting(workspace, 'bundle.active', name)}")
    if other := steps.who_goes_first(workspace, chosen):
        click.echo("\n".join(paragraph(other)))

    begin = mode or (
        steps.pick("What goes without a question", _MODES, steps.mode_now(workspace))
        if asks
        else ""
    )
    if begin:
        click.echo(f"Mode {begin}: {steps.keep_setting(workspace, 'mode', begin)}")

    look = theme or (
        steps.pick("Colours", list(known.items()), steps.theme_now(known)) if asks else ""
    )
    if look:
        steps.keep_theme(look)
        click.echo(f"Theme {look}")
    start = as_typed("amplifier-tui --demo" if chosen is steps.NOBODY else "amplifier-tui")
    doctor = as_typed("amplifier-tui doctor")
    click.echo(f"\nReady. Start it with: {start}\nWhat does not work is said by: {doctor}")
    return 0


def _provider(workspace: "Workspace", name: str, *, asks: bool, call: bool) -> "Answerer":
    """Have a provider chosen and set up; asks again while it does not answer."""
    from amplifier_tui.cli.init import steps
    from amplifier_tui.cli.layout import paragraph

    while True:
        found = {each.name: each for each in reversed(steps.answerers(workspace))}
        if name and name not in found:
            raise click.UsageError(f"--provider {name}: there is {', '.join(reversed(found))} here")
        rows = [(each.name, each.title) for each in reversed(found.values())]
        now = steps.answerer_now(workspace, [each for each, _ in rows])
        chosen = found[name or steps.pick("Who answers", rows, now)]
        if chosen is steps.SERVER:
            if not asks:
                from amplifier_tui.host.models.local_servers import no_server

                raise click.UsageError(f"--provider local: {no_server()}")
            chosen = steps.own_server() or steps.NOBODY
        elif asks and steps.may_move(workspace, chosen):
            chosen = steps.own_server(chosen) or chosen
        if chosen is steps.NOBODY:
            return chosen
        chosen = steps.with_model(chosen, asks=asks)
        key = ""
        if chosen.source == "the environment":
            said = f"{chosen.asked} is set in {chosen.source}, which wins over keys.env."
            click.echo("\n".join(paragraph(said)))
        elif not chosen.variables:
            if not asks and not chosen.source:
                raise click.UsageError(f"Put {chosen.asked} into the environment first")
            key = steps.own_key(chosen.asked, is_set=bool(chosen.source)) if asks else ""
            if not key and not chosen.source:
                return steps.NOBODY
        if call:
            click.echo("One small request is sent…")
        try:
            said = steps.set_up(workspace, chosen, key, call=call)
        except click.ClickException as error:
            if not asks:
                raise
            click.echo("\n".join(paragraph(error.message)), err=True)
            keep = "Keep it" if steps.is_new(chosen, key) else "Go on"
            if not click.confirm(f"{keep} all the same?"):
                name = ""
                continue
            said = steps.set_up(workspace, chosen, key, call=False)
        if said:
            click.echo("\n".join(paragraph(said)))
        return chosen
