"""The user's memories: stored, listed and deleted by hand."""

from datetime import datetime
from typing import TYPE_CHECKING, Any, Final

from amplifier_tui.context.errors import MemoryUnavailableError
from amplifier_tui.host.client import MemoryCard
from amplifier_tui.host.events import Level
from amplifier_tui.host.stream.sender import Sender
from amplifier_tui.kernel.coordinator import ModuleCoordinator

if TYPE_CHECKING:
    from amplifier_tui.context.memory.retrieval import Memory
    from amplifier_tui.context.memory.store import MemoryStore

MEMORY: Final = "context.memory"
NO_MEMORY: Final = (
    "This session has no memory. A bundle gets one by including behaviors/memory.yaml."
)


class Memories:
    """The memories of one session's project."""

    def __init__(self, coordinator: ModuleCoordinator, sender: Sender) -> None:
        self._coordinator = coordinator
        self._sender = sender

    async def remember(self, text: str, *, everywhere: bool = False) -> None:
        """Store a memory and say so, or why not."""
        store = self._store()
        if store is None:
            self._say("warning", NO_MEMORY)
            return
        scope = "" if everywhere else self._project
        try:
            words = self._sender.redactor.text(text)
            note = await store.remember(words, scope=scope, session_id=self._sender.session_id)
        except (MemoryUnavailableError, ValueError) as error:
            self._say("warning", f"Not remembered: {error}")
        else:
            where = "for this project" if note.scope else "for every project"
            self._say("info", f"Remembered {where}, as number {note.memory_id}")
        self._tell(store)

    async def forget(self, memory_id: int) -> None:
        """Delete a memory and say so."""
        store = self._store()
        if store is None:
            self._say("warning", NO_MEMORY)
            return
        try:
            known = await store.forget(memory_id)
        except MemoryUnavailableError as error:
            self._say("warning", f"Not forgotten: {error}")
        else:
            if known:
                self._say("info", f"Forgot number {memory_id}")
            else:
                self._say("warning", f"There is no memory number {memory_id}")
        self._tell(store)

    async def list(self) -> tuple[MemoryCard, ...]:
        """Return what holds here, newest first.

        Raises:
            RuntimeError: There is no memory, or it can't be used now.
        """
        store = self._store()
        if store is None:
            raise RuntimeError(NO_MEMORY)
        try:
            notes = await store.list(scopes=tuple(dict.fromkeys(("", self._project))))
        except MemoryUnavailableError as error:
            raise RuntimeError(str(error)) from error
        finally:
            self._tell(store)
        return tuple(_card(note) for note in notes)

    def _store(self) -> "MemoryStore | None":
        found: Any = self._coordinator.get_capability(MEMORY)
        if found is None:
            return None
        # The database's code is loaded only where a module uses it already.
        from amplifier_tui.context.memory.store import MemoryStore

        return found if isinstance(found, MemoryStore) else None

    @property
    def _project(self) -> str:
        """The scope of this project, as the context and the model's tool know it."""
        return str(self._coordinator.get_capability("session.working_dir") or "")

    def _say(self, level: Level, text: str) -> None:
        self._sender.notice(level, text, "memory")

    def _tell(self, store: "MemoryStore") -> None:
        for notice in store.take_notices():
            self._say("warning", notice)


def _card(note: "Memory") -> MemoryCard:
    try:
        created = datetime.fromisoformat(note.created).timestamp()
    except ValueError:
        created = 0.0
    return MemoryCard(
        memory_id=note.memory_id,
        text=note.text,
        created=created,
        session_id=note.session_id,
        everywhere=not note.scope,
    )
