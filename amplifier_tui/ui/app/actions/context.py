"""Actions on the context: its items, and what is decided about one of them."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING, Final, Literal

from amplifier_tui.base.text import one_line
from amplifier_tui.ui.app.session_app import in_open_session
from amplifier_tui.ui.state.formats import typed_number

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from textual.widget import Widget
    from textual.worker import Worker

    from amplifier_tui.host.client import ItemCard, SessionClient
    from amplifier_tui.ui.app.session_app import SessionApp
    from amplifier_tui.ui.state.conversation.entries import ConversationEntry
    from amplifier_tui.ui.state.session import SessionState

_VERBS: Final[dict[str, tuple[Literal["pin", "drop", "shorten"], str]]] = {
    "pin": ("pin", "pinned"),
    "drop": ("drop", "dropped"),
    "shorten": ("shorten", "shortened"),
}
_USAGE: Final = "/context pin, drop, shorten or show, and which item: its number, or words of it."


@in_open_session
def items(app: SessionApp, client: SessionClient, state: SessionState) -> None:
    """List the items of the next request in the context pane."""
    _list(app, client, state, lambda: app.main.show_pane("context"))


def _list(
    app: SessionApp, client: SessionClient, state: SessionState, pane_of: Callable[[], Widget]
) -> None:
    from amplifier_tui.ui.panes.context.pane import ContextPane

    session = state.facts.session_id

    async def load() -> None:
        try:
            found = await asyncio.wrap_future(client.items())
            problem = ""
        except Exception as error:
            # Whatever the session could not do is said in place of the items.
            found, problem = (), str(error) or type(error).__name__
        if app.state is not state or state.facts.session_id != session:
            return
        pane = pane_of()
        if isinstance(pane, ContextPane):
            pane.show_items(found, problem)

    # Not `load()`: of one that the next replaces before it begins, nobody would take the coroutine.
    _: Worker[None] = app.run_worker(load, group="items", exclusive=True)


@in_open_session
def item(app: SessionApp, client: SessionClient, state: SessionState, words: str = "") -> None:
    """List the items, or decide about one: `pin`, `drop`, `shorten`, `show`, `undo`."""
    verb, _, which = words.strip().partition(" ")
    if verb == "why":
        app.say(which, "warning")
    elif verb == "undo":
        client.undo_item()
    elif verb in ("", "items"):
        items(app)
    elif verb == "reload":
        # It is on screen; the keys stay where they are heard.
        _list(app, client, state, lambda: app.main.pane("context"))
    elif (verb in _VERBS or verb == "show") and which:
        app.run_worker(_with_item(app, client, state, verb, which.strip()), group="item")
    else:
        app.say(_USAGE, "warning")


async def _with_item(
    app: SessionApp, client: SessionClient, state: SessionState, verb: str, which: str
) -> None:
    from amplifier_tui.ui.panes.context.pane import ContextPane

    pane = app.main.pane("context")
    on_screen = pane.listed if isinstance(pane, ContextPane) else ()
    if 0 < (number := typed_number(which) or 0) <= len(on_screen):
        # Meanwhile another item may have its place in the list.
        key = on_screen[number - 1].key
        which = f"={key}" if key else which
    try:
        listed = await asyncio.wrap_future(client.items())
    except Exception as error:
        # What the session says it can't do, in its own words.
        app.say(one_line(str(error), 400), "warning")
        return
    found = _find(listed, which)
    if found is None:
        words = f"No item has {one_line(which, 60)} in it"
        if which.startswith("="):
            words = "That item is no longer in the context"
        app.say(f"{words}; /context items lists them.", "warning")
    elif verb == "show":
        entry = entry_of(found, state.entries)
        if entry is None or not app.main.show_entry(entry):
            app.say("It is not in the part of the conversation that is on screen.")
    elif found.fixed:
        app.say(found.fixed, "warning")
    else:
        choice, done = _VERBS[verb]
        client.choose_item(found.key, "" if found.state == done else choice)


def _find(items: Sequence[ItemCard], which: str) -> ItemCard | None:
    """Return an item by its key (`=3`), its number in the list, or words in it."""
    if which.startswith("="):
        return next((item for item in items if item.key == which[1:]), None)
    if (number := typed_number(which)) is not None:
        return items[number - 1] if 1 <= number <= len(items) else None
    wanted = which.casefold()
    return next((i for i in items if wanted in f"{i.source} {i.text}".casefold()), None)


def entry_of(item: ItemCard, entries: Sequence[ConversationEntry]) -> str | None:
    """Return the key of the entry that shows an item; None when none does."""
    from amplifier_tui.ui.state.conversation.entries import TextEntry, ToolEntry, UserEntry

    start = " ".join(item.text.split())[:60]
    for entry in reversed(entries):
        match entry:
            case ToolEntry() if item.call_id and entry.call_id == item.call_id:
                return entry.key
            case UserEntry() if item.role == "user" and not item.call_id and start:
                if " ".join(entry.text.split())[:60] == start:
                    return entry.key
            case TextEntry() if item.role == "assistant" and start:
                if " ".join(entry.text.split())[:60] == start:
                    return entry.key
            case _:
                pass
    return None
