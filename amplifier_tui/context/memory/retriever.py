"""What a search for memories returns, and who can do it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Protocol


@dataclass(frozen=True, slots=True)
class Memory:
    """Something worth knowing later.

    Attributes:
        memory_id: Its number; 0 where it is from somewhere else.
        text: What it says.
        scope: Where it holds: a project's folder, or "" for everywhere.
        session_id: Session it was noted in; may be empty.
        created: When, ISO 8601 in UTC.
    """

    memory_id: int
    text: str
    scope: str = ""
    session_id: str = ""
    created: str = ""

    def to_dict(self) -> dict[str, Any]:
        """Return JSON-native data."""
        return {
            "id": self.memory_id,
            "text": self.text,
            "scope": self.scope,
            "session_id": self.session_id,
            "created": self.created,
        }


class Retriever(Protocol):
    """Finds what fits a query, by words, by vectors, in a service."""

    async def search(self, query: str, k: int) -> Sequence[Memory]:
        """Return the best matches, the best first.

        Args:
            query: What the user said.
            k: How many at most.
        """
        ...
