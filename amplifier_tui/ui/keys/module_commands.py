"""The `/` commands that modules bring, beside those of the table of actions."""

from __future__ import annotations

from typing import TYPE_CHECKING

from amplifier_tui.ui.keys.actions import BY_SLASH

if TYPE_CHECKING:
    from collections.abc import Iterable

    from amplifier_tui.host.events import CommandCard


def by_typed_name(cards: Iterable[CommandCard]) -> dict[str, CommandCard]:
    """Return commands by what is typed after the slash to run them.

    One whose name the program itself has, or a module before, goes by its full name.
    """
    found: dict[str, CommandCard] = {}
    for card in cards:
        taken = card.name in found or card.name in BY_SLASH
        found[f"{card.group}:{card.name}" if taken else card.name] = card
    return found


def is_command(typed: str, cards: Iterable[CommandCard]) -> bool:
    """Whether a name, short or full, is of one of these commands."""
    return any(typed in (card.name, f"{card.group}:{card.name}") for card in cards)
