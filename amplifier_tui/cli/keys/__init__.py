"""`amplifier-tui keys`: every action with its keys, and the ids that the keymap file goes by."""

import click

_HELP = """List every action with its keys, its chord (after ctrl+x) and its slash command.

What holds here is shown: the defaults, and what `keymap.toml` in your config directory changes by
the ids in the first column:

\b
    [keys]
    "pane.modules" = "f9"
    "prompt.newline" = ["ctrl+j", "alt+enter"]
    [chords]
    "session.bundles" = "B"

The exit status is 1 when something in that file is wrong.
"""


@click.command(help=_HELP, short_help="List every action with its keys and its id.")
@click.option("--json", "as_json", is_flag=True, help="Print one JSON object per line.")
@click.pass_context
def keys(context: click.Context, as_json: bool) -> None:
    """List every action with its keys, its chord and its slash command."""
    from amplifier_tui.cli.bundle.common import complain, print_json
    from amplifier_tui.cli.layout import table
    from amplifier_tui.paths import user_config_dir
    from amplifier_tui.ui.keys.actions import ACTIONS
    from amplifier_tui.ui.keys.keymap import show_key
    from amplifier_tui.ui.keys.keymap_file import load_keymap, pane_actions

    file = user_config_dir() / "keymap.toml"
    keymap = load_keymap(file)
    rows = [("ACTION", "KEYS", "CHORD", "COMMAND", "WHAT IT DOES")]
    for action in (*ACTIONS, *pane_actions()):
        names = [key for key in keymap.keys_of(action).split(",") if key]
        chord, slash = keymap.chord_of(action), [f"/{name}" for name in action.commands]
        if as_json:
            row = {"id": action.id, "keys": names, "chord": chord, "commands": slash}
            print_json({**row, "title": action.title, "scope": action.scope})
        shown = " ".join(map(show_key, names)), show_key(chord) if chord else "", " ".join(slash)
        rows.append((action.id, *shown, action.title))
    for line in table(rows) if not as_json else ():
        click.echo(line)
    for error in keymap.errors:
        complain("Error", error, "red")
    if keymap.errors:
        context.exit(1)
