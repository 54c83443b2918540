"""The conversation: what was said, done and went wrong, as entries in order."""

from collections import deque

from amplifier_tui.base.text import one_line, short_count, span, with_remedy
from amplifier_tui.host import events
from amplifier_tui.host.events import MAIN_LANE, HostEvent
from amplifier_tui.ui.state.conversation.blocks import BlockEntries
from amplifier_tui.ui.state.conversation.entries import (
    CANCELLED,
    NO_PROVIDER,
    REFUSED,
    ConversationEntry,
    EntryList,
    ErrorEntry,
    LimitEntry,
    NoteEntry,
    PlanEntry,
    ReportEntry,
    TextEntry,
    ToolEntry,
    UserEntry,
    WelcomeEntry,
)
from amplifier_tui.ui.state.conversation.failures import Failures
from amplifier_tui.ui.state.conversation.lane_lines import LaneLines
from amplifier_tui.ui.state.conversation.retries import RetryLines
from amplifier_tui.ui.state.conversation.shell_lines import ShellLines
from amplifier_tui.ui.state.conversation.tool_lines import ToolLines
from amplifier_tui.ui.state.conversation.welcome import Welcome
from amplifier_tui.ui.state.formats import plural
from amplifier_tui.ui.state.section import Handlers, Route, assign, on

_ONCE = (
    events.Compacted,
    events.Failed,
    events.ItemChosen,
    events.Notice,
    events.OpeningReported,
    events.SteerApplied,
    events.TurnEnded,
)
_TOLD = 16
_RESUMED = "Resumed"
_OTHERWISE = "Use other words, another model (/model), or go back (/rewind)."
_BROKEN_OFF = " · the last turn had not ended: a prompt such as “go on” continues it"
_PRINTED = " · /jobs shows what it printed"
_CHOSEN = {
    "pin": "Kept whole from the next request on",
    "drop": "Left out from the next request on",
    "shorten": "Shortened from the next request on",
}


