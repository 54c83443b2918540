"""Which model somebody means who writes a name, or a part of one."""

from collections.abc import Sequence
from typing import Final

from amplifier_tui.base.nearest import did_you_mean
from amplifier_tui.host.client import ModelCard

_NAMED: Final = 6
"""Most models that are named to choose from."""


def fitting_models(name: str, cards: Sequence[ModelCard]) -> list[ModelCard]:
    """Return the models of a name; where there is none, those that have it as a part."""
    wanted = name.lower()
    same = [card for card in cards if card.model == name]
    same = same or [card for card in cards if card.model.lower() == wanted]
    return same or [card for card in cards if wanted in card.model.lower()]


def several_fit(name: str, fitting: Sequence[ModelCard]) -> str:
    """Say which models a name may stand for."""
    names = ", ".join(card.key for card in fitting[:_NAMED])
    more = f" and {len(fitting) - _NAMED} more" if len(fitting) > _NAMED else ""
    return f"{name} may be {names}{more}: write one of them"


def nearest_model(name: str, fitting: Sequence[ModelCard], cards: Sequence[ModelCard]) -> str:
    """Return the end of a sentence that offers a listed model; empty where none is like it."""
    if fitting:
        return f"; did you mean '{fitting[0].model}'?"
    return did_you_mean(name, (card.model for card in cards if card.model))
