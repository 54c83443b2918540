"""Actions about the model: which one answers, how hard it thinks, and what it may cost."""

from __future__ import annotations

from collections.abc import Collection
from decimal import Decimal
from typing import TYPE_CHECKING

from amplifier_tui.ui.app.actions.turn import retry_last
from amplifier_tui.ui.app.session_app import in_open_session, in_session

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
    app.ask(picker, chosen, state)


_FIELDS = ("provider", "model", "context_window", "max_output_tokens", "effort")


def remember(app: SessionApp, bundle: str, event: ModelChanged) -> None:
    """Remember a model for the next sessions of a bundle."""
    names = _FIELDS if event.chosen == "model" else _FIELDS[-1:]
    chosen = {name: value for name in names if (value := getattr(event, name))}
    app.write("The model is not remembered", app.preferences.set_model, bundle, chosen)


@in_open_session
def back(app: SessionApp, client: SessionClient, state: SessionState) -> None:
    """Go back to the model of before the last switch; what failed is tried again."""
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
        app.ask(EffortPicker(levels, state.facts.effort), chosen, state)
    elif level in (*levels, DEFAULT_EFFORT):
        chosen(level)
    else:
        app.say(f"There is no effort {level}: {', '.join(levels)}.", "warning")


_OFF = ("off", "none")


@in_session
def limit(app: SessionApp, client: SessionClient, state: SessionState, text: str = "") -> None:
    """Ask before the session uses more: dollars as `5` or `$5`, tokens as `200k`; or `off`."""
    from amplifier_tui.host.client import SpendLimit
    from amplifier_tui.ui.dialogs.questions import AskLine
    from amplifier_tui.ui.state.formats import read_limit

    def given(line: str) -> None:
        found = SpendLimit() if line in _OFF else read_limit(line)
        if found is None:
            wrong = f"{line} is no limit: 5 for dollars, 200k for tokens, or off."
            app.ask(AskLine("Limit", line, about=wrong), given)
        else:
            client.set_limit(found)

    if text:
        given(text)
        return
    totals = state.usage
    known = totals.limit_cost or (f"{totals.limit_tokens}t" if totals.limit_tokens else "")
    about = "Asks before the session uses more: 5 for dollars, 200k for tokens, or off."
    app.ask(AskLine("Limit", known, about=about), given)


@in_session
def limit_once(app: SessionApp, client: SessionClient, state: SessionState) -> None:
    """Let what waits at the limit go, this once."""
    waiting = state.conversation.limit
    if waiting is None:
        app.say("Nothing waits at a limit.")
    else:
        client.answer_limit(waiting.asked.request_id, go=True)


@in_session
def limit_raise(app: SessionApp, client: SessionClient, state: SessionState) -> None:
    """Double the limit, until what waits there fits."""
    cost, count = state.usage.limit_cost, state.usage.limit_tokens
    if not cost and not count:
        app.say("There is no limit: /limit sets one.")
        return
    from amplifier_tui.host.client import SpendLimit
    from amplifier_tui.ui.state.instruments.usage import raised_limit

    waiting = state.conversation.limit
    if waiting is not None:
        cost, count = raised_limit(waiting.asked)
    else:
        cost, count = format(Decimal(cost) * 2, "f") if cost else "", count * 2
    client.set_limit(SpendLimit(cost=cost, tokens=count))
