"""What the user does with single items of the context: keep whole, leave out, shorten, undo."""

from collections.abc import Awaitable, Callable
from dataclasses import replace
from typing import Any, Final

from amplifier_tui.base.capabilities.context_items import ItemCard
from amplifier_tui.context.compaction.choices import Choice
from amplifier_tui.context.request.view import ContextView
from amplifier_tui.host.events import ItemChosen
from amplifier_tui.host.stream.sender import Sender
from amplifier_tui.host.turns.sources import Sources

FOREIGN: Final = (
    "The context module of this session keeps its rows to itself: single items can be pinned, "
    "dropped or shortened with context-pipeline, context-simple and context-persistent of this "
    "program. The session can be forked before a prompt instead."
)
_MOST: Final = 400
"""Items that are listed; the smaller ones weigh next to nothing."""


class ItemChoices:
    """Changes what the next request has of the conversation; the ledger stays as it is.

    Args:
        window: The provider whose window is to be filled; None for that of the last request.
        done: Called when the request is another one.
    """

    def __init__(
        self,
        sources: Sources,
        window: Callable[[], Any],
        sender: Sender,
        done: Callable[[], Awaitable[None]],
    ) -> None:
        self._sources = sources
        self._window = window
        self._sender = sender
        self._done = done

    async def list(self) -> tuple[ItemCard, ...]:
        """Return the items of the next request, the biggest first.

        Raises:
            RuntimeError: The context is a foreign one; it says what can be done instead.
        """
        view = self._sources.view
        if view is None:
            raise RuntimeError(FOREIGN)
        return tuple(self._shown(item) for item in (await view.items(self._window()))[:_MOST])

    async def choose(self, key: str, choice: Choice | None) -> None:
        """Decide about an item, or (None) take what was decided back."""
        view = self._sources.view
        if view is None:
            self._say(FOREIGN)
            return
        reason = view.choose(key, choice)
        if reason:
            self._say(reason)
        else:
            await self._changed(view, key)

    async def undo(self) -> None:
        """Take the last decision back."""
        view = self._sources.view
        key = view.undo_choice() if view is not None else None
        if view is None or key is None:
            self._say("There is nothing to undo: no item was pinned, dropped or shortened.")
        else:
            await self._changed(view, key)

    async def _changed(self, view: ContextView, key: str) -> None:
        items = await view.items(self._window())
        found = next((item for item in items if item.key == key), None)
        if found is not None:
            item = self._shown(found)
            choice = view.decisions.choices.of(key) or ""
            self._sender.send(ItemChosen(**self._sender.stamp(), item=item.name, choice=choice))
        await self._done()

    def _shown(self, item: ItemCard) -> ItemCard:
        return replace(item, text=self._sender.redactor.text(item.text))

    def _say(self, text: str) -> None:
        self._sender.notice("warning", text, "context")
