"""When things came: which entry of the conversation an event belongs to, and how panes looked."""

from bisect import bisect_right

from amplifier_tui.host.events import (
    BudgetChanged,
    HookTraced,
    HostEvent,
    ModuleDegraded,
    ModuleFailed,
    ModuleLeftOut,
    ModuleLoading,
    ModuleMounted,
    ModuleUnmounted,
    UsageChanged,
)
from amplifier_tui.ui.state.conversation.entries import ConversationEntry, ToolEntry
from amplifier_tui.ui.state.instruments.budget import BudgetState
from amplifier_tui.ui.state.instruments.modules import Modules
from amplifier_tui.ui.state.section import Section, on

_KEPT = 2_000
"""Changes of modules and budget that are kept; older ones are thinned out."""


class Moments(Section):
    """What came when, since the session was opened or replayed."""

    def __init__(self) -> None:
        super().__init__()
        self._times: list[float] = []
        self._keys: list[str] = []
        self._changes: list[HostEvent] = []

    def clear(self) -> None:
        """Forget it, for another session."""
        self._times, self._keys, self._changes = [], [], []

    def note(self, at: float, entries: list[ConversationEntry]) -> None:
        """Note when the newest entry came, unless it is known."""
        if entries and at > 0 and (not self._keys or self._keys[-1] != entries[-1].key):
            self._times.append(max(at, self._times[-1] if self._times else at))
            self._keys.append(entries[-1].key)

    def entry_of(self, event: HookTraced, entries: list[ConversationEntry]) -> str:
        """Return the key of the entry an event of the log belongs to; empty when there is none."""
        return self.entry_at(event.at, event.call_id, entries)

    def entry_at(self, at: float, call_id: str, entries: list[ConversationEntry]) -> str:
        """Return the key of the entry of a call, or else of a moment, in Unix seconds."""
        for entry in reversed(entries) if call_id else ():
            if isinstance(entry, ToolEntry) and entry.call_id == call_id:
                return entry.key
        place = bisect_right(self._times, at)
        return self._keys[max(0, place - 1)] if self._keys else ""

    def time_of(self, key: str) -> float | None:
        """Return when an entry came, in Unix seconds; None when that is not known."""
        found = (at for at, known in zip(self._times, self._keys, strict=True) if known == key)
        return next(found, None)

    @on(
        *(ModuleLoading, ModuleMounted, ModuleFailed, ModuleDegraded, ModuleLeftOut),
        *(ModuleUnmounted, UsageChanged, BudgetChanged),
    )
    def _changed(self, event: HostEvent) -> None:
        self._changes.append(event)
        if len(self._changes) > _KEPT:
            old, fresh = self._changes[: _KEPT // 2], self._changes[_KEPT // 2 :]
            # Modules stay whole; of every second budget the next one tells enough.
            kept = [e for at, e in enumerate(old) if at % 2 or not isinstance(e, BudgetChanged)]
            self._changes = [*kept, *fresh] if len(kept) < len(old) else self._changes[-_KEPT:]

    def at(self, moment: float) -> tuple[Modules, BudgetState]:
        """Return modules and budget as they were at a moment, in Unix seconds.

        They are marked as not known for a moment before the session was opened here: its events
        are read from disk, what was mounted then is not.
        """
        modules, budget = Modules(), BudgetState()
        modules.known = budget.known = bool(self._changes) and moment >= self._changes[0].at
        for event in self._changes:
            if event.at <= moment:
                for section in (modules, budget):
                    for route in section.handlers_of(type(event)):
                        if not route.skips(event):
                            route.handle(event)
        return modules, budget
