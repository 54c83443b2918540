"""Which loads wait for which, so that a circle is noticed instead of waited for."""

import contextlib
from collections import Counter
from collections.abc import Iterator


class LoadGraph:
    """The loads that go on, as edges from a bundle to the includes it waits for."""

    def __init__(self) -> None:
        self._waits: dict[str, Counter[str]] = {}

    def leads_to(self, start: str, goal: str) -> bool:
        """Whether `start` waits for `goal`, directly or through others, or is it."""
        pending, seen = [start], set[str]()
        while pending:
            uri = pending.pop()
            if uri == goal:
                return True
            if uri not in seen:
                seen.add(uri)
                pending.extend(self._waits.get(uri, ()))
        return False

    @contextlib.contextmanager
    def waiting(self, includer: str | None, include: str) -> Iterator[None]:
        """Note that `includer` waits for `include` while the block runs."""
        if includer is None:
            yield
            return
        waits = self._waits.setdefault(includer, Counter())
        waits[include] += 1
        try:
            yield
        finally:
            waits[include] -= 1
            if not waits[include]:
                del waits[include]
            if not waits:
                self._waits.pop(includer, None)
