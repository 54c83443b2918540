"""Requests to a model that are sent again, each with the time that is left until then."""

from amplifier_tui.host import events
from amplifier_tui.host.events import HostEvent
from amplifier_tui.ui.state.conversation.entries import EntryList, RetryEntry
from amplifier_tui.ui.state.section import Handlers, on


class RetryLines(Handlers):
    """Keeps one entry per lane whose request waits, until something comes of it."""

    def __init__(self, entries: EntryList) -> None:
        self._entries = entries
        self._waiting: dict[str, RetryEntry] = {}

    @on(events.ProviderRetrying, live=True)
    def _retrying(self, event: events.ProviderRetrying) -> None:
        entry = self._waiting.get(event.agent)
        if entry is None:
            entry = RetryEntry(key="retry", agent=event.agent, event=event)
            self._waiting[event.agent] = entry
            self._entries.add(entry)
        elif entry.event != event:
            entry.event = event
            self._entries.update(entry)

    @on(events.BlockStarted, events.BlockEnded, events.ToolStarted, live=True)
    @on(events.Failed, events.Compacted, live=True)
    def _came(self, event: HostEvent) -> None:
        self._over(event.agent)

    @on(events.Notice, live=True)
    def _noticed(self, event: events.Notice) -> None:
        if event.ends_compaction:
            self._over(event.agent)

    @on(events.TurnEnded, live=True)
    def _turn_ended(self, event: events.TurnEnded) -> None:
        self._over(event.agent)
        if event.agent == events.MAIN_LANE:
            self._all_over()

    @on(events.LaneClosed, live=True)
    def _lane_closed(self, event: events.LaneClosed) -> None:
        self._over(event.lane)

    @on(events.SessionClosed, live=True)
    def _all_over(self, event: HostEvent | None = None) -> None:
        for lane in tuple(self._waiting):
            self._over(lane)

    def _over(self, lane: str) -> None:
        entry = self._waiting.pop(lane, None)
        if entry is not None:
            self._entries.remove(entry)