class ConversationState(Handlers):
    """Reduces events to the entries of `list`."""

    def __init__(self) -> None:
        self.list = EntryList()
        self._bundle = ""
        self._folder = ""
        self._mode = ""
        self._answers = ("", "")
        """The provider and the model that answer."""
        self._begin()

    def _begin(self, welcome: Welcome | None = None) -> None:
        self._tools = ToolLines(self.list)
        self._blocks = BlockEntries(self.list, self._tools)
        self.lanes = LaneLines(self.list)
        self.failures = Failures(self.list)
        self._welcome = welcome or Welcome(self.list, self._mode)
        self._shell = ShellLines(self.list)
        self._retries = RetryLines(self.list)
        self._parts = (
            *(self._welcome, self.lanes, self._blocks, self._tools, self._shell),
            self._retries,
        )
        self._routes: dict[type[HostEvent], list[Route]] = {}
        self._turns: set[tuple[str, int, str, float]] = set()
        self._unready: ErrorEntry | None = None
        self._plan: PlanEntry | None = None
        self.limit: LimitEntry | None = None
        """What waits at the session's limit, if anything."""
        self._opened_as = ""
        self._refused: tuple[str, ...] = ()
        self._report: ReportEntry | None = None
        self._divider = ""
        self._gone = False
        """Whether the bundle of what was resumed is not there any more."""
        self._told: deque[HostEvent] = deque(maxlen=_TOLD)
        self._replaying = False

    @property
    def version(self) -> int:
        """Moves when an entry does."""
        return self.list.version

    def clear(self) -> None:
        """Empty the conversation, for another session."""
        self.list.clear()
        self._begin()

    @on(events.Rewound)
    def _rewound(self, event: events.Rewound) -> None:
        """What the conversation is now follows; nothing where all of it was taken back."""
        if event.scope != "files":
            opened_as = self._opened_as
            self.list.clear()
            self._begin(self._welcome)
            self._opened_as = opened_as
            self._welcome.put_back()

    @on(events.ModeChanged)
    def _mode_changed(self, event: events.ModeChanged) -> None:
        left_in = event.by == "session" and event.mode == "auto" and self._mode != event.mode
        self._mode = event.mode
        self._welcome.set_mode(event.mode)
        if left_in and self._divider.startswith(_RESUMED):
            self._divider += " · mode auto, as it was left"
        elif left_in:
            self._note("Mode auto, as the session was left")
        if event.mode != "plan":
            self.dismiss_plan()

    @on(events.ModelChanged, live=True, main=True)
    def _model_changed(self, event: events.ModelChanged) -> None:
        self._answers = (event.provider, event.model)

    @on(events.LimitAsked, live=True)
    def _limit_asked(self, event: events.LimitAsked) -> None:
        self._limit_over()
        self.limit = LimitEntry(key="limit", asked=event)
        self._add(self.limit)

    @on(events.LimitResolved, events.TurnEnded, events.SessionClosed, live=True)
    def _limit_over(self, event: HostEvent | None = None) -> None:
        if self.limit is not None:
            self.list.remove(self.limit)
            self.limit = None

    @on(events.PlanProposed, live=True)
    def _planned(self, event: events.PlanProposed) -> None:
        self.dismiss_plan()
        self._plan = PlanEntry(key="plan")
        self.list.add(self._plan)

    @property
    def missing(self) -> tuple[str, ...]:
        """Environment variables that providers do not find, or whose key was not accepted."""
        known = self._welcome.card.missing
        return known + tuple(name for name in self._refused if name not in known)

    @property
    def servers(self) -> tuple[events.LocalServer, ...]:
        """Model servers on this machine that could answer."""
        return self._welcome.card.servers

    @property
    def no_server(self) -> str:
        """Why no model server was found; empty where none was looked for."""
        return self._welcome.no_server

    def dismiss_plan(self) -> None:
        """Ask about the plan no more."""
        if self._plan is not None:
            self.list.remove(self._plan)
            self._plan = None

    def prepend(self, earlier: "ConversationState") -> None:
        """Put the entries of an earlier part of the session in front."""
        earlier._settle()
        self._welcome.drop()
        self.lanes.prepend(earlier.lanes)
        self.list.prepend([e for e in earlier.list.entries if not isinstance(e, WelcomeEntry)])

    def apply(self, event: HostEvent) -> None:
        """Take one event of the session."""
        if event.replayed:
            self._replaying = True
        if isinstance(event, _ONCE):
            # Each of these adds an entry that has no id of its own.
            if event in self._told:
                return
            self._told.append(event)
        for route in self._handlers(type(event)):
            if not route.skips(event):
                route.handle(event)

    def handlers_of(self, kind: type[HostEvent]) -> list[Route]:
        """Return `apply` for events that concern the conversation."""
        return [Route(self.apply)] if self._handlers(kind) else []

    def _handlers(self, kind: type[HostEvent]) -> list[Route]:
        known = self._routes.get(kind)
        if known is None:
            known = [route for part in self._parts for route in part.handlers_of(kind)]
            known = self._routes[kind] = [*known, *super().handlers_of(kind)]
        return known

    @on(events.LaneClosed)
    def _lane_closed(self, event: events.LaneClosed) -> None:
        self._settle(event.lane)

    @on(events.SessionClosed)
    def _session_closed(self, event: events.SessionClosed) -> None:
        self._settle()
        self._shell.settle()

    @on(events.SteerApplied)
    def _steered(self, event: events.SteerApplied) -> None:
        self._add(UserEntry(key="steer", agent=event.agent, text=event.text, steered=True))

    @on(events.Compacted)
    def _compacted(self, event: events.Compacted) -> None:
        words, replaced = _compaction_words(event), "\n".join(event.replaced)
        note = NoteEntry(
            key="note", agent=event.agent, text=words, detail=event.summary, repeats=replaced
        )
        self.list.add(note)

    @on(events.Notice)
    def _noticed(self, event: events.Notice) -> None:
        if event.is_of_conversation:
            # What it printed goes with the session.
            listed = event.source == "jobs" and event.level != "info" and not event.replayed
            text = event.text + _PRINTED * listed
            self._note(text, event.agent, event.level, event.detail)

    @on(events.ItemChosen)
    def _item_chosen(self, event: events.ItemChosen) -> None:
        self._note(f"{_CHOSEN.get(event.choice, 'As it was again')} · {event.item}", event.agent)

    @on(events.TurnStarted)
    def _turn_started(self, event: events.TurnStarted) -> None:
        seen = (event.agent, event.turn, event.prompt, event.at)
        if seen in self._turns:
            return
        self._turns.add(seen)
        self._told.clear()
        if not event.replayed:
            self._divider = ""
        self.failures.turn_started(event)
        if event.agent == MAIN_LANE:
            self.dismiss_plan()
            # Of a turn before that was killed nobody said that it ended.
            self._settle()
        if self._is_tried_again(event):
            self._note("Trying again")
            return
        prefix = "" if event.agent == MAIN_LANE else f"{event.agent}:"
        self._add(
            UserEntry(
                key=f"user:{prefix}{event.turn}",
                agent=event.agent,
                text=event.prompt,
                turn=event.turn,
                attachments=event.attachments,
            )
        )

    @on(events.ImagesAdded)
    def _images_added(self, event: events.ImagesAdded) -> None:
        prompts = (e for e in reversed(self.list.entries) if isinstance(e, UserEntry))
        entry = next((e for e in prompts if e.begins_turn), None)
        if not event.call_id and entry is not None and event.agent == entry.agent:
            entry.images = event.images or entry.images
            entry.files = event.files or entry.files
            self.list.update(entry)

    @on(events.TurnEnded)
    def _turn_ended(self, event: events.TurnEnded) -> None:
        kept = self._settle(
            None if event.agent == MAIN_LANE else event.agent, event.status != "success"
        )
        if event.agent != MAIN_LANE:
            return
        self.failures.running = False
        if event.status == "success":
            self._refused = ()
        words = _end_words(event, kept)
        if words and not (event.status == "error" and self.failures.in_turn):
            level: events.Level = "error" if event.status == "error" else "info"
            self._note(words, event.agent, "warning" if event.declined or event.denied else level)

    def _settle(self, agent: str | None = None, interrupted: bool = True) -> bool:
        """Close what will not end any more; True when the text of an answer was kept."""
        kept = self._blocks.settle(agent, interrupted)
        self._tools.settle(agent)
        return kept

    @on(events.Failed)
    def _failed(self, event: events.Failed) -> None:
        if event.kind == CANCELLED and self._opened_as:
            self._note(f"{event.message}. This session stays as it is.")
        elif event.kind == REFUSED:
            self._refused = event.missing
            self.failures.add(event)
        elif event.kind != NO_PROVIDER or event.prompt or self._said_something():
            self._welcome.miss(event.missing)
            self.failures.add(event)
        else:
            # The card of the empty session says it, once there is one.
            self._welcome.unready(event)
            if not self._welcome.is_shown:
                self._unready = self.failures.add(event)

    def _note(
        self, text: str, agent: str = MAIN_LANE, level: events.Level = "info", detail: str = ""
    ) -> None:
        self.list.add(NoteEntry(key="note", agent=agent, text=text, level=level, detail=detail))

    @on(events.SessionOpened)
    def _session_opened(self, event: events.SessionOpened) -> None:
        same = event.session_id == self._opened_as
        previous, self._bundle = self._bundle, event.bundle
        folder, self._folder = self._folder, event.cwd
        answered, self._answers = self._answers, (event.provider, event.model)
        self._opened_as = event.session_id
        self.failures.opened(event)
        if event.resumed and not same:
            self._divider = _RESUMED + (f" · {event.bundle}" if event.bundle else "")
            if event.gone:
                gone = one_line(event.gone, 100)
                self._divider += f", since its own bundle {gone} is not there any more"
            self._gone = bool(event.gone)
        elif previous and previous != event.bundle:
            # A bundle with a folder of its own, as the demo, leaves it behind.
            where = f" · works in {one_line(event.cwd, 200)} now" if event.cwd != folder else ""
            words = f"Switched to {event.bundle}{_model_words(answered, event)}{where}"
            if same and self._said_something():
                self._note(words)
            else:
                self._divider = words
        if self._said_something():
            return
        if self._unready is not None:
            self.list.remove(self._unready)
            self._unready = None
        self._welcome.show(event)

    @on(events.OpeningReported)
    def _opening_reported(self, event: events.OpeningReported) -> None:
        if not events.summary(item for item in event.items if not self._welcome.tells(item)):
            return
        self._report = ReportEntry(key="report", ready=event.ready, items=event.items)
        if self._said_something():
            self.list.add(self._report)
        else:
            self.list.prepend([self._report])

    def count_modules(self, ready: int, amiss: tuple[events.ReportItem, ...]) -> None:
        """Have the line about the opening say what the modules are now; none where all is well."""
        report = self._report
        if report is None:
            return
        if not events.summary(amiss):
            self.list.remove(report)
            self._report = None
        elif assign(report, ready=ready, items=amiss):
            self.list.update(report)

    def settle_replay(self) -> None:
        """Close what the stored session left open; more stored events may still come."""
        if self._replaying:
            self._settle()
            self._shell.settle()
            self._replaying = False

    def end_replay(self, *, elsewhere: bool = False) -> None:
        """Take note of a live event: the stored part is over, a line says where.

        Args:
            elsewhere: Another window has the session, and may be at work on its last turn.
        """
        self.settle_replay()
        if self._divider and self._said_something():
            mine = self._divider.startswith(_RESUMED) and not elsewhere
            broken = mine and self._is_broken_off()
            level: events.Level = "warning" if mine and self._gone else "info"
            self._note(self._divider + (_BROKEN_OFF if broken else ""), level=level)
            self._divider = ""

    def _is_broken_off(self) -> bool:
        """Whether the latest turn ended without a word of it, as when the program was killed.

        Where it was not stored that turns end, an answer is the end.
        """
        said = (e for e in reversed(self.list.entries) if not isinstance(e, NoteEntry))
        own = (e for e in said if e.agent == MAIN_LANE)
        return self.failures.running and isinstance(next(own, None), UserEntry | ToolEntry)

    def _is_tried_again(self, event: events.TurnStarted) -> bool:
        """Whether a turn goes on with the prompt of the last one, which is on screen already."""
        if event.agent != MAIN_LANE:
            return False
        prompts = (e for e in reversed(self.list.entries) if isinstance(e, UserEntry))
        last = next((entry for entry in prompts if entry.begins_turn), None)
        return last is not None and (last.turn, last.text) == (event.turn, event.prompt)

    def _said_something(self) -> bool:
        return any(isinstance(e, UserEntry | TextEntry | ToolEntry) for e in self.list.entries)

    def _add(self, entry: ConversationEntry) -> None:
        self._welcome.drop()
        self.list.add(entry)


