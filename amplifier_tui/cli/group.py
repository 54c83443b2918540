"""The command line beyond the bare start: one file per command, imported when it is used."""

import os
from importlib import import_module
from typing import Any

import click

from amplifier_tui import __version__
from amplifier_tui.base.commands.as_typed import as_typed
from amplifier_tui.cli.launch import OPTIONS, LaunchOptions, launch

COMMANDS: dict[str, tuple[str, str]] = {
    "acp": ("amplifier_tui.cli.acp", "Be an agent for an editor (Agent Client Protocol)."),
    "bundle": ("amplifier_tui.cli.bundle", "Write bundles, look at them, choose and update them."),
    "completion": ("amplifier_tui.cli.completion", "Make a shell complete commands and names."),
    "doctor": ("amplifier_tui.cli.doctor", "Look for what does not work here, and say what to do."),
    "init": ("amplifier_tui.cli.init", "Set up a provider, a bundle, a mode and a theme."),
    "keys": ("amplifier_tui.cli.keys", "List every action with its keys and its id."),
    "module": (
        "amplifier_tui.cli.module",
        "Write a module, validate one, or list those there are.",
    ),
    "trust": ("amplifier_tui.cli.trust", "Look at what you trust, forget it, or trust more."),
    "record": ("amplifier_tui.cli.cassettes.record", "Keep a session to be played again."),
    "replay": ("amplifier_tui.cli.cassettes.replay", "Play a session again; say what differs."),
    "reset": ("amplifier_tui.cli.reset", "Bring the terminal back; remove caches, if asked."),
    "run": ("amplifier_tui.cli.run", "Send one prompt and print the answer, without a screen."),
    "rules": ("amplifier_tui.cli.rules", "Say which tool calls go, ask or are denied."),
    "schema": ("amplifier_tui.cli.schema", "Print the JSON Schema of events and of input."),
    "serve": ("amplifier_tui.cli.serve", "Show the program in a browser."),
    "sessions": ("amplifier_tui.cli.sessions", "List sessions, name, tag, delete and export them."),
    "test": ("amplifier_tui.cli.cassettes.test", "Play a folder of recorded sessions again."),
    "update": ("amplifier_tui.cli.update", "Say how this installation is updated."),
}
"""Command name to the module that has a click command of that name, and its one line of help."""


class LazyGroup(click.Group):
    """Knows its commands by the table; importing one is left to running it."""

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        """Find the command; for a name that is none, what was probably meant is told."""
        try:
            return super().resolve_command(ctx, args)
        except click.UsageError as error:
            from difflib import get_close_matches

            flags = {option.flag.removeprefix("--"): option.flag for option in OPTIONS}
            # As other programs call it.
            flags["continue"] = "--resume"
            like = get_close_matches(args[0], (*COMMANDS, *flags), 1)
            advice = ""
            if os.path.isdir(args[0]):
                advice = "A folder is opened with --cwd."
            elif " " in args[0].strip():
                sends = as_typed("amplifier-tui run")
                advice = f"A prompt is sent with '{sends}', or typed on the screen."
            elif like:
                advice = f"Did you mean '{like[0]}'?"
                if like[0] in flags and like[0] not in COMMANDS:
                    advice = f"Did you mean '{as_typed(f'amplifier-tui {flags[like[0]]}')}'?"
            if not advice:
                raise
            raise click.UsageError(f"{error.message} {advice}", ctx) from error

    def list_commands(self, ctx: click.Context) -> list[str]:
        """Return the names, sorted."""
        return sorted(COMMANDS)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        """Import a command."""
        if cmd_name not in COMMANDS:
            return None
        command = getattr(import_module(COMMANDS[cmd_name][0]), cmd_name.replace("-", "_"))
        if not isinstance(command, click.Command):
            raise TypeError(f"{COMMANDS[cmd_name][0]}.{cmd_name} is no click command")
        return command

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """List the commands without importing them."""
        with formatter.section("Commands"):
            formatter.write_dl([(name, COMMANDS[name][1]) for name in sorted(COMMANDS)])


def launch_options() -> list[click.Parameter]:
    """Return the options of the bare command, made from `launch.OPTIONS`."""
    from amplifier_tui.cli.completion import bundle_names, session_ids

    completed = {"--bundle": bundle_names, "--resume": session_ids}
    found: list[click.Parameter] = []
    for option in OPTIONS:
        value: dict[str, Any] = {"metavar": option.value}
        if not option.value:
            value = {"is_flag": True}
        elif option.default is not None:
            metavar = f"[{option.value}]"
            value = {"metavar": metavar, "is_flag": False, "flag_value": option.default}
        complete = completed.get(option.flag)
        found.append(
            click.Option([option.flag], help=option.help, shell_complete=complete, **value)
        )
    return found


def _start(demo: bool, trust: bool, plain: bool, **values: str | None) -> int:
    """Start the screen, or the line mode, unless a command follows."""
    context = click.get_current_context()
    if context.invoked_subcommand is not None:
        given = {"demo": demo, "trust": trust, "plain": plain, **values}
        _refuse_before(context.invoked_subcommand, given)
        return 0
    texts = {name: text or "" for name, text in values.items()}
    return launch(LaunchOptions(demo=demo, trust=trust, plain=plain, **texts))


def _refuse_before(command: str, given: dict[str, str | bool | None]) -> None:
    """Refuse an option that stands before a command: it would count for nothing.

    Raises:
        click.UsageError: There is one.
    """
    early = next((option.flag for option in OPTIONS if given[option.name]), "")
    if not early:
        return
    context = click.get_current_context()
    group = context.command
    called = group.get_command(context, command) if isinstance(group, click.Group) else None
    wanted = as_typed(f"amplifier-tui {command}")
    if any(early in param.opts for param in (called.params if called is not None else ())):
        raise click.UsageError(f"Options of a command stand after it: {wanted} {early} …")
    raise click.UsageError(f"{early} is no option of {command}; see {wanted} --help")


def build() -> click.Group:
    """Return the group with the options of the bare command."""
    group = LazyGroup(
        "amplifier-tui",
        params=launch_options(),
        callback=_start,
        invoke_without_command=True,
        help="The terminal in which people run, watch and steer Amplifier agents.",
        context_settings={"help_option_names": ["-h", "--help"]},
    )
    version = click.version_option(__version__, prog_name="amplifier-tui")
    return version(group)


def run(arguments: list[str]) -> int:
    """Run the command line and return the exit status."""
    try:
        status = build().main(arguments, prog_name="amplifier-tui", standalone_mode=False)
    except click.ClickException as error:
        error.show()
        return error.exit_code
    except click.Abort:
        click.echo("Aborted.", err=True)
        return 1
    except click.exceptions.Exit as leave:
        return leave.exit_code
    return status if isinstance(status, int) else 0
