"""`amplifier-tui reset`: a terminal that draws again, and folders that can be made anew."""

import os
import shutil
import sys
from collections.abc import Iterator
from pathlib import Path

import click

from amplifier_tui.paths import amplifier_home, user_config_dir, user_state_dir


@click.command(short_help="Bring the terminal back; remove caches or screen settings, if asked.")
@click.option("--cache", is_flag=True, help="Remove fetched bundles and modules, and the search.")
@click.option("--ui", is_flag=True, help="Remove theme, panes and prompt history.")
@click.option("--yes", is_flag=True, help="Do not ask.")
def reset(cache: bool, ui: bool, yes: bool) -> int:
    """Bring the terminal back after a program that ended badly.

    With --cache or --ui, files that are made or fetched again when they are needed are removed,
    after a question. Sessions, keys, rules, what you trust and your keymap are never touched.
    """
    reset_terminal()
    places = [path for path in _places(cache, ui) if path.exists() or path.is_symlink()]
    if not places:
        if cache or ui:
            click.echo("There is nothing to remove.")
        return 0
    if cache and _used_elsewhere():
        raise click.ClickException("A session that is open uses fetched modules: close it first")
    for path in places:
        click.echo(f"  {path}")
    if not yes:
        if not sys.stdin.isatty():
            raise click.UsageError("Nobody can be asked here: say --yes")
        if not click.confirm("Remove these?"):
            return 1
    for path in places:
        try:
            _remove(path)
        except OSError as error:
            raise click.ClickException(f"{path}: {error.strerror or error}") from error
    click.echo("Removed. Windows that are open now should be closed and opened again.")
    return 0


def reset_terminal() -> None:
    """Write what ends every mode the screen may have left on, and have keys echoed again."""
    from amplifier_tui.ui.terminal.guard import RESET

    if not sys.stdout.isatty():
        return
    sys.stdout.write(RESET)
    sys.stdout.flush()
    if os.isatty(0):
        _sane()


def _sane() -> None:
    import termios as tty

    state = tty.tcgetattr(0)
    state[0] |= tty.ICRNL | tty.IXON | tty.BRKINT
    state[1] |= tty.OPOST | tty.ONLCR
    state[3] |= tty.ICANON | tty.ECHO | tty.ECHOE | tty.ECHOK | tty.ISIG | tty.IEXTEN
    tty.tcsetattr(0, tty.TCSADRAIN, state)


def _places(cache: bool, ui: bool) -> Iterator[Path]:
    home = amplifier_home()
    if cache:
        yield home / "cache"
        yield home / "search"
    if ui:
        yield user_config_dir() / "preferences.json"
        yield user_state_dir() / "history.jsonl"
        yield user_state_dir() / "drafts"


def _used_elsewhere() -> bool:
    from amplifier_tui.foundation.modules.pruning import in_use

    return bool(in_use(amplifier_home() / "cache").names())


def _remove(path: Path) -> None:
    if path.is_dir() and not path.is_symlink():
        shutil.rmtree(path)
    else:
        path.unlink()