def _model_words(before: tuple[str, str], event: events.SessionOpened) -> str:
    """Name the model that answers, where it is another than the provider and model before."""
    if not event.model or before == (event.provider, event.model):
        return ""
    name = event.model
    if before[1] == name:
        # Another server has a model of that name.
        name = f"{event.provider}/{name}"
    return f" · {one_line(name, 80)} answers from now on"


def _compaction_words(event: events.Compacted) -> str:
    words = f"Compacted {short_count(event.before_tokens)} → {short_count(event.after_tokens)}"
    left_out = 0 if event.strategy == "summary" else min(event.left_out, event.rows)
    if left_out:
        words += f" · {plural(left_out, 'message')} left out"
    if event.rows > left_out:
        how = "in a summary" if event.strategy == "summary" else "shortened"
        words += f" · {plural(event.rows - left_out, 'message')} {how}"
    return words


def _end_words(event: events.TurnEnded, kept: bool) -> str:
    after = f" after {span(event.duration_ms / 1000)}" if event.duration_ms >= 1000 else ""
    match event.status:
        case "cancelled":
            return f"Stopped{after}" + (" · partial answer kept" if kept else "")
        case "incomplete":
            if event.denied:
                # The answer holds why.
                return f"Ended{after}: a hook refused the request to the model"
            return f"Ended{after} before the answer was complete"
        case "error":
            return f"Failed{after}" + (" · partial answer kept" if kept else "")
        case _:
            return with_remedy(event.remark, _OTHERWISE * event.declined)
