"""Actions about the model: which one answers, and how hard it thinks."""

from __future__ import annotations

from collections.abc import Collection
from typing import TYPE_CHECKING

from amplifier_tui.ui.app.actions.turn import retry_last
from amplifier_tui.ui.app.session_app import in_open_session

if TYPE_CHECKING:
    from amplifier_tui.host.client import SessionClient
    from amplifier_tui.host.events import ModelChanged
    from amplifier_tui.ui.app.session_app import SessionApp
    from amplifier_tui.ui.state.session import SessionState


@in_open_session
def choose(app: SessionApp, client: SessionClient, state: SessionState, name: str = "") -> None:
    """Switch to a model, as `MODEL` or `PROVIDER/MODEL`; without one, open the picker."""
    if name:
        client.switch_model(name)
        return
    from amplifier_tui.ui.dialogs.model_pickers import ModelPicker

    def favour(keys: Collection[str]) -> None:
        app.write("The favourites are not remembered", app.preferences.set_favourites, keys)

    def chosen(key: str) -> None:
        card = picker.cards[key]
        client.switch_model(card.model, card.provider)

    picker = ModelPicker(client.models, app.preferences.favourites, favour)
    app.ask(picker, chosen)


_FIELDS = ("provider", "model", "context_window", "max_output_tokens", "effort")


def remember(app: SessionApp, bundle: str, event: ModelChanged) -> None:
    """Remember a model for the next sessions of a bundle."""
    names = _FIELDS if event.chosen == "model" else _FIELDS[-1:]
    chosen = {name: value for name in names if (value := getattr(event, name))}
    app.write("The model is not remembered", app.preferences.set_model, bundle, chosen)


@in_open_session
def back(app: SessionApp, client: SessionClient, state: SessionState) -> None:
    """Go back to the model that answered before the one that failed, and try again."""
    client.switch_model_back()
    if state.conversation.failures.newest is not None:
        retry_last(app)


@in_open_session
def effort(app: SessionApp, client: SessionClient, state: SessionState, level: str = "") -> None:
    """Have the model think so hard; without a level, open the picker."""
    from amplifier_tui.ui.dialogs.model_pickers import DEFAULT_EFFORT, EffortPicker

    levels = state.facts.efforts

    def chosen(found: str) -> None:
        client.set_effort("" if found == DEFAULT_EFFORT else found)

    if not levels:
        app.say(f"{state.facts.model or 'The model'} has no levels of effort.")
    elif not level:
        app.ask(EffortPicker(levels, state.facts.effort), chosen)
    elif level in (*levels, DEFAULT_EFFORT):
        chosen(level)
    else:
        app.say(f"There is no effort {level}: {', '.join(levels)}.", "warning")
