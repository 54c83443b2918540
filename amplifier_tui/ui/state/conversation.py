"""The conversation: what was said, done and went wrong, as entries in order."""

from collections import deque

from amplifier_tui.host.events import (
    MAIN_LANE,
    ApprovalRequested,
    ApprovalResolved,
    BlockDelta,
    BlockEnded,
    BlockStarted,
    Compacted,
    Failed,
    HostEvent,
    LaneClosed,
    Level,
    ModuleFailed,
    SessionClosed,
    SessionOpened,
    SteerApplied,
    ToolEnded,
    ToolProgress,
    ToolStarted,
    TurnEnded,
    TurnStarted,
)
from amplifier_tui.ui.state.blocks import Blocks
from amplifier_tui.ui.state.entries import (
    Entry,
    ErrorEntry,
    NoteEntry,
    TextEntry,
    ToolEntry,
    UserEntry,
    WelcomeEntry,
)
from amplifier_tui.ui.state.entry_list import EntryList
from amplifier_tui.ui.state.formats import plural, span, tokens
from amplifier_tui.ui.state.tool_lines import ToolLines

_ONCE = (Compacted, Failed, SteerApplied, TurnEnded)
_TOLD = 16


class Conversation:
    """Reduces events to the entries of `list`."""

    HANDLES: tuple[type[HostEvent], ...] = (
        ApprovalRequested,
        ApprovalResolved,
        BlockDelta,
        BlockEnded,
        BlockStarted,
        Compacted,
        Failed,
        LaneClosed,
        ModuleFailed,
        SessionClosed,
        SessionOpened,
        SteerApplied,
        ToolEnded,
        ToolProgress,
        ToolStarted,
        TurnEnded,
        TurnStarted,
    )

    def __init__(self) -> None:
        self.list = EntryList()
        self._tools = ToolLines(self.list)
        self._blocks = Blocks(self.list, self._tools)
        self._retryable: list[ErrorEntry] = []
        self._turns: set[tuple[str, int, str, float]] = set()
        self._welcome: WelcomeEntry | None = None
        self._missing: tuple[str, ...] = ()
        self._mode = ""
        self._bundle = ""
        self._opened_as = ""
        self._divider = ""
        self._told: deque[HostEvent] = deque(maxlen=_TOLD)
        self._failed_in_turn = False
        self._replaying = False

    @property
    def version(self) -> int:
        """Moves when an entry does."""
        return self.list.version

    def clear(self) -> None:
        """Empty the conversation, for another session."""
        self.list.clear()
        self._tools.clear()
        self._blocks.clear()
        self._retryable.clear()
        self._turns.clear()
        self._welcome = None
        self._missing = ()
        self._opened_as = ""
        self._divider = ""
        self._told.clear()
        self._failed_in_turn = False
        self._replaying = False

    def set_mode(self, mode: str) -> None:
        """Show another permission mode in the welcome."""
        self._mode = mode
        if self._welcome is not None and self._welcome.mode != mode:
            self._welcome.mode = mode
            self.list.update(self._welcome)

    def prepend(self, earlier: "Conversation") -> None:
        """Put the entries of an earlier part of the session in front."""
        earlier._settle()
        self._drop_welcome()
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
        match event:
            case BlockStarted():
                self._drop_welcome()
                self._blocks.started(event)
            case BlockDelta():
                self._drop_welcome()
                self._blocks.streamed(event)
            case BlockEnded():
                self._drop_welcome()
                self._blocks.ended(event)
            case ToolStarted():
                self._drop_welcome()
                self._tools.started(event)
            case ToolProgress():
                self._tools.progressed(event)
            case ToolEnded():
                self._drop_welcome()
                self._tools.ended(event)
            case ApprovalRequested() if not event.replayed:
                if event.call_id:
                    self._drop_welcome()
                self._tools.asked(event)
            case ApprovalResolved():
                self._tools.answered(event)
            case TurnStarted():
                self._turn_started(event)
            case TurnEnded():
                self._turn_ended(event)
            case LaneClosed():
                self._settle(event.lane)
            case SteerApplied():
                self._add(UserEntry(key="steer", agent=event.agent, text=event.text, steered=True))
            case Compacted():
                self._note(_compaction_words(event), event.agent)
            case Failed():
                self._failed(event)
            case ModuleFailed():
                if event.kind == "provider":
                    self._miss(event.missing)
            case SessionOpened():
                self._session_opened(event)
            case SessionClosed():
                self._settle()
            case _:
                pass

    # --- turns -----------------------------------------------------------------------------

    def _turn_started(self, event: TurnStarted) -> None:
        seen = (event.agent, event.turn, event.prompt, event.at)
        if seen in self._turns:
            return
        self._turns.add(seen)
        self._failed_in_turn = False
        self._told.clear()
        if not event.replayed:
            self._divider = ""
        self._retire_failures()
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

    def _turn_ended(self, event: TurnEnded) -> None:
        kept = self._settle(
            None if event.agent == MAIN_LANE else event.agent, event.status != "success"
        )
        if event.agent != MAIN_LANE:
            return
        words = _end_words(event, kept)
        if words and not (event.status == "error" and self._failed_in_turn):
            level: Level = "error" if event.status == "error" else "info"
            self._note(words, event.agent, level)

    def _settle(self, agent: str | None = None, interrupted: bool = True) -> bool:
        """Close what will not end any more; True when the text of an answer was kept."""
        kept = self._blocks.settle(agent, interrupted)
        self._tools.settle(agent)
        return kept

    # --- failures and notes ----------------------------------------------------------------

    def _failed(self, event: Failed) -> None:
        self._failed_in_turn = True
        self._retire_failures()
        self._miss(event.missing)
        entry = ErrorEntry(
            key="error",
            agent=event.agent,
            kind=event.kind,
            message=event.message,
            remedy=event.remedy,
            retryable=event.retryable and not event.replayed,
            prompt=event.prompt,
            missing=event.missing,
            detail=event.detail,
        )
        self.list.add(entry)
        if entry.retryable:
            self._retryable.append(entry)

    def _retire_failures(self) -> None:
        """Only the newest failure can be retried."""
        for entry in self._retryable:
            entry.retryable = False
            self.list.update(entry)
        self._retryable.clear()

    def _note(self, text: str, agent: str = MAIN_LANE, level: Level = "info") -> None:
        self.list.add(NoteEntry(key="note", agent=agent, text=text, level=level))

    # --- sessions --------------------------------------------------------------------------

    def _session_opened(self, event: SessionOpened) -> None:
        same = event.session_id == self._opened_as
        previous, self._bundle = self._bundle, event.bundle
        self._opened_as = event.session_id
        if event.resumed and not same:
            self._divider = "Resumed" + (f" · {event.bundle}" if event.bundle else "")
        elif previous and previous != event.bundle:
            if same and self._said_something():
                self._note(f"Switched to {event.bundle}")
            else:
                self._divider = f"Switched to {event.bundle}"
        if self._said_something():
            return
        welcome = WelcomeEntry(
            key="welcome",
            bundle=event.bundle,
            model=event.model,
            mode=self._mode,
            examples=event.examples,
            missing=self._missing,
        )
        if self._welcome is None:
            self._welcome = welcome
            self.list.add(welcome)
        elif self._welcome != welcome:
            for name in ("bundle", "model", "mode", "examples", "missing"):
                setattr(self._welcome, name, getattr(welcome, name))
            self.list.update(self._welcome)

    def settle_replay(self) -> None:
        """Close what the stored session left open; more stored events may still come."""
        if self._replaying:
            self._settle()
            self._replaying = False

    def end_replay(self) -> None:
        """Take note of a live event: the stored part is over, a line says where."""
        self.settle_replay()
        if self._divider and self._said_something():
            self._note(self._divider)
            self._divider = ""

    def _said_something(self) -> bool:
        return any(isinstance(e, UserEntry | TextEntry | ToolEntry) for e in self.list.entries)

    def _miss(self, names: tuple[str, ...]) -> None:
        more = tuple(name for name in names if name not in self._missing)
        if not more:
            return
        self._missing += more
        if self._welcome is not None:
            self._welcome.missing = self._missing
            self.list.update(self._welcome)

    def _add(self, entry: Entry) -> None:
        self._drop_welcome()
        self.list.add(entry)

    def _drop_welcome(self) -> None:
        if self._welcome is not None:
            self.list.remove(self._welcome)
            self._welcome = None


def _compaction_words(event: Compacted) -> str:
    words = f"Compacted {tokens(event.before_tokens)} → {tokens(event.after_tokens)}"
    if event.rows:
        words += f" · {plural(event.rows, 'row')} shortened"
    return words


def _end_words(event: TurnEnded, kept: bool) -> str:
    after = f" after {span(event.duration_ms / 1000)}" if event.duration_ms >= 1000 else ""
    match event.status:
        case "cancelled":
            return f"Stopped{after}" + (" · partial answer kept" if kept else "")
        case "incomplete":
            return f"Ended{after} before the answer was complete"
        case "error":
            return f"Failed{after}" + (" · partial answer kept" if kept else "")
        case _:
            return ""
