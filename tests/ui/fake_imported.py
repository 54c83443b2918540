"""What a scripted session answers of other programs' sessions, and how it answers at all."""

from concurrent.futures import Future
from dataclasses import dataclass, field
from typing import Any

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
    future.set_result(value)
    return future


def failed(error: Exception) -> Future[Any]:
    future: Future[Any] = Future()
    future.set_exception(error)
    return future
