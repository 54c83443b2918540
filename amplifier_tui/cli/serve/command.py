"""The options of `amplifier-tui serve`, and what it says."""

import asyncio
import os
import secrets
import signal
import sys
from importlib.util import find_spec
from ipaddress import ip_address
from pathlib import Path

import click

from amplifier_tui.cli.bundle.common import TRUSTED
from amplifier_tui.cli.group import launch_options
from amplifier_tui.cli.launch import OPTIONS, LaunchOptions, mistake_in

_HELP = """Show the program in a browser.

Prints an address. Every page that opens it gets a process of its own, with the options given here.
Closing the page ends its session, which stays on disk; with --keep it goes on, and the next page
shows it. Whoever has the address can do what you can do: only this machine is listened to unless
--host says otherwise.
"""
_MISSING = (
    "serving a browser needs the extra `web`. Install it with"
    " `pip install 'amplifier-tui[web]'` or `uv tool install 'amplifier-tui[web]'`"
)
_EXPOSED = (
    "Warning: {host} can be reached from other machines, and nothing is encrypted: who reads the"
    " address on the way can run commands as you. `ssh -L` to 127.0.0.1 is safe."
)
_ENDED = "A session ends when its page is closed. It stays on disk: /resume opens it."
_KEPT = "A session goes on when its page is closed: the next page shows it. /quit ends it."


def is_loopback(host: str) -> bool:
    """Say whether only this machine reaches a host name or IP address."""
    try:
        return ip_address(host).is_loopback
    except ValueError:
        return host == "localhost"


def program(options: LaunchOptions) -> list[str]:
    """Return the command that starts the program with the options."""
    # -P: a folder `amplifier_tui` where it starts must not be taken for the program.
    command = [sys.executable, "-P", "-m", "amplifier_tui"]
    for option in OPTIONS:
        value = getattr(options, option.name)
        if value:
            command.append(f"{option.flag}={value}" if option.value else option.flag)
    return command


def _serve(host: str, port: int, keep: bool, demo: bool, trust: bool, **values: str | None) -> int:
    texts = {name: text or "" for name, text in values.items()}
    options = LaunchOptions(demo=demo, trust=trust, plain=False, **texts)
    mistake = mistake_in(options)
    if not mistake and options.cwd and not Path(os.path.expanduser(options.cwd)).is_dir():
        mistake = f"--cwd {options.cwd}: no such directory"
    if mistake:
        raise click.UsageError(mistake)
    if os.name == "nt":
        raise click.ClickException("serving a browser needs Linux or macOS")
    if find_spec("textual_serve") is None or find_spec("aiohttp") is None:
        raise click.ClickException(_MISSING)
    from amplifier_tui.cli.logs import log_to_file

    log_to_file()
    if trust:
        click.echo(TRUSTED, err=True)
    if not is_loopback(host):
        click.echo(_EXPOSED.format(host=host), err=True)
    asyncio.run(_run(host, port, keep, program(options)))
    return 0


async def _run(host: str, port: int, keep: bool, command: list[str]) -> None:
    """Serve until a signal says to stop.

    Raises:
        ClickException: The address can't be listened on; says why.
    """
    from amplifier_tui.cli.serve.server import BrowserServer

    stop = asyncio.Event()
    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        # `nohup` has SIGHUP ignored.
        if signal.getsignal(number) != signal.SIG_IGN:
            asyncio.get_running_loop().add_signal_handler(number, stop.set)
    token = secrets.token_urlsafe(32)
    server = BrowserServer(command, token, host, local=is_loopback(host), keep=keep)
    try:
        await server.start(port)
    except UnicodeError as error:
        raise click.UsageError(f"--host {host}: no such name") from error
    except OSError as error:
        reason = error.strerror or str(error)
        message = f"can't listen on {host}, port {port}: {reason}. Choose another with --port"
        raise click.ClickException(message) from error
    try:
        click.echo(f"Open {server.address}")
        if host in ("0.0.0.0", "::"):
            click.echo("From another machine, put an address of this one in its place.")
        click.echo("Whoever has this address can do here what you can do. Ctrl+C stops serving.")
        click.echo(_KEPT if keep else _ENDED)
        await stop.wait()
        click.echo("Ending the sessions…")
    finally:
        await server.close()


serve = click.Command(
    "serve",
    params=[
        click.Option(
            ["--host"],
            metavar="HOST",
            default="127.0.0.1",
            show_default=True,
            help="Listen on this address of this machine.",
        ),
        click.Option(
            ["--port"],
            type=click.IntRange(0, 65535),
            default=8000,
            show_default=True,
            help="Listen on this port; 0 takes a free one.",
        ),
        click.Option(["--keep"], is_flag=True, help="Let a session go on when its page is closed."),
        *(option for option in launch_options() if option.name != "plain"),
    ],
    callback=_serve,
    help=_HELP,
    short_help="Show the program in a browser.",
)
"""The command."""
