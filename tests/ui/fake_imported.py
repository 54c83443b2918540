"""What a scripted session answers of other programs' sessions, and how it answers at all."""

from collections.abc import Callable
from concurrent.futures import Future
from dataclasses import dataclass, field
from typing import Any, ClassVar

from amplifier_tui.host.client import ImportedCard, ImportedText


@dataclass
class FakeImported:
    """Implements the part of `StoredClient` about them.

    Attributes:
        calls: Every call with its arguments, in order.
        foreign: What `imported` lists and `read_imported` answers.
    """

    calls: list[tuple[Any, ...]] = field(default_factory=list)
    foreign: tuple[ImportedText, ...] = ()

    def imported(self, *, here: bool = False) -> Future[tuple[ImportedCard, ...]]:
        return done(tuple(text.card for text in self.foreign))

    def read_imported(self, key: str) -> Future[ImportedText]:
        found = [text for text in self.foreign if text.card.key == key]
        return done(found[0]) if found else failed(RuntimeError("it is gone"))

    def fork_imported(self, key: str) -> None:
        self.calls.append(("fork_imported", key))


def answer(value: Any) -> Future[Any]:
    return failed(value) if isinstance(value, Exception) else done(value)


def done(value: Any) -> Future[Any]:
    future: Future[Any] = Future()
    _settle(future, lambda: future.set_result(value))
    return future


def failed(error: Exception) -> Future[Any]:
    future: Future[Any] = Future()
    _settle(future, lambda: future.set_exception(error))
    return future


class Late:
    """Within it, answers come when they are let go."""

    now: ClassVar["Late | None"] = None

    def __init__(self) -> None:
        self._held: list[tuple[Future[Any], Callable[[], None]]] = []

    def __enter__(self) -> "Late":
        Late.now = self
        return self

    def __exit__(self, *_: object) -> None:
        Late.now = None
        while self._held:
            self.let_go(0)

    def __len__(self) -> int:
        return len(self._held)

    def hold(self, future: Future[Any], settle: Callable[[], None]) -> None:
        self._held.append((future, settle))

    def let_go(self, at: int) -> None:
        """Give one of the answers, unless nobody waits for it any more."""
        future, settle = self._held.pop(at)
        if not future.cancelled():
            settle()


def _settle(future: Future[Any], settle: Callable[[], None]) -> None:
    if Late.now is None:
        settle()
    else:
        Late.now.hold(future, settle)
