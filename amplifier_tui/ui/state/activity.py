"""What the agent is doing right now, and since when."""

from typing import Literal

from amplifier_tui.base.lazy.dataclass import dataclass
from amplifier_tui.host import events
from amplifier_tui.host.events import MAIN_LANE
from amplifier_tui.ui.state.section import FieldSection, on

Stop = Literal["", "stopping…", "stopping now…"]

SLOW = 3.0
"""Seconds after which it is said what an opening waits for, and that it can be stopped."""

_STREAM_WORDS: dict[events.BlockKind, str] = {
    "text": "answering",
    "thinking": "thinking",
    "tool_use": "writing",
}
_CHANGE_WORDS = {
    "mounted": "mounting",
    "switched on": "mounting",
    "reloaded": "reloading",
    "taken out": "removing",
    "switched off": "removing",
}


@dataclass(frozen=True, slots=True)
class Phase:
    """The spinner's word and the Unix time its clock counts from."""

    word: str
    since: float


@dataclass(slots=True)
class _RunningTool:
    tool: str
    since: float
    waiting: int = 0


class Activity(FieldSection):
    """Running tools, streaming blocks, and whether a `turn` is `running`, `started` at a Unix time.

    `stop` is the stop that was acknowledged, in the words of the screen. `commands` are the user's
    own that run, each with when it began. `changing` is the module that is being changed, and
    `change` what becomes of it; both are empty where none is. `blocker` says who does not give
    the engine back; it is empty where nobody does. `mounting` are the modules that an opening
    waits for.
    """

    def reset(self) -> None:
        """Nothing happens."""
        self.turn = 0
        self.commands: dict[str, float] = {}
        self.changing = self.change = ""
        self._changing_since = self._blocked_since = 0.0
        self.blocker = ""
        self._compacting: float | None = None
        self.started = 0.0
        self._opened = False
        self._opening: float | None = None
        self.mounting: dict[str, None] = {}
        self._turn_seen: tuple[int, float] | None = None
        self._rest()

    def _rest(self) -> None:
        self.running = False
        self.stop: Stop = ""
        self._at_limit = False
        self._tools: dict[tuple[str, str], _RunningTool] = {}
        self._streams: dict[tuple[str, str], events.BlockKind] = {}
        self._requests: dict[str, tuple[str, str]] = {}

    def shown(self) -> tuple[object, ...]:
        """Return the fields and what moves."""
        return (*super().shown(), self.phase)

    @property
    def phase(self) -> Phase | None:
        """What moves, or None when nothing does (also while all of it waits for the user)."""
        if self.stop:
            return Phase(self.stop.removesuffix("…"), self.started)
        if self.blocker and not self.running:
            return Phase("blocked", self._blocked_since)
        if self._opening is not None:
            return Phase("opening", self._opening)
        tools = {key: tool for key, tool in self._tools.items() if not tool.waiting}
        # A sub-agent's tools run inside a tool of the main lane, which says enough.
        front = [tool for (lane, _), tool in tools.items() if lane == MAIN_LANE]
        front = front or list(tools.values())
        if len(front) > 1:
            return Phase(f"{len(front)} tools", min(t.since for t in front))
        if front:
            return Phase(front[0].tool or "tool", front[0].since)
        if self.changing:
            word = _CHANGE_WORDS.get(self.change, "changing")
            return Phase(word, self._changing_since)
        if not self.running:
            if self._compacting is not None:
                return Phase("summary", self._compacting)
            began = min(self.commands.values(), default=None)
            return None if began is None else Phase("command", began)
        kinds = set(self._streams.values())
        for kind, word in _STREAM_WORDS.items():
            if kind in kinds:
                return Phase(word, self.started)
        waits = self._tools or self._at_limit
        return None if waits else Phase("working", self.started)

    @property
    def awaits_model(self) -> bool:
        """Whether a model is the one to say something next."""
        return self.running and not self._tools and not self.stop and not self._at_limit

    @property
    def stops(self) -> bool:
        """Whether there is something that the user can stop."""
        held_up = self.commands or self.changing or self.compacting
        return self.running or bool(held_up and not self.blocker)

    @property
    def compacting(self) -> bool:
        """Whether a model writes the summary of a compaction that the user asked for."""
        return self._compacting is not None

    def slow_opening(self, now: float) -> str:
        """Return what an opening waits for that takes its time; empty where none does."""
        if self._opening is None or (now - self._opening < SLOW and not self.blocker):
            return ""
        return next(iter(self.mounting), "the session")

    @property
    def work(self) -> str:
        """What runs, with its article; empty when nothing does."""
        if self.running:
            return "A turn"
        return "A command of yours" if self.commands else ""

    def open_soon(
        self, event: events.ModuleLoading | events.ModuleMounted | events.ModuleFailed
    ) -> None:
        """A module of another session, which is being opened, is mounted."""
        self.track(self._mounts_soon, event)

    def _mounts_soon(
        self, event: events.ModuleLoading | events.ModuleMounted | events.ModuleFailed
    ) -> None:
        if not isinstance(event, events.ModuleLoading):
            self._mounted(event)
            return
        if self._opening is None and not self.running:
            self._opening = event.at
        self._mounts(event)

    def _mounts(self, event: events.ModuleLoading) -> None:
        self.mounting[event.instance or event.module_id] = None

    def _mounted(self, event: events.ModuleMounted | events.ModuleFailed) -> None:
        self.mounting.pop(event.instance or event.module_id, None)

    @on(events.TurnStarted, live=True, main=True)
    def _turn_started(self, event: events.TurnStarted) -> None:
        if self._turn_seen != (event.turn, event.at):
            self._rest()
            self._turn_seen = (event.turn, event.at)
            self.running, self.turn, self.started = True, event.turn, event.at

    @on(events.TurnEnded, live=True, main=True)
    def _turn_ended(self, event: events.TurnEnded) -> None:
        self._rest()
        self.turn = event.turn

    @on(events.SessionClosed, live=True)
    def _closed(self, event: events.SessionClosed) -> None:
        self._rest()
        self.commands = {}
        self.changing = self.change = self.blocker = ""
        self._compacting = None
        self._opened = False

    @on(events.LimitAsked, live=True)
    def _limit_asked(self, event: events.LimitAsked) -> None:
        self._at_limit = True

    @on(events.LimitResolved, live=True)
    def _goes_on(self, event: events.LimitResolved) -> None:
        self._at_limit = False

    @on(events.CancelRequested, live=True)
    def _stopping(self, event: events.CancelRequested) -> None:
        if self.running:
            self.stop = "stopping now…" if event.immediate else self.stop or "stopping…"

    @on(events.BlockStarted, live=True)
    def _block_started(self, event: events.BlockStarted) -> None:
        self._streams.setdefault((event.agent, event.block_id), event.kind)

    @on(events.BlockEnded, live=True)
    def _block_ended(self, event: events.BlockEnded) -> None:
        self._streams.pop((event.agent, event.block_id), None)

    @on(events.LaneClosed, live=True)
    def _lane_closed(self, event: events.LaneClosed) -> None:
        self._tools = {k: t for k, t in self._tools.items() if k[0] != event.lane}
        self._streams = {k: s for k, s in self._streams.items() if k[0] != event.lane}

    @on(events.ModuleLoading, live=True)
    def _loading(self, event: events.ModuleLoading) -> None:
        if self._opening is None and not self._opened:
            self._opening = event.at
        self._mounts(event)

    @on(events.ModuleMounted, live=True)
    @on(events.ModuleFailed, live=True)
    def _loaded(self, event: events.ModuleMounted | events.ModuleFailed) -> None:
        self._mounted(event)

    @on(events.Notice, live=True)
    def _noticed(self, event: events.Notice) -> None:
        if event.until == "compacted":
            self._compacting = event.at
        elif event.ends_compaction:
            self._compacting = None

    @on(events.Compacted, live=True)
    def _compacted(self, event: events.Compacted) -> None:
        self._compacting = None

    @on(events.ModuleChanging, live=True)
    def _module_changes(self, event: events.ModuleChanging) -> None:
        self.changing = event.instance or event.module_id if event.change else ""
        self.change, self._changing_since = event.change, event.at

    @on(events.EngineBlocked, live=True)
    def _blocked(self, event: events.EngineBlocked) -> None:
        mounting = next(iter(self.mounting), "a module")
        self.blocker = "" if event.over else event.module or mounting
        self._blocked_since = event.at

    @on(events.SessionOpened, live=True)
    def _session_opened(self, event: events.SessionOpened) -> None:
        self._opened = True
        self._opened_or_not()

    @on(events.Failed, live=True)
    def _failed(self, event: events.Failed) -> None:
        self._opened_or_not()

    def _opened_or_not(self) -> None:
        self._opening = None
        self.mounting = {}

    @on(events.ShellStarted, live=True)
    def _command_started(self, event: events.ShellStarted) -> None:
        self.commands[event.command_id] = event.at

    @on(events.ShellEnded, live=True)
    def _command_ended(self, event: events.ShellEnded) -> None:
        self.commands.pop(event.command_id, None)

    @on(events.ToolStarted, live=True)
    def _tool_started(self, event: events.ToolStarted) -> None:
        key = (event.agent, event.call_id)
        waiting = self._tools[key].waiting if key in self._tools else 0
        self._tools[key] = _RunningTool(event.tool, event.at, waiting)

    @on(events.ToolEnded, live=True)
    def _tool_ended(self, event: events.ToolEnded) -> None:
        self._tools.pop((event.agent, event.call_id), None)

    @on(events.ApprovalRequested, live=True)
    def _asked(self, event: events.ApprovalRequested) -> None:
        if event.call_id and event.request_id not in self._requests:
            key = self._requests[event.request_id] = (event.agent, event.call_id)
            self._tools.setdefault(key, _RunningTool(event.tool, event.at)).waiting += 1

    @on(events.QuestionsAsked, live=True)
    def _questions(self, event: events.QuestionsAsked) -> None:
        tool = self._tools.get((event.agent, event.call_id))
        if tool is not None and event.request_id not in self._requests:
            self._requests[event.request_id] = (event.agent, event.call_id)
            tool.waiting += 1

    @on(events.ApprovalResolved, live=True)
    @on(events.QuestionsResolved, live=True)
    def _answered(self, event: events.ApprovalResolved | events.QuestionsResolved) -> None:
        key = self._requests.pop(event.request_id, None)
        tool = self._tools.get(key) if key is not None else None
        if tool is not None:
            tool.waiting = max(0, tool.waiting - 1)
            # Its clock shows the time it runs, not the time it waited.
            tool.since = event.at or tool.since
