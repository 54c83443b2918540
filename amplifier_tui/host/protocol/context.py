"""What the model is shown: compaction, single items, memories."""

from concurrent.futures import Future
from typing import Literal, Protocol

from amplifier_tui.base.capabilities.context_items import ItemCard
from amplifier_tui.host.cards import CompactionPreview, MemoryCard


class ContextClient(Protocol):
    """Changes what the next request has of the conversation."""

    def compaction(self) -> "Future[CompactionPreview]":
        """Describe what `compact` would do now."""

    def compact(self, instructions: str | None = None) -> None:
        """Make the view of the conversation smaller; the stored conversation stays as it is.

        Leads to `Compacted` and `BudgetChanged`, or to a `Notice` that says why not. While a turn
        runs it is refused with a `Notice`.

        Args:
            instructions: None to compact by rule, without a model. Otherwise the session's model
                writes a summary, and these are its instructions; may be empty.
        """

    def items(self) -> "Future[tuple[ItemCard, ...]]":
        """List the items of the next request, the biggest first.

        The future raises `RuntimeError`, with what can be done instead, for a foreign context.
        """

    def choose_item(self, key: str, choice: Literal["pin", "drop", "shorten", ""]) -> None:
        """Pin, drop or shorten an item from the next request on; empty takes that back.

        The stored conversation stays as it is, and calls stay with their results. Leads to
        `ItemChosen` and `BudgetChanged`, or to a `Notice` that says why not.

        Args:
            key: As in `ItemCard`.
        """

    def undo_item(self) -> None:
        """Take the last of these decisions back."""

    def remember(self, text: str, *, everywhere: bool = False) -> None:
        """Store a memory, for this project or for all; a `Notice` says so, or why not."""

    def forget(self, memory_id: int) -> None:
        """Delete a memory; a `Notice` says so."""

    def memories(self) -> "Future[tuple[MemoryCard, ...]]":
        """List the memories of this project and those for all, newest first.

        The future raises `RuntimeError`, with one sentence, when the session has no memory.
        """
