"""What `amplifier-tui sessions` does with the sessions of other programs."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from amplifier_tui.base.commands.as_typed import as_typed

if TYPE_CHECKING:
    from pathlib import Path

    from amplifier_tui.host.imported_cards import ImportedCard, OriginName

ORIGINS = ("claude-code", "codex")


def is_imported(session: str) -> bool:
    """Whether an id is one of another program, such as `codex:5973b6c0`."""
    return session.startswith(tuple(f"{origin}:" for origin in ORIGINS))


def list_them(cwd: Path | None, words: str, origin: OriginName | None, as_json: bool) -> None:
    """List the sessions, the newest first; `cwd` and `origin` as of `list_imported`.

    Args:
        words: All must be in a title, first prompt, folder or id.
    """
    from amplifier_tui.host.store.imported.origins import SETTING, is_switched_on
    from amplifier_tui.host.store.imported.reading import list_imported

    wanted = words.casefold().split()
    cards = [card for card in list_imported(cwd, origin) if all(w in _text(card) for w in wanted)]
    for card in cards:
        _say(card, as_json)
    if as_json:
        return
    if cards:
        read = as_typed("amplifier-tui sessions show ID")
        click.echo(f"\nRead one with: {read}; take it over with: … fork ID")
        click.echo(f"`{SETTING}: off` in settings.yaml of your Amplifier home hides them.")
    elif is_switched_on():
        click.echo("None is of this directory and matches; --all lists those of every one.")
    else:
        click.echo(f"They are hidden: `{SETTING}: off` stands in settings.yaml.")


def show(session: str, as_json: bool) -> None:
    """Print a conversation.

    Raises:
        SessionNotFoundError: There is none with that id.
        OSError: It can't be read.
    """
    import sys
    from dataclasses import asdict

    from amplifier_tui.cli.bundle.common import print_json
    from amplifier_tui.host.store.imported.reading import find_imported
    from amplifier_tui.host.store.imported.showing import imported_text

    found = imported_text(find_imported(session), sys.maxsize)
    if as_json:
        print_json(asdict(found))
    else:
        click.echo(found.text)


def fork(session: str, cwd: Path) -> Path:
    """Copy a conversation into a session of a folder; errors as of `fork_imported`."""
    from amplifier_tui.host.store.imported.forking import fork_imported
    from amplifier_tui.host.store.imported.reading import find_imported

    return fork_imported(find_imported(session), cwd)


def _text(card: ImportedCard) -> str:
    return f"{card.title} {card.first_prompt} {card.cwd} {card.key}".casefold()


def _say(card: ImportedCard, as_json: bool) -> None:
    import time
    from dataclasses import asdict

    from amplifier_tui.base.text import one_line
    from amplifier_tui.cli.bundle.common import print_json
    from amplifier_tui.ui.state.formats import ago

    if as_json:
        print_json(asdict(card))
        return
    title = one_line(card.title or card.first_prompt, 60) or "(empty)"
    folder = f"{one_line(card.cwd, 200)}, " if card.cwd else ""
    click.echo(f"{one_line(card.key, 80)}  {title}  ({folder}{ago(time.time() - card.updated)})")
