"""What the commands about stored sessions share: options, finding one, and its line."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Any, TypeVar

import click

if TYPE_CHECKING:
    from collections.abc import Callable, Collection
    from pathlib import Path

    from amplifier_tui.host.client import SearchHit, SessionCard, SessionDetails

T = TypeVar("T")

in_folder = click.option("--cwd", metavar="DIR", default=".", help="Those of another directory.")
as_lines = click.option("--json", "as_json", is_flag=True, help="Print one JSON object per line.")
of_session = click.argument("session")


def folder_at(cwd: str) -> Path:
    """Return the directory of `--cwd`."""
    from pathlib import Path

    folder = Path(os.path.expanduser(cwd))
    if not folder.is_dir():
        raise click.BadParameter(f"{cwd} is no directory", param_hint="--cwd")
    return folder.resolve()


def stored_at(cwd: str, wanted: str) -> Path:
    """Return the folder of a stored session by its id, the beginning of one, or `last`."""
    from amplifier_tui.host.store.sessions import find_session

    folder = folder_at(cwd)
    return done(lambda: find_session(folder, wanted))


def done(act: Callable[[], T]) -> T:
    """Do something with the store; what went wrong is said in one line."""
    from amplifier_tui.host.store.export.conversation import ExportError
    from amplifier_tui.host.store.imported.forking import NothingToForkError
    from amplifier_tui.host.store.sessions import SessionBusyError, SessionNotFoundError
    from amplifier_tui.host.store.turns.prompts import NoSuchTurnError

    try:
        return act()
    except BrokenPipeError:
        # Whoever read it has enough, such as `head`: click ends without a word.
        raise
    except (
        *(OSError, ValueError, SessionBusyError, SessionNotFoundError, NoSuchTurnError),
        *(ExportError, NothingToForkError),
    ) as error:
        raise click.ClickException(str(error)) from error


def warn(text: str) -> None:
    """Say something beside what is printed."""
    click.echo(text, err=True)


def say_card(folder: Path, as_json: bool) -> None:
    """Print what tells the session in a folder from others."""
    card = card_at(folder)
    if as_json:
        say_json(fields(card))
    else:
        click.echo(card_line(card))


def card_at(folder: Path) -> SessionCard:
    """Return what tells the session in a folder from others."""
    from dataclasses import replace

    from amplifier_tui.host.store.listing.pins import pinned
    from amplifier_tui.host.store.sessions import card_of

    card = done(lambda: card_of(folder, (folder / "transcript.jsonl").stat().st_mtime))
    return replace(card, pinned=folder.name in pinned())


def fields(card: SessionCard | SearchHit | SessionDetails) -> dict[str, Any]:
    """Return the fields of a dataclass, for JSON."""
    from dataclasses import asdict

    return asdict(card)


def card_line(card: SessionCard, alike: Collection[str] = (), *, bundle: bool = False) -> str:
    """Return the line of a session in a list; `alike` is what several are called there.

    It names its `bundle` where those of a list differ.
    """
    import time

    from amplifier_tui.base.text import one_line
    from amplifier_tui.ui.state.formats import ago, plural

    title = one_line(card.called, 60) or "(empty)"
    pinned = "◆ " if card.pinned else ""
    tags = "".join(f"  #{one_line(each, 40)}" for each in card.tags)
    when = "open now" if card.held else ago(time.time() - card.updated)
    # Those of another program's are not counted; its key says whose it is.
    about = when if card.origin else f"{plural(card.turns, 'turn')}, {when}"
    about += f", {one_line(card.bundle, 40)}" if bundle and card.bundle else ""
    if card.called in alike:
        about += f", from {one_line(card.parent_id[:8], 8)}" if card.parent_id else ""
    known_by = card.key if card.origin else card.session_id
    return f"{one_line(known_by, 80)}  {pinned}{title}{tags}  ({about})"


def say_json(data: dict[str, Any]) -> None:
    """Print one JSON object on a line."""
    from amplifier_tui.cli.bundle.common import print_json

    print_json(data)
