"""Sub-agents as conversation entries: one line for each task, with what it does and has used."""

from collections import Counter

from amplifier_tui.host import events
from amplifier_tui.host.events import MAIN_LANE
from amplifier_tui.ui.state.conversation.entries import EntryList, LaneEntry, NoteEntry
from amplifier_tui.ui.state.section import Handlers, assign, on


class LaneLines(Handlers):
    """Keeps one `LaneEntry` for each task of a sub-agent.

    `by_lane` has the latest task of each, in the order they began; `version` moves when one of
    them changes.
    """

    def __init__(self, entries: EntryList) -> None:
        self._entries = entries
        self._counts: Counter[str] = Counter()
        self._kinds: dict[str, str] = {}
        """What an agent is called without its number, by lane."""
        self._calls: set[tuple[str, str]] = set()
        self._requests: dict[str, str] = {}
        self.by_lane: dict[str, LaneEntry] = {}
        self.version = 0

    def name_of(self, lane: str) -> str:
        """Return the name of a lane on screen; the id itself when it is unknown."""
        entry = self.by_lane.get(lane)
        return entry.name if entry is not None and entry.name else lane

    def running(self) -> list[LaneEntry]:
        """Return those that work, in the order they began."""
        return [entry for entry in self.by_lane.values() if entry.running]

    def path_to(self, lane: str) -> list[LaneEntry]:
        """Return a lane and those it was called from, outermost first; none when it is unknown."""
        path: list[LaneEntry] = []
        while (entry := self.by_lane.get(lane)) is not None and entry not in path:
            path.insert(0, entry)
            lane = entry.agent
        return path

    def below(self, lane: str) -> set[str]:
        """Return a lane and all those called from it."""
        found = {lane}
        for entry in self.by_lane.values():
            if entry.agent in found:
                found.add(entry.lane)
        return found

    def find(self, name: str) -> LaneEntry | None:
        """Return the agent of a name, or of the beginning of one that no other has."""
        wanted = name.strip().casefold()
        entries = [*self.running(), *reversed(self.by_lane.values())]
        exact = (each for each in entries if each.name.casefold() == wanted)
        fitting = {e.lane: e for e in entries if wanted and e.name.casefold().startswith(wanted)}
        alone = next(iter(fitting.values())) if len(fitting) == 1 else None
        return next(exact, alone)

    def prepend(self, earlier: "LaneLines") -> None:
        """Take up what an earlier part of the session tells of sub-agents.

        It was numbered on its own: what came later is numbered on, so that no two have one name.
        """
        self.by_lane = {**earlier.by_lane, **self.by_lane}
        self._kinds = {**earlier._kinds, **self._kinds}
        self._counts.clear()
        names = {lane: self._new_name(self._kinds[lane]) for lane in self.by_lane}
        for entries in (earlier._entries, self._entries):
            for entry in entries.entries:
                if isinstance(entry, LaneEntry) and assign(entry, name=names[entry.lane]):
                    entries.update(entry)
        self.version += 1

    def stopping(self, lane: str) -> bool:
        """Note that the user stops one; returns whether that was asked for before."""
        entry = self.by_lane.get(lane)
        before = entry is not None and bool(entry.stopping)
        self._tell(lane, stopping="at once" if before else "after its step")
        return before

    @on(events.LaneOpened)
    def _opened(self, event: events.LaneOpened) -> None:
        known = self.by_lane.get(event.lane)
        if known is not None and (known.running or known.began == event.at):
            return
        name = known.name if known is not None else self._new_name(event.name)
        self._kinds.setdefault(event.lane, event.name)
        entry = LaneEntry(
            key=f"lane:{event.lane}",
            agent=event.parent,
            lane=event.lane,
            name=name,
            instruction=event.instruction,
            began=event.at,
            earlier=event.earlier,
        )
        self.by_lane[event.lane] = entry
        self._entries.add(entry)
        self.version += 1

    def _new_name(self, name: str) -> str:
        """Return a name that tells agents of one kind apart."""
        self._counts[name] += 1
        number = self._counts[name]
        return f"{name} {number}" if name and number > 1 else name

    @on(events.LaneClosed)
    def _closed(self, event: events.LaneClosed) -> None:
        used = event.usage.input_tokens + event.usage.output_tokens
        end = {"state": event.status, "ended": event.at, "result": event.result}
        more = {"tokens": used} if used else {}
        entry = self.by_lane.get(event.lane)
        if entry is not None and entry.running and event.status == "error" and event.result:
            # Told in its own conversation, which is below its line: that has no room for it.
            note = NoteEntry(key="note", agent=event.lane, text=event.result, level="error")
            self._entries.add(note)
        self._tell(event.lane, told=(), stopping="", **end, **more)

    @on(events.LaneUsed)
    def _used(self, event: events.LaneUsed) -> None:
        self._tell(event.lane, tokens=event.usage.input_tokens + event.usage.output_tokens)

    @on(events.ToolStarted)
    def _tool_started(self, event: events.ToolStarted) -> None:
        entry = self.by_lane.get(event.agent)
        if entry is None or (event.agent, event.call_id) in self._calls:
            return
        self._calls.add((event.agent, event.call_id))
        about = {"tool": event.tool, "arguments": event.arguments}
        self._tell(event.agent, calls=entry.calls + 1, **about)

    @on(events.ApprovalRequested, live=True)
    @on(events.QuestionsAsked, live=True)
    def _asked(self, event: events.ApprovalRequested | events.QuestionsAsked) -> None:
        if event.agent in self.by_lane:
            self._requests[event.request_id] = event.agent
            self._wait(event.agent)

    @on(events.ApprovalResolved, live=True)
    @on(events.QuestionsResolved, live=True)
    def _answered(self, event: events.ApprovalResolved | events.QuestionsResolved) -> None:
        if lane := self._requests.pop(event.request_id, ""):
            self._wait(lane)

    def _wait(self, lane: str) -> None:
        if self.by_lane[lane].running:
            waits = lane in self._requests.values()
            self._tell(lane, state="waiting" if waits else "running")

    @on(events.QueueChanged, live=True)
    def _told(self, event: events.QueueChanged) -> None:
        if event.agent != MAIN_LANE:
            self._tell(event.agent, told=event.steering)

    @on(events.SessionClosed)
    def _session_closed(self, event: events.SessionClosed) -> None:
        for entry in self.running():
            self._tell(entry.lane, state="cancelled", ended=event.at)

    def _tell(self, lane: str, **values: object) -> None:
        entry = self.by_lane.get(lane)
        if entry is not None and assign(entry, **values):
            self.version += 1
            self._entries.update(entry)
